"""The command for reading rows and counting what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded

_KINDS = {"same": "a positive", "other": "a negative", "neither": "what is neither positive nor negative"}


@app.command()
@guarded
def judge(
    stage: Annotated[str | None, typer.Argument(help="whose changed rows to sample, such as synonym")] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="number of rows")] = 30,
    seed: Annotated[int, typer.Option("--seed", min=0, help="which random rows")] = 0,
    write: Annotated[
        Path | None, typer.Option("--write", help="new file for the sample [default: STAGE.judged.jsonl]")
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
    "note". A good positive says the same; a good negative says something else and is still like its original.
    The counts come with the 95 % interval of the wrong ones (Wilson 1927), and with the reason if the
    augmentation has changed since it was read. --compare counts on how many pairs a language model that
    judged the same texts agrees, with Cohen's kappa.

    \b
    Examples:

        augment-cli judge synonym -n 30

        augment-cli judge --read synonym.judged.jsonl

        augment-cli judge --read synonym.judged.jsonl --compare llm-judge
    """
    from augment_cli.augmentations.labels import label_of
    from augment_cli.cli import views
    from augment_cli.errors import UsageError
    from augment_cli.errors.visible import visible
    from augment_cli.reports import verdicts
    from augment_cli.reports.agreement import agreement
    from augment_cli.store.store import Store
    from augment_cli.store.targets import check_target

    if compare is not None and not read:
        raise UsageError("--compare: name the files that people judged with --read")
    if (stage is None) == (not read):
        raise UsageError("name either a stage to sample from or, with --read, files to count")
    if stage is None:
        if compare is not None:
            found = agreement(Store.open(store), compare, verdicts.read(read or []))
            views.show_agreement(found, as_json)
            return
        if write is not None:
            raise UsageError("--write belongs to a stage's sample; leave it out with --read")
        views.show_verdicts(verdicts.summary(verdicts.read(read or [])), as_json)
        return
    path = write or Path(f"{stage}.judged.jsonl")
    check_target(path, store, lambda beginning: True)  # what is there is never replaced anyway
    judgements = verdicts.sample(Store.open(store), stage, count, seed)
    verdicts.write(path, judgements)
    if as_json:
        views.print_json({"file": str(path), "rows": len(judgements)})
    else:
        name, label = visible(path), label_of(Store.open(store), stage)
        print(f'{name}: {len(judgements)} rows to read. Set each "verdict" to good, awkward or wrong;')
        print(f"of {_KINDS[label]}, {verdicts.MEANINGS[label]}.")
        print(f"Then `augment-cli judge --read {name}` counts them.")
