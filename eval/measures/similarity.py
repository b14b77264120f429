"""Cosine similarity and its correlation with gold scores; neighbours that texts share."""

from __future__ import annotations

import math
import re
from itertools import compress

import numpy as np
import scipy  # its `stats` loads when it is first used, and takes long to

from eval.measures.geometry import unit


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosine of matching rows; a zero vector is orthogonal to everything (cosine 0)."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.divide((first * second).sum(axis=1), norms, out=np.zeros(len(first)), where=norms != 0)


def correlation(similarity: np.ndarray, gold: np.ndarray) -> tuple[float, float, str]:
    """Spearman and Pearson correlation, with the reason where they are not defined."""
    if not np.isfinite(similarity).all():
        return math.nan, math.nan, "some embeddings are NaN or infinite"
    if len(similarity) < 2:
        return math.nan, math.nan, "fewer than two pairs"
    if np.ptp(similarity) == 0:
        return math.nan, math.nan, "all similarities are equal (constant embeddings)"
    if np.ptp(gold) == 0:
        return math.nan, math.nan, "all gold scores are equal"
    spearman, pearson = scipy.stats.spearmanr(similarity, gold)[0], scipy.stats.pearsonr(similarity, gold)[0]
    return float(spearman), float(pearson), ""


NEAREST = 10


def halves(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A text's words in two random halves, each in its order; one without spaces by its characters."""
    from augment_cli.tokenization.tokens import ALONE  # loads pyarrow, which `--help` does without

    words = text.split()
    is_spaced = len(words) > 1 and 2 * len(re.findall(ALONE, text)) <= len(text)
    parts, between = (words, " ") if is_spaced else (list(text), "")
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
