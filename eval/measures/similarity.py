"""Cosine similarity, and its correlation with gold scores."""

from __future__ import annotations

import math

import numpy as np
import scipy  # its `stats` loads when it is first used, and takes long to


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
