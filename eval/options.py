"""What the commands are told, reading of sets, printing for people."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as ScreenTable

from augment_cli.errors.visible import visible, visible_json, visible_line
from eval.contract.arguments import option
from eval.results import ModelResults, tables, unlike_settings, without_nan
from eval.tasks import REGISTRY, Table, Task, choose_tasks, load_registry, read_tables

Data = Annotated[Path, typer.Option("--data", help="the data folder")]
Registry = Annotated[
    Path, typer.Option("--registry", help="registry of tasks", show_default="eval/tasks/tasks.toml")
]
AnyData = Annotated[
    bool, typer.Option("--any-data", help="accept data files whose digest differs from the registry's")
]
Tasks = Annotated[
    str, typer.Option("--tasks", help="tasks and suites, joined by commas; see: python -m eval tasks")
]
Published = Annotated[bool, typer.Option("--published", help="print the papers' rows above ours, too")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of tables")]


PRECISIONS = {"fp32": ("fp32",), "bf16": ("bf16",), "both": ("fp32", "bf16")}


@dataclass(frozen=True)
class ScoreOptions:
    """What a scoring is told on the command line."""

    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL", help="folder, hub name or LABEL=folder; one label: seeds of a model"),
    ]
    data: Path | None = option(None, "the data folder; needed for tasks of the registry")
    tasks: Tasks = "sts"
    beir: list[Path] | None = option(
        None, "a retrieval set in BEIR's layout; may be given several times, with --data or instead of it"
    )
    labelled: Path | None = option(
        None, "texts with a class each: K-means, purity of the ten nearest, few-shot; two models are compared"
    )
    text_column: str = option("text", "of --labelled")
    label_column: str = option("label", "of --labelled")
    separator: str | None = option(
        None, "between the fields of --labelled, where it is csv or tsv", show_default="as in the header"
    )
    minimal_pairs: bool = option(
        False, "score the shipped minimal pairs too (negation, number, roles and five more)"
    )
    meaning: bool = option(
        False, "score paraphrases against turned sentences too, of sets of --data and the shipped pairs"
    )
    pooling: str | None = option(
        None, "instead of the stored one: cls, mean, first-last, idf:mean, zipf-idf:table, …"
    )
    prompt_name: str | None = option(
        None, "put this prompt of the model before every sentence, such as query"
    )
    query_prompt_name: str | None = option(
        None, "before queries of retrieval another one than before documents"
    )
    max_length: int | None = option(
        None, "cut sentences after N tokens", metavar="N", show_default="the stored length"
    )
    no_truncation: bool = option(False, "cut only where the model's position table ends")
    counts: Path | None = option(
        None, "store whose corpus is counted for a pooling with token weights (idf:mean, zipf:table, …)"
    )
    precision: str = option("fp32", "both shows what bf16 does", metavar=f"[{'|'.join(PRECISIONS)}]")
    whiten: bool = option(False, "whiten each task's embeddings, fitted on its own sentences")
    out: Path = option(Path("results"), "folder of the results")
    cache: Path | None = option(None, "folder of the embedding cache", show_default="OUT/cache")
    no_cache: bool = option(False, "keep no embeddings")
    jobs: int = option(os.cpu_count() or 1, "processes for cross-validation", show_default="all cores")
    device: str = option("cpu", "where the encoder runs")
    registry: Registry = REGISTRY
    any_data: AnyData = False
    skip_missing: bool = option(False, "leave out tasks whose data file is not there, and say so")
    allow_download: bool = option(False, "fetch a hub model that is not on this machine")
    no_plots: bool = option(False, "write no plots")
    published: Published = False
    json: Json = False
    values: Mapping[str, str | bool] = field(default_factory=dict)  # of the protocols' settings, by name


def read_data(
    registry: Path, tasks: str, data: Path, any_data: bool, skip_missing: bool
) -> tuple[dict[str, Task], list[Table]]:
    """The registry and the files of the tasks that were asked for; says which are left out."""
    known = load_registry(registry)
    chosen = choose_tasks(known, tasks.split(","))
    data_tables, messages = read_tables(chosen, data, any_data=any_data, skip_missing=skip_missing)
    for message in messages:
        print(f"skipped: {visible(message)}", file=sys.stderr)
    return known, data_tables


def say_unlike(before: ModelResults, after: ModelResults) -> None:
    """Say what two encoders were scored with unlike, if anything."""
    if unlike := unlike_settings(before, after):
        print(f"not scored alike: {visible(unlike)}", file=sys.stderr)


def cell(text: str) -> str:
    """A text as it stands: a name or a sentence may hold what rich takes for markup, or a terminal obeys."""
    return escape(visible_line(text))


def console() -> Console:
    """Where tables are printed."""
    # Output that does not go to a terminal has no width to keep to.
    return Console() if sys.stdout.isatty() else Console(width=240)


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
        print(visible_json(without_nan(scores), indent=2))
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
