"""Short-text clustering as VaSCL reports it: K-means, clusters matched to classes one to one."""

from collections.abc import Callable, Sequence

import numpy as np

from eval.contract import Encode, Options, Progress, Protocol, TaskScore, caution, flaw, undefined
from eval.tasks import Table

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
    if reason := flaw(vectors) or ("there is one class only" if classes < 2 else ""):
        return undefined("accuracy", reason, settings)
    notes = caution(vectors)
    seconds = 2e-8 * np.size(vectors) * classes * len(seeds)
    runs = parallel(jobs, seconds, return_as="generator")(
        delayed(cluster)(np.asarray(vectors), classes, seed) for seed in seeds
    )
    measures = {
        "accuracy": hungarian_accuracy,
        "nmi": normalized_mutual_info_score,
        "ari": adjusted_rand_score,
        "v_measure": v_measure_score,
    }
    columns: dict[str, list[float]] = {name: [] for name in measures}
    for seed, (clusters, degenerate) in zip(seeds, runs, strict=True):
        if degenerate:
            notes.append(f"seed {seed}: fewer distinct embeddings than classes")
        for name, measure in measures.items():
            columns[name].append(float(measure(gold, clusters)))
        if progress:
            progress(1)
    scores = {name: float(np.mean(values)) for name, values in columns.items()}
    return TaskScore(scores["accuracy"], scores, columns["accuracy"], settings=settings, notes=notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    split = table.task.split
    progress.start("seeds", len(SEEDS))
    vectors, labels = encode(table.texts(split)), table.labels(split)
    return score(vectors, labels, seeds=SEEDS, jobs=options.jobs, progress=progress.advance)


PROTOCOL = Protocol(score=_score, suffix="KMeans")
