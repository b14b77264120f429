"""Shape of the space of an STS set's sentences: alignment, uniformity, anisotropy, effective rank."""

from eval.contract import (
    Encode,
    Options,
    Progress,
    Protocol,
    TaskScore,
    caution,
    flaw,
    rejoin,
    scored_split,
    undefined,
)
from eval.measures import geometry
from eval.tasks import Table, pairs_of

POSITIVE_ABOVE = 4  # gold score above which SimCSE takes a pair for a positive one


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    metric = table.task.metric
    pairs = pairs_of(table)
    first, second = encode(pairs.first), encode(pairs.second)
    everything = encode(list(dict.fromkeys(table.every_text(scored_split(table.task)))))
    if reason := flaw(everything):
        return undefined(metric, reason)
    positive = pairs.gold > POSITIVE_ABOVE
    scores = {
        "alignment": geometry.alignment(first[positive], second[positive]),
        "uniformity": geometry.uniformity(everything),
        "anisotropy": geometry.anisotropy(everything),
        "effective_rank": geometry.effective_rank(everything),
    }
    return TaskScore(scores[metric], scores, notes=caution(everything))


PROTOCOL = Protocol(score=_score, splits=scored_split, prepare=rejoin, percent=False)
