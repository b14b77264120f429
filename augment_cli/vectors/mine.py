"""`mine`: hard negatives from the corpus itself, lexical ones by TF-IDF or dense ones by sentence vectors.

Of sentences that differ only in case, punctuation and spaces one stands for all, and a sentence is never its
own negative: equal texts are out of the question from the start. What scores `near_duplicate` or more is left
out as well. The rest is ranked; ranks, scores and margins to the positive say which may be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.contract.reasons import Reason
from augment_cli.draws import stream_key, uniform
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.normalization import normalize
from augment_cli.tfidf.fit import stage_names
from augment_cli.vectors.choosing import SKIPPED, Limits, choose
from augment_cli.vectors.graph import build_graph, graph_library, open_graph, search_graph
from augment_cli.vectors.lexical import LexicalIndex, TextWeigher, check_max_df, sparse_library
from augment_cli.vectors.pieces import Pieces, make_parts
from augment_cli.vectors.search import Neighbours, search
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage, unit
from augment_cli.vectors.texts import check_text_stage, equal_rows

VERSION = 2
MINED_STAGE = "mined"
WAYS = ("tfidf", "vectors")
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
_NO_LIMIT = {"max_score": 1.0, "min_score": -1.0, "margin": 0.0, "relative_margin": 0.0}


@dataclass(frozen=True)
class MineParameters:
    """How to mine."""

    by: str = parameter(
        "tfidf", "lexical neighbours from the TF-IDF matrix, or dense ones by sentence vectors", choices=WAYS
    )
    positive: str = parameter(
        "", "stage of positives that margins are measured to; empty: the sentence itself, with score 1"
    )
    negatives: int = parameter(
        1,
        "for each sentence; further ones are stages of their own: NAME.1, NAME.2, …",
        minimum=1,
        maximum=100,
    )
    range_min: int = parameter(0, "leave out so many of the nearest", minimum=0)
    range_max: int = parameter(50, "look at the nearest so many only", minimum=1, maximum=10_000)
    max_score: float = parameter(1.0, "highest score of a negative", minimum=-1, maximum=1)
    min_score: float = parameter(-1.0, "lowest score of a negative", minimum=-1, maximum=1)
    margin: float = parameter(
        0.0, "a negative scores at least so much below the positive; 0: no matter", minimum=0, maximum=2
    )
    relative_margin: float = parameter(
        0.0, "a negative scores at least this share below the positive; 0: no matter", minimum=0, maximum=1
    )
    near_duplicate: float = parameter(
        0.95, "from this score on a sentence counts as the same one and is left out", minimum=0, maximum=2
    )
    search: str = parameter(
        "exact",
        "dense: compare every sentence with every other, or follow a graph of near ones: approximate, for "
        "millions",
        choices=("exact", "graph"),
    )
    sampling: str = parameter("top", "take the nearest, or draw", choices=("top", "random"))
    max_df: float = parameter(
        0.02, "lexical: leave out terms that more than this share of the sentences hold", minimum=0, maximum=1
    )
    seed: int = parameter(1, "of the draws")

    @property
    def limits(self) -> Limits:
        """What a neighbour must meet."""
        chosen = {
            key: None if getattr(self, key) == default else getattr(self, key)
            for key, default in _NO_LIMIT.items()
        }
        return Limits(self.range_min, self.range_max, **chosen)

    def check(self) -> None:
        """Raise `UsageError` where the parameters make no sense."""
        check_parameters(self)
        check_max_df(self.max_df)
        if self.range_min + self.negatives > self.range_max:
            raise UsageError(
                f"--range-min {self.range_min} --range-max {self.range_max}: hold fewer than "
                f"--negatives {self.negatives}"
            )
        if self.search == "graph" and self.by != "vectors":
            raise UsageError("--search graph: is for --by vectors; lexical neighbours are searched exactly")


@dataclass(frozen=True)
class Work:
    """What is to be mined.

    Attributes
    ----------
    stages : list of str
        Folders of the results, one for each negative.
    parameters : MineParameters
    fit, vectors : str or None
        Names of the fit and of the vectors that are read.
    settings : list of Settings
        Of each stage.
    pieces : dict of int to int
        For each part that is not finished in all stages, its number of pieces.
    rows : int
        How many rows the pieces hold that are not in `.work/`.
    """

    stages: list[str]
    parameters: MineParameters
    fit: str | None
    vectors: str | None
    settings: list[Settings]
    pieces: dict[int, int]
    rows: int


def mined_names(parameters: MineParameters, stage: str | None = None) -> list[str]:
    """Folders of the results, one for each negative; `stage` is the first one's."""
    base = stage or f"{MINED_STAGE}-{parameters.by}"
    return [f"{base}.{number}" if number else base for number in range(parameters.negatives)]


def mine_settings(
    store: Store, parameters: MineParameters, fit: str | None, vectors: str | None, number: int
) -> Settings:
    """What a mined stage depends on; `number` is 0 for the first negative, 1 for the second, …"""
    stages = [CORPUS_STAGE, *([parameters.positive] if parameters.positive else [])]
    if parameters.by == "vectors":
        opened = [VectorStage.open(store, stage, vectors) for stage in stages]
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
    if parameters.search == "exact":  # as in stages that were mined before there was another way
        del values["search"]
    values |= {"positive": parameters.positive or None, "number": number}
    seed = values.pop("seed") if parameters.sampling == "random" else values.pop("seed") and None
    return Settings(
        MINED_STAGE,
        VERSION,
        parameters=values,
        seed=seed,
        inputs={stage: store.stage(stage).digest for stage in (*stages, *read)},
        libraries=library_versions(libraries),
    )


def begin(
    store: Store,
    parameters: MineParameters,
    stage: str | None = None,
    fit: str | None = None,
    vectors: str | None = None,
) -> Work:
    """Announce the stages and find out what is left to do.

    Parameters
    ----------
    store : Store
        With a complete corpus and, by `parameters.by`, its fit or its vectors; the caller holds its lock.
    parameters : MineParameters
    stage : str, optional
        Folder of the first negative's stage; by default `mined-tfidf` or `mined-vectors`.
    fit, vectors : str, optional
        Which fit or which vectors to read, where there are several.

    Raises
    ------
    UsageError
        If a parameter makes no sense, or a stage or vectors are missing.
    MixError
        If vectors are not comparable, or a folder holds what was mined with other settings.
    MissingError
        If SciPy or usearch is needed and not installed.
    """
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
    pieces = {index: -(-store.parts[index][1] // ROW_GROUP_ROWS) for index in unfinished}
    done = Pieces(store, stages[0], settings[0])
    rows = sum(
        _piece_size(store, index, piece)
        for index, count in pieces.items()
        for piece in range(count)
        if not done.has(index, piece)
    )
    return Work(stages, parameters, fit, vectors, settings, pieces, rows)


def _piece_size(store: Store, index: int, piece: int) -> int:
    return min(ROW_GROUP_ROWS, store.parts[index][1] - piece * ROW_GROUP_ROWS)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Mine the pieces that are missing, and commit each part of each stage as it becomes complete.

    `progress` is called with the number of rows done since the last call.
    """
    if not work.pieces:
        return
    done = Pieces(store, work.stages[0], work.settings[0])
    done.folder.mkdir(parents=True, exist_ok=True)
    first, _ = equal_rows(store, CORPUS_STAGE, normalized=True)
    np.save(done.folder / "first.npy", first, allow_pickle=False)
    if work.parameters.by == "tfidf":
        candidates = np.flatnonzero(first == np.arange(len(first)))
        LexicalIndex.build(store, work.fit, work.parameters.max_df, candidates).save(done.folder)
    if work.parameters.search == "graph":
        anchors = VectorStage.open(store, CORPUS_STAGE, work.vectors)
        build_graph(candidate_blocks(anchors, first), anchors.dimension, done.folder)
    common = {
        "store_path": store.path,
        "stage": work.stages[0],
        "parameters": work.parameters,
        "vectors": work.vectors,
        "fit": work.fit,
        "settings": work.settings[0],
    }
    make_parts(
        work.pieces,
        done,
        lambda index: _join_part(store, work, done, index),
        engine,
        "augment_cli.vectors.mine:mine_piece",
        common,
        progress,
    )
    for stage in work.stages:
        store.clean_work(stage)


# --- in the workers


def mine_piece(
    store_path: Path,
    stage: str,
    index: int,
    piece: int,
    parameters: MineParameters,
    fit: str | None,
    vectors: str | None,
    settings: Settings,
) -> int:
    """Mine for a row group of a part into `.work/`; returns its number of rows."""
    store = Store.open(store_path)
    done = Pieces(store, stage, settings)
    first = np.load(done.folder / "first.npy", mmap_mode="r", allow_pickle=False)
    low = store.parts[index][0] + piece * ROW_GROUP_ROWS
    high = low + _piece_size(store, index, piece)
    own = np.array(first[low:high])
    mine = _by_vectors if parameters.by == "vectors" else _by_tfidf
    neighbours, positive_scores = mine(
        store, parameters, fit, vectors, done.folder, first, (index, piece, low, high)
    )
    forbidden = np.full(high - low, -1)
    if parameters.positive:
        forbidden = _same_text(store, parameters.positive, index, piece, neighbours)
    uniforms = None
    if parameters.sampling == "random":
        row_ids = np.repeat(np.arange(low, high)[:, None], neighbours.row_ids.shape[1], axis=1)
        ranks = np.broadcast_to(np.arange(row_ids.shape[1]), row_ids.shape)
        uniforms = uniform(stream_key(parameters.seed, MINED_STAGE), row_ids, ranks)
    chosen = choose(neighbours, positive_scores, forbidden, parameters.limits, parameters.negatives, uniforms)
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
    done.write(index, piece, pa.table(columns))
    return high - low


Place = tuple[int, int, int, int]  # part, piece, its first row, the row after its last


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
    queries, has_direction = unit(anchors.read(index, [piece])[0])
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


def candidate_blocks(stage: VectorStage, first: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors of the sentences that stand for all equal ones (`first[row] == row`), a row group at a time."""
    for index, (start, size) in enumerate(stage.store.parts):
        for low in range(0, size, ROW_GROUP_ROWS):
            rows = np.arange(start + low, min(start + low + ROW_GROUP_ROWS, start + size))
            vectors, has_direction = unit(stage.read(index, [low // ROW_GROUP_ROWS])[0])
            kept = (first[rows] == rows) & has_direction
            yield rows[kept], vectors[kept]


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


# --- joining


def _join_part(store: Store, work: Work, done: Pieces, index: int) -> bool:
    """Commit a part of every stage from its pieces; False if a piece is missing."""
    count = work.pieces[index]
    if not all(done.has(index, piece) for piece in range(count)):
        return False
    tables = [done.read(index, piece, _piece_size(store, index, piece)) for piece in range(count)]
    if any(table is None for table in tables):
        return False
    table = pa.concat_tables([one for one in tables if one is not None])
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
    return True


REASONS = (
    Reason.NO_CANDIDATE,
    Reason.ALL_CANDIDATES_SKIPPED,
    Reason.TOO_FEW_CANDIDATES,
    Reason.NO_POSITIVE,
)


def texts_of(store: Store, row_ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sentences of the corpus by row_id, null where that is null; one part is in memory at a time."""
    wanted = pc.fill_null(row_ids, -1).to_numpy()
    pieces, places = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for index, (start, size) in enumerate(store.parts):
        some = np.flatnonzero((wanted >= start) & (wanted < start + size))
        if len(some):
            column = store.read_part(CORPUS_STAGE, index, ["text"])["text"].combine_chunks()
            pieces.append(column.take(pa.array(wanted[some] - start)))
            places.append(some)
    order = np.concatenate(places)
    position = np.full(len(wanted), -1)
    position[order] = np.arange(len(order))
    found = pa.chunked_array(pieces).combine_chunks()
    return pa.chunked_array([found.take(pa.array(position, mask=position < 0))])
