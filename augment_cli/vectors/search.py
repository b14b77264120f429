"""Search for the nearest vectors, exact or by a graph of near ones (HNSW); which of them become negatives.

The graph is usearch's (Malkov and Yashunin 2018); which candidates count is decided alike in both.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.encoding.transforms import unit
from augment_cli.errors import needed
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.vectors.stages import VectorStage

QUERY_ROWS = 1_024


@dataclass
class Neighbours:
    """The best k candidates of each of m queries so far."""

    scores: np.ndarray  # falling; −inf where there are fewer than k
    row_ids: np.ndarray  # −1 where there are fewer than k
    too_near: np.ndarray  # how many candidates were left out as near-duplicates

    @classmethod
    def none(cls, queries: int, count: int) -> "Neighbours":
        """Before anything was searched."""
        return cls(
            np.full((queries, count), -np.inf, np.float32),
            np.full((queries, count), -1, np.int64),
            np.zeros(queries, np.int64),
        )


def search(
    queries: np.ndarray,
    own: np.ndarray,
    blocks: Iterable[tuple[np.ndarray, np.ndarray]],
    count: int,
    below: float = np.inf,
) -> Neighbours:
    """The `count` candidates of highest inner product with each query, all candidates compared."""
    # own: int64 (m,), a candidate that is never taken for this query (itself); −1 for none
    # blocks: candidates, row_ids int64 (c,) rising, vectors float32 (c, d)
    best = Neighbours.none(len(queries), count)
    for row_ids, vectors in blocks:
        if not len(row_ids):
            continue
        for low in range(0, len(queries), QUERY_ROWS):
            some = slice(low, low + QUERY_ROWS)
            products = queries[some] @ vectors.T
            place = np.searchsorted(row_ids, own[some])
            is_own = row_ids[np.minimum(place, len(row_ids) - 1)] == own[some]
            products[np.flatnonzero(is_own), place[is_own]] = -np.inf
            if below < np.inf and (near := products >= below).any():
                best.too_near[some] += near.sum(axis=1)
                products[near] = -np.inf
            _merge(best.scores[some], best.row_ids[some], products, row_ids)
    order = np.lexsort((best.row_ids, -best.scores), axis=1)
    best.scores = np.take_along_axis(best.scores, order, 1)
    best.row_ids = np.take_along_axis(best.row_ids, order, 1)
    return best


def _merge(scores: np.ndarray, ids: np.ndarray, products: np.ndarray, row_ids: np.ndarray) -> None:
    """Keep the best of what is there, (q, k), and of new products, (q, c), in place."""
    queries, count = scores.shape
    if count == 1:
        place = products.argmax(axis=1)
        top = products[np.arange(queries), place]
        better = top > scores[:, 0]
        scores[better, 0], ids[better, 0] = top[better], row_ids[place[better]]
        return
    # After some blocks hardly a product beats the k-th best: only those that do are looked at.
    rows, columns = np.nonzero(products > scores.min(axis=1)[:, None])
    if not len(rows):
        return
    hits = np.bincount(rows, minlength=queries)
    slot = np.arange(len(rows)) - np.repeat(np.cumsum(hits) - hits, hits)
    all_scores = np.full((queries, count + int(hits.max())), -np.inf, np.float32)
    all_ids = np.full(all_scores.shape, -1, np.int64)
    all_scores[:, :count], all_ids[:, :count] = scores, ids
    all_scores[rows, count + slot], all_ids[rows, count + slot] = products[rows, columns], row_ids[columns]
    # Columns are in the order of row_ids: of equal scores at the last place the first ones stay.
    last = -np.partition(-all_scores, count - 1, axis=1)[:, count - 1, None]
    is_above, is_last = all_scores > last, all_scores == last
    room = count - is_above.sum(axis=1, keepdims=True)
    kept = is_above | (is_last & (is_last.cumsum(axis=1) <= room))
    scores[:] = all_scores[kept].reshape(queries, count)
    ids[:] = all_ids[kept].reshape(queries, count)


def candidate_blocks(stage: VectorStage, first: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors of the sentences that stand for all equal ones (`first[row] == row`), a row group at a time."""
    for index, (start, size) in enumerate(stage.store.parts):
        for low in range(0, size, ROW_GROUP_ROWS):
            rows = np.arange(start + low, min(start + low + ROW_GROUP_ROWS, start + size))
            vectors, has_direction = unit(stage.read(index, [low // ROW_GROUP_ROWS])[0])
            kept = (first[rows] == rows) & has_direction
            yield rows[kept], vectors[kept]


_FILE = "graph.usearch"
_MORE = 14  # asked for beyond those wanted: the row itself, and near-duplicates, which are left out
_LEAST = 64  # candidates followed at once, which keeps a search for few neighbours from missing them


def graph_library() -> Any:
    """usearch.index."""
    with needed("usearch", "--search exact"):
        import usearch.index
    return usearch.index


def build_graph(blocks: Iterable[tuple[np.ndarray, np.ndarray]], dimension: int, folder: Path) -> None:
    """Write the graph of all candidates into a folder, unless it is there."""
    # One thread builds it, in the candidates' order, so that it is the same whenever it is built.
    if (folder / _FILE).is_file():
        return
    graph = graph_library().Index(ndim=dimension, metric="ip", dtype="f16")
    for row_ids, vectors in blocks:
        if len(row_ids):
            graph.add(row_ids.astype(np.uint64), vectors, threads=1)
    temporary = folder / f".{_FILE}"
    graph.save(str(temporary))
    temporary.replace(folder / _FILE)


@lru_cache(maxsize=1)
def open_graph(folder: Path) -> Any:
    """Map what `build_graph` wrote: all workers share the memory."""
    return graph_library().Index.restore(str(folder / _FILE), view=True)


def search_graph(
    queries: np.ndarray, own: np.ndarray, graph: Any, count: int, below: float = np.inf
) -> Neighbours:
    """About the `count` candidates of highest inner product with each query."""
    # As `search.search` does, with scores of vectors in half precision. `too_near` counts the near-duplicates
    # that were met. Where these are more than a few, a query has fewer than `count` neighbours.
    best = Neighbours.none(len(queries), count)
    wanted = count + _MORE
    graph.expansion_search = max(_LEAST, 2 * wanted)
    for query, vector in enumerate(queries):
        found = graph.search(vector, wanted, threads=1)
        row_ids = found.keys.astype(np.int64)
        scores = (1 - found.distances).astype(np.float32)
        is_near = (scores >= below) & (row_ids != own[query])
        best.too_near[query] = is_near.sum()
        kept = ~is_near & (row_ids != own[query])
        order = np.lexsort((row_ids[kept], -scores[kept]))[:count]
        best.scores[query, : len(order)] = scores[kept][order]
        best.row_ids[query, : len(order)] = row_ids[kept][order]
    return best


# Why a neighbour within the range of ranks was not taken, in the order of asking; the first counts.
SKIPPED = (
    "equal_to_positive",
    "above_max_score",
    "below_min_score",
    "within_margin",
    "within_relative_margin",
)


@dataclass(frozen=True)
class Chosen:
    """The negatives of m rows."""

    row_ids: np.ndarray  # −1 where there is none
    scores: np.ndarray
    ranks: np.ndarray
    reasons: np.ndarray  # why there is none
    skipped: dict[str, int]  # how many neighbours were passed over, by reason


def choose(
    neighbours: Neighbours,
    positive_scores: np.ndarray,
    forbidden: np.ndarray,
    limits: MineParameters,
    uniforms: np.ndarray | None = None,
) -> Chosen:
    """Take the negatives of each row from its neighbours."""
    # positive_scores: (m,), NaN where the row has no positive: it gets no negatives
    # forbidden: bool (m, k), which neighbours are positives of the row's sentence
    # uniforms: (m, k), draws: the allowed neighbours with the smallest are taken, without them the nearest
    negatives = limits.negatives
    scores, ids = neighbours.scores, neighbours.row_ids
    rows, count = ids.shape
    ranks = np.broadcast_to(np.arange(count, dtype=np.int32), ids.shape)
    has_positive = ~np.isnan(positive_scores)
    inside = (ids >= 0) & (ranks >= limits.range_min) & (ranks < limits.range_max) & has_positive[:, None]
    positive = np.where(has_positive, positive_scores, 0)[:, None]
    against = {"equal_to_positive": forbidden}
    # At its default a limit is none, whatever a score's rounding.
    if limits.max_score != MineParameters.max_score:
        against["above_max_score"] = scores > limits.max_score
    if limits.min_score != MineParameters.min_score:
        against["below_min_score"] = scores < limits.min_score
    if limits.margin:
        against["within_margin"] = scores > positive - limits.margin
    if limits.relative_margin:
        against["within_relative_margin"] = scores > positive * (1 - limits.relative_margin)
    allowed, skipped = inside.copy(), dict.fromkeys(SKIPPED, 0)
    for reason in SKIPPED:
        if reason in against:
            skipped[reason] = int((allowed & against[reason]).sum())
            allowed &= ~against[reason]
    order_by = np.where(allowed, ranks if uniforms is None else uniforms, np.inf)
    taken = np.argsort(order_by, axis=1, kind="stable")[:, :negatives]
    taken = np.pad(taken, ((0, 0), (0, max(0, negatives - count))))
    is_there = np.arange(negatives) < allowed.sum(axis=1)[:, None]
    # Of several drawn ones the nearest first, whatever their draws.
    taken = np.take_along_axis(
        taken, np.argsort(np.where(is_there, taken, count), axis=1, kind="stable"), axis=1
    )
    reasons = np.full((rows, negatives), Reason.TOO_FEW_CANDIDATES, object)
    reasons[~allowed.any(axis=1)] = Reason.ALL_CANDIDATES_SKIPPED
    reasons[~inside.any(axis=1)] = Reason.NO_CANDIDATE
    reasons[~has_positive] = Reason.NO_POSITIVE
    return Chosen(
        np.where(is_there, np.take_along_axis(ids, taken, 1), -1),
        np.where(is_there, np.take_along_axis(scores, taken, 1), np.nan).astype(np.float32),
        np.where(is_there, taken, -1).astype(np.int32),
        reasons,
        skipped,
    )
