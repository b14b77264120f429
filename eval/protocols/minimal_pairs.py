"""Minimal pairs: is a sentence nearer to one that says the same than to one changed in a word that matters?

A triple counts where cos(sentence, same) > cos(sentence, changed); a tie does not. The reworded sentence
shares fewer words than the changed one, so an encoder that looks at words alone is far below chance.
"""

import math
from collections.abc import Mapping

import numpy as np

from eval.contract import Cells, Encode, Options, Progress, Protocol, TaskScore, flaw, scored_split, undefined
from eval.measures.geometry import cosine
from eval.tasks import Table
from eval.tasks.meaning import KINDS


def score(sentences: np.ndarray, same: np.ndarray, changed: np.ndarray, kinds: np.ndarray) -> TaskScore:
    """Score triples."""
    if reason := flaw(sentences, same, changed):
        return undefined("accuracy", reason)
    margins = cosine(sentences, same) - cosine(sentences, changed)
    right = margins > 0
    scores = {"accuracy": float(right.mean()), "margin": float(margins.mean())}
    for kind in dict.fromkeys(kinds.tolist()):
        scores[f"accuracy_{kind}"] = float(right[kinds == kind].mean())
    return TaskScore(scores["accuracy"], scores, items={"correct": right})


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    split = table.task.split
    texts = [table.select(column, split) for column in table.task.text_columns]
    vectors = encode([text for column in texts for text in column])
    kinds = np.array(table.select(table.task.label_column, split))
    sentences, same, changed = np.split(vectors, 3)
    return score(sentences, same, changed, kinds)


def _rows(scores: Mapping[str, float]) -> Cells:
    every = {"all": "accuracy"} | {kind: f"accuracy_{kind}" for kind in KINDS}
    return {label: (scores[name], math.nan) for label, name in every.items() if name in scores}


PROTOCOL = Protocol(_score, splits=scored_split, rows=_rows)
