"""The table of an augmentation's stage: edits applied, and the sums that reports add up."""

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import LABEL_COLUMN, Augmentation
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.errors import ContractError, issue_tracker
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.text.spans import CodePoints, Edits, apply_edits


def schema_of(augmentation: Augmentation, is_chain: bool = False) -> pa.Schema:
    """Columns of an augmentation's stage; a chain labels each row."""
    labelled = LABEL_COLUMN in augmentation.columns or not is_chain
    return pa.schema([*AUGMENTATION, *augmentation.columns, *([] if labelled else [LABEL_COLUMN])])


def as_table(augmentation: Augmentation, rows: Rows, outcome: Outcome) -> pa.Table:
    """Apply an outcome's edits to its rows, as the stage will hold them."""
    _check(augmentation, rows, outcome)
    outcome = _without_cuts(rows, outcome)
    try:
        texts = apply_edits(rows.code_points, outcome.edits)
    except ValueError as error:
        raise _not_as_agreed(augmentation, f"edits that do not fit: {error}") from error
    return edited(rows, outcome, texts).cast(schema_of(augmentation))


def edited(rows: Rows, outcome: Outcome, texts: pa.Array) -> pa.Table:
    """The columns of edited rows: their texts after the edits, null with a reason where nothing changed."""
    count, edits = len(rows), outcome.edits
    differs = pc.not_equal(texts, rows.texts).to_numpy(zero_copy_only=False)
    touched = np.bincount(edits.rows, minlength=count) > 0
    reasons = np.where(touched, Reason.SAME_TEXT, outcome.reasons)
    if not differs[edits.rows].all():  # edits that cancel each other out do not count
        edits = _kept(edits, differs[edits.rows])
    unchanged = pa.array(~differs)
    if not differs.all():
        texts = pc.if_else(unchanged, pa.scalar(None, pa.string()), texts)
    columns = {
        "row_id": pa.array(rows.row_ids, pa.int64()),
        "text": texts,
        "reason": pc.if_else(unchanged, pa.array(reasons, pa.string()), pa.scalar(None, pa.string())),
        "edits": edits.as_column(count),
    }
    return pa.table(columns | dict(outcome.columns))


def unprotected(tokens: TokenRows, texts: CodePoints) -> TokenRows:
    """The tokens, of which those within what is protected are no terms, and stay as they are."""
    if texts.protected is None:
        return tokens
    protected = np.concatenate([[0], np.cumsum(texts.protected)])
    first = texts.offsets[tokens.rows]
    is_free = protected[first + tokens.starts] == protected[first + tokens.ends]
    return dataclasses.replace(
        tokens,
        term_ids=np.where(is_free, tokens.term_ids, -1),
        weights=np.where(is_free, tokens.weights, 0.0),
    )


def _without_cuts(rows: Rows, outcome: Outcome) -> Outcome:
    """The outcome without the rows in which an edit would begin or end within what is protected."""
    protected, edits = rows.code_points.protected, outcome.edits
    if protected is None or not len(edits.rows):
        return outcome
    inside = np.append(False, protected[1:] & protected[:-1])
    inside[rows.code_points.offsets[:-1][np.diff(rows.code_points.offsets) > 0]] = False
    inside = np.append(inside, False)
    first = rows.code_points.offsets[edits.rows]
    ends = [np.clip(first + edge, 0, len(inside) - 1) for edge in (edits.starts, edits.ends)]
    is_cut = np.zeros(len(rows), bool)
    is_cut[edits.rows[inside[ends[0]] | inside[ends[1]]]] = True
    reasons = np.where(is_cut, Reason.PROTECTED, outcome.reasons)
    return dataclasses.replace(outcome, edits=_kept(edits, ~is_cut[edits.rows]), reasons=reasons)


def _kept(edits: Edits, keep: np.ndarray) -> Edits:
    replacements = edits.replacements.filter(pa.array(keep))
    return Edits(edits.rows[keep], edits.starts[keep], edits.ends[keep], replacements)


def _check(augmentation: Augmentation, rows: Rows, outcome: Any) -> None:
    """Whether an outcome fits its rows as a whole; `apply_edits` looks at the single edits."""
    if not isinstance(outcome, Outcome):
        raise _not_as_agreed(augmentation, f"{type(outcome).__name__} instead of an `Outcome`")
    if len(outcome.reasons) != len(rows):
        raise _not_as_agreed(augmentation, f"{len(outcome.reasons)} reasons for {len(rows)} rows")
    edited = outcome.edits.rows
    if len(edited) and not 0 <= edited.min() <= edited.max() < len(rows):
        raise _not_as_agreed(augmentation, f"an edit of row {edited.max()} where there are {len(rows)} rows")
    declared = [field.name for field in augmentation.columns]
    if sorted(outcome.columns) != sorted(declared):
        raise _not_as_agreed(
            augmentation, f"the columns {sorted(outcome.columns)} where its descriptor declares {declared}"
        )


def _not_as_agreed(augmentation: Augmentation, what: str) -> ContractError:
    module = getattr(augmentation.prepare, "__module__", "")
    return ContractError(
        f"the augmentation {augmentation.name!r} (module {module}) returned {what}; if it is your own, mend "
        f"its function from rows to an outcome, otherwise please report this at {issue_tracker()}"
    )


def empty_statistics() -> dict[str, Any]:
    """The sums over a part that reports add up, before its first row."""
    return {"changed": 0, "edits": 0, "reasons": {}, "sums": {}}


def add_statistics(statistics: dict[str, Any], table: pa.Table) -> None:
    """Count some rows of an augmentation's stage."""
    reasons = Counter(statistics["reasons"])
    reasons.update(pc.drop_null(table["reason"]).to_pylist())
    statistics["reasons"] = dict(sorted(reasons.items()))
    statistics["changed"] += table.num_rows - table["text"].null_count
    statistics["edits"] += pc.sum(pc.list_value_length(table["edits"])).as_py() or 0
    for field in list(table.schema)[len(AUGMENTATION) :]:
        if pa.types.is_integer(field.type) or pa.types.is_boolean(field.type):
            value = pc.sum(table[field.name]).as_py() or 0
            statistics["sums"][field.name] = statistics["sums"].get(field.name, 0) + value
