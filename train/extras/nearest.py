"""Nearest neighbours for people: what an encoder takes for alike in a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible
from augment_cli.store.store import Store
from eval.contract.arguments import call
from eval.measures.geometry import unit

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
    call(_print, "python -m train nearest", arguments)


def _print(
    encoder: Annotated[str, typer.Argument(help="folder of an encoder, such as runs/static/best")],
    store: Annotated[Path, typer.Option("--store", help="store with the corpus")] = Path("store"),
    count: Annotated[int, typer.Option("--count", help="how many examples")] = 3,
) -> None:
    """Nearest neighbours for people: what an encoder takes for alike in a corpus."""
    from augment_cli.encoding.loading import load_encoder  # loads torch
    from train.methods.whitening.whiten import spaced_texts

    if not 1 <= count <= TEXTS:
        raise UsageError(f"--count {count}: must be from 1 to {TEXTS:,}")
    texts = spaced_texts(Store.open(store), TEXTS)
    for text, other, cosine in nearest(texts, load_encoder(encoder).encode(texts), count):
        print(f"{visible(text)}\n  nearest, cosine {cosine:.2f}: {visible(other)}")
