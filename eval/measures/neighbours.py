"""What is near what in a set of texts: neighbours that texts share, texts that half of their words finds."""

from __future__ import annotations

from itertools import compress

import numpy as np

from eval.measures.geometry import unit

NEAREST = 10


def halves(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A text's words in two random halves, each in its order; a text of one word by its characters."""
    words = text.split()
    parts, between = (words, " ") if len(words) > 1 else (list(text), "")
    first = generator.permutation(len(parts)) < len(parts) // 2
    return between.join(compress(parts, first)), between.join(compress(parts, ~first))


def nearest(vectors: np.ndarray) -> np.ndarray:
    """Which texts are the ten nearest others of each, by cosine about the mean of all."""
    scaled = unit(vectors)
    # What all texts have in common says nothing of which belong together.
    scaled = unit(scaled - scaled.mean(axis=0)).astype(np.float32)
    similarity = scaled @ scaled.T
    np.fill_diagonal(similarity, -np.inf)
    found = np.zeros(similarity.shape, dtype=bool)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST]
    np.put_along_axis(found, order, True, axis=1)
    return found


def shared_neighbours(vectors: np.ndarray) -> np.ndarray:
    """How many of the ten nearest each text and one of its ten nearest share on average, in [0, 1], (n,)."""
    # The similarity of Jarvis & Patrick (1973), as the mean over all neighbours.
    near = nearest(vectors).astype(np.float32)
    return ((near @ near.T) * near).sum(axis=1, dtype=np.float64) / NEAREST**2


def finds_own(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Whether row i of `second` is the nearest to row i of `first`, by cosine; the first of equal ones is."""
    if not len(first):
        return np.zeros(0, dtype=bool)
    return np.asarray((unit(first) @ unit(second).T).argmax(axis=1) == np.arange(len(first)))
