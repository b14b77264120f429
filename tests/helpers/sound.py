"""What holds for every outcome: a text that its edits make of the original, or a reason and no edit."""

from typing import Any

import pyarrow as pa

from augment_cli.contract.reasons import Reason


def apply_edits(text: str, edits: list[dict[str, Any]]) -> str:
    for edit in reversed(edits):
        text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
    return text


def assert_sound(table: pa.Table) -> None:
    for row in table.to_pylist():
        if row["text"] is None:
            assert row["reason"] in set(Reason) and row["edits"] == []
        else:
            assert row["reason"] is None and row["text"] != row["original"]
            assert row["text"] == apply_edits(row["original"], row["edits"])
            assert "\n" not in row["text"] or "\n" in row["original"]
