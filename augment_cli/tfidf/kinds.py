"""The kinds of stages that a fit makes: the matrix with its term table, and how the terms are written."""

import importlib.metadata
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.store.kinds import (
    StageKind,
    exact_columns,
    flat,
    list_lengths,
    not_finite,
    other_rows,
    spans_outside,
)
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import FORMS, TERMS, TFIDF
from augment_cli.store.store import Store
from augment_cli.tfidf import fit, term_table
from augment_cli.tfidf.term_table import FORMS_STAGE, TFIDF_STAGE, stage_names
from augment_cli.tokenization import get_tokenizer


def _today(store: Store, stage: Stage, corpus: Sequence[str | Path] | None) -> dict[str, Any]:
    try:
        version = get_tokenizer(stage.settings["parameters"]["tokenizer"]).version
    except (UsageError, importlib.metadata.PackageNotFoundError):  # not installed here
        version = None
    return {"resources": stage.settings["resources"] | {"tokenizer": version}}


def _fitting(store: Store, name: str) -> list[str]:
    """The command that fits again what a matrix, a table or the forms of one belong to."""
    named = _named(name)
    table = stage_names(named)[1]
    options = fit.FitOptions()
    if table in store.stages():
        stored = store.stage(table).settings["parameters"]
        given = "FOLDER" if "terms" in store.stage(table).settings["inputs"] else ""
        options = fit.FitOptions(stored["tokenizer"], stored["min_df"], tuple(stored["stages"]), given)
    return shlex.split(fit.fit_command(options, named))[1:]


def _check(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if fit.is_term_table(stage):
        return exact_columns(table, TERMS) or _check_terms(table)
    if problems := exact_columns(table, TFIDF) or other_rows(store, index, table):
        return problems
    lengths = list_lengths(table, TFIDF.names[1:])
    if lengths is None:
        return ["has lists of different lengths in a row"]
    ids, weights = flat(table, "term_ids"), flat(table, "weights")
    terms = _rows_of(store, stage_names(_named(stage.name))[1])
    # -1 is a term of too few sentences for the table.
    lowest = -1 if stage.settings["parameters"]["min_df"] > 1 or "terms" in stage.settings["inputs"] else 0
    if len(ids) and terms is not None and not lowest <= ids.min() <= ids.max() < terms:
        return [f"has ids of terms that are not from {lowest} to {terms - 1}"]
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        return ["has weights that are not finite, or negative"]
    return spans_outside(table, lengths, store.read_part("corpus", index, ["text"])["text"])


def _check_terms(table: pa.Table) -> list[str]:
    problems = not_finite(table, "document_frequency", 1) + not_finite(table, "idf")
    scores = table["max_score"].to_numpy()
    if not np.isfinite(scores).all() or (np.diff(scores) > 0).any():
        problems.append("its maximum scores are not finite, or not in falling order")
    return problems


def _check_forms(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if problems := exact_columns(table, FORMS):
        return problems
    terms = _rows_of(store, stage_names(_named(stage.name))[1])
    if terms is not None and table.num_rows != terms:
        return [f"has {table.num_rows} rows for {terms} terms"]
    return not_finite(table, "case", term_table.UNKNOWN, term_table.MIXED)


def _named(stage: str) -> str | None:
    """The name of the fit that a stage belongs to."""
    return stage.partition("-")[2] or None


def _rows_of(store: Store, stage: str) -> int | None:
    return store.stage(stage).rows if stage in store.stages() else None


KINDS = (
    StageKind(
        TFIDF_STAGE,
        {TFIDF_STAGE: TFIDF, stage_names(None)[1]: TERMS},
        version=lambda: fit.VERSION,
        today=_today,
        check=_check,
        describe=lambda stage: (
            "terms by falling maximum TF-IDF score" if fit.is_term_table(stage) else "TF-IDF of each sentence"
        ),
        is_for_readers=lambda stage: False,
        command=_fitting,
    ),
    StageKind(
        FORMS_STAGE,
        {FORMS_STAGE: FORMS},
        version=lambda: term_table.FORMS_VERSION,
        check=_check_forms,
        is_for_readers=lambda stage: False,
        command=_fitting,
    ),
)
