"""Commands that copy a store to an object store, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.errors.addresses import is_address, parse, shown
from augment_cli.errors.visible import visible, visible_json

if TYPE_CHECKING:
    from augment_cli.remote.publish import Copied


@app.command()
@guarded
def publish(
    store: Annotated[Path, typer.Argument(help="folder of the store")],
    address: Annotated[
        str, typer.Argument(help="where to, such as s3://bucket/folder or gs://bucket/folder", metavar="URL")
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="replace another store that is published there")
    ] = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Copy a store's finished stages to an object store; its manifest comes last.

    Parts that are there with the right SHA-256 are not copied again, so the same command resumes, and after
    more stages were made it copies these. What was copied is read back and compared. Credentials are those
    that the provider's own tools find.

    \b
    Examples:

        augment-cli publish store s3://bucket/folder

        augment-cli publish store s3://bucket/folder --overwrite
    """
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.errors import UsageError
    from augment_cli.remote.publish import publish as copy

    if is_address(address) and parse(address).scheme == "memory":
        raise UsageError(
            f"{shown(address)}: is this command's own memory, which ends with it; give a place that stays"
        )
    with ConsoleReporter(quiet or as_json).progress("publish", None) as progress:
        done = copy(store, address, overwrite=overwrite, progress=progress)
    left_out = {
        "as they are unfinished": done.unfinished,
        "as the corpus has grown since they were made (see `augment-cli status`)": done.outgrown,
    }
    for reason, stages in left_out.items():
        if stages and not as_json:
            ConsoleReporter(quiet).warn(f"left out, {reason}: {', '.join(stages)}")
    _say(f"{shown(address)}: {store} is published", done, quiet, as_json)


@app.command()
@guarded
def fetch(
    address: Annotated[str, typer.Argument(help="where the store is published", metavar="URL")],
    store: Annotated[Path, typer.Argument(help="folder to make of it")] = options.DEFAULT_STORE,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Copy a published store into a folder, every part's SHA-256 verified.

    The same command resumes, and takes what was published since.

    \b
    Examples:

        augment-cli fetch s3://bucket/folder

        augment-cli fetch s3://bucket/folder fetched-store
    """
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.remote.fetch import fetch as copy

    with ConsoleReporter(quiet or as_json).progress("fetch", None) as progress:
        done = copy(address, store, progress=progress)
    _say(f"{store}: is the store of {shown(address)}", done, quiet, as_json)


def _say(what: str, done: Copied, quiet: bool, as_json: bool) -> None:
    if as_json:
        print(visible_json(vars(done)))
    elif not quiet:
        print(
            f"{visible(what)} ({done.copied:,} parts copied, {done.bytes / 1e6:,.1f} MB; {done.kept:,} were "
            "there)"
        )
