"""Commands about a store as a whole: make it smaller, hand it on, and what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.visible import visible


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
    from augment_cli.store.store import Store

    with Store.open(store).lock():
        Store.open(store).remove(stage)
    print(f"{visible(store)}: removed {stage}")


@app.command()
@guarded
@options.grouped
def pack(
    *,
    positive: Annotated[
        list[str] | None,
        typer.Option("--positive", help="stage of positives, one or more times; corpus is the anchor"),
    ] = None,
    negative: Annotated[
        list[str] | None, typer.Option("--negative", help="stage of negatives, one or more times")
    ] = None,
    unchanged: Annotated[
        str, typer.Option("--unchanged", help="rows a stage left unchanged: drop, or anchor (it stands in)")
    ] = "drop",
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="TOML file with a [pack] table instead of these options")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="folder of the result")] = "pack",
    store: options.Store = options.DEFAULT_STORE,
    workers: options.Workers,
    as_json: options.Json = False,
) -> None:
    """Write a wide table anchor, positive, negative, … that sentence-transformers trains on as it is.

    By default all finished augmentations of the store; without positives the anchor is its own. Each
    stage of positives gives rows of its own, each stage of negatives a column.

    \b
    Examples:

        augment-cli pack

        augment-cli pack --positive corpus --negative una --unchanged drop --name pack-una
    """
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.pack import choose, read_pack_recipe
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    columns: dict[str, Any] = {"positives": positive, "negatives": negative, "unchanged": unchanged}
    if recipe is not None:
        columns |= read_pack_recipe(recipe)
    Store.open(store)  # there must be one
    with Session(store, workers.engine(), ConsoleReporter()) as session:
        session.pack(choose(session.store, **columns), name)
        views.show_run(session.store, session.results, as_json)


@app.command()
@guarded
def card(
    title: Annotated[str, typer.Option("--title", help="name of the data set")] = "Augmented sentences",
    license_name: Annotated[str, typer.Option("--license", help="of the corpus: cc0-1.0, …")] = "unknown",
    language: Annotated[str, typer.Option("--language", help="of the corpus, such as en")] = "en",
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write the dataset card: README.md at the store's root, as dataset hubs read it.

    \b
    Examples:

        augment-cli card

        augment-cli card --title 'River sentences' --license cc0-1.0
    """
    from augment_cli.reports.card import write_card
    from augment_cli.store.store import Store

    opened = Store.open(store)
    with opened.lock():
        opened.reload()
        print(write_card(opened, title, license_name, language), end="")


@app.command()
@guarded
def doctor(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """What each stage needs, whether this machine has it, and the line that gets it.

    \b
    Examples:

        augment-cli doctor

        augment-cli doctor --json
    """
    from augment_cli.cli import views
    from augment_cli.reports.doctor import examine

    views.show_needs(examine(store), as_json)
