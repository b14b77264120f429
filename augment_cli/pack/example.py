"""The lines that train on a packed table with sentence-transformers, with a batch and steps for a trial."""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from augment_cli.contract.vector_parameters import MINILM_PACKAGE
from augment_cli.places import STATIC, shipped
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store

BATCH, MOST_STEPS = 64, 500
_TOKENS = 24  # of a sentence, about
_USED = 0.5  # of what multiplying matrices reaches, in training such a small encoder; measured
_TEXTS = ("anchor", "positive", "negative")


def training_lines(store: Store, stage: str) -> str:
    """A program that trains an encoder on a packed stage; empty for a layout that wants another loss."""
    parts = store.stage(stage).parts
    names = describe(store.part_path(stage, min(parts)))[1].names if parts else []
    columns = [name for name in names if name.startswith(_TEXTS)]
    encoder = _encoder()
    if not store.stage(stage).rows or not columns or {"label", "score"} & set(names):
        return ""
    steps = steps_of(store.stage(stage).rows)
    chosen = ", ".join(f'"{name}"' for name in columns)
    folder = f"{store.path.as_posix()}/{stage}"
    out = f"runs/{store.path.name}-st"
    packed = store.stage(stage).settings["parameters"]
    # Another positive of a sentence is not its negative: no batch has a sentence twice.
    once = len(packed["positives"]) > 1 or "repeated_sentences" in packed
    further = 'save_strategy="no"' + (',\n    batch_sampler="no_duplicates"' if once else "")
    return f"""\
from datasets import load_dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

rows = load_dataset("parquet", data_dir="{folder}", split="train")
rows = rows.select_columns([{chosen}])
encoder = SentenceTransformer("{encoder.folder}")  # or any other name or folder
settings = SentenceTransformerTrainingArguments(
    "{out}", per_device_train_batch_size={BATCH}, max_steps={steps}, learning_rate={encoder.rate}, {further}
)
loss = MultipleNegativesRankingLoss(encoder)
SentenceTransformerTrainer(encoder, args=settings, train_dataset=rows, loss=loss).train()
encoder.save("{out}")
"""


class _Encoder(NamedTuple):
    """What the lines begin with."""

    folder: str
    kind: str
    weights: int  # of its layers, that each token is multiplied with
    rate: str


def _encoder() -> _Encoder:
    """The small BERT; where only a wheel is, which has none, the installed MiniLM, or the static encoder."""
    found = shipped(small := "data/models/encoder")
    if Path(small).exists() or found != small:
        return _Encoder(
            small if Path(small).exists() else found, "the small encoder of the checkout", 4 * 256**2, "5e-5"
        )
    package = importlib.util.find_spec(MINILM_PACKAGE.replace("-", "_"))
    if package is not None and package.origin is not None:
        return _Encoder(f"{Path(package.origin).parent / 'model'}", "MiniLM", 6 * 384**2, "5e-5")
    return _Encoder(shipped(STATIC), "the static encoder", 0, "0.03")


def steps_of(rows: int) -> int:
    """Once through the rows, or as many steps as a first trial needs."""
    return min(max(rows // BATCH, 1), MOST_STEPS)


def how_long(store: Store, stage: str) -> str:
    """About how long these lines take on this machine's cores, and what changes that."""
    columns = len([n for n in describe(store.part_path(stage, 0))[1].names if n.startswith(_TEXTS)])
    steps = steps_of(store.stage(stage).rows)
    texts = steps * BATCH * columns
    encoder, of_base = _encoder(), 12 * 768**2
    operations = texts * _TOKENS * 6 * 12  # of a weight: forward and backward, two each
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    minutes = operations / (_USED * _operations_a_second() * cores) / 60  # of a weight
    return (
        f"{steps} steps of {BATCH} rows: about {_words(minutes * encoder.weights)} on this machine's {cores} "
        f"cores, if idle, with {encoder.kind}; {_words(minutes * of_base)} with one of BERT-base's size"
    )


def _operations_a_second() -> float:
    """What multiplying matrices reaches on one core here: the best of ten looks of 5 ms."""
    # The matrices are too small for more threads than one, whose own time counts: what else runs here does
    # not.
    size, best = 64, 0.0
    matrix = np.ones((size, size), np.float32)
    out = matrix @ matrix  # the first one loads the library
    for _ in range(10):
        start, count = time.thread_time(), 0
        while (took := time.thread_time() - start) < 0.005 or not count:
            np.matmul(matrix, matrix, out=out)
            count += 1
        best = max(best, count * 2 * size**3 / max(took, 1e-6))
    return best


def _words(minutes: float) -> str:
    if minutes < 1.5:
        return "a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
