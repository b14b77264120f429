"""Short-text clustering as VaSCL reports it: K-means, clusters matched to classes one to one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, v_measure_score
from sklearn.metrics.cluster import contingency_matrix

from eval.outcome import Outcome, caution, flaw, undefined

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


def score(
    vectors: np.ndarray,
    labels: Sequence[str],
    *,
    seeds: Sequence[int] = SEEDS,
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
    for seed in seeds:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = KMeans(n_clusters=classes, n_init=10, max_iter=300, random_state=seed)
            clusters = model.fit_predict(vectors)
        if any(issubclass(item.category, ConvergenceWarning) for item in caught):
            notes.append(f"seed {seed}: fewer distinct embeddings than classes")
        columns["accuracy"].append(hungarian_accuracy(gold, clusters))
        columns["nmi"].append(float(normalized_mutual_info_score(gold, clusters)))
        columns["ari"].append(float(adjusted_rand_score(gold, clusters)))
        columns["v_measure"].append(float(v_measure_score(gold, clusters)))
        if progress:
            progress(1)
    scores = {name: float(np.mean(values)) for name, values in columns.items()}
    return Outcome(scores["accuracy"], scores, columns["accuracy"], settings=settings, notes=notes)
