"""Retrieval over a folder in BEIR's layout: documents ranked by their cosine to the query."""

from __future__ import annotations

import numpy as np

from eval.contract.options import Options, Progress, Setting
from eval.contract.protocol import Encode, Protocol
from eval.contract.task_score import TaskScore, caution, flaw, undefined
from eval.measures import retrieval
from eval.tasks.beir import DOCUMENT_ROWS, QUERY_ROWS, RetrievalTable
from eval.tasks.table import Table

# Not recorded: the result's settings state it.
OWN = Setting(
    "rank-own", False, "rank a document whose id is the query's, which BEIR leaves out", recorded=False
)


def score(
    table: RetrievalTable, encode: Encode, *, own: bool = False, queries_by: Encode | None = None
) -> TaskScore:
    """Rank all documents for each judged query, and average what the rankings are worth."""
    settings = {"depth": retrieval.DEPTH, "similarity": "cosine", "own": own}
    documents, queries = encode(table.texts(DOCUMENT_ROWS)), (queries_by or encode)(table.texts(QUERY_ROWS))
    if reason := flaw(documents) or flaw(queries):
        return undefined(table.task.metric, reason, settings)
    names = table.select("id", QUERY_ROWS)
    ranked = retrieval.rankings(queries, documents, names, table.select("id", DOCUMENT_ROWS), own=own)
    each = [retrieval.measures(ids, table.relevance[name]) for name, ids in zip(names, ranked, strict=True)]
    scores = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    metric = table.task.metric
    items = {metric: np.array([one[metric] for one in each])}
    notes = [*table.notes, *caution(documents)]
    return TaskScore(scores[metric], scores, items=items, settings=settings, notes=notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    assert isinstance(table, RetrievalTable)
    return score(table, encode, own=bool(options.value(OWN)), queries_by=options.queries)


PROTOCOL = Protocol(
    score=_score, settings=(OWN,), suffix="Retrieval", mteb_scores={f"mrr_at_{retrieval.DEPTH}": "mrr"}
)
