"""Subcommands that look at what was scored, and at the sets: table, compare, card, leaks, tasks."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as ScreenTable

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.errors.visible import visible, visible_json
from eval import protocols
from eval.options import (
    AnyData,
    Data,
    Json,
    Published,
    Registry,
    Tasks,
    cell,
    console,
    print_tables,
    read_data,
    say_unlike,
)
from eval.results import RESAMPLES, find_results, results_of_one, tables, without_nan
from eval.tasks import REGISTRY, Table, choose_tasks, load_registry

EXAMPLES = 3
_PRINTED = {"markdown": tables.as_markdown, "latex": tables.as_latex, "csv": tables.as_csv}
_FORMATS = ("screen", *_PRINTED, "json", "html")

Resamples = Annotated[int, typer.Option("--resamples", help="draws of the examples")]
Seed = Annotated[int, typer.Option("--seed", help="what decides the draws")]


@dataclass(frozen=True)
class Leak:
    """What one task shares with the training data."""

    task: str  # the task's name
    sentences: int  # distinct evaluation sentences (of all splits that the protocol reads)
    exact: int  # how many occur in the training data letter for letter
    normalised: int  # how many occur once case, punctuation and spacing are ignored; includes the exact ones
    # the first few, each with its place: row of the corpus, or line of the file
    examples: list[tuple[str, int]]


def normalise(text: str) -> str:
    """Letters and digits only, case folded, words separated by single spaces."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def training_sentences(source: Path, stages: Sequence[str] = ("corpus",)) -> Iterator[tuple[int, str]]:
    """Sentences of a store's stages, or of a text file (plain or gzip, one a line), with their numbers."""
    if source.is_dir():
        from augment_cli.store.store import Store

        store = Store.open(source)
        for stage in stages:
            for index in sorted(store.stage(stage).parts):
                table = store.read_part(stage, index, ["row_id", "text"])
                rows = zip(table["row_id"].to_pylist(), table["text"].to_pylist(), strict=True)
                yield from ((row_id, text) for row_id, text in rows if text is not None)
        return
    if not source.is_file():
        raise MissingError(
            f"{source} does not exist; name a store folder, or a text file with one sentence a line"
        )
    opener = gzip.open if source.suffix == ".gz" else open
    try:
        with opener(source, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInputError(f"{source} is not readable text ({error}); give UTF-8, plain or gzip") from error


def find_leaks(tables: Sequence[Table], training: Iterator[tuple[int, str]]) -> list[Leak]:
    """Look for every distinct evaluation sentence in the training sentences, which are read once."""
    wanted = {
        table.task.name: list(dict.fromkeys(protocols.get(table.task.protocol).sentences(table)))
        for table in tables
    }
    exact_wanted = {text for texts in wanted.values() for text in texts}
    normal = {text: normalise(text) for text in exact_wanted}
    normal_wanted = set(normal.values()) - {""}  # a line of dots cannot leak
    exact: dict[str, int] = {}
    similar: dict[str, int] = {}
    for number, text in training:
        if text in exact_wanted:
            exact.setdefault(text, number)
        key = normalise(text)
        if key in normal_wanted:
            similar.setdefault(key, number)
    leaks = []
    for task, texts in wanted.items():
        places = [(text, exact.get(text, similar.get(normal[text], -1))) for text in texts]
        leaked = [(text, number) for text, number in places if number >= 0]
        same = sum(text in exact for text in texts)
        leaks.append(Leak(task, len(texts), same, len(leaked), leaked[:EXAMPLES]))
    return leaks


def table(
    folder: Annotated[
        list[Path] | None, typer.Argument(help="folders of results", show_default="results")
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            metavar=f"[{'|'.join(_FORMATS)}]",
            help="html is a page with intervals: --format html > scores.html",
        ),
    ] = "screen",
    registry: Registry = REGISTRY,
    published: Published = False,
    no_published: Annotated[bool, typer.Option("--no-published", hidden=True)] = False,  # as it is anyway
    tasks: Annotated[
        str | None,
        typer.Option(
            help="one table of these tasks alone, with their average: README's is "
            "stsb,sts12,sts13,sts14,sts15"
        ),
    ] = None,
) -> None:
    """One table over all results below a folder."""
    if format not in _FORMATS:
        raise UsageError(f"--format {format}: choose one of {', '.join(_FORMATS)}")
    results = [result for one in folder or [Path("results")] for result in find_results(one)]
    known = tables.with_own_sets(load_registry(registry), results)
    if tasks:
        built = [tables.of_tasks(results, choose_tasks(known, tasks.split(",")))]
    else:
        built = tables.build(results, known, published=published)
    if format in _PRINTED:
        print(_PRINTED[format](built), end="" if format == "csv" else "\n")
    elif format == "html":
        from eval.results.page import as_page  # loads the templates

        print(as_page(built), end="")
    else:
        print_tables(results, built, as_json=format == "json")


def compare(
    first: Annotated[
        Path, typer.Argument(help="the folder of its results, as --out named it, or below that")
    ],
    second: Annotated[Path, typer.Argument(help="another")],
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Two models on every task both were scored on: paired bootstrap over the examples, else over seeds."""
    from eval.results.compare import compare  # loads scipy's statistics

    seeds = [results_of_one(folder) for folder in (first, second)]
    comparisons = compare(*seeds, resamples=resamples, seed=seed)
    before, after = (one[0] for one in seeds)
    if as_json:
        rows = [vars(item) | {"difference": item.difference} for item in comparisons]
        print(visible_json(without_nan(rows), indent=2))
        return
    say_unlike(before, after)
    labels = (cell(before.label), cell(after.label))
    screen = ScreenTable("task", "statistic", *labels, "difference", "95 % interval", "p")
    for item in comparisons:
        screen.add_row(*map(cell, item.in_points("one value each", "")))
    console().print(screen)


def card(
    model: Annotated[Path, typer.Argument(help="the model's folder, with its README.md")],
    before: Annotated[Path, typer.Argument(help="results of the starting encoder, as --out named them")],
    after: Annotated[Path, typer.Argument(help="results of the model")],
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
) -> None:
    """Write the scores before and after training into a model's card."""
    from eval.results.compare import compare
    from eval.results.page import section, write_section

    start, trained = (results_of_one(folder) for folder in (before, after))
    say_unlike(start[0], trained[0])
    comparisons = compare(trained, start, resamples=resamples, seed=seed)
    text = section(comparisons, start[0].label, trained[0].label)
    print(f"{visible(write_section(model, visible(text), comparisons))}: has the scores before and after now")
    print(visible(text))


def leaks(
    source: Annotated[Path, typer.Argument(help="a store folder, or a text file with one sentence a line")],
    data: Data,
    tasks: Tasks = "all",
    stages: Annotated[str, typer.Option(help="stages of the store, joined by commas")] = "corpus",
    any_data: AnyData = False,
    registry: Registry = REGISTRY,
    as_json: Json = False,
) -> None:
    """Which evaluation sentences occur in the training data?"""
    _, data_tables = read_data(registry, tasks, data, any_data, skip_missing=True)
    found = find_leaks(data_tables, training_sentences(source, stages.split(",")))
    if as_json:
        print(visible_json([vars(leak) for leak in found], indent=2))
        return
    screen = ScreenTable(
        "task", "sentences", "found exactly", "found without case and punctuation", "for example"
    )
    for leak in found:
        example = f"row {leak.examples[0][1]}: {leak.examples[0][0][:60]}" if leak.examples else ""
        counts = (f"{number:,}" for number in (leak.sentences, leak.exact, leak.normalised))
        screen.add_row(cell(leak.task), *counts, cell(example))
    console().print(screen)


def tasks(registry: Registry = REGISTRY, as_json: Json = False) -> None:
    """The registry of tasks."""
    known = load_registry(registry)
    if as_json:
        print(visible_json([vars(task) for task in known.values()], indent=2))
        return
    screen = ScreenTable("task", "suites", "protocol", "file", "split", "rows", "metric")
    for task in known.values():
        rows = f"{task.counts.get(task.split, 0):,}"
        words = (task.name, ", ".join(task.suites), task.protocol, task.file, task.split, rows, task.metric)
        screen.add_row(*map(cell, words))
    console().print(screen)
