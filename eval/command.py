"""The command: score encoders, and look at what was scored."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from augment_cli.engine.address_space import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible
from augment_cli.process.exit_codes import Command
from eval import protocols, subcommands
from eval.contract.arguments import ArgumentParser
from eval.options import (
    add_json,
    add_published,
    add_shared,
    add_tasks,
    make_parser,
    print_tables,
    read_data,
    say_left_out,
)
from eval.results import tables
from eval.results.files import ModelResults, unlike_settings
from eval.results.places import check_results
from eval.tasks.beir import read_beir_folders
from eval.tasks.labelled import read_labelled
from eval.tasks.minimal_pairs import minimal_pairs_table
from eval.tasks.registry import Task, load_registry
from eval.tasks.table import Table

_COMMAND = Command(
    interrupted="interrupted; finished tasks and stored embeddings are kept",
    writes="the folder of the results",
    kept="stored embeddings are kept",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {
        "table": subcommands.table,
        "compare": subcommands.compare,
        "leaks": subcommands.leaks,
        "tasks": subcommands.tasks,
        "card": subcommands.card,
    }
    try:
        if given and given[0] in commands:
            commands[given[0]](given[1:])
        else:
            _score(given)
    except (Exception, KeyboardInterrupt) as error:
        if (code := _COMMAND.exit_code(error)) is None:
            raise
        sys.exit(code)


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
    print_tables(results, built, as_json=options.json)
    if options.labelled and len(results) == 2:
        _say_difference(results[0], results[1], {table.task.name: table.task.title for table in data_tables})
    scoring.write_overview(results, registry, options)


def _say_difference(before: ModelResults, after: ModelResults, titles: Mapping[str, str]) -> None:
    """Say on stderr how far the second encoder is from the first."""
    from eval.results.compare import compare, in_words  # loads scipy's statistics

    if unlike := unlike_settings(before, after):
        print(f"not scored alike: {visible(unlike)}", file=sys.stderr)
    found = [one for one in compare(after, before) if one.task in titles]
    print(visible(in_words(found, after.label, before.label, titles)), file=sys.stderr)


def _score_parser() -> ArgumentParser:
    parser = make_parser("", "Score sentence encoders with the published protocols.")
    add = parser.add_argument
    add(
        "models",
        nargs="+",
        metavar="MODEL",
        help="folder, hub name or LABEL=folder; one label: seeds of a model",
    )
    add("--data", type=Path, help="the data folder; needed for tasks of the registry")
    add_tasks(parser, "sts")
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
        "--prompt-name",
        metavar="NAME",
        help="put this prompt of the model before every sentence, such as query",
    )
    add(
        "--query-prompt-name",
        metavar="NAME",
        help="before queries of retrieval another one than before documents",
    )
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
    add_shared(parser, "--registry", "--any-data")
    add(
        "--skip-missing", action="store_true", help="leave out tasks whose data file is not there, and say so"
    )
    add("--allow-download", action="store_true", help="fetch a hub model that is not on this machine")
    add("--no-plots", action="store_true", help="write no plots")
    add_published(parser)
    add_json(parser, "the scores")
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
        registry, data_tables = read_data(options, skip_missing=options.skip_missing)
    sets: list[Table] = [*read_beir_folders(options.beir, list(registry))]
    if options.minimal_pairs:
        sets.append(minimal_pairs_table())
    if options.labelled:
        labelled, messages = read_labelled(options.labelled, options.text_column, options.label_column)
        sets += labelled
        say_left_out(messages)
    return registry | {table.task.name: table.task for table in sets}, [*data_tables, *sets]
