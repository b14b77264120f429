"""Build the command of an augmentation from its descriptor: one option for each parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from augment_cli import augmentations
from augment_cli.cli import options
from augment_cli.cli.guard import guarded
from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.parameters import MOST_DRAWS, declared
from augment_cli.runs.run import DEFAULT_SEED, make_run
from augment_cli.session import Session

# Options about an earlier stage, which an augmentation has only where it may read that stage.
_READS = {"fit": "tfidf", "parses": "parses", "pipeline": "parses"}


def make_command(name: str) -> Callable[..., None]:
    """A function with the signature that Typer turns into the augmentation's command."""
    descriptor = augmentations.get(name)
    own = declared(descriptor.parameters)
    reads = descriptor.needs | (frozenset({"parses"}) if descriptor.reads_parse_if_there else frozenset())
    run = options.grouped(run_augmentation)
    common = [
        item
        for key, item in inspect.signature(run).parameters.items()
        if key not in ("name", "parameters") and _READS.get(key) in {None, *reads}
    ]

    def command(**values: Any) -> None:
        run(name=name, parameters={item.name: values.pop(item.name) for item in own}, **values)

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


def run_augmentation(
    *,
    name: str,
    parameters: dict[str, Any],
    seed: Annotated[int, typer.Option("--seed", help="seed of all draws")] = DEFAULT_SEED,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            min=1,
            max=MOST_DRAWS,
            help="independent draws, each a stage of its own: NAME, NAME.1, …",
        ),
    ] = 1,
    stage: Annotated[str | None, typer.Option("--name", help="folder of the result, beside others")] = None,
    fit: Annotated[
        str | None, typer.Option("--fit", help="which fit to read, where there are several")
    ] = None,
    parses: Annotated[
        str | None, typer.Option("--parses", help="which parses to read, where there are several")
    ] = None,
    pipeline: options.SpacyPipeline = None,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    parts: options.Parts = None,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Ingest, fit and parse what is missing, run the augmentation, print what came out."""
    from augment_cli.cli import views
    from augment_cli.parsing.pipelines import find_pipeline
    from augment_cli.reports.plan import plan_run
    from augment_cli.syntax.parses import stage_name

    run = make_run(name, **parameters, seed=seed, fit=fit, parses=parses)
    if dry_run:
        to_parse = [stage_name(parses)] if pipeline is not None else []
        plan = plan_run(store, corpus, reading, [(run, stage, draws)], to_parse)
        views.show_plan(plan, output.as_json)
        return
    if pipeline is not None:  # before the parse, which takes long
        run.check_language(find_pipeline(pipeline).name)
    chosen = options.part_numbers(parts)
    reporter, shared = output.reporter(), chosen is not None
    with Session(store, workers.engine(), reporter, shared, overwrite, sample=True) as session:
        session.ingest(corpus, reading, **vars(tolerance))
        if pipeline is not None:
            session.parse(pipeline, parses)
        folders = session.augment(run, stage, draws, chosen)
        output.show(session.store, session.results, shared)
        output.show_examples(session.store, session.results, folders, of_parts=shared)
