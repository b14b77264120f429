"""Meaning: does an encoder see what turns a sentence (a negation, an antonym, a number, who does it to whom)?

Three figures. *Right*: of a sentence's group, the share where the paraphrase is nearer than every turned
sentence. *AUC*: how often a paraphrase has a higher cosine than a turned sentence, over all pairs. *Let
through*: the share of turned sentences whose cosine is above the one that 90 % of the paraphrases reach: what
a threshold in a search or a cache lets pass. The last two compare with the paraphrases of the sets without
groups, which people wrote or judged as saying the same; what a caption entails is not its paraphrase.
Beside each stands half of its 95 % interval, over other test examples.
"""

import math
from collections.abc import Mapping

import numpy as np

from eval.contract import Cells, Encode, Options, Progress, Protocol, TaskScore, flaw, scored_split, undefined
from eval.measures.geometry import cosine
from eval.tasks import Table
from eval.tasks.meaning import SAME

_HALF = "half_interval_"
PASSED = 0.1  # share of the paraphrases that lie below the threshold


def auc(same: np.ndarray, turned: np.ndarray) -> float:
    """Share of all pairs of both where the paraphrase has the higher cosine; ties count half."""
    from sklearn.metrics import roc_auc_score

    if not len(same) or not len(turned):
        return math.nan
    return float(roc_auc_score(np.repeat([1, 0], [len(same), len(turned)]), np.concatenate([same, turned])))


def half_of_auc(area: float, same: int, turned: int) -> float:
    """Half of the 95 % interval of an AUC over `same` × `turned` pairs.

    Source: Hanley and McNeil 1982, equation 2.
    """
    of_same, of_turned = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (same - 1) * (of_same - area**2) + (turned - 1) * (of_turned - area**2)
    return 1.96 * math.sqrt(max(variance, 0) / (same * turned)) if same and turned else math.nan


def score(cosines: np.ndarray, sets: np.ndarray, groups: np.ndarray, is_same: np.ndarray) -> TaskScore:
    """Score pairs (n,): the cosine of each, its set, its group (empty: none), and what it is."""
    from augment_cli.reports.verdicts import wilson

    paraphrases = cosines[is_same & (groups == "")]
    limit = float(np.quantile(paraphrases, PASSED)) if len(paraphrases) else math.nan
    through = cosines > limit
    scores, halves = {"limit": limit}, dict[str, float]()

    def share(name: str, values: np.ndarray) -> None:
        scores[name] = float(np.mean(values))
        low, high = wilson(int(values.sum()), len(values))
        halves[name] = (high - low) / 2

    def area(name: str, same: np.ndarray, turned: np.ndarray) -> None:
        scores[name] = auc(same, turned)
        halves[name] = half_of_auc(scores[name], len(same), len(turned))

    area("auc", paraphrases, cosines[~is_same])
    share("let_through", through[~is_same])
    right, triples = list[bool](), list[str]()
    for name in dict.fromkeys(sets.tolist()):
        own = sets == name
        if (own & ~is_same).any():
            share(f"let_through_{name}", through[own & ~is_same])
        if (own & (groups != "")).any():
            found = _right(cosines[own], groups[own], is_same[own])
            share(f"right_{name}", np.array(found))
            right += found
            triples += [f"right_{name}"] if name.startswith("triples") else []
        elif (own & is_same).any() and (own & ~is_same).any():
            area(f"auc_{name}", cosines[own & is_same], cosines[own & ~is_same])
    if triples:  # each kind counts once
        scores["right_triples"] = float(np.mean([scores[name] for name in triples]))
        halves["right_triples"] = math.hypot(*(halves[name] for name in triples)) / len(triples)
    scores |= {f"{_HALF}{name}": half for name, half in halves.items()}
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
    names = [name for name in scores if name != "limit" and not name.startswith(_HALF)]
    return {name.replace("_", " "): (scores[name], scores.get(_HALF + name, math.nan)) for name in names}


PROTOCOL = Protocol(_score, splits=scored_split, rows=_rows)
