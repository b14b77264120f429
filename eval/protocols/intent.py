"""Few-shot intent classification as VaSCL describes it: a linear layer on frozen embeddings.

Train and dev are merged; K examples a class train and K others choose the iteration. A linear softmax
layer is trained by Adam (optimiser and pooling are not stated in the paper) at learning rate 1e-4, batch
32, 1,000 iterations, validated every 100; the best is tested. The five splits are fixed, the same for
every encoder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from eval.measures.senteval import one_thread
from eval.results.outcome import Outcome, caution, flaw, undefined

SHOTS = (5, 10, 20)
SPLITS = 5
LEARNING_RATE = 1e-4
BATCH = 32
ITERATIONS = 1000
VALIDATE_EVERY = 100


def draw_split(labels: np.ndarray, shots: int, number: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Draw the training and validation rows of one fixed split.

    Parameters
    ----------
    labels
        Class of each row of train and dev together, shape (n,).
    shots
        Rows a class for each of the two.
    number
        Which split, from 0; the draw depends on this, `shots` and the labels alone.

    Returns
    -------
    tuple
        Row numbers to train on, row numbers to validate on, and the classes with fewer than 2·shots rows,
        which give the larger half (at most `shots`) to training and the rest to validation.
    """
    generator = np.random.default_rng([shots, number])
    train: list[int] = []
    validation: list[int] = []
    short: list[str] = []
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        taken = min(shots, math.ceil(len(rows) / 2))
        if len(rows) < 2 * shots:
            short.append(str(label))
        train.extend(rows[:taken])
        validation.extend(rows[taken : taken + shots])
    return np.array(train, dtype=int), np.array(validation, dtype=int), short


def score(
    pool: tuple[np.ndarray, Sequence[str]],
    test: tuple[np.ndarray, Sequence[str]],
    *,
    minimum_class: int = 0,
    shots: Sequence[int] = SHOTS,
    splits: int = SPLITS,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Score embeddings at each number of shots.

    Parameters
    ----------
    pool
        Embeddings (n, d) and labels of train and dev together.
    test
        The same for the test part.
    minimum_class
        Classes with fewer rows in the pool are dropped, from the test part too (ATIS: 40, which leaves 8).
    shots, splits
        Numbers of examples a class, and how many fixed splits.

    Returns
    -------
    Outcome
        `accuracy_{K}` and its sample standard deviation `sd_{K}` over the splits; the main score is the mean
        over the shots. `items["correct_{K}"]` is each test row's share of splits that got it right.
    """
    labels, gold = np.asarray(pool[1]), np.asarray(test[1])
    settings = {
        "shots": list(shots),
        "splits": splits,
        "optimizer": "adam",
        "learning_rate": LEARNING_RATE,
        "batch": BATCH,
        "iterations": ITERATIONS,
        "validate_every": VALIDATE_EVERY,
    }
    vectors, test_vectors = np.asarray(pool[0]), np.asarray(test[0])
    notes = caution(vectors)
    dropped = [name for name in np.union1d(labels, gold) if (labels == name).sum() < minimum_class]
    if dropped:
        kept, kept_test = ~np.isin(labels, dropped), ~np.isin(gold, dropped)
        vectors, labels, test_vectors, gold = (
            vectors[kept],
            labels[kept],
            test_vectors[kept_test],
            gold[kept_test],
        )
        notes.append(f"{len(dropped)} classes with fewer than {minimum_class} examples dropped")
    reason = flaw(vectors) or flaw(test_vectors)
    if not reason and len(np.unique(labels)) < 2:
        reason = "there is one class only"
    if not reason and not len(gold):
        reason = "the test part is empty"
    if reason:
        return undefined("accuracy", reason, settings)
    unseen = sorted(set(gold) - set(labels))
    if unseen:
        known = np.isin(gold, labels)
        notes.append(
            f"{(~known).sum()} test rows have labels unseen in training, counted as errors: "
            f"{', '.join(unseen[:5])}"
        )
    settings["classes"] = len(np.unique(labels))
    scores: dict[str, float] = {}
    items: dict[str, np.ndarray] = {}
    for count in shots:
        accuracies, correct = [], np.zeros(len(gold))
        for number in range(splits):
            train, validation, short = draw_split(labels, count, number)
            if short and not number:
                notes.append(f"{len(short)} classes have fewer than {2 * count} examples for {count} shots")
            predicted = _train(vectors, labels, train, validation, test_vectors, seed=number)
            accuracies.append(float(np.mean(predicted == gold)))
            correct += predicted == gold
            if progress:
                progress(1)
        scores[f"accuracy_{count}"] = float(np.mean(accuracies))
        scores[f"sd_{count}"] = float(np.std(accuracies, ddof=1)) if splits > 1 else math.nan
        items[f"correct_{count}"] = correct / splits
    main = float(np.mean([scores[f"accuracy_{count}"] for count in shots]))
    return Outcome(main, {"accuracy": main, **scores}, items=items, settings=settings, notes=notes)


@one_thread()
def _train(
    vectors: np.ndarray,
    labels: np.ndarray,
    train: np.ndarray,
    validation: np.ndarray,
    test: np.ndarray,
    *,
    seed: int,
) -> np.ndarray:
    names = np.unique(labels)
    generator = torch.Generator().manual_seed(seed)
    x, held = (torch.as_tensor(vectors[rows], dtype=torch.float32) for rows in (train, validation))
    y, held_y = (torch.as_tensor(np.searchsorted(names, labels[rows])) for rows in (train, validation))
    bound = x.shape[1] ** -0.5
    weight = ((torch.rand((len(names), x.shape[1]), generator=generator) * 2 - 1) * bound).requires_grad_()
    bias = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE)
    best, kept = -1.0, (weight, bias)
    order = torch.empty(0, dtype=torch.long)
    for step in range(1, ITERATIONS + 1):
        if not len(order):
            order = torch.randperm(len(x), generator=generator)
        rows, order = order[:BATCH], order[BATCH:]
        optimizer.zero_grad()
        cross_entropy(x[rows] @ weight.T + bias, y[rows]).backward()
        optimizer.step()
        if step % VALIDATE_EVERY == 0:
            with torch.no_grad():
                accuracy = float(((held @ weight.T + bias).argmax(dim=1) == held_y).float().mean())
            if accuracy > best:
                best, kept = accuracy, (weight.detach().clone(), bias.detach().clone())
    answers = (torch.as_tensor(test, dtype=torch.float32) @ kept[0].T + kept[1]).argmax(dim=1)
    return np.asarray(names[answers.detach().numpy()])
