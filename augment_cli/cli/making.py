"""Commands that fill a store, each a thin layer over `Session`."""

from __future__ import annotations

from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded


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
    from augment_cli.session import Session

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
    with Session(store, reporter=ConsoleReporter()) as session:
        session.ingest(corpus, wanted, strict=strict, max_rejects=max_rejects)
        views.show_run(session.store, session.results, as_json)


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
    from augment_cli.engine.engine import Engine
    from augment_cli.session import Session
    from augment_cli.tfidf.fit import FitOptions

    wanted = FitOptions(tokenizer, min_df, tuple(stage.strip() for stage in on.split(",")))
    with Session(store, Engine.for_this_machine(jobs, backend, scheduler), ConsoleReporter()) as session:
        session.ingest(corpus)
        session.fit(wanted, name)
        views.show_run(session.store, session.results, as_json)


@app.command()
@guarded
def parse(
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    pipeline: options.SpacyPipeline = None,
    name: Annotated[str | None, typer.Option("--name", help="for parses beside the first")] = None,
    text_column: options.TextColumn = None,
    id_column: options.IdColumn = None,
    limit: options.Limit = None,
    max_rejects: options.MaxRejects = 0.01,
    strict: options.Strict = False,
    jobs: options.Jobs = None,
    backend: options.Backend = "loky",
    scheduler: options.Scheduler = None,
    parts: options.Parts = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Parse the corpus once with a spaCy pipeline: lemmas, tags and dependencies of every token.

    The augmentations that work on syntax read this and need no spaCy; they make it themselves where it is
    missing. A run that was ended early resumes where it was.

    \b
    Examples:

        augment-cli parse

        augment-cli parse --corpus sentences.txt --store my-store --dry-run

        augment-cli parse --limit 100 --name first
    """
    from augment_cli.cli import views
    from augment_cli.cli.augmentation_command import parse_parts
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.engine.engine import Engine
    from augment_cli.ingest import IngestOptions
    from augment_cli.reports.plan import plan_run
    from augment_cli.session import Session
    from augment_cli.syntax.parses import stage_name

    wanted = IngestOptions(text_column, id_column, limit)
    if dry_run:
        views.show_plan(plan_run(store, corpus, wanted, [], [stage_name(name)]), as_json)
        return
    chosen = None if parts is None else parse_parts(parts)
    engine = Engine.for_this_machine(jobs, backend, scheduler)
    with Session(store, engine, ConsoleReporter(), shared=chosen is not None) as session:
        session.ingest(corpus, wanted, strict=strict, max_rejects=max_rejects)
        session.parse(pipeline, name, chosen)
        views.show_run(session.store, session.results, as_json)


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
    pipeline: options.SpacyPipeline = None,
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
    from augment_cli.engine.engine import Engine
    from augment_cli.errors import MissingError
    from augment_cli.ingest import IngestOptions
    from augment_cli.reports.plan import plan_run
    from augment_cli.session import Session

    runs = recipes.load(recipe, change or [])
    wanted = IngestOptions(text_column, id_column, limit)
    pipeline = pipeline or recipes.pipeline_of(recipe)
    if dry_run:
        plan = plan_run(store, corpus, wanted, [(item.run, item.stage, item.draws) for item in runs])
        views.show_plan(plan, as_json)
        return
    with Session(store, Engine.for_this_machine(jobs, backend, scheduler), ConsoleReporter()) as session:
        session.ingest(corpus, wanted, strict=strict, max_rejects=max_rejects)
        # First of all, where one of them would read the parse if it were there, and another makes it.
        first = [item.run for item in runs if item.run.parses is None and item.run.may_read_parses]
        is_sure = any("parses" in run.needs for run in first)
        if first and (pipeline is not None or (is_sure and len({run.needs for run in first}) > 1)):
            session.parse(pipeline)
        folders, missing = [], []
        for item in runs:
            try:
                folders += session.augment(item.run, item.stage, item.draws)
            except MissingError as error:  # a model that is not here; the others need not wait for it
                if "model" not in item.run.needs:
                    raise
                missing.append(f"{item.stage}: {error}")
        views.show_run(session.store, session.results, as_json)
        if not as_json:
            views.show_hints(session.store, folders)
        if missing:
            advice = (
                "in a recipe, --set STAGE.model=FOLDER names a model, --set STAGE.allow_download=true gets it"
            )
            raise MissingError("\n".join([*missing, f"All other stages are there; {advice}"]))
