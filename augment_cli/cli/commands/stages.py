"""Commands that fill a store, each a thin layer over `Session`."""

from __future__ import annotations

from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded


@app.command()
@guarded
@options.grouped
def ingest(
    *,
    corpus: options.Corpus = None,
    store: options.Store = options.DEFAULT_STORE,
    reading: options.Reading,
    max_characters: options.MaxCharacters = 5_000,
    part_rows: options.PartRows = 50_000,
    input_format: options.Format = None,
    quoting: options.Quoting = True,
    split_sentences: options.SplitSentences = False,
    deduplicate: options.Deduplicate = None,
    near_similarity: options.NearSimilarity = 0.8,
    keep_column: options.KeepColumns = None,
    positive_column: options.PositiveColumns = None,
    negative_column: options.NegativeColumns = None,
    encoding: options.Encoding = "utf-8",
    tolerance: options.Tolerance,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Read text into a store; a line that is not a sentence goes to the rejects with its reason.

    \b
    Examples:

        augment-cli ingest --corpus sentences.txt --store my-store

        augment-cli ingest --corpus 'corpus/*.jsonl.gz' --text-column body --id-column id --store my-store

        cat sentences.txt | augment-cli ingest --corpus - --deduplicate --store my-store

        augment-cli ingest --corpus pairs.csv --text-column anchor --positive-column positive --store my-pairs
    """
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.session import Session

    ingest_options = reading.ingest_options(
        max_characters=max_characters,
        part_rows=part_rows,
        format=input_format,
        quoting=quoting,
        split_sentences=split_sentences,
        deduplicate=deduplicate or False,
        near_similarity=near_similarity,
        keep_columns=tuple(keep_column or ()),
        positive_columns=tuple(positive_column or ()),
        negative_columns=tuple(negative_column or ()),
        encoding=encoding,
    )
    with Session(store, reporter=ConsoleReporter(), overwrite=overwrite) as session:
        session.ingest(corpus, ingest_options, **vars(tolerance))
        views.show_run(session.store, session.results, as_json)


@app.command()
@guarded
@options.grouped
def fit(
    *,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    min_df: Annotated[int, typer.Option("--min-df", min=1, help="leave out terms of fewer sentences")] = 1,
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", help="treebank (fast), nltk (exact), or module:callable")
    ] = "treebank",
    on: Annotated[str, typer.Option("--on", help="stages to count together, such as corpus,uda")] = "corpus",
    terms_of: Annotated[
        str, typer.Option("--terms-of", help="another store, whose fitted terms weigh this one's texts")
    ] = "",
    name: Annotated[str | None, typer.Option("--name", help="for a second fit beside the first")] = None,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
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
    from augment_cli.session import Session
    from augment_cli.tfidf.fit import FitOptions

    stages = tuple(stage.strip() for stage in on.split(","))
    fit_options = FitOptions(tokenizer, min_df, stages, terms_of)
    with Session(store, workers.engine(), ConsoleReporter(), overwrite=overwrite) as session:
        session.ingest(corpus)
        session.fit(fit_options, name)
        views.show_run(session.store, session.results, as_json)


@app.command()
@guarded
@options.grouped
def parse(
    *,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    pipeline: options.SpacyPipeline = None,
    name: Annotated[str | None, typer.Option("--name", help="for parses beside the first")] = None,
    reading: options.Reading,
    tolerance: options.Tolerance,
    workers: options.Workers,
    parts: options.Parts = None,
    overwrite: options.Overwrite = False,
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
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.reports.plan import plan_run
    from augment_cli.session import Session
    from augment_cli.syntax.parses import stage_name

    ingest_options = reading.ingest_options()
    if dry_run:
        views.show_plan(plan_run(store, corpus, ingest_options, [], [stage_name(name)]), as_json)
        return
    chosen = options.part_numbers(parts)
    reporter, shared = ConsoleReporter(), chosen is not None
    with Session(store, workers.engine(), reporter, shared, overwrite) as session:
        session.ingest(corpus, ingest_options, **vars(tolerance))
        session.parse(pipeline, name, chosen)
        views.show_run(session.store, session.results, as_json)


@app.command("run")
@guarded
@options.grouped
def run_recipe(
    *,
    recipe: Annotated[str, typer.Argument(help="a shipped recipe, or a TOML file")] = "default",
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="STAGE.KEY=VALUE, to change the recipe")
    ] = None,
    reading: options.Reading,
    tolerance: options.Tolerance,
    workers: options.Workers,
    pipeline: options.SpacyPipeline = None,
    overwrite: options.Overwrite = False,
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
    from augment_cli.reports.plan import plan_run

    changes = change or []
    if dry_run:
        runs = [(item.run, item.stage, item.draws) for item in recipes.load(recipe, changes)]
        views.show_plan(plan_run(store, corpus, reading.ingest_options(), runs), as_json)
        return
    result = recipes.run_recipe(
        recipe,
        store,
        corpus,
        changes,
        pipeline=pipeline,
        overwrite=overwrite,
        reporter=ConsoleReporter(),
        **vars(tolerance),
        **vars(workers),
        **vars(reading),
    )
    views.show_run(result.store, result.stages, as_json)
    if not as_json:
        views.show_hints(result.store, result.folders)
    result.check()
