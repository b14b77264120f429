"""Short-text clustering as VaSCL reports it: K-means, clusters matched to classes one to one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, v_measure_score
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits

from eval.results.outcome import Outcome, caution, flaw, undefined

SEEDS = tuple(range(10))


def hungarian_accuracy(gold: Sequence[str] | np.ndarray, clusters: Sequence[int] | np.ndarray) -> float:
    """Accuracy under the best one-to-one assignment of clusters to classes.

    Parameters
    ----------
    gold, clusters
        Class and cluster of each row, n each. Clusters beyond the number of classes match nothing.

    Returns
    -------
    float
        In (0, 1].
    """
    table = contingency_matrix(gold, clusters)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def cluster(vectors: np.ndarray, clusters: int, seed: int) -> tuple[np.ndarray, bool]:
    """One K-means run: the cluster of each row, and whether there were fewer distinct rows than clusters.

    On one thread: with several the sums inside K-means depend on which thread comes first, and threads that
    wait for each other crawl when another process shares a core.
    """
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = KMeans(n_clusters=clusters, n_init=10, max_iter=300, random_state=seed)
        found = model.fit_predict(vectors)
    return found, any(issubclass(item.category, ConvergenceWarning) for item in caught)


def score(
    vectors: np.ndarray,
    labels: Sequence[str],
    *,
    seeds: Sequence[int] = SEEDS,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Cluster embeddings into as many groups as there are classes, once per seed.

    Parameters
    ----------
    vectors
        Shape (n, d), as the encoder gives them (not normalised here).
    labels
        The class of each row.
    seeds
        Random states of K-means (k-means++ starts, n_init=10, at most 300 iterations).
    jobs
        Processes that share the seeds; the result does not depend on it.

    Returns
    -------
    Outcome
        Means over seeds of `accuracy`, `nmi`, `ari` and `v_measure`; `runs` holds the accuracies.
    """
    gold = np.asarray(labels)
    classes = len(np.unique(gold))
    settings = {"clusters": classes, "n_init": 10, "seeds": list(seeds)}
    reason = flaw(vectors)
    if not reason and classes < 2:
        reason = "there is one class only"
    if reason:
        return undefined("accuracy", reason, settings)
    notes = caution(vectors)
    columns: dict[str, list[float]] = {"accuracy": [], "nmi": [], "ari": [], "v_measure": []}
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(cluster)(np.asarray(vectors), classes, seed) for seed in seeds
    )
    for seed, (clusters, degenerate) in zip(seeds, runs, strict=True):
        if degenerate:
            notes.append(f"seed {seed}: fewer distinct embeddings than classes")
        columns["accuracy"].append(hungarian_accuracy(gold, clusters))
        columns["nmi"].append(float(normalized_mutual_info_score(gold, clusters)))
        columns["ari"].append(float(adjusted_rand_score(gold, clusters)))
        columns["v_measure"].append(float(v_measure_score(gold, clusters)))
        if progress:
            progress(1)
    scores = {name: float(np.mean(values)) for name, values in columns.items()}
    return Outcome(scores["accuracy"], scores, columns["accuracy"], settings=settings, notes=notes)
