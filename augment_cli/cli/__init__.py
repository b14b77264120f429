"""The `augment-cli` command. Importing this loads nothing heavy; each command loads what it needs."""

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

from augment_cli.engine.engine import leave_without_address_space
from augment_cli.process.interrupts import FINISHED_PARTS_ARE_KEPT, handled

if TYPE_CHECKING:
    import typer

INTERRUPTED = FINISHED_PARTS_ARE_KEPT


def main() -> None:
    """Run the command line and exit with its code (the README says what each code means)."""
    # Workers and this process share the cores; polars reads this when it is first imported.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    # Data is UTF-8 whatever the locale says; a file name may hold other bytes.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with handled(INTERRUPTED):
        leave_without_address_space("augment-cli")  # or libraries fail while they are loaded
        load_commands()(prog_name="augment-cli")


def load_commands() -> "typer.Typer":
    """The application with all its commands."""
    from augment_cli.cli.application import app

    importlib.import_module("augment_cli.cli.commands")  # adds them
    return app
