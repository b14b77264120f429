"""K-means, and its clusters matched to classes one to one."""

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits


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
        model = KMeans(n_clusters=clusters, init=_starts, n_init=10, max_iter=300, random_state=seed)
        assigned = model.fit_predict(vectors)
    return assigned, any(issubclass(item.category, ConvergenceWarning) for item in caught)


def _starts(vectors: np.ndarray, clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Centres to start from, shape (clusters, d), by k-means++ in double precision."""
    centres, _ = kmeans_plusplus(vectors.astype(np.float64), clusters, random_state=random_state)
    return centres
