"""How alike the spaces of originals and of what a stage makes of them are, as AugCSE compares spaces.

    python -m benchmarks.augmented_spaces --store runs/reproduce/bed/store-2560 --stages contraction,tense

Of each stage the sentences that it changed, and what became of them, are encoded by all-MiniLM-L6-v2. Printed
is a table: COND-HM, the singular-value gap, and beside them the median cosine of a sentence and its change.
Two halves of the corpus show what is to be expected of other sentences of the same kind.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.store.store import Store
from eval.measures.geometry import of_spaces
from eval.measures.similarity import cosine

HEADER = ["| stage | sentences | COND-HM | singular-value gap | cosine |", "|---|---:|---:|---:|---:|"]


def changed(store: Store, stage: str, most: int) -> tuple[list[str], list[str]]:
    """The first sentences that a stage changed, and what became of them."""
    originals = store.read("corpus")["text"].to_pylist()
    texts = store.read(stage)["text"].to_pylist()
    pairs = [(before, after) for before, after in zip(originals, texts, strict=True) if after is not None][
        :most
    ]
    return [before for before, _ in pairs], [after for _, after in pairs]


def compare(encoder: Encoder, originals: Sequence[str], others: Sequence[str]) -> tuple[float, float, float]:
    """COND-HM, singular-value gap and median cosine of texts and others, row by row."""
    spaces = {"A": encoder.encode(list(originals)), "B": encoder.encode(list(others))}
    scores = of_spaces(spaces)
    return scores["cond_hm_A_B"], scores["svg_A_B"], float(np.median(cosine(spaces["A"], spaces["B"])))


def table(store: Store, encoder: Encoder, stages: Sequence[str], most: int) -> list[str]:
    """The lines of the table, a stage each, and the originals' halves last."""
    lines = list(HEADER)
    for stage in stages:
        originals, texts = changed(store, stage, most)
        lines.append(_line(f"`{stage}`", len(texts), *compare(encoder, originals, texts)))
    whole = store.read("corpus")["text"].to_pylist()[: 2 * most]
    half = len(whole) // 2
    gap = compare(encoder, whole[:half], whole[half : 2 * half])
    return [*lines, _line("other sentences", half, *gap)]


def _line(name: str, count: int, cond_hm: float, gap: float, near: float) -> str:
    return f"| {name} | {count:,} | {cond_hm:.1f} | {gap:.2f} | {near:.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--stages", required=True, help="comma-separated")
    parser.add_argument("--encoder", default=MINILM_PACKAGE)
    parser.add_argument("--rows", type=int, default=1000, help="sentences of each stage at most")
    args = parser.parse_args(arguments)
    stages = args.stages.split(",")
    print("\n".join(table(Store.open(args.store), load_encoder(args.encoder), stages, args.rows)))


if __name__ == "__main__":
    main()
