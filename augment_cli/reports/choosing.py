"""Which rows of a stage `inspect` shows: by numbers, by words, by row, changed ones; and quantiles."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import BadInputError, UsageError, did_you_mean
from augment_cli.store.parquet import describe
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.store import Store

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_OPERATORS = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_QUOTED = r"'[^']*'|\"[^\"]*\""
_CONDITION = re.compile(rf"\s*([A-Za-z_]\w*)\s*(<=|>=|==|!=|=|<|>)\s*({_NUMBER}|{_QUOTED}|[^\W\d][\w.-]*)\s*")
_AND = re.compile(rf"\band\b(?=(?:[^'\"]|{_QUOTED})*$)")  # not one within quotation marks
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class Condition:
    """A column, an operator and a value as it was written, such as `cosine < 0.6`; a null meets none."""

    column: str
    operator: str
    value: str


def parse_where(text: str) -> list[Condition]:
    """Conditions joined by `and`, all of which must hold. Nothing else is understood, and nothing is run.

    Raises
    ------
    UsageError
        If the text is anything else.

    Examples
    --------
    >>> parse_where("cosine < 0.6 and label == 'other'")[1]
    Condition(column='label', operator='==', value='other')
    """
    conditions = []
    for piece in _AND.split(text):
        match = _CONDITION.fullmatch(piece)
        if match is None:
            raise UsageError(
                f"--where {text!r}: {piece.strip()!r} is not COLUMN OPERATOR VALUE with one of "
                f"{', '.join(sorted(_OPERATORS))}; join several with `and`: 'cosine < 0.6 and rank >= 5', "
                "'label == other', 'is_negated == true'"
            )
        sign = "==" if match[2] == "=" else match[2]
        conditions.append(Condition(match[1], sign, match[3].strip("'\"")))
    return conditions


def number_columns(store: Store, stage: str) -> list[str]:
    """Columns of a stage with one number a row, row_id aside."""
    parts = sorted(store.stage(stage).parts)
    if not parts:
        return []
    schema = describe(store.part_path(stage, parts[0]))[1]
    return [
        field.name
        for field in schema
        if field.name != "row_id" and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]


def numbers_of(store: Store, stage: str, scores: str | None, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Columns of a stage, or of its scores, as float64 (N,), NaN for null, over the parts that are finished.

    Raises
    ------
    UsageError
        If a column is in neither.
    """
    places = dict.fromkeys(number_columns(store, stage), stage)
    if scores is not None:
        places = dict.fromkeys(number_columns(store, scores), scores) | places
    for name in columns:
        if name not in places:
            known = ", ".join(places) or "none"
            hint = "" if scores else f"; `augment-cli score {stage}` makes more"
            raise UsageError(f"{store.path}: {stage!r} has no numbers {name!r}; it has {known}{hint}")
    values = {}
    for name in dict.fromkeys(columns):
        parts = [
            store.read_part(places[name], index, [name])[name].cast(pa.float64())
            for index in sorted(store.stage(stage).parts)
        ]
        values[name] = pc.fill_null(
            pa.chunked_array([c for part in parts for c in part.chunks]), np.nan
        ).to_numpy()
    return values


@dataclass(frozen=True)
class Choice:
    """Which rows of a stage to show; all conditions must hold.

    Attributes
    ----------
    where : str or None
        Conditions as `parse_where` reads them, on columns of the stage or of `scores-STAGE`.
    sort : str or None
        A column of numbers, smallest first; `-COLUMN`, largest first. Rows with null there are left out.
    rows : tuple of int
        These `row_id` only; in a stage without the column, these positions from 0.
    contains : str or None
        Rows that have this text, in any case, in any column of strings or in the original.
    only_changed : bool
        Leave out rows that an augmentation left unchanged, or that have no negative.
    most_row_groups : int
        Random rows of so many row groups at most, since each one has to be read as a whole; 0 for any.
    reason : str or None
        Rows with this reason only, of a stage that has reasons.
    """

    where: str | None = None
    sort: str | None = None
    rows: tuple[int, ...] = ()
    contains: str | None = None
    only_changed: bool = False
    most_row_groups: int = 0
    reason: str | None = None


def choose_rows(
    store: Store, stage: str, count: int, seed: int = 0, choice: Choice | None = None
) -> list[dict[str, Any]]:
    """Rows of a stage that are chosen: the first ones by a column, or random ones in order.

    Parameters
    ----------
    store : Store
    stage : str
    count : int
        At most so many.
    seed : int
        Which random rows, where nothing sorts them; the same for the same seed.
    choice : Choice, optional
        Which rows may be taken; all by default.

    Returns
    -------
    list of dict
        The stage's columns; `original` where it has texts beside the corpus'; `scores`, the numbers beside.

    Raises
    ------
    UsageError
        If no part is finished, or a column or row is named that is not there.
    BadInputError
        If a part has other rows than the manifest says.
    """
    choice = choice or Choice()
    record = store.stage(stage)
    if not record.parts:
        raise UsageError(f"{store.path}: stage {stage!r} has no finished part yet; run it again to resume")
    _check_sizes(store, stage)
    scores = f"scores-{stage}" if store.has(f"scores-{stage}") else None
    conditions = parse_where(choice.where) if choice.where is not None else []
    column = choice.sort.removeprefix("-") if choice.sort is not None else None
    kept = np.ones(record.rows, bool)
    for condition in conditions:
        kept &= _meets(store, stage, scores, condition)
    numbers = numbers_of(store, stage, scores, [column] if column else [])
    if choice.reason is not None:
        kept &= _has_reason(store, stage, choice.reason)
    if choice.rows:
        kept &= _has_row_id(store, stage, choice.rows)
    if choice.contains is not None:
        kept &= _contains(store, stage, choice.contains)
    if choice.only_changed and can_be_unchanged(store, stage):
        kept &= _column(store, stage, "reason").is_null().to_numpy()
    if column is not None and choice.sort is not None:
        values = numbers[column]
        rows = np.flatnonzero(kept & ~np.isnan(values))
        ranked = np.argsort(-values[rows] if choice.sort.startswith("-") else values[rows], kind="stable")
        chosen = rows[ranked][:count]
    else:
        rows, generator = np.flatnonzero(kept), np.random.default_rng(seed)
        if choice.most_row_groups:
            rows = _of_few_groups(rows, _row_groups(store, stage), choice.most_row_groups, generator)
        chosen = np.sort(generator.permutation(rows)[:count])
    return _rows_at(store, stage, scores, chosen)


def _row_groups(store: Store, stage: str) -> np.ndarray:
    """Where the row groups of a stage begin, as int64 positions among the rows that are finished."""
    first, begins = 0, list[int]()
    for _, part in sorted(store.stage(stage).parts.items()):
        begins.extend(range(first, first + part.rows, ROW_GROUP_ROWS))
        first += part.rows
    return np.array(begins)


def _of_few_groups(
    rows: np.ndarray, begins: np.ndarray, most: int, generator: np.random.Generator
) -> np.ndarray:
    """Those of some rows that lie in `most` random row groups, of the groups that have any."""
    groups = np.searchsorted(begins, rows, side="right")
    filled = np.unique(groups)
    if len(filled) <= most:
        return rows
    return rows[np.isin(groups, generator.permutation(filled)[:most])]


def can_be_unchanged(store: Store, stage: str) -> bool:
    """Whether rows of a stage stand beside those of the corpus, with a reason where they have no text."""
    names = set(_schema(store, stage).names)
    return {"row_id", "text", "reason"} <= names and _is_beside_corpus(store, stage)


def _is_beside_corpus(store: Store, stage: str) -> bool:
    return stage != "corpus" and store.stage(stage).expected_parts == len(store.parts)


def _schema(store: Store, stage: str) -> pa.Schema:
    return describe(store.part_path(stage, min(store.stage(stage).parts)))[1]


def _check_sizes(store: Store, stage: str) -> None:
    for index, part in sorted(store.stage(stage).parts.items()):
        path = store.part_path(stage, index)
        if (rows_there := describe(store.verified_path(stage, index))[0]) != part.rows:
            raise BadInputError(
                f"{path}: has {rows_there:,} rows, the manifest says {part.rows:,}; make the stage anew"
            )


def _column(store: Store, stage: str, name: str, of: str | None = None) -> pa.ChunkedArray:
    """A column of a stage (or of the stage `of` beside it) over the parts of `stage` that are finished."""
    parts = sorted(store.stage(stage).parts)
    return pa.chunked_array(
        [chunk for index in parts for chunk in store.read_part(of or stage, index, [name])[name].chunks]
    )


def _meets(store: Store, stage: str, scores: str | None, condition: Condition) -> np.ndarray:
    """Which rows meet a condition, on numbers, texts or booleans; bool (N,)."""
    name, compare = condition.column, _OPERATORS[condition.operator]
    kind = next((field.type for field in _schema(store, stage) if field.name == name), None)
    if kind is not None and (pa.types.is_string(kind) or pa.types.is_boolean(kind)):
        value: Any = condition.value
        if pa.types.is_boolean(kind):
            value = _TRUTH.get(value.lower())
            if value is None or condition.operator not in ("==", "!="):
                raise UsageError(f"--where: {name} is true or false; write '{name} == true'")
        return np.array(
            [one is not None and compare(one, value) for one in _column(store, stage, name).to_pylist()]
        )
    numbers = numbers_of(store, stage, scores, [name])[name]
    try:
        number = float(condition.value)
    except ValueError:
        raise UsageError(f"--where: {name} holds numbers, and {condition.value!r} is none") from None
    return ~np.isnan(numbers) & compare(numbers, number)


def _has_reason(store: Store, stage: str, reason: str) -> np.ndarray:
    if "reason" not in _schema(store, stage).names:
        raise UsageError(f"{store.path}: rows of stage {stage!r} have no reasons; leave --reason out")
    reasons = _column(store, stage, "reason")
    has_it = pc.fill_null(pc.equal(reasons, reason), False).to_numpy()
    if not has_it.any():
        known = sorted(pc.unique(pc.drop_null(reasons)).to_pylist())
        raise UsageError(
            f"{store.path}: no row of stage {stage!r} has the reason {reason!r}; there are "
            f"{', '.join(known) or 'none'}.{did_you_mean(reason, known)}"
        )
    return has_it


def _has_row_id(store: Store, stage: str, wanted: Sequence[int]) -> np.ndarray:
    if "row_id" in _schema(store, stage).names:
        numbers = _column(store, stage, "row_id").to_numpy()
    else:
        numbers = np.arange(store.stage(stage).rows)
    if missing := sorted(set(wanted) - set(numbers[np.isin(numbers, wanted)].tolist())):
        there = f"{numbers.min():,} to {numbers.max():,}" if len(numbers) else "none"
        raise UsageError(f"{store.path}: stage {stage!r} has no row {missing[0]}; it has {there}")
    return np.isin(numbers, wanted)


def _contains(store: Store, stage: str, text: str) -> np.ndarray:
    schema = _schema(store, stage)
    places = [(field.name, stage) for field in schema if pa.types.is_string(field.type)]
    if "text" in schema.names and _is_beside_corpus(store, stage):
        places.append(("text", "corpus"))
    found = np.zeros(store.stage(stage).rows, bool)
    for name, of in places:
        hits = pc.match_substring(_column(store, stage, name, of), text, ignore_case=True)
        found |= pc.fill_null(hits, False).to_numpy()
    return found


def _rows_at(store: Store, stage: str, scores: str | None, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Rows of a stage by position, in that order, with the original and the scores beside."""
    rows: dict[int, dict[str, Any]] = {}
    first = 0
    for index, part in sorted(store.stage(stage).parts.items()):
        inside = (np.sort(chosen[(chosen >= first) & (chosen < first + part.rows)]) - first).tolist()
        if inside:
            table = store.read_rows(stage, index, inside)
            if {"row_id", "text"} <= set(table.column_names) and _is_beside_corpus(store, stage):
                originals = store.read_rows("corpus", index, inside, ["text"])["text"]
                table = table.add_column(1, "original", originals)
            entries = table.to_pylist()
            if scores is not None:
                beside = store.read_rows(scores, index, inside).drop(["row_id"]).to_pylist()
                for entry, numbers in zip(entries, beside, strict=True):
                    entry["scores"] = numbers
            rows |= dict(zip([first + position for position in inside], entries, strict=True))
        first += part.rows
    return [rows[position] for position in chosen.tolist()]


def quantiles(store: Store, stage: str) -> dict[str, dict[str, float]]:
    """Quantiles of each column of numbers of a stage, nulls aside, and how many nulls it has."""
    names = [name for name in number_columns(store, stage) if name not in _NOT_QUANTITIES]
    entries = {}
    for name in names:
        values = numbers_of(store, stage, None, [name])[name]
        known = values[~np.isnan(values)]
        if len(known):
            shares = np.quantile(known, QUANTILES)
            entries[name] = {
                f"{100 * share:g}%": round(float(value), 4)
                for share, value in zip(QUANTILES, shares, strict=True)
            } | {"null": int(len(values) - len(known))}
    return entries


_NOT_QUANTITIES = ("other_row_id", "nearest_row_id")
