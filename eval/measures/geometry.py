"""Shape of an embedding space: what the scores do not show. Every measure states its formula.

Unless said otherwise vectors are taken as the encoder gives them, one a row of an n by d matrix; where a
formula needs directions they are scaled to length one first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from augment_cli.errors import MissingError, UsageError

_BLOCK = 2048  # rows of a similarity matrix held at once


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length one in float64; zero rows stay zero."""
    vectors = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


def alignment(first: np.ndarray, second: np.ndarray) -> float:
    """Mean of ‖x − y‖² over positive pairs of unit vectors (Wang & Isola 2020); lower is closer."""
    if not len(first):
        return math.nan
    return float(((unit(first) - unit(second)) ** 2).sum(axis=1).mean())


def uniformity(vectors: np.ndarray) -> float:
    """ln of the mean of exp(−2 ‖x − y‖²) over pairs of rows (Wang & Isola 2020); lower is more even."""
    scaled = unit(vectors)
    n = len(scaled)
    if n < 2:
        return math.nan
    squares = (scaled**2).sum(axis=1)
    total = 0.0
    for start in range(0, n, _BLOCK):
        rows = scaled[start : start + _BLOCK]
        distance = squares[start : start + _BLOCK, None] + squares[None] - 2 * rows @ scaled.T
        total += float(np.exp(-2 * np.maximum(distance, 0)).sum())
    return math.log((total - n) / (n * (n - 1)))  # a row is at distance 0 from itself, which adds 1 each


def anisotropy(vectors: np.ndarray) -> float:
    """Mean cosine over all pairs of different rows (Ethayarajh 2019): (‖Σ x̂‖² − Σ ‖x̂‖²) / (n(n−1))."""
    # Returns in [-1/(n-1), 1]; 0 for directions spread evenly; NaN for fewer than two rows.
    scaled = unit(vectors)
    n = len(scaled)
    if n < 2:
        return math.nan
    return float(((scaled.sum(axis=0) ** 2).sum() - (scaled**2).sum()) / (n * (n - 1)))


def singular_values(vectors: np.ndarray) -> np.ndarray:
    """Singular values of the n by d matrix (not centred), largest first."""
    return np.linalg.svd(np.asarray(vectors, dtype=np.float64), compute_uv=False)


def effective_rank(vectors: np.ndarray) -> float:
    """exp of the entropy of σ / Σσ over the singular values σ (Roy & Vetterli 2007)."""
    # Returns in [1, min(n, d)]; NaN for a matrix of zeros.
    return _effective_rank(singular_values(vectors))


def _effective_rank(values: np.ndarray) -> float:
    if not values.sum():
        return math.nan
    share = values / values.sum()
    share = share[share > 0]
    return float(np.exp(-(share * np.log(share)).sum()))


def effective_condition(vectors: np.ndarray) -> float:
    """σ₁ / σ_r with r = floor(effective rank); at least 1, NaN for a matrix of zeros."""
    values = singular_values(vectors)
    rank = _effective_rank(values)
    return math.nan if math.isnan(rank) else float(values[0] / values[int(rank + 1e-9) - 1])


def cond_hm(first: np.ndarray, second: np.ndarray) -> float:
    """Harmonic mean 2ab / (a + b) of the two matrices' effective condition numbers (as AugCSE reports it)."""
    a, b = effective_condition(first), effective_condition(second)
    return 2 * a * b / (a + b)


def singular_value_gap(first: np.ndarray, second: np.ndarray) -> float:
    """Σₖ (ln σₖ(A) − ln σₖ(B))² over the singular values of two matrices; 0 for equal spectra."""
    # Values at or below the larger spectrum's rounding error (σ₁ · max(n, d) · ε) have no meaningful
    # logarithm and are left out on both sides.
    a, b = singular_values(first), singular_values(second)
    count = min(len(a), len(b))
    floor = max(a[0] * max(np.shape(first)), b[0] * max(np.shape(second))) * np.finfo(np.float64).eps
    kept = (a[:count] > floor) & (b[:count] > floor)
    if not kept.any():
        return math.nan
    return float(((np.log(a[:count][kept]) - np.log(b[:count][kept])) ** 2).sum())


def gromov_hausdorff(first: np.ndarray, second: np.ndarray) -> float:
    """Lower bound of the Gromov–Hausdorff distance: the bottleneck distance between persistence diagrams."""
    # Diagrams of dimension 0 of the Vietoris–Rips filtration on √(2 − 2·cosine), with the optional library
    # gudhi, as AugCSE computes it.
    if find_spec("gudhi") is None:
        raise MissingError(
            "the Gromov-Hausdorff distance needs the optional package gudhi; run: pip install gudhi"
        )
    import gudhi

    diagrams = []
    for vectors in (first, second):
        scaled = unit(vectors)
        distance = np.sqrt(np.maximum(2 - 2 * scaled @ scaled.T, 0))
        np.fill_diagonal(distance, 0)
        tree = gudhi.RipsComplex(distance_matrix=distance).create_simplex_tree(max_dimension=1)
        tree.compute_persistence()
        diagram = np.asarray(tree.persistence_intervals_in_dimension(0))
        diagrams.append(diagram[np.isfinite(diagram[:, 1])])
    return float(gudhi.bottleneck_distance(*diagrams))


def neighbourhoods_by_row(
    vectors: np.ndarray, labels: Sequence[str] | np.ndarray, neighbours: Sequence[int]
) -> dict[str, np.ndarray]:
    """Purity and mean distance of each row's nearest others, for several numbers of them in one pass."""
    # The two curves of VaSCL's figure 2, for each number K: `purity_{K}`, the share of the K nearest
    # of the row's class, in [0, 1], and `distance_{K}`, the mean cosine distance to the K nearest, in [0, 2].
    scaled = unit(vectors).astype(np.float32)
    most = max(neighbours)
    if min(neighbours) < 1 or most >= len(scaled):
        raise UsageError(f"{most} neighbours of {len(scaled)} rows; choose 1 to {len(scaled) - 1}")
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    found = {
        f"{what}_{count}": np.empty(len(scaled)) for what in ("purity", "distance") for count in neighbours
    }
    for start in range(0, len(scaled), _BLOCK):
        similarity = scaled[start : start + _BLOCK] @ scaled.T
        rows = np.arange(len(similarity))
        similarity[rows, start + rows] = -np.inf
        near = np.argpartition(-similarity, most - 1, axis=1)[:, :most]
        cosines = np.take_along_axis(similarity, near, axis=1)
        order = np.argsort(-cosines, axis=1, kind="stable")
        hits = codes[np.take_along_axis(near, order, axis=1)] == codes[start + rows][:, None]
        distances = 1 - np.take_along_axis(cosines, order, axis=1).astype(np.float64)
        for count in neighbours:
            found[f"purity_{count}"][start + rows] = hits[:, :count].mean(axis=1)
            found[f"distance_{count}"][start + rows] = distances[:, :count].mean(axis=1)
    return found


def of_pairs(vectors: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict[str, float]:
    """Alignment of positive pairs, and uniformity, anisotropy and effective rank of all vectors."""
    return {
        "alignment": alignment(first, second),
        "uniformity": uniformity(vectors),
        "anisotropy": anisotropy(vectors),
        "effective_rank": effective_rank(vectors),
    }


def of_spaces(spaces: dict[str, np.ndarray], *, gromov: bool = False) -> dict[str, float]:
    """COND-HM, singular-value gap and alignment (and Gromov–Hausdorff) for each two of several matrices."""
    names = list(spaces)
    measures: dict[str, Any] = {"cond_hm": cond_hm, "svg": singular_value_gap, "alignment": alignment}
    if gromov:
        measures["gh"] = gromov_hausdorff
    return {
        f"{measure}_{a}_{b}": function(spaces[a], spaces[b])
        for measure, function in measures.items()
        for index, a in enumerate(names)
        for b in names[index + 1 :]
    }
