"""Rows whose contractions are joined, for rules on words that read no parse: `do n't` as `don't`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.rows import Outcome, Rows
from augment_cli.text.spans import CodePoints
from augment_cli.text.split_contractions import original_places, spaces_within, without

_SPLIT = r"(?i)[a-z] (n ?['’]t|['’](s|m|re|ve|ll|d))\b|n ['’]t\b"


def joined(rows: Rows) -> tuple[Rows, dict[int, np.ndarray]]:
    """The rows with their contractions joined, and where that took spaces out of each changed row."""
    split = pc.match_substring_regex(rows.texts, _SPLIT).to_numpy(zero_copy_only=False)
    found = {row: spaces_within(rows.texts[row].as_py()) for row in np.flatnonzero(split).tolist()}
    found = {row: places for row, places in found.items() if len(places)}
    if not found:
        return rows, found
    texts = rows.texts.to_pylist()
    for row, places in found.items():
        texts[row] = without(texts[row], places)
    column, points = pa.array(texts, pa.string()), rows.code_points
    protected = points.protected
    if protected is not None:
        protected = np.delete(
            protected, np.concatenate([points.offsets[row] + p for row, p in found.items()])
        )
    return replace(rows, texts=column, code_points=replace(CodePoints.of(column), protected=protected)), found


def restored(outcome: Outcome, found: dict[int, np.ndarray]) -> Outcome:
    """The outcome of joined rows as one of the original ones."""
    edits = outcome.edits
    starts, ends = edits.starts.copy(), edits.ends.copy()
    for row, places in found.items():
        mine = edits.rows == row
        starts[mine], ends[mine] = original_places(starts[mine], ends[mine], places)
    return replace(outcome, edits=replace(edits, starts=starts, ends=ends))
