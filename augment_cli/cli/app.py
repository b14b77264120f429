"""The commands other than the augmentations', each a thin layer over a function of the package."""

from __future__ import annotations

from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.group import AugmentationGroup
from augment_cli.cli.guard import EXIT_CODES, guarded
from augment_cli.version import __version__

app = typer.Typer(
    cls=AugmentationGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Offline augmentation for contrastive sentence embeddings.

    Start with `augment-cli una`: it reads the shipped sample, fits TF-IDF and writes hard negatives
    to `./store`. Give your own text with `--corpus`.
    """


@app.command()
@guarded
def ingest(
    corpus: options.Corpus = None,
    store: options.Store = options.DEFAULT_STORE,
    text_column: options.TextColumn = None,
    id_column: options.IdColumn = None,
    limit: options.Limit = None,
    max_characters: options.MaxCharacters = 5_000,
    part_rows: options.PartRows = 50_000,
    input_format: options.Format = None,
    quoting: options.Quoting = True,
    split_sentences: options.SplitSentences = False,
    deduplicate: options.Deduplicate = False,
    max_rejects: options.MaxRejects = 0.01,
    strict: options.Strict = False,
    as_json: options.Json = False,
) -> None:
    """Read text into a store; what is no sentence goes to the rejects with its reason.

    \b
    Examples:

        augment-cli ingest --corpus sentences.txt --store my-store

        augment-cli ingest --corpus 'corpus/*.jsonl.gz' --text-column body --id-column id --store my-store

        cat sentences.txt | augment-cli ingest --corpus - --deduplicate --store my-store
    """
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.ingest import IngestOptions
    from augment_cli.pipeline import Pipeline

    wanted = IngestOptions(
        text_column,
        id_column,
        limit,
        max_characters,
        part_rows,
        input_format,
        quoting,
        split_sentences,
        deduplicate,
    )
    with Pipeline(store, reporter=ConsoleReporter()) as pipeline:
        pipeline.ingest(corpus, wanted, strict=strict, max_rejects=max_rejects)
        views.show_run(pipeline.store, pipeline.results, as_json)


@app.command()
@guarded
def fit(
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    min_df: Annotated[int, typer.Option("--min-df", min=1, help="leave out terms of fewer sentences")] = 1,
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", help="treebank (fast), nltk (exact), or module:callable")
    ] = "treebank",
    on: Annotated[str, typer.Option("--on", help="stages to count together, such as corpus,uda")] = "corpus",
    name: Annotated[str | None, typer.Option("--name", help="for a second fit beside the first")] = None,
    jobs: options.Jobs = None,
    backend: options.Backend = "loky",
    scheduler: options.Scheduler = None,
    as_json: options.Json = False,
) -> None:
    """Fit the TF-IDF matrix and the table of each term's maximum score.

    \b
    Examples:

        augment-cli fit

        augment-cli fit --min-df 2 --name frequent

        augment-cli una --fit frequent --radius 1% --name una-frequent
    """
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.engine import Engine
    from augment_cli.pipeline import Pipeline
    from augment_cli.tfidf import FitOptions

    wanted = FitOptions(tokenizer, min_df, tuple(stage.strip() for stage in on.split(",")))
    with Pipeline(store, Engine.for_this_machine(jobs, backend, scheduler), ConsoleReporter()) as pipeline:
        pipeline.ingest(corpus)
        pipeline.fit(wanted, name)
        views.show_run(pipeline.store, pipeline.results, as_json)


@app.command("run")
@guarded
def run_recipe(
    recipe: Annotated[str, typer.Argument(help="a shipped recipe, or a TOML file")] = "default",
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="STAGE.KEY=VALUE, to change the recipe")
    ] = None,
    text_column: options.TextColumn = None,
    id_column: options.IdColumn = None,
    limit: options.Limit = None,
    max_rejects: options.MaxRejects = 0.01,
    strict: options.Strict = False,
    jobs: options.Jobs = None,
    backend: options.Backend = "loky",
    scheduler: options.Scheduler = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Run all augmentations of a recipe, and before them whatever is missing.

    \b
    Examples:

        augment-cli run

        augment-cli run default --corpus sentences.txt --store my-store --set una.beta=0.4
    """
    from augment_cli import recipe as recipes
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.engine import Engine
    from augment_cli.ingest import IngestOptions
    from augment_cli.pipeline import Pipeline
    from augment_cli.plan import plan_run

    runs = recipes.load(recipe, change or [])
    wanted = IngestOptions(text_column, id_column, limit)
    if dry_run:
        plan = plan_run(store, corpus, wanted, [(item.run, item.stage, item.draws) for item in runs])
        views.show_plan(plan, as_json)
        return
    with Pipeline(store, Engine.for_this_machine(jobs, backend, scheduler), ConsoleReporter()) as pipeline:
        pipeline.ingest(corpus, wanted, strict=strict, max_rejects=max_rejects)
        folders = []
        for item in runs:
            folders += pipeline.augment(item.run, item.stage, item.draws)
        views.show_run(pipeline.store, pipeline.results, as_json)
        if not as_json:
            views.show_hints(pipeline.store, folders)


@app.command()
@guarded
def inspect(
    stage: Annotated[str, typer.Argument(help="such as una, corpus, rejects, terms")],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="number of rows")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="which random rows")] = 0,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Show random rows of a stage; of an augmentation, beside the original with the changes marked.

    \b
    Examples:

        augment-cli inspect una -n 20

        augment-cli inspect rejects --json
    """
    from augment_cli.cli import views
    from augment_cli.report import sample_rows
    from augment_cli.store import Store

    views.show_rows(sample_rows(Store.open(store), stage, count, seed), as_json)


@app.command()
@guarded
def stats(
    stage: Annotated[str, typer.Argument(help="such as una")],
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Numbers of a stage: rows changed, reasons for the others, share of tokens replaced.

    \b
    Examples:

        augment-cli stats una

        augment-cli stats rejects --json
    """
    from augment_cli.cli import views
    from augment_cli.report import stats as stats_of
    from augment_cli.store import Store

    views.show_stats(stats_of(Store.open(store), stage), as_json)


@app.command()
@guarded
def status(
    store: options.Store = options.DEFAULT_STORE,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="compare with these input files too")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Which stages a store has, how much of each is done, what they were made with, and what has changed.

    A stage is reused as long as nothing it depends on has changed: its settings, the stages before it,
    the versions of the code and of the libraries that decide the result.

    \b
    Examples:

        augment-cli status

        augment-cli status --store my-store --json
    """
    from augment_cli.cli import views
    from augment_cli.store import Store

    views.show_status(Store.open(store), corpus, as_json)


@app.command("list")
@guarded
def list_augmentations(as_json: options.Json = False) -> None:
    """The augmentations there are.

    \b
    Examples:

        augment-cli list

        augment-cli list --json
    """
    from rich import box
    from rich.table import Table

    from augment_cli import augmentations
    from augment_cli.cli import views

    cards = {name: augmentations.get(name) for name in augmentations.names()}
    entries = [
        {
            "name": name,
            "kind": card.kind,
            "needs": sorted(card.needs),
            "summary": augmentations.summary(name),
            "paper": card.paper,
        }
        for name, card in cards.items()
    ]
    if as_json:
        views.print_json(entries)
        return
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("name", "kind", "needs", "summary"):
        table.add_column(column)
    for entry in entries:
        needs = ", ".join(entry["needs"])
        table.add_row(str(entry["name"]), str(entry["kind"]), needs, str(entry["summary"]))
    views.console().print(table)


@app.command()
@guarded
def verify(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """Read every part again: page checksums, row counts, digests, settings.

    \b
    Examples:

        augment-cli verify

        augment-cli verify --store my-store --json
    """
    from augment_cli.cli import views
    from augment_cli.errors import BadInputError
    from augment_cli.soundness import verify as verify_store
    from augment_cli.store import Store

    opened = Store.open(store)
    problems = verify_store(opened)
    if as_json:
        views.print_json({"store": str(store), "problems": problems})
    if problems:
        raise BadInputError("\n".join([f"{store}: {len(problems)} problems", *problems]))
    if not as_json:
        print(f"{store}: {len(opened.stages())} stages, every part is as it was committed")


@app.command()
@guarded
def remove(
    stage: Annotated[str, typer.Argument(help="such as una")],
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Delete a stage of a store, so that it can be made with other settings.

    \b
    Examples:

        augment-cli remove una
    """
    from augment_cli.store import Store

    with Store.open(store).lock():
        Store.open(store).remove(stage)
    print(f"{store}: removed {stage}")
