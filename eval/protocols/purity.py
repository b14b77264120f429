"""Neighbourhoods: how many of a sentence's nearest neighbours are of its own class, and how near they are."""

from eval.contract import Encode, Options, Progress, Protocol, TaskScore, caution, flaw, undefined
from eval.measures import geometry
from eval.tasks import Table

NEIGHBOURS = (1, 10, 100)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    task = table.task
    vectors = encode(table.texts(task.split))
    if reason := flaw(vectors):
        return undefined(task.metric, reason)
    counts = [count for count in NEIGHBOURS if count < len(vectors)]
    rows = geometry.neighbourhoods_by_row(vectors, table.labels(task.split), counts)
    scores = {name: float(values.mean()) for name, values in rows.items()}
    items = {task.metric: rows[task.metric]}
    return TaskScore(scores[task.metric], scores, items=items, notes=caution(vectors))


PROTOCOL = Protocol(score=_score)
