"""Ordering accuracy on inference data: is an entailed hypothesis closer to its premise than another one?

As AugCSE's case study on ANLI: for each premise, all pairs of an entailed and a not entailed hypothesis; a
pair counts when the dot product with the entailed one is the larger (a tie does not count). The authors'
code pairs with neutral hypotheses too, the paper speaks of contradictions alone; both are reported.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from eval.contract import (
    Encode,
    Options,
    Progress,
    Protocol,
    TaskScore,
    caution,
    flaw,
    scored_split,
    undefined,
)
from eval.measures.geometry import cosine
from eval.tasks import Table


def score(
    premises: tuple[Sequence[str], np.ndarray],
    hypotheses: np.ndarray,
    labels: Sequence[str],
    groups: Sequence[str] | None = None,
) -> TaskScore:
    """Score ordering."""
    # premises: as text, of which equal ones are one premise, and as embeddings.
    texts, vectors = premises
    if reason := flaw(vectors, hypotheses):
        return undefined("accuracy", reason)
    dots = (np.asarray(vectors, dtype=np.float64) * hypotheses).sum(axis=1)
    cosines = cosine(vectors, hypotheses)
    names = list(groups) if groups is not None else ["all"] * len(texts)
    by_premise: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, (name, text) in enumerate(zip(names, texts, strict=True)):
        by_premise[name, text].append(row)
    pairs = [
        (entailed, other)
        for rows in by_premise.values()
        for entailed in rows
        if labels[entailed][0] == "e"
        for other in rows
        if labels[other][0] != "e"
    ]
    if not pairs:
        return undefined("accuracy", "no premise has both an entailed and another hypothesis")
    first, second = np.array(pairs).T
    right = dots[first] > dots[second]
    contradiction = np.array([labels[row][0] == "c" for row in second])
    scores = {
        "accuracy": float(right.mean()),
        "accuracy_cosine": float((cosines[first] > cosines[second]).mean()),
        "pairs": float(len(pairs)),
    }
    if contradiction.any():
        scores["accuracy_contradiction"] = float(right[contradiction].mean())
    if groups is not None:
        rounds = np.array([names[row] for row in first])
        scores |= {f"accuracy_{name}": float(right[rounds == name].mean()) for name in np.unique(rounds)}
    notes = caution(np.concatenate([vectors, hypotheses]))
    return TaskScore(scores["accuracy"], scores, items={"correct": right}, notes=notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    task = table.task
    premises, hypotheses = (table.select(column, task.split) for column in task.text_columns)
    groups = table.select(task.subset_column, task.split) if task.subset_column else None
    labels = table.select(task.label_column, task.split)
    return score((premises, encode(premises)), encode(hypotheses), labels, groups)


PROTOCOL = Protocol(score=_score, splits=scored_split, suffix="Ordering")
