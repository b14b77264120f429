"""K-means, and its clusters matched to classes one to one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits

_MOST_SQUARED = 5_000  # rows whose distances from one another are held: 0.2 GB


def hungarian_accuracy(gold: Sequence[str] | np.ndarray, clusters: Sequence[int] | np.ndarray) -> float:
    """Accuracy under the best one-to-one assignment of clusters to classes."""
    # Clusters beyond the number of classes match nothing.
    table = contingency_matrix(gold, clusters)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def cluster(vectors: np.ndarray, clusters: int, seed: int) -> tuple[np.ndarray, bool]:
    """One K-means run (k-means++ starts, n_init=10, at most 300 iterations)."""
    # On one thread: with several the sums inside K-means depend on which thread comes first, and threads that
    # wait for each other crawl when another process shares a core. Returns the cluster of each row, and
    # whether there were fewer distinct rows than clusters.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = KMeans(n_clusters=clusters, init=_Starts(), n_init=10, max_iter=300, random_state=seed)
        assigned = model.fit_predict(vectors)
    return assigned, any(issubclass(item.category, ConvergenceWarning) for item in caught)


class _Starts:
    """Centres to start from, by k-means++ in double precision; for the ten starts of one run."""

    _distances: np.ndarray | None = None

    def __call__(self, vectors: np.ndarray, clusters: int, random_state: np.random.RandomState) -> np.ndarray:
        """The centres, shape (clusters, d): the same rows as `sklearn.cluster.kmeans_plusplus` draws."""
        wide = vectors.astype(np.float64)
        if len(wide) > _MOST_SQUARED:
            return kmeans_plusplus(wide, clusters, random_state=random_state)[0]
        if self._distances is None:
            # All at once: scikit-learn measures a few for each centre anew, which takes most of a run's time.
            norms = np.einsum("ij,ij->i", wide, wide)
            self._distances = np.maximum(norms[:, np.newaxis] + norms - 2 * wide @ wide.T, 0)
        rows, tries = len(wide), 2 + int(np.log(clusters))
        chosen = [random_state.choice(rows, p=np.full(rows, 1 / rows))]
        nearest = self._distances[chosen[0]]
        for _ in range(1, clusters):
            drawn = np.searchsorted(np.cumsum(nearest), random_state.uniform(size=tries) * nearest.sum())
            drawn = drawn.clip(max=rows - 1)
            after = np.minimum(nearest, self._distances[drawn])
            best = after.sum(axis=1).argmin()
            nearest = after[best]
            chosen.append(drawn[best])
        return wide[chosen]
