"""Build the command of an augmentation from its descriptor: one option for each parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from augment_cli import augmentations
from augment_cli.api.making import Parts, Pipeline, part_numbers
from augment_cli.cli import options
from augment_cli.cli.actions import Output, engine_of
from augment_cli.cli.guard import guarded
from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.parameters import MOST_DRAWS, declared
from augment_cli.pages import terminal as views
from augment_cli.parsing.pipelines import find_pipeline
from augment_cli.reports.plan import plan_run
from augment_cli.runs.run import DEFAULT_SEED, make_run
from augment_cli.session import Session
from augment_cli.syntax.parses import stage_name

# Options about an earlier stage, which an augmentation has only where it may read that stage.
_READS = {"fit": "tfidf", "parses": "parses", "pipeline": "parses"}
_OF_RUNS = ("seed", "fit", "parses", "of", "protect", "anyway")
_SHARED = [
    options.valued("seed", int, "seed of all draws", DEFAULT_SEED),
    options.valued(
        "draws", int, "independent draws, each a stage of its own: NAME, NAME.1, …", 1, min=1, max=MOST_DRAWS
    ),
    options.valued("stage", str | None, "folder of the result, beside others", flag="name"),
    options.valued("fit", str | None, "which fit to read, where there are several"),
    options.valued("parses", str | None, "which parses to read, where there are several"),
    options.shared("pipeline", Pipeline),
    options.valued("of", str | None, "stage whose texts it changes in place of the corpus's: --of antonym"),
    options.valued(
        "protect", str, "regular expression of what stays as it is, beside addresses and tags", ""
    ),
    options.switch("anyway", "though the corpus looks to be in another language"),
    options.STORE,
    *options.READING,
    *options.WORKERS,
    options.shared("parts", Parts),
    options.OVERWRITE,
    options.DRY_RUN,
    options.JSON,
    options.QUIET,
]


def make_command(name: str) -> Callable[..., None]:
    """A function with the signature that Typer turns into the augmentation's command."""
    descriptor = augmentations.get(name)
    own = declared(descriptor.parameters)
    reads = descriptor.needs | (frozenset({"parses"}) if descriptor.reads_parse_if_there else frozenset())
    common = [item for item in _SHARED if _READS.get(item.name) in {None, *reads}]

    def command(**values: Any) -> None:
        parameters = {item.name: values.pop(item.name) for item in own}
        run_augmentation(name, parameters, dict.fromkeys(_READS) | values)

    command.__name__, command.__doc__ = name, help_of(name, descriptor)
    return guarded(options.with_options(command, [*map(options.option_of, own), *common]))


def help_of(name: str, descriptor: Augmentation) -> str:
    """Help text: summary, what it makes, the paper, examples."""
    examples = "".join(f"\n\n    {line}" for line in descriptor.examples)
    return (
        f"{augmentations.summary(name)}\n\n"
        f"Makes a stage of {descriptor.kind}s, and before it whatever is missing. "
        f"Source: {descriptor.paper}.\n\n\b\nExamples:{examples}"
    )


def run_augmentation(name: str, parameters: dict[str, Any], values: dict[str, Any]) -> None:
    """Ingest, fit and parse what is missing, run the augmentation, print what came out."""
    run = make_run(name, **parameters, **{key: values[key] for key in _OF_RUNS})
    pipeline, stage, draws, store = (values[key] for key in ("pipeline", "stage", "draws", "store"))
    reading, tolerance = options.reading_of(values)
    if values["dry_run"]:
        to_parse = [stage_name(values["parses"])] if pipeline is not None else []
        plan = plan_run(store, values["corpus"], reading, [(run, stage, draws)], to_parse)
        views.show_plan(plan, values["as_json"])
        return
    if pipeline is not None:  # before the parse, which takes long
        run.check_language(find_pipeline(pipeline).name)
    parts, output = part_numbers(values["parts"]), Output(values["quiet"], values["as_json"])
    reporter, shared, engine = output.reporter(), parts is not None, engine_of(values)
    with Session(store, engine, reporter, shared, values["overwrite"], sample=True) as session:
        session.ingest(values["corpus"], reading, **vars(tolerance))
        if pipeline is not None:
            session.check_texts(run, pipeline)
            session.parse(pipeline, values["parses"])
        folders = session.augment(run, stage, draws, parts)
        output.show(session.store, session.results, shared)
        output.show_examples(session.store, session.results, folders, of_parts=shared)
