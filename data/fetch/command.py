"""The command that `make data` runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from augment_cli.process.exit_codes import Command
from data.fetch.fetching import HOST, fetch
from eval.contract.arguments import ArgumentParser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    parser = ArgumentParser(
        prog="python -m data.fetch",
        description="Fetch the public evaluation sets and convert them to the layout of the data folder.",
    )
    parser.add_argument(
        "sets", nargs="*", help="such as sts16 or intent/hwu64.tsv.gz (default: all that are missing)"
    )
    parser.add_argument("--data", type=Path, required=True, help="the data folder, made if missing")
    parser.add_argument("--force", action="store_true", help="fetch files again that are already there")
    parser.add_argument("--host", default=HOST, help=f"where the files are served (default {HOST})")
    options = parser.parse_args(arguments)
    try:
        written = fetch(options.data, options.sets, host=options.host, force=options.force)
    except (Exception, KeyboardInterrupt) as error:
        command = Command(interrupted="interrupted; the sets that are written are kept", option="--data")
        if (code := command.exit_code(error)) is None:
            raise
        sys.exit(code)
    print(f"{len(written)} sets written to {options.data}; licences differ, many are for research only")
