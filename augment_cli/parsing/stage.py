"""The stage `parses`: one independent call for each piece of 1,024 rows, journalled, then joined to parts.

Parsing costs a hundred times as much as anything else that is done to a sentence before a model runs, so the
pieces are small: progress shows every few seconds, a corpus of one part uses all cores, and a killed run
loses the pieces that were in work, no more. A piece is a file in `.work/`, under the fingerprint; when the
last piece of a part is there, the parent joins them (some ten microseconds a row) and commits the part.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError
from augment_cli.parsing.pipelines import PipelineSource, find_again, find_pipeline, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.store.parquet import describe, read_parquet, write_parquet
from augment_cli.store.schema import PARSES, ROW_GROUP_ROWS, metadata_of, with_metadata
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.syntax.parses import PARSES_STAGE

VERSION = 1
PIECE_ROWS = 1_024
assert ROW_GROUP_ROWS % PIECE_ROWS == 0


@dataclass(frozen=True)
class Work:
    """What is to be done for a stage of parses.

    Attributes
    ----------
    stage : str
    source : PipelineSource
    settings : Settings
    pieces : dict of int to list of int
        For each part that is not finished, its pieces that are not in the journal.
    rows : int
        How many rows these pieces have.
    """

    stage: str
    source: PipelineSource
    settings: Settings
    pieces: dict[int, list[int]]
    rows: int


def parse_settings(store: Store, source: PipelineSource) -> Settings:
    """What a stage of parses depends on."""
    return Settings(
        PARSES_STAGE,
        VERSION,
        parameters=source.parameters(),
        inputs={"corpus": store.stage("corpus").digest},
        resources={"pipeline": source.digest},
        libraries=source.library_versions(),
        by_part=True,
    )


def chosen_pipeline(store: Store, stage: str, named: str | Path | None = None) -> PipelineSource:
    """The pipeline that is named, else the one the stage was made with, else the shipped one.

    Raises
    ------
    MissingError
        If it is not on this machine.
    """
    if named is None and stage in store.stages():
        return find_again(store.stage(stage).settings)
    return find_pipeline(named)


# `--name` of another command than `parse` names that command's own result.
_BESIDE = "parse beside it and read that with --parses NAME (`augment-cli parse` calls it --name NAME)"


def begin(store: Store, source: PipelineSource, stage: str, parts: Collection[int] | None = None) -> Work:
    """Announce the stage and find out what is left to do.

    Parameters
    ----------
    store : Store
        With a complete corpus; the caller holds its lock.
    source : PipelineSource
    stage : str
        Folder of the result.
    parts : collection of int, optional
        Make these parts only, instead of all.

    Raises
    ------
    MixError
        If the folder holds the parses of another pipeline, or of other settings.
    """
    settings = parse_settings(store, source)
    pieces: dict[int, list[int]] = {}
    rows = 0
    for index in store.begin(stage, settings, beside=_BESIDE):
        if parts is not None and index not in parts:
            continue
        sizes = _piece_sizes(store.parts[index][1])
        folder = _journal(store, stage, settings, index)
        pieces[index] = [
            piece for piece, size in enumerate(sizes) if not _is_done(folder, piece, size, settings)
        ]
        rows += sum(sizes[piece] for piece in pieces[index])
    return Work(stage, source, settings, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Parse the pieces that are missing, and commit each part as it becomes complete.

    `progress` is called with the number of rows done since the last call.
    """
    waiting = {index: set(pieces) for index, pieces in work.pieces.items()}

    def join_if_complete(index: int) -> None:
        if not waiting[index]:
            store.commit(_join_part(store, work, index))
            shutil.rmtree(_journal(store, work.stage, work.settings, index), ignore_errors=True)

    def done(result: tuple[int, int, int]) -> None:
        index, piece, rows = result
        waiting[index].discard(piece)
        progress(rows)
        join_if_complete(index)

    for index, pieces in work.pieces.items():
        if not pieces:  # a run ended between the last piece and the commit
            join_if_complete(index)
    common = {
        "store_path": store.path,
        "stage": work.stage,
        "source": work.source,
        "settings": work.settings,
    }
    calls = [
        common | {"index": index, "piece": piece} for index, pieces in work.pieces.items() for piece in pieces
    ]
    engine.run("augment_cli.parsing.stage:parse_piece", calls, done, unit="pieces")
    store.clean_work(work.stage)


def parse_piece(
    store_path: Path, stage: str, index: int, piece: int, source: PipelineSource, settings: Settings
) -> tuple[int, int, int]:
    """Parse one piece of a part (in a worker) into the journal; returns part, piece and number of rows."""
    store = Store.open(store_path)
    group, first = divmod(piece * PIECE_ROWS, ROW_GROUP_ROWS)
    corpus = store.read_part("corpus", index, ["row_id", "text"], [group])
    table = corpus.slice(first, PIECE_ROWS)
    nlp = load_pipeline(source, warm_up=corpus["text"].to_pylist)
    parsed = parse_texts(nlp, table["text"].combine_chunks(), table["row_id"].to_numpy())
    folder = _journal(store, stage, settings, index)
    folder.mkdir(parents=True, exist_ok=True)
    path = _piece_path(folder, piece)
    # A name of its own: a worker that outlives a killed run never meets its successor's file.
    temporary = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    write_parquet(temporary, with_metadata(PARSES, settings.as_json()), [parsed])
    temporary.replace(path)
    return index, piece, table.num_rows


def _join_part(store: Store, work: Work, index: int) -> PendingPart:
    """Write a part from its pieces; bounded by a row group."""
    folder = _journal(store, work.stage, work.settings, index)
    pieces = range(len(_piece_sizes(store.parts[index][1])))
    statistics = {"tokens": 0, "sentences": 0}

    def groups() -> Iterator[pa.Table]:
        for first in range(0, len(pieces), ROW_GROUP_ROWS // PIECE_ROWS):
            chosen = pieces[first : first + ROW_GROUP_ROWS // PIECE_ROWS]
            table = pa.concat_tables(read_parquet(_piece_path(folder, piece)) for piece in chosen)
            table = table.replace_schema_metadata(None).combine_chunks()
            statistics["tokens"] += pc.sum(pc.list_value_length(table["starts"])).as_py() or 0
            statistics["sentences"] += pc.sum(pc.list_flatten(table["sentence_starts"])).as_py() or 0
            yield table

    return store.write_part(work.stage, index, PARSES, groups(), work.settings, statistics)


def _piece_sizes(rows: int) -> list[int]:
    return [min(PIECE_ROWS, rows - first) for first in range(0, rows, PIECE_ROWS)]


def _journal(store: Store, stage: str, settings: Settings, index: int) -> Path:
    # For these settings alone: what another run left, or still writes, is never read.
    return store.work / stage / settings.fingerprint[:16] / f"part-{index:05d}"


def _piece_path(folder: Path, piece: int) -> Path:
    return folder / f"piece-{piece:05d}.parquet"


def _is_done(folder: Path, piece: int, rows: int, settings: Settings) -> bool:
    path = _piece_path(folder, piece)
    if not path.exists():
        return False
    try:
        stored_rows, schema = describe(path)
        written_by = metadata_of(schema) or {}
        if stored_rows == rows and written_by.get("fingerprint") == settings.fingerprint:
            return True
    except (BadInputError, ValueError):
        pass
    path.unlink()
    return False
