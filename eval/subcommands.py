"""Subcommands that look at what was scored, and at the sets: table, compare, card, leaks, tasks."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table as ScreenTable

from augment_cli.errors.visible import visible, visible_json
from eval.contract.arguments import ArgumentParser
from eval.options import (
    add_json,
    add_published,
    add_shared,
    add_tasks,
    cell,
    console,
    finite,
    make_parser,
    print_tables,
    read_data,
)
from eval.results import tables
from eval.results.files import find_results, results_of_one, unlike_settings
from eval.tasks.registry import choose_tasks, load_registry


def table(arguments: Sequence[str]) -> None:
    """One table over all results below folders."""
    parser = make_parser("table", "One table over all results below a folder.")
    parser.add_argument("folder", type=Path, nargs="*", default=[Path("results")])
    parser.add_argument(
        "--format",
        choices=("screen", "markdown", "csv", "json", "html", "latex"),
        default="screen",
        help="html is a page with intervals: --format html > scores.html",
    )
    add_shared(parser, "--registry")
    add_published(parser)
    parser.add_argument("--no-published", action="store_true", help=argparse.SUPPRESS)  # as it is anyway
    parser.add_argument(
        "--tasks",
        help="one table of these tasks alone, with their average: README's is stsb,sts12,sts13,sts14,sts15",
    )
    options = parser.parse_args(arguments)
    results = [result for folder in options.folder for result in find_results(folder)]
    registry = tables.with_own_sets(load_registry(options.registry), results)
    if options.tasks:
        built = [tables.of_tasks(results, choose_tasks(registry, options.tasks.split(",")))]
    else:
        built = tables.build(results, registry, published=options.published)
    if options.format == "markdown":
        print(tables.as_markdown(built))
    elif options.format == "latex":
        print(tables.as_latex(built))
    elif options.format == "csv":
        print(tables.as_csv(built), end="")
    elif options.format == "html":
        from eval.results.page import as_page  # loads the templates

        print(as_page(built), end="")
    else:
        print_tables(results, built, as_json=options.format == "json")


def compare(arguments: Sequence[str]) -> None:
    """Whether models differ, with intervals."""
    from eval.results.compare import compare  # loads scipy's statistics

    parser = make_parser(
        "compare",
        "Two models on every task both were scored on: paired bootstrap over the examples, else over seeds.",
    )
    parser.add_argument(
        "first", type=Path, help="the folder of its results, as --out named it, or below that"
    )
    parser.add_argument("second", type=Path, help="another")
    _resampling_options(parser)
    add_json(parser, "the differences")
    options = parser.parse_args(arguments)
    seeds = [results_of_one(folder) for folder in (options.first, options.second)]
    comparisons = compare(*seeds, resamples=options.resamples, seed=options.seed)
    first, second = (one[0] for one in seeds)
    if options.json:
        rows = [vars(item) | {"difference": item.difference} for item in comparisons]
        print(visible_json(finite(rows), indent=2))
        return
    if unlike := unlike_settings(first, second):
        print(f"not scored alike: {visible(unlike)}", file=sys.stderr)
    labels = (cell(first.label), cell(second.label))
    screen = ScreenTable("task", "statistic", *labels, "difference", "95 % interval", "p")
    for item in comparisons:
        numbers = [f"{100 * value:.2f}" for value in (item.first, item.second, item.difference)]
        known = not math.isnan(item.low)
        interval = f"{100 * item.low:+.2f} to {100 * item.high:+.2f}" if known else "one value each"
        p = "" if math.isnan(item.p) else f"{item.p:.4f}"
        screen.add_row(cell(item.task), cell(item.statistic), *numbers, interval, p)
    console().print(screen)


def _resampling_options(parser: ArgumentParser) -> None:
    from eval.results.compare import RESAMPLES

    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help=f"draws of the examples (default {RESAMPLES})"
    )
    parser.add_argument("--seed", type=int, default=0, help="what decides the draws (default 0)")


def card(arguments: Sequence[str]) -> None:
    """Write a comparison into a model's card."""
    from eval.results.card import section, write_section
    from eval.results.compare import compare

    parser = make_parser("card", "Write the scores before and after training into a model's card.")
    parser.add_argument("model", type=Path, help="the model's folder, with its README.md")
    parser.add_argument("before", type=Path, help="results of the starting encoder, as --out named them")
    parser.add_argument("after", type=Path, help="results of the model")
    _resampling_options(parser)
    options = parser.parse_args(arguments)
    before, after = (results_of_one(folder) for folder in (options.before, options.after))
    if unlike := unlike_settings(before[0], after[0]):
        print(f"not scored alike: {visible(unlike)}", file=sys.stderr)
    comparisons = compare(after, before, resamples=options.resamples, seed=options.seed)
    text = section(comparisons, before[0].label, after[0].label)
    print(f"{visible(write_section(options.model, visible(text)))}: has the scores before and after now")
    print(visible(text))


def leaks(arguments: Sequence[str]) -> None:
    """Sentences of a store that are in the test sets."""
    from eval.leaks import find_leaks, training_sentences

    parser = make_parser("leaks", "Which evaluation sentences occur in the training data?")
    parser.add_argument("source", type=Path, help="a store folder, or a text file with one sentence a line")
    add_shared(parser, "--data")
    add_tasks(parser, "all")
    parser.add_argument(
        "--stages", default="corpus", help="stages of the store, joined by commas (default corpus)"
    )
    add_shared(parser, "--any-data", "--registry")
    add_json(parser, "the leaks")
    options = parser.parse_args(arguments)
    _, data_tables = read_data(options, skip_missing=True)
    leaks = find_leaks(data_tables, training_sentences(options.source, options.stages.split(",")))
    if options.json:
        print(visible_json([vars(leak) for leak in leaks], indent=2))
        return
    screen = ScreenTable(
        "task", "sentences", "found exactly", "found without case and punctuation", "for example"
    )
    for leak in leaks:
        example = f"row {leak.examples[0][1]}: {leak.examples[0][0][:60]}" if leak.examples else ""
        counts = (f"{number:,}" for number in (leak.sentences, leak.exact, leak.normalised))
        screen.add_row(cell(leak.task), *counts, cell(example))
    console().print(screen)


def tasks(arguments: Sequence[str]) -> None:
    """What the registry has."""
    parser = make_parser("tasks", "The registry of tasks.")
    add_shared(parser, "--registry")
    add_json(parser, "the tasks")
    options = parser.parse_args(arguments)
    registry = load_registry(options.registry)
    if options.json:
        print(visible_json([vars(task) for task in registry.values()], indent=2))
        return
    screen = ScreenTable("task", "suites", "protocol", "file", "split", "rows", "metric")
    for task in registry.values():
        rows = f"{task.counts.get(task.split, 0):,}"
        words = (task.name, ", ".join(task.suites), task.protocol, task.file, task.split, rows, task.metric)
        screen.add_row(*map(cell, words))
    console().print(screen)
