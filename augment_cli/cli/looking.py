"""Commands that only read."""

from __future__ import annotations

from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded


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
