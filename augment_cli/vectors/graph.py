"""Approximate search for the nearest vectors by a graph of near ones (HNSW), for millions of sentences.

Source: Malkov and Yashunin 2018. The graph is the library's, usearch; which candidates count is decided here
as in the exact search (`augment_cli.vectors.search`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors.packages import needed
from augment_cli.vectors.search import Neighbours

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
