"""A bed: an encoder that knows words and has no sentence geometry yet, made from one that is installed.

BERT before contrastive training is such an encoder, and no BERT is at hand where there is no network. A short
run of masked language modelling at a high rate takes a sentence encoder back to that state: it keeps what its
layers know of words and loses where sentences lie. What it is for is comparing methods with each other; its
scores are no model's, and whatever its teacher has seen it may have kept.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertForMaskedLM
from transformers.utils import logging

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.models.digest import model_digest
from augment_cli.session import Session
from augment_cli.store.files import replace_folder, sha256_of_json
from benchmarks.reproduce.entries import Bed
from benchmarks.reproduce.work import machine
from eval.results.files import library_versions
from train.loading import load_recipe
from train.machine.distributed import join
from train.outputs.export import export
from train.prepare import Run
from train.run import train

# Of a checkpoint's weights, in the trainer and in transformers.
_NAMES = (
    (r"encoder\.", "bert."),
    (r"masked_head\.dense\.", "cls.predictions.transform.dense."),
    (r"masked_head\.norm\.", "cls.predictions.transform.LayerNorm."),
    (r"masked_head\.bias", "cls.predictions.bias"),
)
_FACTS = "bed.json"  # beside the encoder's files; no part of its digest
_DECIDING = ("start", "layers", "corpus", "rows", "recipe", "set")  # the rest is words, and
_PERHAPS = ("redrawn", "environment")  # these, which the first beds did not have


def make_bed(bed: Bed, target: Path, work: Path, data: Path) -> dict[str, Any]:
    """Make the encoder of a bed, unless it is there and was made with the same settings."""
    # A bed with an environment is made in a process of its own, as PyTorch reads it when it is imported.
    # Beside the encoder, in `{target}-masked`, goes the masked language model that it was trained as, for
    # `mask-fill`.
    settings = {key: getattr(bed, key) for key in (*_DECIDING, *_PERHAPS)}
    settings = {key: value for key, value in settings.items() if value or key not in _PERHAPS}
    if (known := read_facts(target)).get("settings") == json.loads(json.dumps(settings)):
        return known
    if not bed.environment.items() <= os.environ.items():
        return _make_apart(bed, target, work, data)
    # A folder for these settings alone, since a checkpoint of others would be refused.
    work = work / sha256_of_json(settings)[:12]
    store = work / "store"
    with Session(store) as session:
        session.ingest([data / pattern for pattern in bed.corpus], IngestOptions(limit=bed.rows))
        if session.store.rows < bed.rows:
            raise UsageError(f"{store}: the corpus gave {session.store.rows:,} sentences of {bed.rows:,}")
    encoder, start = load_encoder(bed.start), work / "start"
    export(redraw(bare(encoder, bed.layers), bed.redrawn), start)
    recipe = load_recipe(bed.recipe, bed.set)
    command = f"python -m benchmarks.reproduce bed --profile {bed.name}"
    result = train(Run(recipe, store, str(start), work / "run", command=command), join())
    if result.stopped_by:
        raise UsageError(f"stopped after step {result.steps}; the same command continues it")
    facts: dict[str, Any] = {
        "settings": settings,
        "digest": model_digest(work / "run" / "last"),
        "machine": machine(),
        "libraries": library_versions(),
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "start": encoder.digest,
    }
    finished = work / "finished"
    shutil.rmtree(finished, ignore_errors=True)
    shutil.copytree(work / "run" / "last", finished)
    (finished / _FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (finished / "README.md").write_text(_card(bed, facts["digest"]), encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_masked(work / "run", work / "masked")
    replace_folder(work / "masked", target.with_name(f"{target.name}-masked"))
    replace_folder(finished, target)
    return facts


def _make_apart(bed: Bed, target: Path, work: Path, data: Path) -> dict[str, Any]:
    """`make_bed` in a process of its own, with the bed's environment."""
    before = dict(os.environ)
    os.environ.update(bed.environment)
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(make_bed, bed, target, work, data).result()
    finally:
        os.environ.clear()
        os.environ.update(before)


def write_masked(run: Path, folder: Path) -> None:
    """Write the encoder of a run of masked language modelling with its head, as transformers reads it."""
    last = max((run / "checkpoints").iterdir())  # their names end in the step, with zeros before it
    weights = load_file(last / "model.safetensors")
    renamed = {
        re.sub(old, new, name, count=1): weight
        for name, weight in weights.items()
        for old, new in _NAMES
        if re.match(old, name) and ".pooler." not in name
    }
    logging.set_verbosity_error()
    model = BertForMaskedLM(BertConfig.from_pretrained(run / "last"))
    unknown = model.load_state_dict(renamed, strict=False)
    # The decoder is the word embeddings, and its bias the head's.
    assert not unknown.unexpected_keys and all(".decoder." in name for name in unknown.missing_keys)
    model.tie_weights()
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(run / "last" / name, folder / name)


def read_facts(folder: Path) -> dict[str, Any]:
    """What is known of a bed that was made; empty where there is none."""
    path = folder / _FACTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def bare(encoder: Encoder, count: int) -> Encoder:
    """The encoder with its first `count` layers alone (0: all), without steps after the pooling."""
    encoder.modules = []  # as BERT has none; of length 1 only its own first vectors were
    if not count:
        return encoder
    layers = encoder.model.encoder.layer
    if not 1 <= count <= len(layers):
        raise UsageError(f"layers = {count}: {encoder.name} has {len(layers)}")
    encoder.model.encoder.layer = nn.ModuleList(layers[:count])
    encoder.model.config.num_hidden_layers = count
    return encoder


def redraw(encoder: Encoder, count: int) -> Encoder:
    """Encoder with random weights in its last `count` layers, as BERT draws them; always the same ones."""
    layers = encoder.model.encoder.layer
    if count > len(layers):
        raise UsageError(f"redrawn = {count}: {encoder.name} has {len(layers)}")
    generator = torch.Generator().manual_seed(0)
    for layer in layers[len(layers) - count :]:
        for module in layer.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, encoder.model.config.initializer_range, generator)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.LayerNorm):
                module.reset_parameters()
    return encoder


def compared(bed: Bed, digest: str) -> str:
    """Whether a bed that was made is the one that the results were made from, in words."""
    if not bed.digest:
        return "no digest is recorded for it in grid.toml"
    if digest == bed.digest:
        return "as recorded in grid.toml"
    return (
        f"grid.toml records {bed.digest}: another processor or other libraries round differently, so results "
        "from this bed stand by themselves and are kept apart from the recorded ones"
    )


def _card(bed: Bed, digest: str) -> str:
    return "\n".join(
        [
            f"# Bed {bed.name}: for comparing methods, not for use",
            "",
            bed.about,
            "",
            f"Made on this machine from `{bed.start}` by",
            f"`python -m benchmarks.reproduce bed --profile {bed.name}`, with recipe `{bed.recipe}` and",
            f"`{' '.join(bed.set)}` on {bed.rows:,} sentences of {', '.join(bed.corpus)}.",
            f"Layers kept: {bed.layers or 'all'}. Digest: `{digest}`.",
            "",
            bed.seen,
            "",
        ]
    )
