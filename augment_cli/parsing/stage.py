"""The stage `parses`: one independent call for each piece of 1,024 rows, journalled, then joined to parts.

Parsing costs a hundred times as much as anything else that is done to a sentence before a model runs, so the
pieces are small: progress shows every few seconds, a corpus of one part uses all cores, and a killed run
loses the pieces that were in work, no more. When the last piece of a part is in the journal, the parent joins
them (some ten microseconds a row) and commits the part.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError
from augment_cli.parsing.pipelines import PipelineSource, find_again, find_pipeline, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.store.journal import Journal, make_parts, one_by_one, piece_sizes
from augment_cli.store.parquet import PARSES, ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import PARSES_STAGE, ParseRows
from augment_cli.syntax.tree import Role, any_of
from augment_cli.text.spans import CodePoints

VERSION = 1
PIECE_ROWS = 1_024
_FEW_PIECES = 4  # loading spaCy in workers takes longer than these
_JOINED = {"contractions": "joined"}
assert ROW_GROUP_ROWS % PIECE_ROWS == 0
_SUBJECTS = (Role.SUBJECT, Role.CLAUSAL_SUBJECT, Role.EXPLETIVE)


@dataclass(frozen=True)
class Work:
    """What is to be done for a stage of parses."""

    stage: str
    source: PipelineSource
    settings: Settings
    pieces: dict[int, list[int]]  # for each part that is not finished, the rows of each of its pieces
    rows: int  # how many rows the pieces have that are not in the journal


def parse_settings(store: Store, source: PipelineSource, stage: str = PARSES_STAGE) -> Settings:
    """What a stage of parses depends on."""
    begun = store.stage(stage).settings["parameters"] if stage in store.stages() else _JOINED
    return Settings(
        PARSES_STAGE,
        VERSION,
        parameters=as_begun(source, begun),
        inputs={"corpus": store.stage("corpus").digest},
        resources={"pipeline": source.digest},
        libraries=source.library_versions(),
        by_part=True,
    )


def as_begun(source: PipelineSource, begun: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings say of a pipeline, as those of a stage that was begun do."""
    # A stage of an earlier version goes on reading `do n't` as it stands.
    joins = source.name.startswith("en_") and _JOINED.items() <= begun.items()
    return source.parameters() | (_JOINED if joins else {})


def chosen_pipeline(store: Store, stage: str, named: str | Path | None = None) -> PipelineSource:
    """The pipeline that is named, else the one the stage was made with, else the shipped one."""
    if named is None and stage in store.stages():
        return find_again(store.stage(stage).settings)
    return find_pipeline(named)


# `--name` of another command than `parse` names that command's own result.
_BESIDE = "parse beside it and read that with --parses NAME (`augment-cli parse` calls it --name NAME)"


def begin(store: Store, source: PipelineSource, stage: str, parts: Collection[int] | None = None) -> Work:
    """Announce the stage and find out what is left to do."""
    settings = parse_settings(store, source, stage)
    pieces = {
        index: piece_sizes(store.parts[index][1], PIECE_ROWS)
        for index in store.begin(stage, settings, beside=_BESIDE)
        if parts is None or index in parts
    }
    rows = Journal(store.work, stage, settings).rows_to_make(pieces)
    return Work(stage, source, settings, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Parse the pieces that are missing, and commit each part as it becomes complete."""
    # `progress` is called with the number of rows done since the last call.
    journal = Journal(store.work, work.stage, work.settings)
    pieces = sum(len(journal.missing(index, len(all_of))) for index, all_of in work.pieces.items())
    if engine.jobs_by_default and pieces <= _FEW_PIECES:
        engine = Engine()
    common = {"store_path": store.path, "stage": work.stage, "source": work.source, "settings": work.settings}
    task = "augment_cli.parsing.stage:parse_piece"
    make = one_by_one(engine.run, task, lambda index, piece: common, progress)
    make_parts(
        journal, work.pieces, make, lambda index: store.commit(_join_part(store, work, journal, index))
    )
    store.clean_work(work.stage)


def parse_piece(
    store_path: Path, stage: str, index: int, piece: int, source: PipelineSource, settings: Settings
) -> tuple[int, int]:
    """Parse one piece of a part (in a worker) into the journal; returns the part and the piece's rows."""
    store = Store.open(store_path)
    group, first = divmod(piece * PIECE_ROWS, ROW_GROUP_ROWS)
    corpus = store.read_part("corpus", index, ["row_id", "text"], [group])
    table = corpus.slice(first, PIECE_ROWS)
    nlp = load_pipeline(source, warm_up=corpus["text"].to_pylist)
    joins = "contractions" in settings.parameters
    parsed = parse_texts(nlp, table["text"].combine_chunks(), table["row_id"].to_numpy(), joins)
    Journal(store.work, stage, settings).write(index, piece, parsed)
    return index, table.num_rows


def _join_part(store: Store, work: Work, journal: Journal, index: int) -> PendingPart:
    """Write a part from its pieces; bounded by a row group."""
    pieces = journal.read_part(index, work.pieces[index])
    statistics = {"tokens": 0, "sentences": 0}

    def groups() -> Iterator[pa.Table]:
        while group := list(islice(pieces, ROW_GROUP_ROWS // PIECE_ROWS)):
            table = pa.concat_tables(group).combine_chunks()
            statistics["tokens"] += pc.sum(pc.list_value_length(table["starts"])).as_py() or 0
            statistics["sentences"] += pc.sum(pc.list_flatten(table["sentence_starts"])).as_py() or 0
            yield table

    return store.write_part(work.stage, index, PARSES, groups(), work.settings, statistics)


def count_clauses(store: Store, texts: Sequence[str]) -> np.ndarray | None:
    """Clauses with a subject of each text, int64 (n,)."""
    # None where the store has no parses, or their pipeline is not on this machine.
    if not store.has(PARSES_STAGE):
        return None
    try:
        nlp = load_pipeline(find_again(store.stage(PARSES_STAGE).settings))
    except MissingError:
        return None
    strings = pa.array(texts, pa.string())
    view = ClauseView.of(ParseRows.from_table(parse_texts(nlp, strings), CodePoints.of(strings)))
    heads = np.unique(view.parents[any_of(view.roles, _SUBJECTS)])
    return np.bincount(view.rows[heads], minlength=len(texts))
