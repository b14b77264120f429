"""From texts beside each other to the rows of a layout, filtered by cosine.

`n-tuple`: a row for each positive, every stage of negatives a column. `triplet`: a row for each positive and
each negative. `pair`: anchor and positive alone. `labeled-pair`: two sentences and the label 1 (positive) or
0 (negative); each negative stands once, beside the first of the sentence's positives. With scores, a pair has
its cosine instead of the label, and a tuple the list of cosines of its positive and its negatives: what
sentence-transformers' CoSENTLoss, MarginMSELoss and DistillKLDivLoss take as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.pack.options import CORPUS_STAGE, PackOptions


@dataclass(frozen=True)
class Packed:
    """Rows of a layout, and what became of the sentences.

    Attributes
    ----------
    table : pyarrow.Table
    complete : int
        Sentences that have the positive and all negatives.
    dropped : int
        Sentences that give no row.
    """

    table: pa.Table
    complete: int
    dropped: int


def rows_of(
    columns: pa.Table, positive: str, options: PackOptions, schema: pa.Schema, filters: Sequence[str]
) -> Packed:
    """The packed rows of some sentences for one stage of positives.

    Parameters
    ----------
    columns : pyarrow.Table
        `stage:NAME` with the texts of each stage, `cosine:NAME` where cosines are asked for, and what is
        carried.
    positive : str
    options : PackOptions
    schema : pyarrow.Schema
        Of the result.
    filters : sequence of str
        Those of `options.filters` to apply.
    """
    sentences = _Sentences(columns, positive, options, filters)
    complete = np.logical_and.reduce([sentences.is_positive, *sentences.are_negatives])
    if options.layout == "n-tuple":
        gives, tables = _n_tuples(sentences, options, schema)
    elif options.layout == "triplet":
        rows = [sentences.is_positive & one for one in sentences.are_negatives]
        gives = np.logical_or.reduce(rows)
        tables = [
            sentences.take(kept, [0, 1, 2 + number], options, schema) for number, kept in enumerate(rows)
        ]
    elif options.layout == "pair":
        gives, tables = (
            sentences.is_positive,
            [sentences.take(sentences.is_positive, [0, 1], options, schema)],
        )
    else:
        gives, tables = (
            sentences.is_positive,
            _labeled_pairs(sentences, columns, positive, options, schema, filters),
        )
    table = pa.concat_tables([schema.empty_table(), *tables])
    return Packed(table, int(complete.sum()), int((~gives).sum()))


class _Sentences:
    """Anchor, one positive and all negatives of some sentences, and which of them pass the filters."""

    def __init__(
        self, columns: pa.Table, positive: str, options: PackOptions, filters: Sequence[str]
    ) -> None:
        anchor = columns[f"stage:{CORPUS_STAGE}"]
        names = [positive, *options.negatives]
        own = [columns[f"stage:{name}"] for name in names]
        if options.unchanged == "anchor":
            own = [pc.coalesce(column, anchor) for column in own]
        self.columns = columns
        self.texts = [anchor, *own]
        self.cosines = [_cosine_of(columns, name) for name in (CORPUS_STAGE, *names)]
        is_there = [column.is_valid().to_numpy() for column in own]
        if "min_positive" in filters:
            is_there[0] &= self.cosines[1] >= options.min_positive
        for number in range(1, len(is_there)):
            if "max_negative" in filters:
                is_there[number] &= self.cosines[1 + number] <= options.max_negative
            if "margin" in filters:
                is_there[number] &= self.cosines[1] - self.cosines[1 + number] >= options.margin
        self.is_positive, self.are_negatives = is_there[0], is_there[1:]

    def take(
        self,
        kept: np.ndarray,
        places: Sequence[int],
        options: PackOptions,
        schema: pa.Schema,
        label: int | None = None,
    ) -> pa.Table:
        """Rows with the texts at some places: 0 the anchor, 1 the positive, from 2 on the negatives."""
        mask = pa.array(kept)
        arrays = [self.texts[place].filter(mask) for place in places]
        if options.scores:
            values = np.stack([self.cosines[place][kept] for place in places[1:]], axis=1)
            arrays.append(_scores(values, schema))
        elif label is not None:
            arrays.append(pa.array(np.full(int(kept.sum()), label)))
        arrays += [self.columns[name].filter(mask) for name in options.carry]
        return pa.table(arrays, names=schema.names).cast(schema)


def _n_tuples(
    sentences: _Sentences, options: PackOptions, schema: pa.Schema
) -> tuple[np.ndarray, list[pa.Table]]:
    """Which sentences give a row, and the rows; another negative may stand in for a missing one (`fills`)."""
    are_there, count = sentences.are_negatives, len(options.negatives)
    if not options.fills:
        kept = np.logical_and.reduce([sentences.is_positive, *are_there])
        return kept, [sentences.take(kept, range(2 + count), options, schema)]
    kept = sentences.is_positive & np.logical_or.reduce(are_there)
    texts = [
        pc.if_else(pa.array(there), text, None)
        for there, text in zip(are_there, sentences.texts[2:], strict=True)
    ]
    cosines = [
        np.where(there, cosine, np.nan)
        for there, cosine in zip(are_there, sentences.cosines[2:], strict=True)
    ]
    # The row's next negative that is there, from the gap on and round.
    around = [[*range(place, count), *range(place)] for place in range(count)]
    sentences.texts[2:] = [pc.coalesce(*(texts[at] for at in order)) for order in around]
    sentences.cosines[2:] = [_first_number([cosines[at] for at in order]) for order in around]
    return kept, [sentences.take(kept, range(2 + count), options, schema)]


def _labeled_pairs(
    sentences: _Sentences,
    columns: pa.Table,
    positive: str,
    options: PackOptions,
    schema: pa.Schema,
    filters: Sequence[str],
) -> list[pa.Table]:
    """Pairs with label 1, then those with label 0 of the sentences that had no positive before this one."""
    earlier = options.positives[: options.positives.index(positive)]
    is_first = sentences.is_positive.copy()
    for name in earlier:
        is_first &= ~_Sentences(columns, name, options, filters).is_positive
    tables = [sentences.take(sentences.is_positive, [0, 1], options, schema, 1)]
    for number, are_there in enumerate(sentences.are_negatives):
        tables.append(sentences.take(is_first & are_there, [0, 2 + number], options, schema, 0))
    return tables


def _first_number(columns: Sequence[np.ndarray]) -> np.ndarray:
    found = columns[0]
    for column in columns[1:]:
        found = np.where(np.isnan(found), column, found)
    return found


def _cosine_of(columns: pa.Table, name: str) -> np.ndarray:
    """Cosines of a stage to its originals: 1 for the corpus and where the anchor stands in for a text."""
    if f"cosine:{name}" not in columns.column_names:
        return np.ones(columns.num_rows, np.float32)
    values = columns[f"cosine:{name}"].to_numpy()
    return np.where(np.isnan(values), np.float32(1), values)


def _scores(values: np.ndarray, schema: pa.Schema) -> pa.Array:
    """The column `score`: a number of each row, or a list of them; `values` float32 (n, k)."""
    if schema.field("score").type == pa.float32():
        return pa.array(values[:, 0])
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat)
