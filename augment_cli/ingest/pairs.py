"""Your own pairs: kept columns of the input as text stages beside the corpus, like any augmentation's.

The corpus holds the anchors; a column of positives or negatives becomes a stage of its name, with one row for
each anchor: the text, or null with the reason. What the input had there stays in the corpus as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.ingest.checks import JOINED, RawLines, reasons_to_reject, without_line_breaks
from augment_cli.ingest.options import IngestOptions
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store

VERSION = 1
GIVEN = "given"  # the maker of such stages in their settings
GIVEN_TEXTS = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
    ]
)
_REASONS = {
    Reason.EMPTY: Reason.MISSING,
    Reason.CONTROL_CHARACTER: Reason.CONTROL_CHARACTER,
    Reason.TOO_LONG: Reason.TOO_LONG,
}


def roles_of(options: IngestOptions) -> dict[str, str]:
    """For each column of pairs, which is its stage's name too, `positive` or `negative`."""
    roles = dict.fromkeys(options.positive_columns, "positive")
    return roles | dict.fromkeys(options.negative_columns, "negative")


def check_columns(store: Store, options: IngestOptions, taken: Collection[str]) -> None:
    """See that no column of pairs has the name of a stage of another kind."""
    for column, role in roles_of(options).items():
        store.part_path(column, 0)  # refuses what cannot be a stage's name
        if column in taken:
            raise UsageError(
                f"--{role}-column {column}: is what another stage is called; rename it in the input"
            )


def given_settings(store: Store, column: str, role: str) -> Settings:
    """What a stage of the user's own texts depends on."""
    inputs = {"corpus": store.stage("corpus").digest}
    return Settings(GIVEN, VERSION, {"column": column, "kind": role}, inputs=inputs, by_part=True)


def begin_all(store: Store, options: IngestOptions) -> None:
    """Announce the stages of all columns of pairs, so that none is made where one of them cannot be."""
    for column, role in roles_of(options).items():
        known = store.read_rows("corpus", 0, []).schema.names
        if column not in known:
            raise UsageError(
                f"{store.path}: its corpus keeps no column {column!r} (it has {', '.join(known)}); read it "
                f"again with --corpus and --{role}-column {column} into another --store"
            )
        if column not in store.stages() and not any(
            part_of(store, index, column, role)[1]["given"] for index in range(len(store.parts))
        ):
            refuse_empty(column)
        _begin(store, column, role)


def _begin(store: Store, column: str, role: str) -> list[int]:
    settings = given_settings(store, column, role)
    return store.begin(column, settings, beside="rename the column of the input")


def refuse_empty(column: str) -> None:
    """Say that nothing was given."""
    raise UsageError(
        f"no row of the column {column!r} holds a text, and nothing was made; check the input's columns with "
        "`augment-cli look FILE`"
    )


def make_given(store: Store, column: str, role: str) -> Counter[str]:
    """Make the stage of a column of pairs; finished parts are kept. The caller holds the store's lock.

    The value is what was counted of the parts that were made.
    """
    counted: Counter[str] = Counter()
    for index in _begin(store, column, role):
        table, statistics = part_of(store, index, column, role)
        counted.update(statistics)
        groups = (table.slice(low, ROW_GROUP_ROWS) for low in range(0, table.num_rows, ROW_GROUP_ROWS))
        settings = given_settings(store, column, role)
        store.commit(store.write_part(column, index, GIVEN_TEXTS, groups, settings, statistics))
    return counted


def part_of(store: Store, index: int, column: str, role: str) -> tuple[pa.Table, dict[str, int]]:
    """A part of a column's stage, and what is counted of it."""
    parameters = store.stage("corpus").settings_of(index)["parameters"]
    rows = store.read_part("corpus", index, ["row_id", "text", column])
    return checked(rows, column, role, parameters["max_characters"], parameters.get("line_breaks", "reject"))


def checked(
    rows: pa.Table, column: str, role: str, max_characters: int, line_breaks: str
) -> tuple[pa.Table, dict[str, int]]:
    """row_id, text and reason; a text is null for the same reasons as a line of a corpus is rejected."""
    texts, broken = rows[column].combine_chunks(), np.array([], int)
    raw = pc.fill_null(texts, "").cast(pa.large_binary())
    if line_breaks == "join":
        raw, broken = without_line_breaks(raw)
        texts = pc.if_else(texts.is_null(), None, raw.cast(pa.string()))
    lines = RawLines("", np.arange(len(raw)), raw, raw, None, [])
    found = reasons_to_reject(lines, max_characters, keeps_breaks=line_breaks == "keep")
    reasons = np.array([_REASONS.get(name, name) for name in found], object)
    if role == "negative":  # a sentence cannot be its own negative
        is_same = pc.fill_null(pc.equal(texts, rows["text"].combine_chunks()), False)
        reasons[is_same.to_numpy(zero_copy_only=False) & (reasons == "")] = Reason.SAME_TEXT
    bad = reasons != ""
    statistics = {"given": int((~bad).sum()), **Counter(reasons[bad].tolist())}
    if joined := int((~bad[broken]).sum()):
        statistics[JOINED] = joined
    table = pa.table(
        [rows["row_id"], pc.if_else(pa.array(bad), None, texts), pa.array(reasons, pa.string(), mask=~bad)],
        schema=GIVEN_TEXTS,
    )
    return table, statistics
