"""What a part must hold whatever its digest says: a forger mends digests, but has to keep these, too."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from augment_cli.store.contents import StoreContents


def other_columns(table: pa.Table, expected: Iterable[pa.Field]) -> list[str]:
    """What is wrong with the names and types of a part's first columns."""
    wanted = list(expected)
    found = [table.schema.field(number) for number in range(min(len(wanted), table.num_columns))]
    for field, other in zip(wanted, found, strict=False):
        if (other.name, other.type, other.nullable) != (field.name, field.type, field.nullable):
            return [f"has the column {other} where the stage has {field}"]
    lacking = [field.name for field in wanted[len(found) :]]
    return [f"lacks the columns {', '.join(lacking)}"] if lacking else []


def exact_columns(table: pa.Table, expected: Iterable[pa.Field]) -> list[str]:
    """The same of all its columns: it may have no others."""
    wanted = list(expected)
    if problems := other_columns(table, wanted):
        return problems
    more = table.schema.names[len(wanted) :]
    return [f"has the columns {', '.join(more)}, which the stage does not have"] if more else []


def other_rows(store: StoreContents, index: int, table: pa.Table) -> list[str]:
    """What is wrong with its row ids, which are those of the corpus's part, in order."""
    if index >= len(store.parts):
        return ["has no counterpart among the parts of the corpus"]
    first, rows = store.parts[index]
    ids = table["row_id"].to_numpy()
    if len(ids) == rows and (ids == np.arange(first, first + rows)).all():
        return []
    return [f"its row ids are not {first} to {first + rows - 1}, in order, as in the corpus"]


def list_lengths(table: pa.Table, names: Iterable[str]) -> np.ndarray | None:
    """The common lengths of list columns, int64 (n,); None where they differ or a list is null."""
    lengths = []
    for name in names:
        column = table[name].combine_chunks()
        if column.null_count or column.flatten().null_count:
            return None
        lengths.append(column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
    return lengths[0] if all((other == lengths[0]).all() for other in lengths) else None


def flat(table: pa.Table, name: str) -> np.ndarray:
    """All numbers of a list column, one list after the other."""
    values: np.ndarray = table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return values


def spans_outside(table: pa.Table, lengths: np.ndarray, texts: pa.ChunkedArray) -> list[str]:
    """What is wrong with the columns `starts` and `ends` as spans of texts, in order and not overlapping."""
    import pyarrow.compute as pc

    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts, ends = flat(table, "starts").astype(np.int64), flat(table, "ends").astype(np.int64)
    characters = pc.utf8_length(texts).to_numpy()
    is_wrong = (starts < 0) | (starts > ends) | (ends > characters[rows])
    is_wrong[1:] |= (rows[1:] == rows[:-1]) & (starts[1:] < ends[:-1])
    if not is_wrong.any():
        return []
    row = int(rows[is_wrong.argmax()])
    return [f"a span of its row {row} lies outside the text, or not behind the one before it"]


def not_finite(table: pa.Table, name: str, low: float = -np.inf, high: float = np.inf) -> list[str]:
    """Whether numbers of a column that are there are no numbers, or out of range."""
    values = table[name].drop_null().to_numpy().astype(np.float64)
    if np.isfinite(values).all() and (not len(values) or (low <= values.min() and values.max() <= high)):
        return []
    return [f"its column {name} has numbers that are not finite, or not from {low:g} to {high:g}"]


def wrong_ids(ids: pa.ChunkedArray, vocabulary: int | None = None) -> list[str]:
    """What is wrong with the token ids of some texts; `vocabulary` is how many the tokenizer knows."""
    flat = ids.combine_chunks().flatten()
    if flat.null_count or (flat.to_numpy() < 0).any():
        return ["has ids that are null or negative"]
    if vocabulary is not None and (flat.to_numpy() >= vocabulary).any():
        return [f"has ids beyond the {vocabulary:,} that the tokenizer knows"]
    return []
