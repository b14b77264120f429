"""Rows of a stage by the numbers beside them: `--where 'cosine < 0.6'`, `--sort cosine`; and quantiles."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
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
_CONDITION = re.compile(rf"\s*([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*({_NUMBER})\s*")


@dataclass(frozen=True)
class Condition:
    """A column, an operator and a number, such as `cosine < 0.6`; a null meets none."""

    column: str
    operator: str
    number: float


def parse_where(text: str) -> list[Condition]:
    """Conditions joined by `and`, all of which must hold. Nothing else is understood, and nothing is run.

    Raises
    ------
    UsageError
        If the text is anything else.

    Examples
    --------
    >>> parse_where("cosine < 0.6 and length_ratio >= 1")[0]
    Condition(column='cosine', operator='<', number=0.6)
    """
    conditions = []
    for piece in re.split(r"\band\b", text):
        match = _CONDITION.fullmatch(piece)
        if match is None:
            raise UsageError(
                f"--where {text!r}: {piece.strip()!r} is not COLUMN OPERATOR NUMBER with one of "
                f"{', '.join(sorted(_OPERATORS))}; join several with `and`: 'cosine < 0.6 and rank >= 5'"
            )
        conditions.append(Condition(match[1], match[2], float(match[3])))
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


def choose_rows(
    store: Store, stage: str, count: int, seed: int = 0, where: str | None = None, sort: str | None = None
) -> list[dict[str, Any]]:
    """Rows of a stage that meet conditions, the first ones by a column, or random ones in order.

    Numbers may be columns of the stage or of `scores-STAGE`.

    Parameters
    ----------
    store : Store
    stage : str
    count : int
        At most so many.
    seed : int
        Which random rows, without `sort`.
    where : str, optional
        As `parse_where` reads it.
    sort : str, optional
        A column, smallest first; `-COLUMN`, largest first. Rows with null there are left out.

    Returns
    -------
    list of dict
        The stage's columns; `original` where it has texts beside the corpus'; `scores`, the numbers beside.
    """
    record = store.stage(stage)
    scores = f"scores-{stage}" if store.has(f"scores-{stage}") else None
    conditions = parse_where(where) if where is not None else []
    column = sort.removeprefix("-") if sort is not None else None
    asked = [condition.column for condition in conditions] + ([column] if column else [])
    numbers = numbers_of(store, stage, scores, asked)
    total = record.rows
    kept = np.ones(total, bool)
    for condition in conditions:
        values = numbers[condition.column]
        kept &= ~np.isnan(values) & _OPERATORS[condition.operator](values, condition.number)
    if column is not None and sort is not None:
        values = numbers[column]
        rows = np.flatnonzero(kept & ~np.isnan(values))
        chosen = rows[np.argsort(-values[rows] if sort.startswith("-") else values[rows], kind="stable")][
            :count
        ]
    else:
        rows = np.flatnonzero(kept)
        chosen = np.sort(np.random.default_rng(seed).permutation(rows)[:count])
    return _rows_at(store, stage, scores, chosen)


def _rows_at(store: Store, stage: str, scores: str | None, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Rows of a stage by position, in that order, with the original and the scores beside."""
    rows: dict[int, dict[str, Any]] = {}
    first = 0
    record = store.stage(stage)
    for index in sorted(record.parts):
        size = record.parts[index].rows
        inside = np.sort(chosen[(chosen >= first) & (chosen < first + size)]) - first
        for group in np.unique(inside // ROW_GROUP_ROWS):
            some = inside[inside // ROW_GROUP_ROWS == group]
            positions = pa.array(some - group * ROW_GROUP_ROWS)
            table = store.read_part(stage, index, row_groups=[int(group)]).take(positions)
            is_beside = stage != "corpus" and {"row_id", "text"} <= set(table.column_names)
            if is_beside and record.expected_parts == len(store.parts):
                originals = store.read_part("corpus", index, ["text"], [int(group)])["text"].take(positions)
                table = table.add_column(1, "original", originals)
            entries = table.to_pylist()
            if scores is not None:
                beside = store.read_part(scores, index, None, [int(group)]).drop(["row_id"]).take(positions)
                entries = [
                    entry | {"scores": numbers}
                    for entry, numbers in zip(entries, beside.to_pylist(), strict=True)
                ]
            rows |= dict(zip((some + first).tolist(), entries, strict=True))
        first += size
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
