"""An augmentation over a list of sentences, with the resources of a store."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Prepared, PreparedModel
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.errors import UsageError
from augment_cli.ingest.memory import column_of
from augment_cli.languages import languages_of
from augment_cli.parsing.pipelines import load_pipeline
from augment_cli.parsing.stage import chosen_pipeline, parse_texts
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.tables import as_table, schema_of, unprotected
from augment_cli.store.store import Store
from augment_cli.syntax.parses import ParseRows, stage_name
from augment_cli.tfidf.term_table import TermTable, stage_names
from augment_cli.tokenization import get_tokenizer

_LOOKED_AT = 1_000  # texts, to tell the language


def augment_texts(
    texts: Sequence[str] | pa.Array,
    store: Store,
    run: AugmentationRun,
    row_ids: np.ndarray | None = None,
    pipeline: str | Path | None = None,
) -> pa.Table:
    """Augment sentences in memory, with the resources of a store."""
    # The draws depend on `row_ids` (int64, n), as in a stored stage; 0, 1, 2, … by default.
    if run.of:
        raise UsageError(f"of = {run.of!r}: names a stage of a store; `augment_cli.run` makes chains there")
    column = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
    run = run.resolved(store)
    if pipeline is None:
        run.check_named(store)
    source = chosen_pipeline(store, stage_name(run.parses), pipeline) if "parses" in run.needs else None
    if source is not None:
        run.check_language(source.name)
    run.check_texts(column.slice(0, _LOOKED_AT).to_pylist(), source.name if source else None)
    resources = run.resources(store)
    prepared = run.augmentation.prepare(run.parameters, resources)
    code_points = run.code_points(column)
    tokens = parses = None
    if resources.terms is not None:
        tokenizer = store.stage(stage_names(run.fit)[1]).settings["parameters"]["tokenizer"]
        tokens = unprotected(_tokens_of(column, tokenizer, resources.terms), code_points)
    if row_ids is None:
        row_ids = np.arange(len(column))
    if source is not None:
        parsed = parse_texts(load_pipeline(source), column, row_ids)
        parses = ParseRows.from_table(parsed, code_points, languages_of(source.name))
    rows = Rows(row_ids, column, code_points, tokens, parses)
    return _table_of(run, rows, prepared).add_column(0, "original", column)


def augment(
    texts: Any,
    name: str,
    store: Any,
    pipeline: str | Path | None,
    text_column: str,
    draws: int | None,
    parameters: Mapping[str, Any],
) -> pa.Table:
    """Augment what a program has in memory, by the resources of a store where there is one."""
    if not isinstance(name, str):
        raise UsageError(
            f"augment: the texts come first, then the augmentation, as in augment(texts, {texts!r})"
        )
    if isinstance(texts, str):
        raise UsageError("texts is one string, whose characters would be the sentences; give a list: [text]")
    if draws is not None and ("draw" in parameters or draws < 1):
        raise UsageError(f"draws = {draws}: give a number from 1, and no `draw` beside it")
    sentences, run = column_of(texts, text_column), make_run(name, **parameters)
    if store is None and "tfidf" not in run.needs:
        store = Store.open("store") if Path("store/manifest.json").exists() else Store(Path("store"), [], {})
    opened = store if isinstance(store, Store) else Store.open("store" if store is None else store)
    return augment_with_missing(sentences, opened, run, draws, pipeline)


def augment_with_missing(
    sentences: pa.Array,
    store: Store,
    run: AugmentationRun,
    draws: int | None = None,
    pipeline: str | Path | None = None,
) -> pa.Table:
    """The same for sentences of which some are missing, which stay so; several draws one after the other."""
    texts, tables = pc.fill_null(sentences, ""), []
    for draw in range(draws or 1):
        one = run if draws is None else run.of_draw(draw, draws)
        table = augment_texts(texts, store, one, pipeline=pipeline)
        reasons = pc.if_else(sentences.is_null(), Reason.MISSING.value, table["reason"])
        for name, values in (("original", sentences), ("reason", reasons)):
            place = table.schema.get_field_index(name)
            table = table.set_column(place, table.schema.field(place), values)
        tables.append(table)
        if draws is not None:
            tables[-1] = table.append_column("draw", pa.array([draw] * len(table), pa.int32()))
    return pa.concat_tables(tables)


def _table_of(run: AugmentationRun, rows: Rows, prepared: Prepared) -> pa.Table:
    """The result for some rows; a model gets them in its own batches."""
    augmentation = run.augmentation
    if "model" not in augmentation.needs:
        return as_table(augmentation, rows, prepared(rows))
    tables, places = [schema_of(augmentation).empty_table()], [np.zeros(0, np.int64)]
    for positions in cast(PreparedModel, prepared).batches_of(rows.texts):
        texts = rows.texts.take(pa.array(positions))
        batch = Rows(rows.row_ids[positions], texts, run.code_points(texts))
        tables.append(as_table(augmentation, batch, prepared(batch)))
        places.append(positions)
    return pa.concat_tables(tables).take(pa.array(np.argsort(np.concatenate(places), kind="stable")))


def _tokens_of(texts: pa.StringArray, tokenizer: str, terms: TermTable) -> TokenRows:
    """TF-IDF rows of new sentences."""
    tokens = get_tokenizer(tokenizer)(texts)
    _, term_ids, weights = terms.weigh(tokens)
    return TokenRows(tokens.row_offsets, term_ids, tokens.starts, tokens.ends, weights)
