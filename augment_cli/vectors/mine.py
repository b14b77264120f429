"""`mine`: hard negatives from the corpus itself, lexical ones by TF-IDF or dense ones by sentence vectors.

Of sentences that differ only in case, punctuation and spaces one stands for all, and a sentence is never its
own negative: equal texts are out of the question from the start. What scores `near_duplicate` or more is left
out as well, and so is every positive of an equal sentence. The rest is ranked; ranks, scores and margins to
the positive say which may be taken.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.draws import stream_key, uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.encoding.transforms import unit
from augment_cli.engine.engine import Engine
from augment_cli.neural.loading import find_model
from augment_cli.store.journal import Journal, make_parts, one_by_one, piece_sizes
from augment_cli.store.parquet import ROW_GROUP_ROWS, write_array
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import stage_names
from augment_cli.vectors.judging import relevance
from augment_cli.vectors.lexical import LexicalIndex, TextWeigher, sparse_library
from augment_cli.vectors.search import (
    SKIPPED,
    Neighbours,
    build_graph,
    candidate_blocks,
    choose,
    graph_library,
    open_graph,
    search,
    search_graph,
)
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage
from augment_cli.vectors.texts import check_text_stage, given_positives, sentences_and_pairs, texts_of

VERSION = 2
MINED_STAGE = "mined"
MINED = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("other_row_id", pa.int64()),
        pa.field("score", pa.float32()),
        pa.field("rank", pa.int32()),
        pa.field("positive_score", pa.float32()),
    ]
)
REASONS = (Reason.NO_CANDIDATE, Reason.ALL_CANDIDATES_SKIPPED, Reason.TOO_FEW_CANDIDATES, Reason.NO_POSITIVE)
Place = tuple[int, int, int, int]  # part, piece, its first row, the row after its last


def mined_names(parameters: MineParameters, stage: str | None = None) -> list[str]:
    """Folders of the results, one for each negative; `stage` is the first one's."""
    base = stage or f"{MINED_STAGE}-{parameters.by}"
    return [f"{base}.{number}" if number else base for number in range(parameters.negatives)]


def known_positives(store: Store, parameters: MineParameters) -> list[str]:
    """The stages whose texts are nobody's negatives where the sentence is equal: the named one, the given."""
    named = [parameters.positive] if parameters.positive else []
    return list(dict.fromkeys([*named, *given_positives(store)]))


def mine_settings(
    store: Store, parameters: MineParameters, fit: str | None, vectors: str | None, number: int
) -> Settings:
    """What a mined stage depends on; `number` is 0 for the first negative, 1 for the second, …"""
    stages = [CORPUS_STAGE, *([parameters.positive] if parameters.positive else [])]
    if parameters.by == "vectors":
        opened = [VectorStage.open(store, stage, vectors) for stage in stages]
        if parameters.query_vectors:
            opened.append(VectorStage.open(store, CORPUS_STAGE, parameters.query_vectors))
        for other in opened[1:]:
            opened[0].check_comparable(other)
        read, libraries = [one.stage for one in opened], ["numpy", "pyarrow"]
        if parameters.search == "graph":
            graph_library()
            libraries.append("usearch")
    else:
        sparse_library()
        read, libraries = list(stage_names(fit)), ["numpy", "pyarrow", "scipy"]
    values = asdict(parameters)
    if parameters.by == "vectors":
        del values["max_df"]
    resources = {}
    if values.pop("rescore"):
        resources["rescore"] = find_model(parameters.rescore, option="--rescore").digest
        libraries += ["torch", "transformers", "tokenizers"]
    if parameters.search == "exact":  # as in stages that were mined before there was another way
        del values["search"]
    if not parameters.query_vectors:  # likewise
        del values["query_vectors"]
    values |= {"positive": parameters.positive or None, "number": number}
    del values["seed"]
    if known := known_positives(store, parameters):
        values["known"] = known
    return Settings(
        MINED_STAGE,
        VERSION,
        parameters=values,
        # A seed of 0 has always been kept, whatever the sampling.
        seed=parameters.seed if parameters.sampling == "random" or not parameters.seed else None,
        inputs={stage: store.stage(stage).digest for stage in (*stages, *known, *read)},
        resources=resources,
        libraries=library_versions(libraries),
    )


@dataclass(frozen=True)
class Work:
    """What is to be mined."""

    stages: list[str]  # folders of the results, one for each negative
    parameters: MineParameters
    fit: str | None  # names of the fit and of the vectors that are read
    vectors: str | None
    settings: list[Settings]  # of each stage
    # for each part that is not finished in all stages, the rows of each of its pieces
    pieces: dict[int, list[int]]
    rows: int  # how many rows the pieces hold that are not in the journal


def begin(
    store: Store,
    parameters: MineParameters,
    stage: str | None = None,
    fit: str | None = None,
    vectors: str | None = None,
) -> Work:
    """Announce the stages and find out what is left to do."""
    parameters.check()
    if parameters.positive:
        check_text_stage(store, parameters.positive)
    stages = mined_names(parameters, stage)
    settings = [
        mine_settings(store, parameters, fit, vectors, number) for number in range(parameters.negatives)
    ]
    unfinished = sorted(
        {index for name, one in zip(stages, settings, strict=True) for index in store.begin(name, one)}
    )
    pieces = {index: piece_sizes(store.parts[index][1], ROW_GROUP_ROWS) for index in unfinished}
    rows = Journal(store.work, stages[0], settings[0]).rows_to_make(pieces)
    return Work(stages, parameters, fit, vectors, settings, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Mine the pieces that are missing, and commit each part of each stage as it becomes complete."""
    # `progress` is called with the number of rows done since the last call.
    if not work.pieces:
        return
    journal = Journal(store.work, work.stages[0], work.settings[0])
    journal.folder.mkdir(parents=True, exist_ok=True)
    first, known = sentences_and_pairs(store, known_positives(store, work.parameters))
    write_array(journal.folder / "first.npy", first)
    write_array(journal.folder / "known.npy", known)
    if work.parameters.by == "tfidf":
        candidates = np.flatnonzero(first == np.arange(len(first)))
        LexicalIndex.build(store, work.fit, work.parameters.max_df, candidates).save(journal.folder)
    if work.parameters.search == "graph":
        anchors = VectorStage.open(store, CORPUS_STAGE, work.vectors)
        build_graph(candidate_blocks(anchors, first), anchors.dimension, journal.folder)
    bare = dataclasses.replace(work, pieces={})
    common = {"store_path": store.path, "stage": work.stages[0], "work": bare}
    task = "augment_cli.vectors.mine:mine_piece"
    make = one_by_one(engine.run, task, lambda index, piece: common, progress)
    make_parts(journal, work.pieces, make, lambda index: _join_part(store, work, journal, index))
    for stage in work.stages:
        store.clean_work(stage)


def _join_part(store: Store, work: Work, journal: Journal, index: int) -> None:
    """Commit a part of every stage from its pieces."""
    table = pa.concat_tables(journal.read_part(index, work.pieces[index]))
    for number, (stage, settings) in enumerate(zip(work.stages, work.settings, strict=True)):
        if index in store.stage(stage).parts:
            continue
        statistics = {
            f"skipped_{reason}": pc.sum(table[f"skipped_{reason}"]).as_py()
            for reason in ("near_duplicate", *SKIPPED)
        }
        names = ("reason", "other_row_id", "score", "rank")
        columns = {name: table[f"{name}_{number}"] for name in names}
        counted = {row["values"]: row["counts"] for row in pc.value_counts(columns["reason"]).to_pylist()}
        statistics |= {
            "mined": table.num_rows - columns["other_row_id"].null_count,
            **{str(reason): counted.get(str(reason), 0) for reason in REASONS},
        }
        columns |= {"row_id": table["row_id"], "positive_score": table["positive_score"]}
        columns["text"] = texts_of(store, columns["other_row_id"])
        whole = pa.table([columns[name] for name in MINED.names], schema=MINED)
        groups = (whole.slice(low, ROW_GROUP_ROWS) for low in range(0, whole.num_rows, ROW_GROUP_ROWS))
        store.commit(store.write_part(stage, index, MINED, groups, settings, statistics))


# --- in a worker


def mine_piece(store_path: Path, stage: str, index: int, piece: int, work: Work) -> tuple[int, int]:
    """Mine for a row group of a part into the journal; returns the part and the piece's rows."""
    store, parameters = Store.open(store_path), work.parameters
    journal = Journal(store.work, stage, work.settings[0])
    first = np.load(journal.folder / "first.npy", mmap_mode="r", allow_pickle=False)
    low = store.parts[index][0] + piece * ROW_GROUP_ROWS
    high = low + piece_sizes(store.parts[index][1], ROW_GROUP_ROWS)[piece]
    own = np.array(first[low:high])
    place = (index, piece, low, high)
    if parameters.by == "vectors":
        found = _by_vectors(store, parameters, work.vectors, journal.folder, first, place)
    else:
        found = _by_tfidf(store, parameters, work.fit, journal.folder, own, place)
    neighbours, positive_scores = found
    if parameters.rescore:
        neighbours, positive_scores = _rescored(store, parameters, index, piece, neighbours, positive_scores)
    known = np.load(journal.folder / "known.npy", mmap_mode="r", allow_pickle=False)
    forbidden = np.isin(own[:, None] * store.rows + neighbours.row_ids, known) & (neighbours.row_ids >= 0)
    uniforms = None
    if parameters.sampling == "random":
        row_ids = np.repeat(np.arange(low, high)[:, None], neighbours.row_ids.shape[1], axis=1)
        ranks = np.broadcast_to(np.arange(row_ids.shape[1]), row_ids.shape)
        uniforms = uniform(stream_key(parameters.seed, MINED_STAGE), row_ids, ranks)
    chosen = choose(neighbours, positive_scores, forbidden, parameters, uniforms)
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
        neighbours = search_graph(queries, own, open_graph(folder), count, below)
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
    model = find_model(parameters.rescore, option="--rescore")
    anchors = store.read_part(CORPUS_STAGE, index, ["text"], [piece])["text"].to_pylist()
    has_positive = ~np.isnan(positive_scores)
    places = np.nonzero((neighbours.row_ids >= 0) & has_positive[:, None])
    texts = texts_of(store, pa.chunked_array([pa.array(neighbours.row_ids[places])])).to_pylist()
    scores = np.full(neighbours.scores.shape, -np.inf, np.float32)
    scores[places] = relevance(model, [anchors[row] for row in places[0]], texts, squeezed=True)
    order = np.argsort(-scores, axis=1, kind="stable")
    row_ids = np.where(np.isinf(scores), -1, neighbours.row_ids)
    scores, row_ids = (np.take_along_axis(values, order, 1) for values in (scores, row_ids))
    own = anchors
    if parameters.positive:
        own = store.read_part(parameters.positive, index, ["text"], [piece])["text"].to_pylist()
    rows, found = np.flatnonzero(has_positive), positive_scores.copy()
    found[rows] = relevance(model, [anchors[row] for row in rows], [own[row] for row in rows], squeezed=True)
    return Neighbours(scores, row_ids, neighbours.too_near), found


@lru_cache(maxsize=1)
def _weigher_of(path: Path, digest: str, fit: str | None, max_df: float) -> TextWeigher:
    return TextWeigher(Store.open(path), fit, max_df)


def _by_tfidf(
    store: Store, parameters: MineParameters, fit: str | None, folder: Path, own: np.ndarray, place: Place
) -> tuple[Neighbours, np.ndarray]:
    index, piece, low, high = place
    lexical = LexicalIndex.load(folder)
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
