"""Commands about a store as a whole: make it smaller, hand it on, and what it needs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.pack_options import PackOptions
from augment_cli.errors.visible import visible


@app.command()
@guarded
def remove(
    stages: Annotated[
        list[str], typer.Argument(help="such as una; one or more", autocompletion=options.complete_stage)
    ],
    with_descendants: Annotated[
        bool, typer.Option("--with-descendants", help="delete what was made from them too")
    ] = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Delete stages of a store, so that they can be made with other settings.

    \b
    Examples:

        augment-cli remove una

        augment-cli remove tfidf terms --with-descendants
    """
    from augment_cli.api.looking import remove as delete
    from augment_cli.store.store import Store

    if with_descendants:
        stages = [*stages, *Store.open(store).made_from(*stages)]
    hanging = delete(stages, store)
    print(f"{visible(store)}: removed {', '.join(dict.fromkeys(stages))}")
    if hanging:
        print(
            f"Made from that, and kept: {', '.join(hanging)}. They stay readable; once {stages[0]} is made "
            f"anew with other settings, they are of the old. Delete them with "
            f"`augment-cli remove {' '.join(hanging)} --store {visible(store)}`"
        )


@app.command()
@guarded
@options.grouped
def pack(
    *,
    wanted: PackOptions,
    out: Annotated[
        Path | None, typer.Option("--out", help="write the rows to this .csv or .jsonl file too")
    ] = None,
    beir: Annotated[
        Path | None,
        typer.Option(
            "--beir",
            help="with --split: write the held-out pairs to this folder too, as a retrieval set in BEIR's "
            "layout, each positive a query",
        ),
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="TOML file with a [pack] table instead of these options")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="folder of the result")] = "pack",
    store: options.Store = options.DEFAULT_STORE,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="say how many rows each filter costs, and stop")
    ] = False,
    output: options.Output,
) -> None:
    """Write a wide table anchor, positive, negative, … that sentence-transformers trains on as it is.

    By default all finished augmentations of the store whose label is same (positives) or other (negatives);
    without positives the anchor is its own. What is neither is refused unless told: --labels kind. Each
    stage of positives gives rows of its own, each stage of negatives a column. Where one of several negatives
    is missing, another of the same sentence stands in; a row without any is dropped. Filters compare cosines
    of sentence vectors, which are made where they are missing, and say how many rows they cost; with
    --dry-run before any is written.

    \b
    Examples:

        augment-cli pack

        augment-cli pack --positive corpus --negative una --unchanged drop --name pack-una

        augment-cli pack --split 0.1 --shuffle --carry row_id --out pairs.jsonl --name pairs

        augment-cli pack --positive corpus --negative una --layout triplet --dry-run
    """
    from augment_cli.pack import (
        SIDES,
        check_export_path,
        choose,
        export,
        left_out,
        read_pack_recipe,
        reserved,
    )
    from augment_cli.pack.beir import check_beir_folder, write_beir
    from augment_cli.pack.example import how_long, training_lines
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    columns = vars(wanted) | {"positives": wanted.positives or None, "negatives": wanted.negatives or None}
    if recipe is not None:
        columns |= read_pack_recipe(recipe)
    opened = Store.open(store)  # there must be one
    ends = [f"-{side}" for side in SIDES] if wanted.split else [""]
    if out is not None:
        check_export_path(out, opened, ends)
    if beir is not None:
        check_beir_folder(beir, opened, wanted)
    with (
        reserved([out.with_stem(out.stem + end) for end in ends] if out else []),
        Session(store, workers.engine(), output.reporter(), overwrite=overwrite, sample=True) as session,
    ):
        chosen = choose(session.store, **columns)
        if (notes := left_out(session.store, chosen)) and not (wanted.positives or wanted.negatives):
            session.reporter.say(
                f"left out, as their label is neither: {', '.join(notes)}; --labels kind takes them"
            )
        stages = session.pack(chosen, name, dry_run)
        if out is not None:
            for stage in stages:
                path = out.with_stem(out.stem + stage.removeprefix(name))
                session.reporter.say(f"{path}: {export(session.store, stage, path):,} rows")
        if beir is not None and stages:
            numbers = write_beir(session.store, stages[-1], beir)
            session.reporter.say(
                f"{beir}: {numbers['queries']:,} queries to {numbers['documents']:,} documents"
            )
        output.show(session.store, session.results)
        if stages and output.is_for_people and (lines := training_lines(session.store, stages[0])):
            print(f"Train on it with sentence-transformers ({how_long(session.store, stages[0])}):\n")
            print(visible(lines), end="")


@app.command()
@guarded
def card(
    title: Annotated[
        str | None, typer.Option("--title", help="name of the data set; asked for on a terminal")
    ] = None,
    license_name: Annotated[
        str | None, typer.Option("--license", help="of the corpus: cc0-1.0, …; asked for on a terminal")
    ] = None,
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
    title = _asked(title, "--title", "Name of the data set", "Augmented sentences")
    license_name = _asked(license_name, "--license", "Licence of the corpus, such as cc0-1.0", "unknown")
    with opened.lock():
        opened.reload()
        print(write_card(opened, title, license_name, language), end="")


def _asked(given: str | None, option: str, question: str, otherwise: str) -> str:
    """What was given; else what a person answers, or where nobody can a default that is said."""
    if given is not None:
        return given
    if sys.stdin.isatty():
        return str(typer.prompt(question, default=otherwise, err=True))
    print(f"Note: without {option} the card says {otherwise!r}", file=sys.stderr)
    return otherwise


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
