"""Few-shot intent classification as VaSCL describes it: a linear layer on frozen embeddings.

Train and dev are merged; K examples a class train and K others choose the iteration (the training itself is
`eval.measures.classification`). The five splits are fixed, the same for every encoder.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eval.contract import Cells, Encode, Options, Progress, Protocol, TaskScore, caution, flaw, undefined
from eval.tasks import Table

SHOTS = (5, 10, 20)
SPLITS = 5


def draw_split(labels: np.ndarray, shots: int, number: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Draw the training and validation rows of one fixed split."""
    # Returns rows to train on, rows to validate on, and the classes with fewer than 2·shots rows,
    # which give the larger half (at most `shots`) to training and the rest to validation.
    generator = np.random.default_rng([shots, number])
    train, validation, short = list[int](), list[int](), list[str]()
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        taken = min(shots, math.ceil(len(rows) / 2))
        if len(rows) < 2 * shots:
            short.append(str(label))
        train.extend(rows[:taken])
        validation.extend(rows[taken : taken + shots])
    return np.array(train, dtype=int), np.array(validation, dtype=int), short


def score(
    pool: tuple[np.ndarray, Sequence[str] | np.ndarray],
    test: tuple[np.ndarray, Sequence[str] | np.ndarray],
    *,
    minimum_class: int = 0,
    shots: Sequence[int] = SHOTS,
    splits: int = SPLITS,
    progress: Callable[[int], None] | None = None,
) -> TaskScore:
    """Score embeddings at each number of shots."""
    # pool: embeddings and labels of train and dev together.
    # Loaded here, so that listing tasks and printing tables do not wait for torch.
    from eval.measures import classification

    labels, gold = np.asarray(pool[1]), np.asarray(test[1])
    settings = {
        "shots": list(shots),
        "splits": splits,
        "optimizer": "adam",
        "first_weights": 0,
        "learning_rate": classification.LEARNING_RATE,
        "batch": classification.BATCH,
        "iterations": classification.ITERATIONS,
        "validate_every": classification.VALIDATE_EVERY,
    }
    vectors, test_vectors = np.asarray(pool[0]), np.asarray(test[0])
    notes = caution(vectors)
    dropped = [name for name in np.union1d(labels, gold) if (labels == name).sum() < minimum_class]
    if dropped:
        kept, kept_test = ~np.isin(labels, dropped), ~np.isin(gold, dropped)
        vectors, labels = vectors[kept], labels[kept]
        test_vectors, gold = test_vectors[kept_test], gold[kept_test]
        notes.append(f"{len(dropped)} classes with fewer than {minimum_class} examples dropped")
    reason = flaw(vectors, test_vectors)
    if not reason and len(np.unique(labels)) < 2:
        reason = "there is one class only"
    if reason or not len(gold):
        return undefined("accuracy", reason or "the test part is empty", settings)
    if unseen := sorted(set(gold) - set(labels)):
        rows = np.isin(gold, unseen).sum()
        named = ", ".join(unseen[:5])
        notes.append(f"{rows} test rows have labels unseen in training, counted as errors: {named}")
    settings["classes"] = len(np.unique(labels))
    scores: dict[str, float] = {}
    items: dict[str, np.ndarray] = {}
    for count in shots:
        drawn = [draw_split(labels, count, number) for number in range(splits)]
        if short := drawn[0][2]:
            notes.append(f"{len(short)} classes have fewer than {2 * count} examples for {count} shots")
        predicted = classification.train_and_predict(
            vectors, labels, [(train, held) for train, held, _ in drawn], test_vectors
        )
        accuracies = np.mean(predicted == gold, axis=1)
        correct = np.sum(predicted == gold, axis=0)
        if progress:
            progress(splits)
        scores[f"accuracy_{count}"] = float(np.mean(accuracies))
        scores[f"sd_{count}"] = float(np.std(accuracies, ddof=1)) if splits > 1 else math.nan
        items[f"correct_{count}"] = correct / splits
    main = float(np.mean([scores[f"accuracy_{count}"] for count in shots]))
    return TaskScore(main, {"accuracy": main, **scores}, items=items, settings=settings, notes=notes)


def shot_cells(scores: Mapping[str, float]) -> Cells:
    """Accuracy and its deviation at each number of shots, as the paper's table has it."""
    prefix = "accuracy_"
    shots = sorted(int(name.removeprefix(prefix)) for name in scores if name.startswith(prefix))
    return {f"{count} shots": (scores[f"accuracy_{count}"], scores[f"sd_{count}"]) for count in shots}


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    pool = [split for split in ("train", "dev") if split in table.task.counts]
    progress.start("few-shot trainings", len(SHOTS) * SPLITS)
    return score(
        (encode(table.texts(*pool)), table.labels(*pool)),
        (encode(table.texts("test")), table.labels("test")),
        minimum_class=table.task.minimum_class,
        shots=SHOTS,
        progress=progress.advance,
    )


PROTOCOL = Protocol(score=_score, rows=shot_cells, suffix="FewShot")
