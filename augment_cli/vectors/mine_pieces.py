"""One piece of mined stages, a row group of a part, made in a worker."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.draws import stream_key, uniform
from augment_cli.neural.loading import find_model
from augment_cli.store.journal import Journal, piece_sizes
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.text.normalization import normalize
from augment_cli.tfidf.names import stage_names
from augment_cli.vectors.choosing import choose
from augment_cli.vectors.graph import open_graph, search_graph
from augment_cli.vectors.lexical import LexicalIndex, TextWeigher
from augment_cli.vectors.mine_parameters import MINED_STAGE, MineParameters, limits_of
from augment_cli.vectors.search import Neighbours, candidate_blocks, search
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage, unit
from augment_cli.vectors.texts import texts_of

Place = tuple[int, int, int, int]  # part, piece, its first row, the row after its last


def mine_piece(
    store_path: Path,
    stage: str,
    index: int,
    piece: int,
    parameters: MineParameters,
    fit: str | None,
    vectors: str | None,
    settings: Settings,
) -> tuple[int, int]:
    """Mine for a row group of a part into the journal; returns the part and the piece's rows."""
    store = Store.open(store_path)
    journal = Journal(store.work, stage, settings)
    first = np.load(journal.folder / "first.npy", mmap_mode="r", allow_pickle=False)
    low = store.parts[index][0] + piece * ROW_GROUP_ROWS
    high = low + piece_sizes(store.parts[index][1], ROW_GROUP_ROWS)[piece]
    own = np.array(first[low:high])
    mine = _by_vectors if parameters.by == "vectors" else _by_tfidf
    neighbours, positive_scores = mine(
        store, parameters, fit, vectors, journal.folder, first, (index, piece, low, high)
    )
    forbidden = np.full(high - low, -1)
    if parameters.positive:
        forbidden = _same_text(store, parameters.positive, index, piece, neighbours)
    if parameters.rescore:
        neighbours, positive_scores = _rescored(store, parameters, index, piece, neighbours, positive_scores)
    uniforms = None
    if parameters.sampling == "random":
        row_ids = np.repeat(np.arange(low, high)[:, None], neighbours.row_ids.shape[1], axis=1)
        ranks = np.broadcast_to(np.arange(row_ids.shape[1]), row_ids.shape)
        uniforms = uniform(stream_key(parameters.seed, MINED_STAGE), row_ids, ranks)
    chosen = choose(
        neighbours, positive_scores, forbidden, limits_of(parameters), parameters.negatives, uniforms
    )
    skipped = {"near_duplicate": int(neighbours.too_near.sum())} | chosen.skipped
    columns = {
        "row_id": pa.array(np.arange(low, high)),
        "positive_score": pa.array(positive_scores, pa.float32(), mask=np.isnan(positive_scores)),
        "own": pa.array(own),
    }
    for number in range(parameters.negatives):
        missing = chosen.row_ids[:, number] < 0
        columns |= {
            f"other_row_id_{number}": pa.array(chosen.row_ids[:, number], mask=missing),
            f"score_{number}": pa.array(chosen.scores[:, number], mask=missing),
            f"rank_{number}": pa.array(chosen.ranks[:, number], mask=missing),
            f"reason_{number}": pa.array(chosen.reasons[:, number], pa.string(), mask=~missing),
        }
    # A number for the whole piece, beside its first row.
    for reason, times in skipped.items():
        columns[f"skipped_{reason}"] = pa.array(np.r_[times, np.zeros(high - low - 1, np.int64)])
    journal.write(index, piece, pa.table(columns))
    return index, high - low


def _by_vectors(
    store: Store,
    parameters: MineParameters,
    fit: str | None,
    vectors: str | None,
    folder: Path,
    first: np.ndarray,
    place: Place,
) -> tuple[Neighbours, np.ndarray]:
    index, piece, low, high = place
    anchors = VectorStage.open(store, CORPUS_STAGE, vectors)
    asking = VectorStage.open(store, CORPUS_STAGE, parameters.query_vectors or vectors)
    queries, has_direction = unit(asking.read(index, [piece])[0])
    own, count, below = np.array(first[low:high]), parameters.range_max, parameters.near_duplicate
    if parameters.search == "graph":
        neighbours = search_graph(queries, own, _graph_of(folder), count, below)
    else:
        neighbours = search(queries, own, candidate_blocks(anchors, first), count, below)
    if parameters.positive:
        positives, is_there = unit(
            VectorStage.open(store, parameters.positive, vectors).read(index, [piece])[0]
        )
        scores = np.einsum("ij,ij->i", queries, positives)
    else:
        scores, is_there = np.ones(high - low, np.float32), has_direction
    neighbours.row_ids[~has_direction] = -1
    return neighbours, np.where(is_there & has_direction, scores, np.nan).astype(np.float32)


def _rescored(
    store: Store,
    parameters: MineParameters,
    index: int,
    piece: int,
    neighbours: Neighbours,
    positive_scores: np.ndarray,
) -> tuple[Neighbours, np.ndarray]:
    """Neighbours with a cross-encoder's scores, in their order, and the scores of the positives."""
    from augment_cli.vectors.judging import relevance

    model = find_model(parameters.rescore, option="--rescore")
    anchors = store.read_part(CORPUS_STAGE, index, ["text"], [piece])["text"].to_pylist()
    has_positive = ~np.isnan(positive_scores)
    places = np.nonzero((neighbours.row_ids >= 0) & has_positive[:, None])
    texts = texts_of(store, pa.chunked_array([pa.array(neighbours.row_ids[places])])).to_pylist()
    scores = np.full(neighbours.scores.shape, -np.inf, np.float32)
    scores[places] = relevance(model, "fp32", [anchors[row] for row in places[0]], texts, squeezed=True)
    order = np.argsort(-scores, axis=1, kind="stable")
    sorted_ones = dataclasses.replace(
        neighbours,
        scores=np.take_along_axis(scores, order, 1),
        row_ids=np.take_along_axis(np.where(np.isinf(scores), -1, neighbours.row_ids), order, 1),
    )
    if parameters.positive:
        own = store.read_part(parameters.positive, index, ["text"], [piece])["text"].to_pylist()
    else:
        own = anchors
    rows, found = np.flatnonzero(has_positive), positive_scores.copy()
    found[rows] = relevance(
        model, "fp32", [anchors[row] for row in rows], [own[row] for row in rows], squeezed=True
    )
    return sorted_ones, found


@lru_cache(maxsize=1)
def _graph_of(folder: Path) -> Any:
    return open_graph(folder)


@lru_cache(maxsize=1)
def _index_of(folder: Path) -> LexicalIndex:
    return LexicalIndex.load(folder)


@lru_cache(maxsize=1)
def _weigher_of(path: Path, digest: str, fit: str | None, max_df: float) -> TextWeigher:
    return TextWeigher(Store.open(path), fit, max_df)


def _by_tfidf(
    store: Store,
    parameters: MineParameters,
    fit: str | None,
    vectors: str | None,
    folder: Path,
    first: np.ndarray,
    place: Place,
) -> tuple[Neighbours, np.ndarray]:
    index, piece, low, high = place
    lexical = _index_of(folder)
    own = np.array(first[low:high])
    neighbours = lexical.search(low, high, own, parameters.range_max, parameters.near_duplicate)
    if not parameters.positive:
        return neighbours, np.ones(high - low, np.float32)
    texts = store.read_part(parameters.positive, index, ["text"], [piece])["text"].combine_chunks()
    terms = stage_names(fit)[1]
    weigher = _weigher_of(store.path, store.stage(terms).digest, fit, parameters.max_df)
    positives = weigher(pc.fill_null(texts, ""))
    scores = np.asarray(lexical.matrix[low:high].multiply(positives).sum(axis=1)).reshape(-1)
    is_there = texts.is_valid().to_numpy(zero_copy_only=False)
    return neighbours, np.where(is_there, scores, np.nan).astype(np.float32)


def _same_text(store: Store, positive: str, index: int, piece: int, neighbours: Neighbours) -> np.ndarray:
    """For each row a neighbour that has the positive's very text (but for case and punctuation), or −1."""
    texts = normalize(store.read_part(positive, index, ["text"], [piece])["text"].combine_chunks())
    wanted = {text: number for number, text in enumerate(pc.unique(texts).to_pylist()) if text is not None}
    codes = pc.fill_null(pc.index_in(texts, pa.array(wanted)), -1).to_numpy()
    asked = np.unique(neighbours.row_ids[neighbours.row_ids >= 0])
    code_of = np.full(len(asked), -2)
    for part, (start, size) in enumerate(store.parts):
        some = (asked >= start) & (asked < start + size)
        if some.any():
            column = store.read_part(CORPUS_STAGE, part, ["text"])["text"].take(pa.array(asked[some] - start))
            known = pc.index_in(normalize(column.combine_chunks()), pa.array(wanted))
            code_of[some] = pc.fill_null(known, -2).to_numpy()
    place = np.searchsorted(asked, neighbours.row_ids)
    matches = (neighbours.row_ids >= 0) & (
        np.append(code_of, -2)[np.minimum(place, len(asked))] == codes[:, None]
    )
    return np.where(
        matches.any(axis=1), neighbours.row_ids[np.arange(len(codes)), matches.argmax(axis=1)], -1
    )
