"""Changed rows that show at a glance what an augmentation does: short, clean, changed as much as most are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.signs import signs_of
from augment_cli.store.store import Store

_LOOKED_AT = 300
_ROW_GROUPS = 3  # that these are of: rows from all over a large stage would take longer than making it
SHORTEST, _LONGEST = 30, 90  # characters that are read at a glance and fit a line


def typical_rows(store: Store, stage: str, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Changed rows of a random sample that are easy to read and changed as much as its median row."""
    rows = choose_rows(store, stage, _LOOKED_AT, seed, Choice(only_changed=True, most_row_groups=_ROW_GROUPS))
    if not rows:
        return []
    amounts = [amount_of_change(row["original"], row["text"], row.get("edits") or ()) for row in rows]
    usual = float(np.median(amounts))
    ranked = sorted(
        range(len(rows)), key=lambda place: (_flaws(rows[place]), abs(amounts[place] - usual), place)
    )
    return [rows[place] for place in sorted(ranked[:count])]


def amount_of_change(original: str, text: str, edits: Sequence[Mapping[str, Any]]) -> float:
    """Characters that went and came over those of the original; without edits, the difference in length."""
    if not edits:
        return abs(len(text) - len(original)) / max(len(original), 1)
    touched = sum(edit["end"] - edit["start"] + len(edit["replacement"]) for edit in edits)
    return float(touched) / max(len(original), 1)


def _flaws(row: Mapping[str, Any]) -> int:
    """What makes a row harder to read than others: its length, marks within it, signs of a broken text."""
    original, text = row["original"], row["text"]
    is_plain = original[:1].isupper() and original.endswith((".", "?", "!"))
    odd_marks = sum(not (letter.isalpha() or letter in " ,.'?!") for letter in original)
    return (
        (not SHORTEST <= len(original) <= _LONGEST)
        + (not is_plain)
        + min(odd_marks, 3)
        + 2 * len(signs_of(original, text))
    )
