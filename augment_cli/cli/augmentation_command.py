"""Build the command of an augmentation from its descriptor: one option for each parameter."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from augment_cli import augmentations
from augment_cli.cli import options
from augment_cli.cli.guard import guarded
from augment_cli.contract.augmentation import Augmentation
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import DEFAULT_SEED, AugmentationRun, make_run
from augment_cli.session import Session
from augment_cli.store.schema import PART_ROWS


def make_command(name: str) -> Callable[..., None]:
    """A function with the signature that Typer turns into the augmentation's command."""
    descriptor = augmentations.get(name)
    own = {item.name: item for item in dataclasses.fields(descriptor.parameters)}

    def command(**values: Any) -> None:
        parameters = {key: values.pop(key) for key in own}
        chosen = {key: values.pop(key) for key in ("seed", "fit", "parses") if key in values}
        run_augmentation(make_run(name, **chosen, **parameters), **values)

    signature = inspect.Signature(
        [*map(_option_of, own.values()), *_common_options(descriptor.needs, "parts_of_speech" in own)]
    )
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {item.name: item.annotation for item in signature.parameters.values()}
    command.__name__ = name
    command.__doc__ = help_of(name, descriptor)
    return guarded(command)


def help_of(name: str, descriptor: Augmentation) -> str:
    """Help text: summary, what it makes, the paper, examples."""
    examples = "".join(f"\n\n    {line}" for line in descriptor.examples)
    return (
        f"{augmentations.summary(name)}\n\n"
        f"Makes a stage of {descriptor.kind}s, and before it whatever is missing. "
        f"Source: {descriptor.paper}.\n\n\b\nExamples:{examples}"
    )


def _option_of(item: dataclasses.Field[Any]) -> inspect.Parameter:
    kind: Any = type(item.default)
    help_text = item.metadata["help"]
    if item.metadata["choices"]:
        help_text += f" ({', '.join(item.metadata['choices'])})"
    flag = "--" + item.name.replace("_", "-")
    # A plain --flag for switches; a range is checked, and named, by the parameter class itself.
    annotation = Annotated[kind, typer.Option(flag, help=help_text)]
    return inspect.Parameter(
        item.name, inspect.Parameter.KEYWORD_ONLY, default=item.default, annotation=annotation
    )


def _common_options(needs: frozenset[str], may_read_parses: bool) -> list[inspect.Parameter]:
    """The options of `run_augmentation` and those that go into the run; of a stage only where it is read."""
    draws_help = "independent draws, each a stage of its own: NAME, NAME.1, …"
    draws = Annotated[int, typer.Option("--draws", min=1, help=draws_help)]
    stage = Annotated[str | None, typer.Option("--name", help="folder of the result, beside others")]
    seed = Annotated[int, typer.Option("--seed", help="seed of all draws")]
    fit = Annotated[str | None, typer.Option("--fit", help="which fit to read, where there are several")]
    parses = Annotated[
        str | None, typer.Option("--parses", help="which parses to read, where there are several")
    ]
    of_tfidf: list[tuple[str, Any, Any]] = [("fit", None, fit)] if "tfidf" in needs else []
    of_parses: list[tuple[str, Any, Any]] = (
        [("parses", None, parses), ("pipeline", None, options.SpacyPipeline)]
        if "parses" in needs or may_read_parses
        else []
    )
    table: list[tuple[str, Any, Any]] = [
        ("seed", DEFAULT_SEED, seed),
        ("draws", 1, draws),
        ("stage", None, stage),
        *of_tfidf,
        *of_parses,
        ("store", options.DEFAULT_STORE, options.Store),
        ("corpus", None, options.Corpus),
        ("text_column", None, options.TextColumn),
        ("id_column", None, options.IdColumn),
        ("limit", None, options.Limit),
        ("max_rejects", 0.01, options.MaxRejects),
        ("strict", False, options.Strict),
        ("jobs", None, options.Jobs),
        ("backend", "loky", options.Backend),
        ("scheduler", None, options.Scheduler),
        ("parts", None, options.Parts),
        ("dry_run", False, options.DryRun),
        ("as_json", False, options.Json),
    ]
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in table
    ]


def run_augmentation(
    run: AugmentationRun,
    *,
    draws: int,
    stage: str | None,
    store: Any,
    corpus: list[str] | None,
    text_column: str | None,
    id_column: str | None,
    limit: int | None,
    max_rejects: float,
    strict: bool,
    jobs: int | None,
    backend: str,
    scheduler: str | None,
    parts: str | None,
    dry_run: bool,
    as_json: bool,
    pipeline: str | None = None,
) -> None:
    """Ingest, fit and parse what is missing, run the augmentation, print what came out."""
    from augment_cli.cli import views
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.reports.plan import plan_run

    ingest_options = IngestOptions(text_column, id_column, limit, part_rows=PART_ROWS)
    if dry_run:
        views.show_plan(plan_run(store, corpus, ingest_options, [(run, stage, draws)]), as_json)
        return
    chosen = None if parts is None else parse_parts(parts)
    engine = Engine.for_this_machine(jobs, backend, scheduler)
    with Session(store, engine, ConsoleReporter(), shared=chosen is not None) as session:
        session.ingest(corpus, ingest_options, strict=strict, max_rejects=max_rejects)
        if pipeline is not None:
            session.parse(pipeline, run.parses)
        folders = session.augment(run, stage, draws, chosen)
        views.show_run(session.store, session.results, as_json)
        if not as_json and all(session.store.has(folder) for folder in folders):
            views.show_hints(session.store, folders)


def parse_parts(text: str) -> set[int]:
    """Part numbers from `0-9,12`.

    Raises
    ------
    UsageError
        If the text means something else.
    """
    numbers: set[int] = set()
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(piece) > 20:
            raise UsageError(f"--parts {text}: use numbers and ranges from 0, such as 0-9,12")
        numbers.update(range(int(first), min(int(last or first), 99_999) + 1))
    return numbers
