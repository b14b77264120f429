"""An augmentation over a list of sentences, with the resources of a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.rows import Batch, TokenRows
from augment_cli.parsing.pipelines import load_pipeline
from augment_cli.parsing.stage import chosen_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.tables import as_table, schema_of
from augment_cli.store.store import Store
from augment_cli.syntax.parses import ParseRows, stage_name
from augment_cli.text.spans import CodePoints
from augment_cli.tfidf.fit import stage_names
from augment_cli.tfidf.term_table import TermTable
from augment_cli.tokenization import get_tokenizer


def augment_texts(
    texts: Sequence[str],
    store: Store,
    run: AugmentationRun,
    row_ids: np.ndarray | None = None,
    pipeline: str | Path | None = None,
) -> pa.Table:
    """Augment sentences in memory, with the resources of a store.

    The draws depend on the row_ids (int64, 0, 1, 2, … by default), as they do in a stored stage. Where the
    augmentation reads parses, the sentences are parsed with `pipeline`, by default the one of the store's
    parses, and the shipped one in a store without.

    Returns
    -------
    pyarrow.Table
        `original`, then the columns of the augmentation's stage.

    Raises
    ------
    MissingError
        If the pipeline is not on this machine.
    """
    column, run = pa.array(texts, pa.string()), run.settled(store)
    resources = run.resources(store)
    prepared = run.augmentation.prepare(run.parameters, resources)
    tokens = None
    if resources.terms is not None:
        tokenizer = store.stage(stage_names(run.fit)[1]).settings["parameters"]["tokenizer"]
        tokens = _tokens_of(column, tokenizer, resources.terms)
    if row_ids is None:
        row_ids = np.arange(len(column))
    code_points = CodePoints.of(column)
    parses = None
    if "parses" in run.needs:
        source = chosen_pipeline(store, stage_name(run.parses), pipeline)
        parses = ParseRows.from_table(parse_texts(load_pipeline(source), column, row_ids), code_points)
    batch = Batch(row_ids, column, code_points, tokens, parses)
    return _in_planned_batches(run.augmentation, batch, prepared).add_column(0, "original", column)


def _in_planned_batches(augmentation: Augmentation, batch: Batch, prepared: Any) -> pa.Table:
    """The result for a batch; a model gets it in the batches that it plans."""
    if "model" not in augmentation.needs:
        return as_table(augmentation, batch, prepared(batch))
    tables, places = [schema_of(augmentation).empty_table()], [np.zeros(0, np.int64)]
    for positions in prepared.plan(batch.texts):
        texts = batch.texts.take(pa.array(positions))
        some = Batch(batch.row_ids[positions], texts, CodePoints.of(texts))
        tables.append(as_table(augmentation, some, prepared(some)))
        places.append(positions)
    return pa.concat_tables(tables).take(pa.array(np.argsort(np.concatenate(places), kind="stable")))


def _tokens_of(texts: pa.StringArray, tokenizer: str, terms: TermTable) -> TokenRows:
    """TF-IDF rows of new sentences: term frequency from the sentence, idf from the fitted table."""
    tokens = get_tokenizer(tokenizer)(texts)
    term_ids = terms.ids_of(tokens.terms)
    lengths = np.diff(tokens.row_offsets)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    words = tokens.terms.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, inverse, counts = np.unique(rows * (len(words) + 1) + words, return_inverse=True, return_counts=True)
    known = term_ids >= 0
    idf = np.zeros(len(term_ids))
    idf[known] = terms.idf[term_ids[known]]
    weights = np.log1p(counts[inverse] / np.repeat(lengths, lengths)) * idf
    return TokenRows(tokens.row_offsets, term_ids, tokens.starts, tokens.ends, weights)
