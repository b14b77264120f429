"""Vectors and their neighbours: of length 1, centred, smoothed over the neighbourhood of each."""

from __future__ import annotations

import numpy as np

_BLOCK = 1_024  # rows averaged at a time
_PRODUCTS = 32_000_000  # compared at a time, some 400 MB with their order
_SCALED_FROM = 1e-6


def unit(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1, float32 (n, d), and bool (n,): which have a direction (others are zeros)."""
    wide = vectors.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    has_direction = lengths > 0
    wide /= np.where(has_direction, lengths, 1)[:, None]
    return wide, has_direction


def centred(vectors: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
    """Vectors of length 1 about a mean, or that of those that have a direction; zeros stay zeros."""
    scaled, has_direction = unit(vectors)
    if has_direction.any():
        scaled[has_direction] -= scaled[has_direction].mean(axis=0) if mean is None else mean
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.where(lengths > _SCALED_FROM, scaled / np.maximum(lengths, _SCALED_FROM), 0).astype(np.float32)


def smoothed(vectors: np.ndarray, neighbours: int, rounds: int) -> np.ndarray:
    """Vectors of length 1, each moved by the mean of its nearest others, `rounds` times."""
    # v ← unit(v + mean of the k nearest by the cosine about the mean of all), the step of label propagation
    # (Zhu & Ghahramani 2002) and of diffusion for retrieval (Iscen et al. 2017), with equal weights.
    # Vectors of length 0 have no neighbours and are nobody's.
    there = np.flatnonzero(np.any(vectors != 0, axis=1))
    moved, count = vectors[there], min(neighbours, len(there) - 1)
    for _ in range(rounds if count > 0 else 0):
        near = nearest(centred(moved), count)
        # Summed block by block: a copy of n · k vectors would not fit.
        means = np.empty_like(moved)
        for low in range(0, len(moved), _BLOCK):
            means[low : low + _BLOCK] = moved[near[low : low + _BLOCK]].mean(axis=1)
        moved = unit(moved + means)[0]
    result = np.zeros_like(vectors)
    result[there] = moved
    return result


def nearest(vectors: np.ndarray, count: int, keys: np.ndarray | None = None) -> np.ndarray:
    """The `count` keys, or others, of highest inner product with each, in no order; int64 (n, count)."""
    found = np.empty((len(vectors), count), np.int64)
    candidates = vectors if keys is None else keys
    block = max(1, _PRODUCTS // len(candidates))
    for low in range(0, len(vectors), block):
        products = vectors[low : low + block] @ candidates.T
        if keys is None:
            products[np.arange(len(products)), np.arange(low, low + len(products))] = -np.inf
        found[low : low + block] = np.argpartition(-products, count - 1, axis=1)[:, :count]
    return found
