"""Commands made of operations: the options are what an operation declares, and what all of its kind share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from augment_cli.api.step import Step
from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.operation import arguments_of, described, grouped

Body = Callable[[dict[str, Any]], None]


def add(
    function: Callable[..., Any],
    body: Body,
    further: Sequence[inspect.Parameter] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Add the command of an operation: what it declares, some with other defaults, and further options."""
    own = [one for one in arguments_of(function) if not one.option.python_only]
    own = [one for one in own if one.name != "store" or one.option.is_positional]
    own = [replace(one, default=defaults.get(one.name, one.default)) for one in own]
    parameters = [*map(options.parameter_of, own), *further]
    is_argument = {one.name for one in own if one.option.is_positional}
    parameters.sort(key=lambda one: one.name not in is_argument)

    def command(**values: Any) -> None:
        body(values)

    name = function.command or function.__name__  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = name, help_of(function)
    app.command(name)(guarded(options.with_options(command, parameters)))


def help_of(function: Callable[..., Any]) -> str:
    """The help of an operation's command."""
    text, commands, _ = described(function)
    return text + "\n\n\b\nExamples:" + "".join(f"\n\n    {line}" for line in commands)


def called(function: Callable[..., Any], values: dict[str, Any], **more: Any) -> Any:
    """What an operation returns for those of a command's values that are its own."""
    own = [one.name for one in arguments_of(function) if one.name not in more]
    return function(**options.given(values, own), **more)


def add_step(
    function: Callable[..., Any], further: Sequence[inspect.Parameter] = (), before: Any = None
) -> None:
    """Add the command of an operation that makes stages; where `before` has done all, nothing is made."""
    step: Step = function.step  # type: ignore[attr-defined]
    has_plan = step.plan is not None
    shared = [options.STORE]
    shared += options.READING if step.reads_corpus else []
    shared += options.WORKERS if step.has_workers else []
    shared += [options.OVERWRITE, *([options.DRY_RUN] if has_plan else []), options.JSON, options.QUIET]
    names = [one.name for one in arguments_of(function)]

    def body(values: dict[str, Any]) -> None:
        own = options.given(values, names)
        output = options.Output(values["quiet"], values["as_json"])
        if has_plan and values["dry_run"]:
            _show_plan(step, values, own)
        elif before is None or not before(values, own, output):
            _run(step, values, own, output)

    add(function, body, [*further, *shared])


def _show_plan(step: Step, values: dict[str, Any], own: dict[str, Any]) -> None:
    from augment_cli.pages import terminal as views
    from augment_cli.reports.plan import plan_stages
    from augment_cli.store.store import Store

    assert step.plan is not None
    store = values["store"] if step.reads_corpus else Store.open(values["store"]).path
    reading = options.reading_of(values)[0] if step.reads_corpus else IngestOptions()
    needed = step.plan(**grouped(step.function, own))
    views.show_plan(plan_stages(store, values.get("corpus"), reading, needed), values["as_json"])


def _run(step: Step, values: dict[str, Any], own: dict[str, Any], output: options.Output) -> None:
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    path: str | Path = values["store"]
    if not step.reads_corpus:
        path = Store.open(path).path  # there must be one
    is_shared, asked = own.get("parts") is not None, grouped(step.function, own)
    engine = options.engine_of(values) if step.has_workers else None
    with Session(path, engine, output.reporter(), is_shared, values["overwrite"], sample=True) as session:
        if step.reads_corpus:
            reading, tolerance = options.reading_of(values)
            session.ingest(values["corpus"], reading, **vars(tolerance))
        folders = step.function(session, **asked)
        output.show(session.store, session.results, is_shared)
        output.show_examples(session.store, session.results, folders or [])
