"""The Python interface, for notebooks and scripts; the commands do the same through `Session`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions, IngestReport, entries_of, report_of
from augment_cli.pack import PACK_STAGE, PackOptions, choose
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.tfidf.fit import FitOptions
from augment_cli.vectors.embed_parameters import EmbedParameters
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import COLUMNS, ScoreOptions


def open_store(path: str | Path = "store") -> Store:
    """Open a store for reading: `store.stages()`, `store.read("una")`, `store.frame("una")`.

    Raises
    ------
    BadInputError
        If there is no store.
    """
    return Store.open(path)


def ingest_corpus(
    corpus: str | Path | Sequence[str | Path] | None = None,
    store: str | Path = "store",
    *,
    texts: Any = None,
    append: bool = False,
    strict: bool = False,
    max_rejects: float = 0.01,
    **options: Any,
) -> IngestReport:
    """Read sentences, of files or in memory, into a store's corpus.

    Parameters
    ----------
    corpus : path or sequence of paths, optional
        Files (plain or compressed text, jsonl, csv, tsv, Parquet), folders, globs, addresses of them such as
        `s3://bucket/folder`.
    store : path
        Folder, made if it is not there.
    texts : list of str, DataFrame, Series or Arrow table, optional
        Sentences in memory instead: of a data frame (polars, pandas) or a table the column that `text_column`
        names. In the corpus, `line` is their position from 1.
    append : bool
        Add them to the corpus that is there, as further parts, instead of making it.
    strict : bool
        Stop at the first bad line instead of setting it aside.
    max_rejects : float
        Share of lines, 0 to 1, that may be set aside.
    **options
        As in `IngestOptions`: text_column, id_column, keep_columns, limit, deduplicate, part_rows, ….

    Returns
    -------
    IngestReport
        Of the whole corpus.

    Raises
    ------
    UsageError
        If neither files nor sentences are given, or both, or sentences in the place of files.
    IncompleteError
        If more lines were set aside than `max_rejects` allows.
    """
    if corpus is None and texts is None:
        raise UsageError("nothing to read; give files (corpus=…) or sentences (texts=…)")
    chosen, entries = _of(IngestOptions, options, "ingest_corpus"), entries_of(corpus)
    with Session(store) as session:
        read = session.append if append else session.ingest
        read(entries, chosen, texts=texts, strict=strict, max_rejects=max_rejects)
        return report_of(session.store)


def fit(
    store: str | Path = "store", *, name: str | None = None, jobs: int | None = None, **options: Any
) -> Store:
    """Fit TF-IDF on a store's corpus; `**options` as in `FitOptions` (tokenizer, min_df, stages, …)."""
    chosen = _of(FitOptions, options, "fit")
    with Session(store, Engine.for_this_machine(jobs)) as session:
        session.ingest()
        session.fit(chosen, name)
        return session.store


def parse(
    store: str | Path = "store",
    *,
    pipeline: str | Path | None = None,
    name: str | None = None,
    jobs: int | None = None,
) -> Store:
    """Parse a store's corpus once, for the augmentations that read parses (`augment-cli parse`).

    Parameters
    ----------
    store : path
    pipeline : str or path, optional
        An installed spaCy pipeline or the folder of one; the shipped English one by default.
    name : str, optional
        For parses beside the first: their stage is `parses-NAME`, and an augmentation reads them with
        `parses=NAME`.
    jobs : int, optional
        Worker processes; one for each core by default.
    """
    with Session(store, Engine.for_this_machine(jobs)) as session:
        session.ingest()
        session.parse(pipeline, name)
        return session.store


def run(
    name: str,
    store: str | Path = "store",
    *,
    corpus: str | Path | Sequence[str | Path] | None = None,
    texts: Any = None,
    stage: str | None = None,
    draws: int = 1,
    jobs: int | None = None,
    **parameters: Any,
) -> Store:
    """Run an augmentation over a store, and before it whatever is missing (`augment-cli NAME`).

    Parameters
    ----------
    name : str
        Of the augmentation; `augment-cli list` shows them.
    store : path
    corpus : path or sequence of paths, optional
        As in `ingest_corpus`; by default the store's own, else the shipped sample.
    texts : list of str, DataFrame, Series or Arrow table, optional
        As in `ingest_corpus`, which is the place for its options, too.
    stage : str, optional
        Folder of the result; the augmentation's name by default.
    draws : int
        How many independent draws, each a stage of its own.
    jobs : int, optional
        Worker processes; one for each core by default.
    **parameters
        The augmentation's own, and seed, fit and parses.

    Returns
    -------
    Store
        Ready to be read.
    """
    augmentation_run = make_run(name, **parameters)
    entries = entries_of(corpus)
    with Session(store, Engine.for_this_machine(jobs)) as session:
        session.ingest(entries, texts=texts)
        session.augment(augmentation_run, stage, draws)
        return session.store


def augment(
    texts: Sequence[str],
    name: str,
    *,
    store: Store | str | Path | None = None,
    pipeline: str | Path | None = None,
    **parameters: Any,
) -> pa.Table:
    """Augment sentences in memory, with the term table of a store where the augmentation needs one.

    Parameters
    ----------
    texts : sequence of str
    name : str
        Of the augmentation.
    store : Store or path, optional
        Whose fitted tables and pipeline to use. By default `./store`, and none where that does not exist and
        the augmentation reads no term table.
    pipeline : str or path, optional
        What parses the sentences, where the augmentation needs parses: an installed spaCy pipeline or a
        folder. By default the pipeline of the store's parses, and the shipped one in a store without.
    **parameters
        The augmentation's own, and seed, draw, fit and parses.

    Returns
    -------
    pyarrow.Table
        original, row_id (position in `texts`), text (null where unchanged), reason, edits, ….
    """
    if isinstance(texts, str):
        raise UsageError("texts is one string, whose characters would be the sentences; give a list: [text]")
    run = make_run(name, **parameters)
    if store is None and "tfidf" not in run.needs:
        store = Store.open("store") if Path("store/manifest.json").exists() else Store(Path("store"), [], {})
    opened = store if isinstance(store, Store) else Store.open("store" if store is None else store)
    return augment_texts(texts, opened, run, pipeline=pipeline)


def embed(
    store: str | Path = "store",
    stage: str = "corpus",
    *,
    name: str | None = None,
    jobs: int | None = None,
    **parameters: Any,
) -> Store:
    """Make sentence vectors of a stage's texts (`augment-cli embed`).

    Parameters
    ----------
    store : path
    stage : str
        Whose texts: the corpus, an augmentation, mined negatives.
    name : str, optional
        For vectors beside the first; their stage is `vectors-NAME` or `vectors-NAME-STAGE`.
    jobs : int, optional
        Worker processes; one for each core by default.
    **parameters
        As in `EmbedParameters`: model, pooling, max_length, normalize, rows, precision, device, ….

    Returns
    -------
    Store
        `augment_cli.vectors.stages.VectorStage.open(store, stage)` reads them as arrays.
    """
    chosen = _of(EmbedParameters, parameters, "embed")
    with Session(store, Engine.for_this_machine(jobs)) as session:
        session.ingest()
        session.embed(stage, chosen, name)
        return session.store


def score(
    store: str | Path = "store",
    stage: str = "una",
    *,
    columns: Sequence[str] = COLUMNS,
    nli: str = "",
    acceptability: str = "",
    vectors: str | None = None,
    fit: str | None = None,
    name: str | None = None,
    jobs: int | None = None,
    **parameters: Any,
) -> Store:
    """Score a stage's texts, and before it make what is missing (`augment-cli score`).

    Parameters
    ----------
    store : path
    stage : str
    columns : sequence of str
        Which of `augment_cli.vectors.score.COLUMNS`.
    nli, acceptability : str
        Folders of classifiers, for further columns.
    vectors, fit : str, optional
        Which vectors or which fit to read, where there are several.
    name : str, optional
        For scores beside the first.
    jobs : int, optional
        Worker processes; one for each core by default.
    **parameters
        Of the encoder, where vectors are missing; as in `EmbedParameters`.
    """
    options = ScoreOptions(tuple(columns), nli, acceptability, vectors, fit)
    encoder = _of(EmbedParameters, parameters, "score")
    with Session(Store.open(store).path, Engine.for_this_machine(jobs)) as session:
        session.score(stage, options, name, encoder)
        return session.store


def mine(
    store: str | Path = "store",
    *,
    stage: str | None = None,
    model: str | None = None,
    vectors: str | None = None,
    fit: str | None = None,
    jobs: int | None = None,
    **parameters: Any,
) -> Store:
    """Mine hard negatives from a store's corpus, and before it make what is missing (`augment-cli mine`).

    Parameters
    ----------
    store : path
    stage : str, optional
        Folder of the result; `mined-tfidf` or `mined-vectors` by default.
    model : str, optional
        The encoder, where vectors are missing.
    vectors, fit : str, optional
        Which vectors or which fit to read, where there are several.
    jobs : int, optional
        Worker processes; one for each core by default.
    **parameters
        As in `MineParameters`: by, positive, negatives, range_min, range_max, max_score, margin, ….
    """
    chosen = _of(MineParameters, parameters, "mine")
    encoder = None if model is None else EmbedParameters(model=model)
    with Session(store, Engine.for_this_machine(jobs)) as session:
        session.ingest()
        session.mine(chosen, stage, fit, vectors, encoder)
        return session.store


def pack_table(
    store: str | Path = "store", *, name: str = PACK_STAGE, jobs: int | None = None, **options: Any
) -> Store:
    """Make the table that sentence-transformers trains on (`augment-cli pack`).

    Parameters
    ----------
    store : path
    name : str
        Folder of the result; with a split `NAME-train` and `NAME-test`.
    jobs : int, optional
        Worker processes; one for each core by default.
    **options
        As in `augment_cli.pack.PackOptions`: positives, negatives, min_positive, max_negative, margin,
        layout, scores, carry, split, ….
    """
    _check_names(PackOptions, options, "pack_table")
    with Session(Store.open(store).path, Engine.for_this_machine(jobs)) as session:
        session.pack(choose(session.store, **options), name)
        return session.store


def _of(kind: Any, given: Mapping[str, Any], function: str) -> Any:
    """Options made of keywords; a name they do not have is an error that says which they have."""
    _check_names(kind, given, function)
    return kind(**given)


def _check_names(kind: Any, given: Mapping[str, Any], function: str) -> None:
    known = [field.name for field in dataclasses.fields(kind)]
    if unknown := [name for name in given if name not in known]:
        raise UsageError(f"{function}: has no parameter {unknown[0]!r}; it has {', '.join(known)}")
