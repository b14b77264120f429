"""The command for reading rows and counting what was found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.errors.visible import visible

_KINDS = {"same": "a positive", "other": "a negative", "neither": "what is neither positive nor negative"}


@app.command()
@guarded
def judge(
    stage: Annotated[
        list[str] | None,
        typer.Argument(
            help="whose changed rows to sample, such as synonym; repeatable",
            autocompletion=options.complete_stage,
        ),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="number of rows of each stage")] = 30,
    seed: Annotated[int, typer.Option("--seed", min=0, help="which random rows")] = 0,
    write: Annotated[
        Path | None, typer.Option("--write", help="new file for the sample [default: STAGE.judged.jsonl]")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="a page to judge on instead, of one stage or several mixed; says not whose a row is",
        ),
    ] = None,
    read: Annotated[
        list[Path] | None,
        typer.Option("--read", help="count the verdicts of such a file, or folder of files; repeatable"),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            help="with --read: how far a judge's verdicts agree with those of the files; a stage that `read` "
            "made of a judge's answers",
            autocompletion=options.complete_stage,
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Sample changed rows of a stage for reading, or count the verdicts of such files.

    The file has a JSON object for each row: set its "verdict" to "good", "awkward" or "wrong", and say why in
    "note". With --html it is a page on which keys judge, and which saves that file. A good positive says the
    same; a good negative says something else and is still like its original. The counts come with the 95 %
    interval of the wrong ones (Wilson 1927), and with the reason if the augmentation has changed since it was
    read; what this store does not have as it was read is warned of. --compare counts on how many pairs a
    language model that judged the same texts agrees, with Cohen's kappa.

    \b
    Examples:

        augment-cli judge synonym -n 30

        augment-cli judge synonym una dn --html rows.html

        augment-cli judge --read synonym.judged.jsonl

        augment-cli judge --read synonym.judged.jsonl --compare llm-judge
    """
    from augment_cli.errors import UsageError

    if compare is not None and not read:
        raise UsageError("--compare: name the files that people judged with --read")
    if (not stage) == (not read):
        raise UsageError("name either stages to sample from or, with --read, files to count")
    if write is not None and (read or html):
        raise UsageError("--write belongs to a stage's sample; leave it out with --read and --html")
    if html is not None and read:
        raise UsageError("--html belongs to a stage's sample; leave it out with --read")
    if read:
        _count(read, compare, store, as_json)
    elif stage:
        _draw(list(dict.fromkeys(stage)), count, seed, write, html, store, as_json)


def _count(read: list[Path], compare: str | None, store: Path, as_json: bool) -> None:
    """Count what was found, and warn of what this store does not have."""
    from augment_cli.cli import views
    from augment_cli.reports import verdicts
    from augment_cli.reports.agreement import agreement
    from augment_cli.reports.read_elsewhere import read_elsewhere
    from augment_cli.store.store import Store

    judgements = verdicts.read(read)
    if compare is not None:
        views.show_agreement(agreement(Store.open(store), compare, judgements), as_json)
        return
    views.show_verdicts(verdicts.summary(judgements), as_json)
    if store == options.DEFAULT_STORE and not (store / "manifest.json").exists():
        return  # files can be counted where there is no store
    for name, why in read_elsewhere(Store.open(store), judgements).items():
        line = f"Warning: {name} was read elsewhere than in {store}: {why}"
        print(visible(line), file=sys.stderr)


def _draw(
    stages: list[str],
    count: int,
    seed: int,
    write: Path | None,
    html: Path | None,
    store: Path,
    as_json: bool,
) -> None:
    """Write a sample, as a file to fill in or as a page."""
    from augment_cli.augmentations.labels import label_of
    from augment_cli.cli import views
    from augment_cli.pages.judging import write_judging
    from augment_cli.reports import verdicts
    from augment_cli.store.store import Store
    from augment_cli.store.targets import check_target

    opened = Store.open(store)
    path = write or Path(f"{stages[0] if len(stages) == 1 else 'rows'}.judged.jsonl")
    if html is None:
        check_target(path, store, lambda beginning: True)  # what is there is never replaced anyway
    judgements = [one for stage in stages for one in verdicts.sample(opened, stage, count, seed)]
    if html is not None:
        written = write_judging(opened, html, judgements, seed)
        if as_json:
            views.print_json(written)
        else:
            print(f"{visible(html)}: {len(judgements)} rows to judge; open it in a browser. Its button saves")
            print(f"{visible(written['saves'])}, which `augment-cli judge --read` counts.")
        return
    verdicts.write(path, judgements)
    if as_json:
        views.print_json({"file": str(path), "rows": len(judgements)})
        return
    name, labels = visible(path), dict.fromkeys(label_of(opened, stage) for stage in stages)
    print(f'{name}: {len(judgements)} rows to read. Set each "verdict" to good, awkward or wrong;')
    print("; ".join(f"of {_KINDS[label]}, {verdicts.MEANINGS[label]}" for label in labels) + ".")
    print(f"Then `augment-cli judge --read {name}` counts them.")
