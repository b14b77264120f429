"""Which score without labels goes with the labelled one: both over the checkpoints of several runs.

    python -m benchmarks.dev_score_choice --data ../shared/data --work runs/choice --domain stackoverflow

Trains an encoder on a domain's texts in several ways that change it more or less, keeps checkpoints, and
scores each: the purity of the ten nearest texts and K-means accuracy by the labels, and candidates.
Printed is a JSON line for each checkpoint, then Spearman's correlation of each candidate with the purity.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from safetensors.torch import load_file

from augment_cli import api
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.store.store import Store
from benchmarks.adapt_domains import corpus_of
from eval.measures.geometry import purities, unit
from eval.protocols import clustering
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table
from train.watching.neighbours import neighbour_agreement

# Name of a run to the settings on top of the recipe simcse.
RUNS = {
    "self": ["batch=128", "epochs=2", "learning_rate=1e-5"],
    "crop": ["positives=crop", "learning_rate=2e-5"],
    "synonym": ["positives=synonym", "learning_rate=2e-5"],
    "mixed-fast": ["positives=crop,synonym", "learning_rate=1e-4", "temperature=0.1"],
}
COMMON = ["head=none", "pooling=mean", "keep=99", "evaluate_every=0", "batch=64"]
LABELLED = ("purity_10", "accuracy")
SCORED = 2_500  # texts; K-means takes most of the time


def halves(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A text's words in two random halves, each in its order."""
    words = text.split()
    first = set(generator.permutation(len(words))[: len(words) // 2].tolist())
    sides = ([word for place, word in enumerate(words) if (place in first) == side] for side in (True, False))
    return " ".join(next(sides)), " ".join(next(sides))


def reciprocal_rank(queries: np.ndarray, candidates: np.ndarray, right: np.ndarray) -> float:
    """Mean of 1 / rank of each query's right candidate by cosine."""
    similarity = unit(queries) @ unit(candidates).T
    own = similarity[np.arange(len(queries)), right]
    return float((1 / (1 + (similarity > own[:, None]).sum(axis=1))).mean())


def scorer(table: Table, rows: int, store: Store) -> Callable[[Encoder], dict[str, float]]:
    """A function of an encoder that gives labelled scores and candidates by name."""
    texts, labels = (part[:SCORED] for part in corpus_of(table, rows))
    crops = dict(
        zip(store.read("corpus")["text"].to_pylist(), store.read("crop")["text"].to_pylist(), strict=True)
    )
    cropped = [place for place, text in enumerate(texts) if crops.get(text)][:800]
    generator = np.random.default_rng(0)
    split = [halves(text, generator) for text in texts if len(text.split()) >= 6][:800]
    topics = neighbour_agreement(store)
    assert topics is not None

    def score(encoder: Encoder) -> dict[str, float]:
        vectors = encoder.encode(list(texts))
        first, second = (encoder.encode([pair[side] for pair in split]) for side in (0, 1))
        crop = encoder.encode([crops[texts[place]] for place in cropped])
        return {
            **purities(vectors, labels, [10]),
            "accuracy": clustering.score(vectors, labels, seeds=range(2)).scores["accuracy"],
            "crop_retrieval": reciprocal_rank(crop, vectors, np.array(cropped)),
            "halves_retrieval": reciprocal_rank(first, second, np.arange(len(split))),
            **topics(encoder),
        }

    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--domain", default="stackoverflow")
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=39, help="steps between checkpoints")
    options = parser.parse_args()
    table = read_table(load_registry()[options.domain], options.data)
    folder = options.work / options.domain
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "store"
    if not (folder / "corpus.txt").is_file():
        sentences = "".join(f"{text}\n" for text in corpus_of(table, options.rows)[0])
        (folder / "corpus.txt").write_text(sentences, encoding="utf-8")
        api.ingest_corpus([folder / "corpus.txt"], store, max_rejects=0.5)
    for name in ("crop", "synonym"):
        api.run(name, store)
    for name, changes in RUNS.items():
        settings = [*COMMON, f"checkpoint_every={options.every}", *changes]
        command = ["train", "simcse", "--store", str(store), "--encoder", MINILM_PACKAGE]
        command += ["--out", str(folder / name)]
        command += [word for change in settings for word in ("--set", change)]
        subprocess.run([sys.executable, "-m", *command], check=True)
    score, encoder = scorer(table, options.rows, Store.open(store)), load_encoder(MINILM_PACKAGE)
    lines: list[dict[str, Any]] = [{"run": "start"} | score(encoder)]
    print(json.dumps(lines[0]), flush=True)
    for path in sorted(folder.glob("*/checkpoints/*/model.safetensors")):
        weights = {key.removeprefix("encoder."): value for key, value in load_file(path).items()}
        encoder.model.load_state_dict(weights, strict=False)
        lines.append({"run": f"{path.parts[-4]} {path.parts[-2]}"} | score(encoder))
        print(json.dumps(lines[-1]), flush=True)
    for key in lines[0].keys() - {"run", *LABELLED}:
        correlations = [
            scipy.stats.spearmanr(*([line[name] for line in lines] for name in (key, labelled))).statistic
            for labelled in LABELLED
        ]
        print(f"{key:<18} with purity {correlations[0]:+.2f}, with accuracy {correlations[1]:+.2f}")


if __name__ == "__main__":
    main()
