"""Retrieval over a folder in BEIR's layout: documents ranked by cosine, measured as trec_eval does."""

from collections.abc import Mapping, Sequence

import numpy as np

from eval.contract import Encode, Options, Progress, Protocol, Setting, TaskScore, caution, flaw, undefined
from eval.measures.geometry import unit
from eval.tasks import Table
from eval.tasks.beir import DOCUMENT_ROWS, QUERY_ROWS, RetrievalTable

DEPTH = 1000  # ranks that are looked at
CUTS = (1, 3, 5, 10, 100, 1000)
_BLOCK = 2**26  # cosines held at once
# Not recorded: the result's settings state it.
OWN = Setting(
    "rank-own", False, "rank a document whose id is the query's, which BEIR leaves out", recorded=False
)


def trec_order(identifiers: Sequence[str]) -> np.ndarray:
    """The order in which documents of one score come, shape (n,): by falling id, byte by byte."""
    encoded = [identifier.encode() for identifier in identifiers]
    return np.array(sorted(range(len(encoded)), key=encoded.__getitem__, reverse=True), dtype=np.int64)


def top(scores: np.ndarray, count: int) -> np.ndarray:
    """Places of the highest scores, best first; of equal scores the earlier place first, at the end too."""
    # scores: (n,), finite or −inf. Returns (min(n, count),), int64.
    if count < len(scores):
        # All that reach the last rank's score: which of those that tie there are in is for the sort to say.
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]


def rankings(
    queries: np.ndarray,
    documents: np.ndarray,
    query_names: Sequence[str],
    document_names: Sequence[str],
    *,
    depth: int = DEPTH,
    own: bool = False,
) -> list[list[str]]:
    """The documents nearest to each query by cosine, every document compared."""
    # queries, documents: (q, d) and (n, d); scaled to length 1 here.
    order = trec_order(document_names)
    names = [document_names[place] for place in order]
    places = {name: place for place, name in enumerate(names)}
    left, right = (unit(vectors).astype(np.float32) for vectors in (queries, documents[order]))
    ranked = []
    rows = max(1, _BLOCK // max(1, len(names)))
    for low in range(0, len(left), rows):
        cosines = left[low : low + rows] @ right.T
        for scores, query in zip(cosines, query_names[low : low + rows], strict=True):
            best = top(scores, depth + 1)
            itself = -1 if own else places.get(query, -1)
            ranked.append([names[place] for place in best if place != itself][:depth])
    return ranked


def measures(
    ranked: Sequence[str], judged: Mapping[str, int], cuts: Sequence[int] = CUTS
) -> dict[str, float]:
    """What one query's ranking is worth."""
    depth = max(max(cuts), len(ranked))
    gains, ideal = np.zeros(depth), np.zeros(max(depth, len(judged)))
    found = [max(judged.get(name, 0), 0) for name in ranked]
    gains[: len(found)] = found
    ideal[: len(judged)] = np.sort([max(grade, 0) for grade in judged.values()])[::-1]
    discounts = np.log2(np.arange(2, len(ideal) + 2))
    relevant = sum(grade > 0 for grade in judged.values())
    scores: dict[str, float] = {}
    for cut in cuts:
        best = float((ideal / discounts)[:cut].sum())
        scores[f"ndcg_at_{cut}"] = float((gains / discounts[:depth])[:cut].sum()) / best if best else 0.0
        scores[f"recall_at_{cut}"] = float((gains[:cut] > 0).sum()) / relevant if relevant else 0.0
    hits = np.flatnonzero(gains > 0)
    scores["mrr"] = 1.0 / (int(hits[0]) + 1) if len(hits) else 0.0
    return scores


def score(
    table: RetrievalTable, encode: Encode, *, own: bool = False, queries_by: Encode | None = None
) -> TaskScore:
    """Rank all documents for each judged query, and average what the rankings are worth."""
    settings = {"depth": DEPTH, "similarity": "cosine", "own": own}
    documents, queries = encode(table.texts(DOCUMENT_ROWS)), (queries_by or encode)(table.texts(QUERY_ROWS))
    if reason := flaw(documents, queries):
        return undefined(table.task.metric, reason, settings)
    names = table.select("id", QUERY_ROWS)
    ranked = rankings(queries, documents, names, table.select("id", DOCUMENT_ROWS), own=own)
    each = [measures(ids, table.relevance[name]) for name, ids in zip(names, ranked, strict=True)]
    scores = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    metric = table.task.metric
    items = {metric: np.array([one[metric] for one in each])}
    notes = [*table.notes, *caution(documents)]
    return TaskScore(scores[metric], scores, items=items, settings=settings, notes=notes)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    assert isinstance(table, RetrievalTable)
    return score(table, encode, own=bool(options.value(OWN)), queries_by=options.queries)


PROTOCOL = Protocol(score=_score, settings=(OWN,), suffix="Retrieval", mteb_scores={f"mrr_at_{DEPTH}": "mrr"})
