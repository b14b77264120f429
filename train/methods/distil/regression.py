"""Regression of sentence vectors on a teacher's: ridge regression of the table by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from augment_cli.encoding.transforms import Whitening

RIDGE = 0.03  # chosen on STS-B dev of {0.03, 0.1, 0.3, 1, 3, 10}, with 50,000 sentences
ITERATIONS = 20  # more change no score in the first decimal


@dataclass(frozen=True)
class Fitted:
    """A regressed table."""

    table: np.ndarray  # shape (V, d), float32
    explained: float  # share of the targets' sum of squares that the sentence vectors explain, at most 1


def averages(ids: Sequence[Sequence[int]], size: int) -> sparse.csr_matrix:
    """Which matrix turns a table into the means of texts: shape (texts, size), rows that sum to 1 or 0."""
    lengths = np.fromiter((len(row) for row in ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum()))
    share = np.repeat((1 / np.maximum(lengths, 1)).astype(np.float32), lengths)
    starts = np.concatenate([[0], lengths.cumsum()])
    matrix = sparse.csr_matrix((share, flat, starts), shape=(len(ids), size))
    matrix.sum_duplicates()
    return matrix


def projection(targets: np.ndarray, dimension: int) -> Whitening:
    """Centre and first principal directions of the teacher's sentence vectors, without rescaling."""
    mean = targets.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(np.cov(targets - mean, rowvar=False, bias=True))
    return Whitening(mean, directions[:, ::-1][:, : dimension or None])


def regress(
    matrix: sparse.csr_matrix,
    targets: np.ndarray,
    start: np.ndarray,
    weights: np.ndarray,
    ridge: float = RIDGE,
    iterations: int = ITERATIONS,
    progress: Callable[[int], Any] = lambda done: None,
) -> Fitted:
    """Move a table so that means of its rows come near a teacher's sentence vectors."""
    # With A the texts' means as a matrix, S the weights on a diagonal and E = S F it minimises ‖A S F − T‖² +
    # λ ‖F − c F₀‖², where c F₀ is the starting table, scaled to fit best: a token that the texts do not hold
    # stays where it was, and a rare one near it. The problem is linear, so conjugate gradients solve it
    # without a learning rate or a draw (Hestenes & Stiefel 1952).
    # matrix: A, (n, V); targets: T, (n, d); start: F₀, (V, d); weights: (V,); ridge: λ.
    scaled = (matrix @ sparse.diags(weights.astype(np.float32))).tocsr()
    back = scaled.T.tocsr()
    targets = targets.astype(np.float32)
    first = scaled @ start.astype(np.float32)
    scale = float((first * targets).sum() / max(float((first * first).sum()), 1e-30))
    change = np.zeros(start.shape, dtype=np.float32)
    rest = back @ (targets - scale * first)
    direction, square = rest.copy(), (rest * rest).sum(axis=0)
    for done in range(1, iterations + 1):
        applied = back @ (scaled @ direction) + np.float32(ridge) * direction
        step = square / np.maximum((direction * applied).sum(axis=0), 1e-30)
        change += step * direction
        rest -= step * applied
        square, before = (rest * rest).sum(axis=0), square
        direction = rest + (square / np.maximum(before, 1e-30)) * direction
        progress(done)
    table = weights[:, None] * (scale * start + change)
    missed = float(((matrix @ table.astype(np.float32) - targets) ** 2).sum())
    total = float((targets**2).sum())
    return Fitted(table.astype(np.float32), 1 - missed / max(total, 1e-30))
