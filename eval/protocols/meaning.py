"""Meaning: does an encoder see what turns a sentence (a negation, an antonym, a number, who does it to whom)?

Three figures. *Right*: of a sentence's group, the share where the paraphrase is nearer than every turned
sentence. *AUC*: how often a paraphrase has a higher cosine than a turned sentence, over all pairs. *Let
through*: the share of turned sentences whose cosine is above the one that 90 % of the paraphrases reach: what
a threshold in a search or a cache lets pass. The last two compare with the paraphrases of the sets without
groups, which people wrote or judged as saying the same; what a caption entails is not its paraphrase.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from eval.contract.options import Options, Progress
from eval.contract.protocol import Cells, Encode, Protocol, scored_split
from eval.contract.task_score import TaskScore, flaw, undefined
from eval.measures.similarity import cosine
from eval.tasks.meaning import SAME
from eval.tasks.table import Table

PASSED = 0.1  # share of the paraphrases that lie below the threshold


def auc(same: np.ndarray, turned: np.ndarray) -> float:
    """Share of all pairs of both where the paraphrase has the higher cosine; ties count half."""
    values, counts = np.concatenate([same, turned]), len(same) * len(turned)
    _, ranks, sizes = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(sizes) - (sizes - 1) / 2  # of equal values' ranks
    above = middle[ranks[: len(same)]].sum() - len(same) * (len(same) + 1) / 2
    return float(above / counts) if counts else math.nan


def score(cosines: np.ndarray, sets: np.ndarray, groups: np.ndarray, is_same: np.ndarray) -> TaskScore:
    """Score pairs (n,): the cosine of each, its set, its group (empty: none), and what it is."""
    paraphrases = cosines[is_same & (groups == "")]
    limit = float(np.quantile(paraphrases, PASSED)) if len(paraphrases) else math.nan
    through = cosines > limit
    scores = {
        "auc": auc(paraphrases, cosines[~is_same]),
        "let_through": float(through[~is_same].mean()),
        "limit": limit,
    }
    right: list[bool] = []
    for name in dict.fromkeys(sets.tolist()):
        own = sets == name
        if (own & ~is_same).any():
            scores[f"let_through_{name}"] = float(through[own & ~is_same].mean())
        if (own & (groups != "")).any():
            found = _right(cosines[own], groups[own], is_same[own])
            scores[f"right_{name}"] = float(np.mean(found))
            right += found
        elif (own & is_same).any() and (own & ~is_same).any():
            scores[f"auc_{name}"] = auc(cosines[own & is_same], cosines[own & ~is_same])
    triples = [value for name, value in scores.items() if name.startswith("right_triples")]
    if triples:
        scores["right_triples"] = float(np.mean(triples))
    return TaskScore(scores["auc"], scores, items={"correct": np.array(right, bool)})


def _right(cosines: np.ndarray, groups: np.ndarray, is_same: np.ndarray) -> list[bool]:
    """Of each group, whether its paraphrase is nearer than all that is turned; a tie does not count."""
    found = []
    for group in dict.fromkeys(groups.tolist()):
        own = groups == group
        found.append(bool(cosines[own & is_same].min() > cosines[own & ~is_same].max()))
    return found


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    split = table.task.split
    texts = [table.select(column, split) for column in table.task.text_columns]
    vectors = encode([text for column in texts for text in column])
    if reason := flaw(vectors):
        return undefined("auc", reason)
    columns = (np.array(table.select(name, split)) for name in ("set", "group", "kind"))
    sets, groups, kinds = columns
    return score(cosine(*np.split(vectors, 2)), sets, groups, kinds == SAME)


def _rows(scores: Mapping[str, float]) -> Cells:
    names = [name for name in scores if name != "limit"]
    return {name.replace("_", " "): (scores[name], math.nan) for name in names}


PROTOCOL = Protocol(_score, splits=scored_split, rows=_rows)
