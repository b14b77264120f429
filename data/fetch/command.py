"""The command that `make data` runs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from augment_cli.process.exit_codes import Command
from data.fetch.fetching import HOST, fetch
from eval.contract.arguments import call


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    try:
        call(_fetch, "python -m data.fetch", sys.argv[1:] if arguments is None else arguments)
    except (Exception, KeyboardInterrupt) as error:
        command = Command(interrupted="interrupted; the sets that are written are kept", option="--data")
        if (code := command.exit_code(error)) is None:
            raise
        sys.exit(code)


def _fetch(
    data: Annotated[Path, typer.Option("--data", help="the data folder, made if missing")],
    sets: Annotated[
        list[str] | None,
        typer.Argument(help="such as sts16 or intent/hwu64.tsv.gz", show_default="all that are missing"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="fetch files again that are already there")] = False,
    host: Annotated[str, typer.Option("--host", help="where the files are served")] = HOST,
) -> None:
    """Fetch the public evaluation sets and convert them to the layout of the data folder."""
    written = fetch(data, sets or [], host=host, force=force)
    print(f"{len(written)} sets written to {data}; licences differ, many are for research only")
