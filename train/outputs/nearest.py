"""Nearest neighbours for people: what an encoder takes for alike in a corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible
from augment_cli.store.store import Store
from eval.contract.arguments import ArgumentParser
from train.data.vectors import unit
from train.outputs.whiten import spaced_texts

TEXTS = 10_000  # among which neighbours are looked for


def nearest(texts: list[str], vectors: np.ndarray, count: int) -> list[tuple[str, str, float]]:
    """Some texts, evenly spaced, each with its nearest other text and their cosine."""
    scaled = unit(vectors)
    found = []
    for row in np.unique(np.linspace(0, len(texts) - 1, count + 2).round().astype(int)[1:-1]):
        cosines = scaled @ scaled[row]
        cosines[[text == texts[row] for text in texts]] = -np.inf
        best = int(cosines.argmax())
        if np.isfinite(cosines[best]):
            found.append((texts[row], texts[best], float(cosines[best])))
    return found


def main(arguments: list[str]) -> None:
    """Print an encoder's nearest neighbours in a store's corpus."""
    parser = ArgumentParser(prog="python -m train nearest", description=__doc__)
    parser.add_argument("encoder", help="folder of an encoder, such as runs/static/best")
    parser.add_argument("--store", type=Path, default=Path("store"), help="store with the corpus")
    parser.add_argument("--count", type=int, default=3, help="how many examples (default 3)")
    args = parser.parse_args(arguments)
    if not 1 <= args.count <= TEXTS:
        raise UsageError(f"--count {args.count}: must be from 1 to {TEXTS:,}")
    texts = spaced_texts(Store.open(args.store), TEXTS)
    for text, other, cosine in nearest(texts, load_encoder(args.encoder).encode(texts), args.count):
        print(f"{visible(text)}\n  nearest, cosine {cosine:.2f}: {visible(other)}")
