"""`mine`: hard negatives from the corpus itself, lexical ones by TF-IDF or dense ones by sentence vectors.

Of sentences that differ only in case, punctuation and spaces one stands for all, and a sentence is never its
own negative: equal texts are out of the question from the start. What scores `near_duplicate` or more is left
out as well. The rest is ranked; ranks, scores and margins to the positive say which may be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.reasons import Reason
from augment_cli.engine.engine import Engine
from augment_cli.store.journal import Journal, make_parts, one_by_one, piece_sizes
from augment_cli.store.parquet import write_array
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.choosing import SKIPPED
from augment_cli.vectors.graph import build_graph
from augment_cli.vectors.lexical import LexicalIndex
from augment_cli.vectors.mine_parameters import MINED, MineParameters, mine_settings, mined_names
from augment_cli.vectors.search import candidate_blocks
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage
from augment_cli.vectors.texts import check_text_stage, equal_rows, texts_of

REASONS = (Reason.NO_CANDIDATE, Reason.ALL_CANDIDATES_SKIPPED, Reason.TOO_FEW_CANDIDATES, Reason.NO_POSITIVE)


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
    first, _ = equal_rows(store, CORPUS_STAGE, normalized=True)
    write_array(journal.folder / "first.npy", first)
    if work.parameters.by == "tfidf":
        candidates = np.flatnonzero(first == np.arange(len(first)))
        LexicalIndex.build(store, work.fit, work.parameters.max_df, candidates).save(journal.folder)
    if work.parameters.search == "graph":
        anchors = VectorStage.open(store, CORPUS_STAGE, work.vectors)
        build_graph(candidate_blocks(anchors, first), anchors.dimension, journal.folder)
    common = {
        "store_path": store.path,
        "stage": work.stages[0],
        "parameters": work.parameters,
        "vectors": work.vectors,
        "fit": work.fit,
        "settings": work.settings[0],
    }
    make_parts(
        journal,
        work.pieces,
        one_by_one(
            engine.run, "augment_cli.vectors.mine_pieces:mine_piece", lambda index, piece: common, progress
        ),
        lambda index: _join_part(store, work, journal, index),
    )
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
