"""Vectors changed together: of length 1, centred, smoothed over neighbourhoods, whitened (Su et al. 2021)."""

from dataclasses import dataclass

import numpy as np

from augment_cli.errors import UsageError

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


def smoothed(
    vectors: np.ndarray, neighbours: int, rounds: int, guide: np.ndarray | None = None
) -> np.ndarray:
    """Vectors of length 1, each moved by the mean of its nearest others, `rounds` times.

    Which are near is told by the vectors, or by a guide's rows, of length 1, which are moved alike.
    """
    # v ← unit(v + mean of the k nearest by the cosine about the mean of all), the step of label propagation
    # (Zhu & Ghahramani 2002) and of diffusion for retrieval (Iscen et al. 2017), with equal weights.
    # Vectors of length 0 have no neighbours and are nobody's.
    there = np.flatnonzero(np.any(vectors != 0, axis=1))
    moved, count = vectors[there], min(neighbours, len(there) - 1)
    telling = moved if guide is None else guide[there]
    for _ in range(rounds if count > 0 else 0):
        places = nearest(centred(telling), count)
        moved = unit(moved + _means(moved, places))[0]
        telling = moved if guide is None else unit(telling + _means(telling, places))[0]
    result = np.zeros_like(vectors)
    result[there] = moved
    return result


def nearest(vectors: np.ndarray, count: int) -> np.ndarray:
    """The `count` others of highest inner product with each vector, in no order; int64 (n, count)."""
    found = np.empty((len(vectors), count), np.int64)
    block = max(1, _PRODUCTS // len(vectors))
    for low in range(0, len(vectors), block):
        products = vectors[low : low + block] @ vectors.T
        products[np.arange(len(products)), np.arange(low, low + len(products))] = -np.inf
        found[low : low + block] = np.argpartition(-products, count - 1, axis=1)[:, :count]
    return found


def _means(vectors: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The mean of the vectors at each row of places (n, k); (n, d)."""
    means = np.empty((len(places), vectors.shape[1]), vectors.dtype)
    # Block by block: a copy of n · k vectors would not fit.
    for low in range(0, len(places), _BLOCK):
        means[low : low + _BLOCK] = vectors[places[low : low + _BLOCK]].mean(axis=1)
    return means


@dataclass(frozen=True)
class Whitening:
    """x̃ = (x − μ) W with W = U Λ^(−1/2), from the covariance U Λ Uᵀ of the vectors it was fitted on."""

    mean: np.ndarray  # μ, shape (d,), float64
    kernel: np.ndarray  # W, shape (d, k), columns by falling variance

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Whiten vectors (n, d) into (n, k), float32."""
        return ((np.asarray(vectors, dtype=np.float64) - self.mean) @ self.kernel).astype(np.float32)


def fit(vectors: np.ndarray, dimension: int | None = None, weights: np.ndarray | None = None) -> Whitening:
    """Fit on vectors (n, d), which for the published baseline are the evaluated sentences themselves."""
    # weights: share of each vector in mean and covariance, (n,). With the probabilities of words for their
    # vectors it is Zipfian whitening (Yokoi et al. 2024).
    if len(vectors) < 2:
        raise UsageError(f"whitening needs at least two sentences, not {len(vectors)}")
    data = np.asarray(vectors, dtype=np.float64)
    mean = np.average(data, axis=0, weights=weights)
    covariance = np.cov(data - mean, rowvar=False, bias=True, aweights=weights)
    variance, directions = np.linalg.eigh(covariance)
    variance, directions = variance[::-1], directions[:, ::-1]
    kept = variance > max(variance[0], 0) * max(data.shape) * np.finfo(np.float32).eps
    if not kept.any():
        raise UsageError("whitening needs embeddings that differ; these are all equal")
    kernel = (directions / np.sqrt(np.where(kept, variance, 1)))[:, kept]
    return Whitening(mean, kernel[:, :dimension])
