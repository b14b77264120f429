"""The operations that fill a store with text, augment it and pack it; and one for sentences in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from augment_cli.api.making import Pipeline, session_of
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.operation import Corpus, Fields, Jobs, Option, Overwrite, Store, operation, plain
from augment_cli.contract.pack_options import PackOptions
from augment_cli.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from augment_cli.api.stores import Store as StoreOfStages
    from augment_cli.ingest import IngestReport
    from augment_cli.session.recipe import RecipeResult

Texts = Annotated[
    Any,
    Option(
        "list of str, DataFrame, Series or Arrow table: sentences in memory instead of files; of a data "
        "frame (polars, pandas) or a table the column that `text_column` names",
        python_only=True,
    ),
]
AugmentationName = Annotated[str, Option("of the augmentation; `augment-cli list` shows them")]


@operation()
def open_store(path: Annotated[str | Path, Option("of the store")] = "store") -> StoreOfStages:
    """Open a store for reading: `store.stages()`, `store.read("una")`, `store.frame("una")`.

    >>> augment_cli.open_store("store").rows
    6
    """
    from augment_cli.api.stores import Store

    return Store.open(path)


@operation("ingest")
def ingest_corpus(
    corpus: Corpus = None,
    store: Store = "store",
    *,
    texts: Texts = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    append: Annotated[bool, Option("add the files to the store's corpus, as further parts")] = False,
    overwrite: Overwrite = False,
) -> IngestReport:
    """Read text into a store; a line that is not a sentence goes to the rejects with its reason.

    With --append the files become parts behind those that are there, read as the corpus was. A stage that
    depends on single rows (parses, vectors, all augmentations that need no TF-IDF) is then continued by the
    command that made it; what depends on the whole corpus (fit, una, uda, score, mine) has to be made anew,
    with the commands that are printed in their order; `augment-cli run --behind` makes all of it.

    augment-cli ingest --corpus sentences.txt --store my-store
    augment-cli ingest --corpus 'corpus/*.jsonl.gz' --text-column body --id-column id --store my-store
    cat sentences.txt | augment-cli ingest --corpus - --deduplicate --store my-store
    augment-cli ingest --corpus pairs.csv --text-column anchor --positive-column positive --store my-pairs
    augment-cli ingest --append --corpus more.txt --store my-store

    >>> augment_cli.ingest_corpus(store="two", texts=["The river flows.", "A heron waits."]).read
    2
    """
    from augment_cli.ingest import report_of
    from augment_cli.ingest.finding import entries_of

    if corpus is None and texts is None:
        raise UsageError("nothing to read; give files (corpus=…) or sentences (texts=…)")
    entries = entries_of(corpus)
    with session_of(store, overwrite=overwrite) as session:
        read = session.append if append else session.ingest
        read(entries, reading, texts=texts, **vars(tolerance))
        return report_of(session.store)


@operation()
def run(
    name: AugmentationName,
    store: Store = "store",
    *,
    corpus: Corpus = None,
    texts: Texts = None,
    stage: Annotated[str | None, Option("folder of the result; the augmentation's name by default")] = None,
    draws: Annotated[int, Option("independent draws, each a stage of its own: NAME, NAME.1, …")] = 1,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    **parameters: Annotated[Any, Option("the augmentation's own, and seed, fit, parses, protect and anyway")],
) -> StoreOfStages:
    """Run an augmentation over a store, and before it whatever is missing (`augment-cli NAME`).

    >>> augment_cli.run("word-deletion", "store", rate=0.2, stage="fewer").frame("fewer").height
    6
    """
    from augment_cli import augmentations
    from augment_cli.api.stores import as_store
    from augment_cli.ingest.finding import entries_of
    from augment_cli.runs.recipe import summaries
    from augment_cli.runs.run import make_run

    if name not in augmentations.names():
        if str(store) in augmentations.names():
            raise UsageError(
                f"run: the augmentation comes first, then the store: run({str(store)!r}, {name!r})"
            )
        if name in summaries():
            raise UsageError(f"run: {name} is a recipe; call run_recipe({name!r}, {str(plain(store))!r})")
    augmentation_run, entries = make_run(name, **parameters), entries_of(corpus)
    with session_of(store, jobs, overwrite=overwrite) as session:
        session.ingest(entries, texts=texts)
        session.augment(augmentation_run, stage, draws)
        return as_store(session.store)


@operation("run")
def run_recipe(
    recipe: Annotated[
        str, Option("a shipped recipe, or a TOML file", is_positional=True, completes="recipe")
    ] = "default",
    store: Store = "store",
    corpus: Corpus = None,
    changes: Annotated[Sequence[str], Option("STAGE.KEY=VALUE, as after --set", "set", repeats=True)] = (),
    *,
    paper: Annotated[bool, Option("what the paper of una, sda or augcse trains on")] = False,
    least_changed: Annotated[
        float | None,
        Option(
            "a rule that changes less than this share of the corpus is left out; 0 runs all [default: the "
            "recipe's own, 0.05 in default]"
        ),
    ] = None,
    texts: Texts = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    pipeline: Pipeline = None,
    jobs: Annotated[int | None, Option("worker processes", python_only=True)] = None,
    backend: Annotated[str, Option("loky, threading, dask or ray", python_only=True)] = "loky",
    scheduler: Annotated[str | None, Option("address of the Dask scheduler", python_only=True)] = None,
    address: Annotated[str | None, Option("of the Ray cluster's head node", python_only=True)] = None,
    overwrite: Overwrite = False,
    sample: Annotated[bool, Option("take the shipped sample for want of a corpus", python_only=True)] = False,
    reporter: Annotated[Any, Option("gets notes and progress", python_only=True)] = None,
) -> RecipeResult:
    """Run all augmentations of a recipe, and before them whatever is missing.

    An augmentation whose model is not on this machine is left out, and so are parts that fail for good; the
    others are made all the same, and in Python `RecipeResult.check` raises. With --behind it runs the
    commands that `augment-cli status` names, in their order, instead of a recipe.

    augment-cli run
    augment-cli run default --corpus sentences.txt --store my-store --set una.beta=0.4
    augment-cli run default --report report.html
    augment-cli run una --paper --store una-paper
    augment-cli run --behind --store my-store

    >>> augment_cli.run_recipe("augcse-4-no-models", "store").missing
    {}
    """
    from augment_cli.api.stores import as_store
    from augment_cli.ingest.finding import entries_of
    from augment_cli.runs.recipe import least_changed_of, load, of_paper, pipeline_of
    from augment_cli.session.recipe import run_all

    recipe = of_paper(recipe) if paper else recipe
    if least_changed is not None and not 0 <= least_changed <= 1:
        raise UsageError(f"--least-changed {least_changed:g}: must be a share from 0 to 1")
    least = least_changed_of(recipe) if least_changed is None else least_changed
    runs, pipeline, entries = load(recipe, changes), pipeline or pipeline_of(recipe), entries_of(corpus)
    more: dict[str, Any] = {"reporter": reporter, "overwrite": overwrite, "sample": sample}
    with session_of(store, jobs, backend, scheduler, address, **more) as session:
        session.ingest(entries, reading, texts=texts, **vars(tolerance))
        result = run_all(session, runs, pipeline, least)
    return dataclasses.replace(result, store=as_store(result.store))


@operation()
def augment(
    texts: Annotated[Any, Option("sequence of str, DataFrame, Series or Arrow table; None stays missing")],
    name: AugmentationName,
    *,
    store: Annotated[
        Any,
        Option(
            "whose fitted tables and pipeline to use; by default ./store, and none where that does not exist "
            "and the augmentation reads no term table"
        ),
    ] = None,
    pipeline: Annotated[
        str | Path | None,
        Option("what parses the sentences; by default what parsed the store's, else the shipped one"),
    ] = None,
    text_column: Annotated[str, Option("column of a data frame or table with the sentences")] = "text",
    draws: Annotated[
        int | None,
        Option("how many independent draws of each sentence, one after the other; their number is `draw`"),
    ] = None,
    **parameters: Annotated[
        Any, Option("the augmentation's own, and seed, draw, fit, parses, protect and anyway")
    ],
) -> pa.Table:
    """Augment sentences in memory, with the term table of a store where the augmentation needs one.

    The table has the columns original, row_id (position in `texts`), text (null where unchanged), reason and
    edits, and the augmentation's own. A missing sentence has the reason `missing`.

    >>> augment_cli.augment(["The big dog sleeps.", None], "word-deletion")["reason"].to_pylist()
    [None, 'missing']
    >>> augment_cli.augment(["The big dog sleeps."], "random-swap", draws=3)["draw"].to_pylist()
    [0, 1, 2]
    """
    from augment_cli.pages.notebook import show_augmented_tables
    from augment_cli.runs.memory import augment

    made = augment(texts, name, store, pipeline, text_column, draws, parameters)
    show_augmented_tables()
    return made


@operation("pack")
def pack_table(
    store: Store = "store",
    *,
    name: Annotated[str, Option("folder of the result; with a split NAME-train and NAME-test")] = "pack",
    jobs: Annotated[int | None, Option("worker processes", python_only=True)] = None,
    overwrite: Overwrite = False,
    wanted: Annotated[dict[str, Any], Fields(PackOptions)],
) -> StoreOfStages:
    """Write a wide table anchor, positive, negative, … that sentence-transformers trains on as it is.

    By default all finished augmentations of the store whose label is same (positives) or other (negatives);
    without positives the anchor is its own. What is neither is refused unless told: --labels kind. Each
    stage of positives gives rows of its own, each stage of negatives a column. Where one of several negatives
    is missing, another of the same sentence stands in; a row without any is dropped. Filters compare cosines
    of sentence vectors, which are made where they are missing, and say how many rows they cost; with
    --dry-run before any is written.

    augment-cli pack
    augment-cli pack --positive corpus --negative una --unchanged drop --name pack-una
    augment-cli pack --split 0.1 --shuffle --carry row_id --out pairs.jsonl --name pairs
    augment-cli pack --positive corpus --negative una --layout triplet --dry-run

    >>> packed = augment_cli.pack_table("store", positives=["corpus"], negatives=["una"])
    >>> packed.frame("pack").columns
    ['anchor', 'positive', 'negative']
    """
    from augment_cli.api.stores import Store, as_store
    from augment_cli.pack.options import choose

    with session_of(Store.open(plain(store)), jobs, overwrite=overwrite) as session:
        session.pack(choose(session.store, **wanted), name)
        return as_store(session.store)
