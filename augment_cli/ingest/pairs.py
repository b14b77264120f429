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
from augment_cli.ingest.checks import RawLines, reasons_to_reject
from augment_cli.ingest.options import IngestOptions
from augment_cli.store.schema import ROW_GROUP_ROWS
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


def make_given(store: Store, column: str, role: str) -> None:
    """Make the stage of a column of pairs; finished parts are kept. The caller holds the store's lock."""
    known = store.read_rows("corpus", 0, []).schema.names
    if column not in known:
        raise UsageError(
            f"{store.path}: its corpus keeps no column {column!r} (it has {', '.join(known)}); read it again "
            f"with --corpus and --{role}-column {column} into another --store"
        )
    settings = given_settings(store, column, role)
    limit = store.stage("corpus").settings["parameters"]["max_characters"]
    for index in store.begin(column, settings, beside="rename the column of the input"):
        table = _checked(store.read_part("corpus", index, ["row_id", "text", column]), column, role, limit)
        counted = Counter(reason for reason in table["reason"].to_pylist() if reason is not None)
        statistics = {"given": table.num_rows - sum(counted.values()), **counted}
        groups = (table.slice(low, ROW_GROUP_ROWS) for low in range(0, table.num_rows, ROW_GROUP_ROWS))
        store.commit(store.write_part(column, index, GIVEN_TEXTS, groups, settings, statistics))
    if not sum(part.statistics["given"] for part in store.stage(column).parts.values()):
        raise UsageError(
            f"{store.path / column}: no row of the column {column!r} holds a text; check the input's columns"
        )


def _checked(rows: pa.Table, column: str, role: str, max_characters: int) -> pa.Table:
    """row_id, text and reason; a text is null for the same reasons as a line of a corpus is rejected."""
    texts = rows[column].combine_chunks()
    raw = pc.fill_null(texts, "").cast(pa.large_binary())
    lines = RawLines("", np.arange(len(raw)), raw, raw, None, [])
    reasons = np.array(
        [_REASONS.get(name, name) for name in reasons_to_reject(lines, max_characters)], object
    )
    if role == "negative":  # a sentence cannot be its own negative
        is_same = pc.fill_null(pc.equal(texts, rows["text"].combine_chunks()), False)
        reasons[is_same.to_numpy(zero_copy_only=False) & (reasons == "")] = Reason.SAME_TEXT
    bad = reasons != ""
    return pa.table(
        [rows["row_id"], pc.if_else(pa.array(bad), None, texts), pa.array(reasons, pa.string(), mask=~bad)],
        schema=GIVEN_TEXTS,
    )
