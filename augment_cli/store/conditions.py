"""Conditions on the columns of a stage, or on those of its scores, such as `cosine < 0.6`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store

_OPERATORS = {
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    ">": pc.greater,
}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_QUOTED = r"'[^']*'|\"[^\"]*\""
_CONDITION = re.compile(rf"\s*([A-Za-z_]\w*)\s*(<=|>=|==|!=|=|<|>)\s*({_NUMBER}|{_QUOTED}|[^\W\d][\w.-]*)\s*")
_AND = re.compile(rf"\band\b(?=(?:[^'\"]|{_QUOTED})*$)")  # not one within quotation marks
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class Condition:
    """A column, an operator and a value as it was written, or null; a null meets nothing else."""

    column: str
    operator: str
    value: str | None


def parse_where(text: str, option: str = "--where") -> list[Condition]:
    """Conditions joined by `and`, all of which must hold. Nothing else is understood, and nothing is run."""
    conditions = []
    for piece in _AND.split(text):
        match = _CONDITION.fullmatch(piece)
        if match is None:
            raise UsageError(
                f"{option} {text!r}: {piece.strip()!r} is not COLUMN OPERATOR VALUE with one of "
                f"{', '.join(sorted(_OPERATORS))}; join several with `and`: 'cosine < 0.6 and rank >= 5', "
                "'label == other', 'is_negated == true', 'reason != null'"
            )
        sign = "==" if match[2] == "=" else match[2]
        value = None if match[3] == "null" else match[3].strip("'\"")
        if value is None and sign not in ("==", "!="):
            raise UsageError(f"{option} {text!r}: null is neither more nor less; write == null or != null")
        conditions.append(Condition(match[1], sign, value))
    return conditions


def conditions_by_stage(texts: Sequence[str], option: str = "--where") -> dict[str, list[Condition]]:
    """What the texts of each stage must meet, of `STAGE:CONDITIONS` each."""
    found: dict[str, list[Condition]] = {}
    for text in texts:
        name, colon, conditions = text.partition(":")
        if not colon:
            raise UsageError(f"{option} {text!r}: begin with the stage, such as 'una:cosine < 0.9'")
        found.setdefault(name.strip(), []).extend(parse_where(conditions, option))
    return found


def number_columns(store: Store, stage: str) -> list[str]:
    """Columns of a stage with one number a row, row_id aside."""
    return [
        field.name
        for field in (schema_of(store, stage) if store.stage(stage).parts else ())
        if field.name != "row_id" and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]


def scores_of(store: Store, stage: str) -> str | None:
    """The stage of another's scores, where it is there and finished."""
    return f"scores-{stage}" if store.has(f"scores-{stage}") else None


def numbers_of(
    store: Store, stage: str, columns: Sequence[str], parts: Sequence[int] | None = None
) -> dict[str, np.ndarray]:
    """Columns of a stage or its scores, as float64 (N,), NaN for null, over all finished parts or some."""
    places, values = _places_of_numbers(store, stage), {}
    for name in dict.fromkeys(columns):
        if name not in places:
            raise _unknown(store, stage, f"numbers {name!r}", numbers_alone=True)
        column = column_of(store, stage, name, places[name], parts).cast(pa.float64())
        values[name] = pc.fill_null(column, np.nan).to_numpy()
    return values


def _places_of_numbers(store: Store, stage: str) -> dict[str, str]:
    """The columns of numbers of a stage and its scores, with the stage that has each."""
    stages = [one for one in (scores_of(store, stage), stage) if one]
    return {name: one for one in stages for name in number_columns(store, one)}


def schema_of(store: Store, stage: str) -> pa.Schema:
    """The columns of a stage's finished parts."""
    return describe(store.part_path(stage, min(store.stage(stage).parts)))[1]


def column_of(
    store: Store, stage: str, name: str, of: str | None = None, parts: Sequence[int] | None = None
) -> pa.ChunkedArray:
    """A column of a stage (or of the stage `of` beside it) over those parts of `stage` that are finished."""
    indices = sorted(store.stage(stage).parts) if parts is None else parts
    columns = [store.read_part(of or stage, index, [name])[name] for index in indices]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)


def meets(
    store: Store, stage: str, conditions: Sequence[Condition], parts: Sequence[int] | None = None
) -> np.ndarray:
    """Which rows of all finished parts, or of some, meet all conditions; bool (N,)."""
    there = store.stage(stage).parts
    kept = np.ones(sum(there[index].rows for index in (there if parts is None else parts)), bool)
    for condition in conditions:
        kept &= _meets(store, stage, condition, parts)
    return kept


def _meets(store: Store, stage: str, condition: Condition, parts: Sequence[int] | None) -> np.ndarray:
    name, compare, wants_null = condition.column, _OPERATORS[condition.operator], condition.operator == "=="
    kind = next((field.type for field in schema_of(store, stage) if field.name == name), None)
    if kind is not None and (pa.types.is_string(kind) or pa.types.is_boolean(kind)):
        value: Any = condition.value
        if value is None:
            return column_of(store, stage, name, None, parts).is_null().to_numpy() == wants_null
        if pa.types.is_boolean(kind):
            value = _TRUTH.get(value.lower())
            if value is None or condition.operator not in ("==", "!="):
                raise UsageError(
                    f"{store.path}: {name!r} of {stage!r} is true or false; write '{name} == true'"
                )
        column = column_of(store, stage, name, None, parts)
        return pc.fill_null(compare(column, pa.scalar(value, kind)), False).to_numpy()
    if name not in _places_of_numbers(store, stage):
        raise _unknown(store, stage, f"column {name!r} for a condition")
    numbers = numbers_of(store, stage, [name], parts)[name]
    if condition.value is None:
        return np.isnan(numbers) == wants_null
    try:
        number = float(condition.value)
    except ValueError:
        raise UsageError(
            f"{store.path}: {name!r} of {stage!r} holds numbers, and {condition.value!r} is not one"
        ) from None
    return ~np.isnan(numbers) & compare(pa.array(numbers), number).to_numpy(zero_copy_only=False)


def _unknown(store: Store, stage: str, what: str, numbers_alone: bool = False) -> UsageError:
    """The refusal of a column that is not there, with all that may be named."""
    fields = list(schema_of(store, stage)) if store.stage(stage).parts else []
    kinds = {"numbers": list(_places_of_numbers(store, stage))}
    if not numbers_alone:
        kinds["text"] = [field.name for field in fields if pa.types.is_string(field.type)]
        kinds["true or false"] = [field.name for field in fields if pa.types.is_boolean(field.type)]
    there = "; ".join(f"{', '.join(names)} ({kind})" for kind, names in kinds.items() if names) or "none"
    is_scored = scores_of(store, stage) is not None or stage == "corpus"
    hint = "" if is_scored else f"; `augment-cli score {stage}` makes more numbers"
    return UsageError(f"{store.path}: {stage!r} has no {what}; it has {there}{hint}")
