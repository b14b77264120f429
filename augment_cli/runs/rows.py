"""Reading the rows of a part, with what an augmentation needs of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.languages import languages_of
from augment_cli.runs.run import AugmentationRun
from augment_cli.store.schema import PARSES
from augment_cli.store.store import Store
from augment_cli.syntax.language import Language
from augment_cli.syntax.parses import STRING_COLUMNS, ParseRows, stage_name
from augment_cli.text.spans import CodePoints
from augment_cli.tfidf.names import stage_names


def rows_of_part(store: Store, index: int, run: AugmentationRun) -> Iterator[Rows]:
    """The rows of a part, one row group after another, with what the augmentation needs of them."""
    corpus = store.iterate_part("corpus", index, ["row_id", "text"])
    needs = run.needs
    nothing: Iterator[None] = itertools.repeat(None)
    matrix: Iterator[pa.Table | None] = nothing
    parses: Iterator[pa.Table | None] = nothing
    if "tfidf" in needs:
        columns = ["term_ids", "starts", "ends", "weights"]
        matrix = store.iterate_part(stage_names(run.fit)[0], index, columns)
    languages: tuple[Language, ...] = ()
    if "parses" in needs:
        languages = languages_of(run.pipeline(store) or "")
        parses = store.iterate_part(stage_name(run.parses), index, PARSES.names[1:], STRING_COLUMNS)
    for table in corpus:
        yield _rows_of(table, next(matrix), next(parses), languages)


def _rows_of(
    table: pa.Table, matrix: pa.Table | None, parses: pa.Table | None, languages: tuple[Language, ...]
) -> Rows:
    texts = table["text"].combine_chunks()
    code_points = CodePoints.of(texts)
    return Rows(
        table["row_id"].to_numpy(),
        texts,
        code_points,
        None if matrix is None else _token_rows(matrix),
        None if parses is None else ParseRows.from_table(parses, code_points, languages),
    )


def _token_rows(table: pa.Table) -> TokenRows:
    lists = {name: table[name].combine_chunks() for name in table.column_names}
    offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
    flat = {name: column.flatten().to_numpy() for name, column in lists.items()}
    return TokenRows(offsets - offsets[0], flat["term_ids"], flat["starts"], flat["ends"], flat["weights"])
