"""Cosine similarity with gold scores, and the shape of an embedding space. Every measure states its formula.

Unless said otherwise vectors are taken as the encoder gives them, one a row of an n by d matrix; where a
formula needs directions they are scaled to length one first.
"""

import math
import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations, compress
from typing import Any

import numpy as np
import scipy  # its `stats` loads when it is first used, and takes long to

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
    values = singular_values(vectors)
    return float(np.exp(scipy.stats.entropy(values))) if values.any() else math.nan


def effective_condition(vectors: np.ndarray) -> float:
    """σ₁ / σ_r with r = floor(effective rank); at least 1, NaN for a matrix of zeros."""
    rank, values = effective_rank(vectors), singular_values(vectors)
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


def of_spaces(spaces: dict[str, np.ndarray], *, gromov: bool = False) -> dict[str, float]:
    """COND-HM, singular-value gap and alignment (and Gromov–Hausdorff) for each two of several matrices."""
    measures: dict[str, Any] = {"cond_hm": cond_hm, "svg": singular_value_gap, "alignment": alignment}
    measures |= {"gh": gromov_hausdorff} if gromov else {}
    return {
        f"{measure}_{a}_{b}": function(spaces[a], spaces[b])
        for measure, function in measures.items()
        for a, b in combinations(spaces, 2)
    }


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
    parts, between = _parts(text)
    first = generator.permutation(len(parts)) < len(parts) // 2
    return between.join(compress(parts, first)), between.join(compress(parts, ~first))


def opening(text: str, longest: int) -> str:
    """The first `longest` words of a text; of one without spaces, characters."""
    parts, between = _parts(text)
    return between.join(parts[:longest]) if len(parts) > longest else text


def _parts(text: str) -> tuple[list[str], str]:
    """A text's words, or the characters of one without spaces, and what stands between them."""
    from augment_cli.tokenization.tokens import ALONE  # loads pyarrow, which `--help` does without

    words = text.split()
    is_spaced = len(words) > 1 and 2 * len(re.findall(ALONE, text)) <= len(text)
    return (words, " ") if is_spaced else (list(text), "")


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
