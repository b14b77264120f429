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
    stages: Annotated[
        list[str],
        typer.Argument(help="such as una; one or more", autocompletion=options.complete_stage),
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
    from augment_cli.store.store import Store

    with Store.open(store).lock():
        opened = Store.open(store)
        for stage in stages:
            opened.stage(stage)
        hanging = opened.made_from(*stages)
        if with_descendants:
            stages, hanging = [*dict.fromkeys([*stages, *hanging])], []
        opened.remove(*dict.fromkeys(stages))
    print(f"{visible(store)}: removed {', '.join(stages)}")
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
    positive: Annotated[
        list[str] | None,
        typer.Option(
            "--positive",
            help="stage of positives, one or more times; corpus is the anchor",
            autocompletion=options.complete_stage,
        ),
    ] = None,
    negative: Annotated[
        list[str] | None,
        typer.Option(
            "--negative", help="stage of negatives, one or more times", autocompletion=options.complete_stage
        ),
    ] = None,
    unchanged: Annotated[
        str, typer.Option("--unchanged", help="rows a stage left unchanged: drop, or anchor (it stands in)")
    ] = "drop",
    require_all: Annotated[
        bool, typer.Option("--require-all", help="drop rows that lack one of several negatives")
    ] = False,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="what may stand where: entailment, same and other meanings; kind, as its paper has it",
        ),
    ] = "entailment",
    carry: Annotated[
        list[str] | None,
        typer.Option("--carry", help="column of the corpus to have behind the texts, such as id; repeatable"),
    ] = None,
    min_positive: Annotated[
        float | None, typer.Option("--min-positive", help="lowest cosine of anchor and positive")
    ] = None,
    max_negative: Annotated[
        float | None, typer.Option("--max-negative", help="highest cosine of anchor and negative")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="a negative's cosine is at least so much below the positive's"),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option("--vectors", help="which vectors the cosines are of, where there are several"),
    ] = None,
    layout: Annotated[
        str,
        typer.Option(
            "--layout",
            help="n-tuple (each stage of negatives a column), triplet (each negative a row), pair (no "
            "negatives) or labeled-pair (sentence1, sentence2, label)",
        ),
    ] = "n-tuple",
    scores: Annotated[
        bool, typer.Option("--scores", help="a column score with the cosines, for distillation losses")
    ] = False,
    split: Annotated[
        float, typer.Option("--split", help="share of the sentences held out: makes NAME-train and NAME-test")
    ] = 0.0,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="random order within each part")] = False,
    seed: Annotated[int, typer.Option("--seed", help="of --split and --shuffle")] = 42,
    out: Annotated[
        Path | None, typer.Option("--out", help="write the rows to this .csv or .jsonl file too")
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
    of sentence vectors, which are made where they are missing, and say how many rows they cost before any is
    written.

    \b
    Examples:

        augment-cli pack

        augment-cli pack --positive corpus --negative una --unchanged drop --name pack-una

        augment-cli pack --split 0.1 --shuffle --carry row_id --out pairs.jsonl --name pairs

        augment-cli pack --positive corpus --negative una --layout triplet --dry-run
    """
    from augment_cli.pack import SIDES, check_export_path, choose, export, left_out, read_pack_recipe
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    columns: dict[str, Any] = {"positives": positive, "negatives": negative, "unchanged": unchanged}
    columns |= {"require_all": require_all, "carry": carry, "layout": layout, "scores": scores}
    columns |= {"min_positive": min_positive, "max_negative": max_negative, "margin": margin}
    columns |= {"vectors": vectors}
    columns["labels"] = labels
    if recipe is not None:
        columns |= read_pack_recipe(recipe)
    columns |= {"split": split, "shuffle": shuffle, "seed": seed}
    opened = Store.open(store)  # there must be one
    if out is not None:
        check_export_path(out, opened, [f"-{side}" for side in SIDES] if split else [""])
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite) as session:
        chosen = choose(session.store, **columns)
        if (notes := left_out(session.store, chosen)) and not (positive or negative):
            session.reporter.say(
                f"left out, as their label is neither: {', '.join(notes)}; --labels kind takes them"
            )
        stages = session.pack(chosen, name, dry_run)
        if out is not None:
            for stage in stages:
                path = out.with_stem(out.stem + stage.removeprefix(name))
                session.reporter.say(f"{path}: {export(session.store, stage, path):,} rows")
        output.show(session.store, session.results)


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
