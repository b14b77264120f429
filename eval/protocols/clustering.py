"""Short-text clustering as VaSCL reports it: K-means, clusters matched to classes one to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eval.contract.options import Options, Progress
from eval.contract.protocol import Encode, Protocol
from eval.contract.task_score import TaskScore, caution, flaw, undefined
from eval.tasks.table import Table

SEEDS = tuple(range(10))


def score(
    vectors: np.ndarray,
    labels: Sequence[str] | np.ndarray,
    *,
    seeds: Sequence[int] = SEEDS,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> TaskScore:
    """Cluster embeddings into as many groups as there are classes, once per seed."""
    # Loaded here, so that listing tasks and printing tables do not wait for scikit-learn.
    from joblib import delayed
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, v_measure_score

    from eval.measures.kmeans import cluster, hungarian_accuracy
    from eval.measures.processes import parallel

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
    seconds = 2e-8 * np.size(vectors) * classes * len(seeds)
    runs = parallel(jobs, seconds, return_as="generator")(
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
    return TaskScore(scores["accuracy"], scores, columns["accuracy"], settings=settings, notes=notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    split = table.task.split
    progress.start("seeds", len(SEEDS))
    return score(
        encode(table.texts(split)),
        table.labels(split),
        seeds=SEEDS,
        jobs=options.jobs,
        progress=progress.advance,
    )


PROTOCOL = Protocol(score=_score, suffix="KMeans")
