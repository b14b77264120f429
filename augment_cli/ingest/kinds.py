"""The kinds of stages that come with a corpus: its sentences with the rejects, and texts that were given."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli import ingest
from augment_cli.ingest import options
from augment_cli.ingest.options import stored_options
from augment_cli.store.kinds import StageKind, exact_columns, not_finite, other_columns, other_rows
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import CORPUS, CORPUS_WITH_ID, REJECTS, REJECTS_WITH_REPEATED, TEXT_OR_REASON
from augment_cli.store.store import Store


def _today(store: Store, stage: Stage, corpus: Sequence[str | Path] | None) -> dict[str, Any]:
    stored: dict[str, str] = stage.settings["inputs"]
    if corpus is None:
        return {"inputs": stored}
    given = ingest.corpus_settings(ingest.find_files(corpus), stored_options(store)).inputs
    # Of a corpus that grew, the files of any one time.
    known = [settings["inputs"].get("files") for settings in stage.all_settings]
    return {"inputs": stored if given["files"] in known else stored | given}


def _check(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if stage.name == "rejects":
        is_near = stage.settings_of(index)["parameters"].get("deduplicate") == "near"
        return exact_columns(table, REJECTS_WITH_REPEATED if is_near else REJECTS) or not_finite(
            table, "line", 0
        )
    if problems := other_columns(table, CORPUS) or other_rows(store, index, table):
        return problems
    more = list(table.schema)[len(CORPUS) :]  # an id, and what was kept of the input
    if other := [field.name for field in more if field.type != pa.string()]:
        return [f"its column {other[0]} is no text"]
    return not_finite(table, "line", 0)


def _check_given(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if problems := exact_columns(table, TEXT_OR_REASON) or other_rows(store, index, table):
        return problems
    if (table["text"].is_null().to_numpy() == table["reason"].is_null().to_numpy()).any():
        return ["has rows with both a text and a reason for none, or neither"]
    return []


KINDS = (
    StageKind(
        "corpus",
        {"corpus": CORPUS_WITH_ID, "rejects": REJECTS_WITH_REPEATED},
        version=lambda: ingest.VERSION,
        today=_today,
        check=_check,
        describe=lambda stage: (
            "lines that are not sentences, and why" if stage.name == "rejects" else "the sentences"
        ),
        is_for_readers=lambda stage: stage.name != "rejects",
    ),
    StageKind(
        options.GIVEN,
        {options.GIVEN: TEXT_OR_REASON},
        version=lambda: options.VERSION,
        check=_check_given,
        describe=lambda stage: "texts that the input brought along",
        goes_by_part=lambda settings: True,
    ),
)
