"""Commands that fill a store, each a thin layer over `Session`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.ingest_options import IngestOptions, Tolerance


@app.command()
@guarded
@options.grouped
def ingest(
    *,
    corpus: options.Corpus = None,
    store: options.Store = options.DEFAULT_STORE,
    reading: IngestOptions,
    tolerance: Tolerance,
    append: Annotated[
        bool, typer.Option("--append", help="add the files to the store's corpus, as further parts")
    ] = False,
    overwrite: options.Overwrite = False,
    output: options.Output,
) -> None:
    """Read text into a store; a line that is not a sentence goes to the rejects with its reason.

    With --append the files become parts behind those that are there, read as the corpus was. A stage that
    goes by rows alone (parses, vectors, all augmentations that need no TF-IDF) is then continued by the
    command that made it; what depends on the whole corpus (fit, una, uda, score, mine) has to be made anew,
    with the commands that are printed in their order; `augment-cli run --behind` makes all of it.

    \b
    Examples:

        augment-cli ingest --corpus sentences.txt --store my-store

        augment-cli ingest --corpus 'corpus/*.jsonl.gz' --text-column body --id-column id --store my-store

        cat sentences.txt | augment-cli ingest --corpus - --deduplicate --store my-store

        augment-cli ingest --corpus pairs.csv --text-column anchor --positive-column positive --store my-pairs

        augment-cli ingest --append --corpus more.txt --store my-store
    """
    from augment_cli.cli import status_views
    from augment_cli.session import Session

    with Session(store, reporter=output.reporter(), overwrite=overwrite, sample=True) as session:
        read = session.append if append else session.ingest
        read(corpus, reading, **vars(tolerance))
        output.show(session.store, session.results)
        if append and output.is_for_people:
            status_views.show_behind(session.store)


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
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    output: options.Output,
) -> None:
    """Fit the TF-IDF matrix and the table of each term's maximum score.

    \b
    Examples:

        augment-cli fit

        augment-cli fit --min-df 2 --name frequent

        augment-cli una --fit frequent --radius 1% --name una-frequent
    """
    from augment_cli.session import Session
    from augment_cli.tfidf.fit import FitOptions

    stages = tuple(stage.strip() for stage in on.split(","))
    fit_options = FitOptions(tokenizer, min_df, stages, terms_of)
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite, sample=True) as session:
        session.ingest(corpus, reading, **vars(tolerance))
        session.fit(fit_options, name)
        output.show(session.store, session.results)


@app.command()
@guarded
@options.grouped
def parse(
    *,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    pipeline: options.SpacyPipeline = None,
    name: Annotated[str | None, typer.Option("--name", help="for parses beside the first")] = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    parts: options.Parts = None,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
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
    from augment_cli.reports.plan import plan_run
    from augment_cli.session import Session
    from augment_cli.syntax.parses import stage_name

    if dry_run:
        views.show_plan(plan_run(store, corpus, reading, [], [stage_name(name)]), output.as_json)
        return
    chosen = options.part_numbers(parts)
    reporter, shared = output.reporter(), chosen is not None
    with Session(store, workers.engine(), reporter, shared, overwrite, sample=True) as session:
        session.ingest(corpus, reading, **vars(tolerance))
        session.parse(pipeline, name, chosen)
        output.show(session.store, session.results, shared)


@app.command("run")
@guarded
@options.grouped
def run_recipe(
    *,
    recipe: Annotated[
        str, typer.Argument(help="a shipped recipe, or a TOML file", autocompletion=options.complete_recipe)
    ] = "default",
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="STAGE.KEY=VALUE, to change the recipe")
    ] = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    pipeline: options.SpacyPipeline = None,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="write the page of `augment-cli report` there")
    ] = None,
    behind: Annotated[
        bool, typer.Option("--behind", help="make all that is behind since files were appended, no recipe")
    ] = False,
    output: options.Output,
) -> None:
    """Run all augmentations of a recipe, and before them whatever is missing.

    With --behind it runs the commands that `augment-cli status` names, in their order, instead of a recipe.

    \b
    Examples:

        augment-cli run

        augment-cli run default --corpus sentences.txt --store my-store --set una.beta=0.4

        augment-cli run default --report report.html

        augment-cli run --behind --store my-store
    """
    from augment_cli.cli import status_views, views
    from augment_cli.pages.layout import check_place
    from augment_cli.pages.report import TITLE, write_report
    from augment_cli.reports.plan import plan_run
    from augment_cli.session import recipe as recipes

    changes = change or []
    if behind:
        status_views.run_behind(store, dry_run, output.quiet)
        return
    if dry_run:
        runs = [(item.run, item.stage, item.draws) for item in recipes.load(recipe, changes)]
        views.show_plan(plan_run(store, corpus, reading, runs), output.as_json)
        return
    if report is not None:
        check_place(report, store, TITLE)
    result = recipes.run_recipe(
        recipe,
        store,
        corpus,
        changes,
        pipeline=pipeline,
        overwrite=overwrite,
        sample=True,
        reporter=output.reporter(),
        **vars(tolerance),
        **vars(workers),
        **vars(reading),
    )
    output.show(result.store, result.stages)
    page = report if result.folders else None  # of nothing there is no page
    if page is not None:
        write_report(result.store, page, seconds=result.seconds)
    output.show_examples(result.store, result.stages, result.folders, page)
    result.check()
