"""Fill a store with texts: the corpus, its matrix and parses, and augmentations of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.api.shared import options_of, session_of
from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.parameters import takes
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestReport, entries_of, report_of
from augment_cli.ingest.memory import column_of
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from augment_cli.tfidf.fit import FitOptions


def open_store(path: str | Path = "store") -> Store:
    """Open a store for reading: `store.stages()`, `store.read("una")`, `store.frame("una")`.

    Raises
    ------
    BadInputError
        If there is no store.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.open_store("store").rows
    6
    """
    return Store.open(path)


@takes(IngestOptions)
def ingest_corpus(
    corpus: str | Path | Sequence[str | Path] | None = None,
    store: str | Path = "store",
    *,
    texts: Any = None,
    append: bool = False,
    strict: bool = False,
    max_rejects: float = 0.01,
    overwrite: bool = False,
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
    overwrite : bool
        Read anew where the corpus is there from other files, which deletes all stages of the store.
    **options
        As in `IngestOptions`.

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

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.ingest_corpus(store="two", texts=["The river flows.", "A heron waits."]).read
    2
    """
    if corpus is None and texts is None:
        raise UsageError("nothing to read; give files (corpus=…) or sentences (texts=…)")
    chosen, entries = options_of(IngestOptions, options, "ingest_corpus"), entries_of(corpus)
    with session_of(store, None, overwrite) as session:
        read = session.append if append else session.ingest
        read(entries, chosen, texts=texts, strict=strict, max_rejects=max_rejects)
        return report_of(session.store)


def fit(
    store: str | Path = "store",
    *,
    name: str | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Store:
    """Fit TF-IDF on a store's corpus (`augment-cli fit`).

    Parameters
    ----------
    store : path
    name : str, optional
        For a second fit beside the first.
    jobs : int, optional
        Worker processes; one for each core by default.
    overwrite : bool
        Delete the fit if it is there with other settings, and what was made from it.
    **options
        As in `FitOptions` (tokenizer, min_df, stages, …).

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.fit("store", min_df=2, name="frequent").has("terms-frequent")
    True
    """
    chosen = options_of(FitOptions, options, "fit")
    with session_of(store, jobs, overwrite) as session:
        session.ingest()
        session.fit(chosen, name)
        return session.store


def parse(
    store: str | Path = "store",
    *,
    pipeline: str | Path | None = None,
    name: str | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
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
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.parse("store").stage("parses").rows
    6
    """
    with session_of(store, jobs, overwrite) as session:
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
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Run an augmentation over a store, and before it whatever is missing (`augment-cli NAME`).

    Parameters
    ----------
    name : str
        Of the augmentation; `augment-cli list` shows them.
    store : path
    corpus : path or sequence of paths, optional
        As in `ingest_corpus`; by default the store's own. `augment_cli.SAMPLE` is the shipped sample.
    texts : list of str, DataFrame, Series or Arrow table, optional
        As in `ingest_corpus`, which is the place for its options, too.
    stage : str, optional
        Folder of the result; the augmentation's name by default.
    draws : int
        How many independent draws, each a stage of its own.
    jobs : int, optional
        Worker processes; one for each core by default.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **parameters
        The augmentation's own, and seed, fit and parses.

    Returns
    -------
    Store
        Ready to be read.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.run("word-deletion", "store", rate=0.2, stage="fewer").frame("fewer").height
    6
    """
    augmentation_run = make_run(name, **parameters)
    entries = entries_of(corpus)
    with session_of(store, jobs, overwrite) as session:
        session.ingest(entries, texts=texts)
        session.augment(augmentation_run, stage, draws)
        return session.store


def augment(
    texts: Any,
    name: str,
    *,
    store: Store | str | Path | None = None,
    pipeline: str | Path | None = None,
    text_column: str = "text",
    draws: int | None = None,
    **parameters: Any,
) -> pa.Table:
    """Augment sentences in memory, with the term table of a store where the augmentation needs one.

    Parameters
    ----------
    texts : sequence of str, DataFrame, Series or Arrow table
        None, and what else counts as missing in a data frame, stays missing.
    name : str
        Of the augmentation.
    store : Store or path, optional
        Whose fitted tables and pipeline to use. By default `./store`, and none where that does not exist and
        the augmentation reads no term table.
    pipeline : str or path, optional
        What parses the sentences, where the augmentation needs parses: an installed spaCy pipeline or a
        folder. By default the pipeline of the store's parses, and the shipped one in a store without.
    text_column : str
        Which column holds the sentences, where `texts` is a data frame or a table.
    draws : int, optional
        So many independent draws of each sentence, one after the other, with their number in the column
        `draw`.
    **parameters
        The augmentation's own, and seed, draw, fit and parses.

    Returns
    -------
    pyarrow.Table
        original, row_id (position in `texts`), text (null where unchanged), reason, edits, …. A missing
        sentence has the reason `missing`.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.augment(["The big dog sleeps.", None], "word-deletion")["reason"].to_pylist()
    [None, 'missing']
    >>> augment_cli.augment(["The big dog sleeps."], "random-swap", draws=3)["draw"].to_pylist()
    [0, 1, 2]
    """
    if isinstance(texts, str):
        raise UsageError("texts is one string, whose characters would be the sentences; give a list: [text]")
    if draws is not None and ("draw" in parameters or draws < 1):
        raise UsageError(f"draws = {draws}: give a number from 1, and no `draw` beside it")
    sentences = column_of(texts, text_column)
    run = make_run(name, **parameters)
    if store is None and "tfidf" not in run.needs:
        store = Store.open("store") if Path("store/manifest.json").exists() else Store(Path("store"), [], {})
    opened = store if isinstance(store, Store) else Store.open("store" if store is None else store)
    if draws is None:
        return _with_missing(
            augment_texts(pc.fill_null(sentences, ""), opened, run, pipeline=pipeline), sentences
        )
    tables = []
    for draw in range(draws):
        one = augment_texts(pc.fill_null(sentences, ""), opened, run.of_draw(draw, draws), pipeline=pipeline)
        number = pa.array([draw] * len(one), pa.int32())
        tables.append(_with_missing(one, sentences).append_column("draw", number))
    return pa.concat_tables(tables)


def _with_missing(table: pa.Table, sentences: pa.Array) -> pa.Table:
    """What was augmented in the place of missing sentences, as missing."""
    if not sentences.null_count:
        return table
    reasons = pc.if_else(sentences.is_null(), Reason.MISSING.value, table["reason"])
    for name, values in (("original", sentences), ("reason", reasons)):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), values)
    return table
