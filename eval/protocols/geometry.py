"""Shape of the space of an STS set's sentences: alignment, uniformity, anisotropy, effective rank."""

from __future__ import annotations

from eval.contract.options import Options, Progress
from eval.contract.protocol import Encode, Protocol, rejoin, scored_split
from eval.contract.task_score import TaskScore, caution, flaw, undefined
from eval.measures import geometry
from eval.tasks.table import Table, pairs_of

POSITIVE_ABOVE = 4  # gold score above which SimCSE takes a pair for a positive one


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    metric = table.task.metric
    pairs = pairs_of(table)
    first, second = encode(pairs.first), encode(pairs.second)
    everything = encode(list(dict.fromkeys(table.every_text(scored_split(table.task)))))
    reason = flaw(everything)
    if reason:
        return undefined(metric, reason)
    positive = pairs.gold > POSITIVE_ABOVE
    scores = geometry.of_pairs(everything, first[positive], second[positive])
    return TaskScore(scores[metric], scores, notes=caution(everything))


PROTOCOL = Protocol(score=_score, splits=scored_split, prepare=rejoin, percent=False)
