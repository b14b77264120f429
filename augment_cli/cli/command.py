"""Commands made of operations: the options are what an operation declares, and what all of its kind share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from augment_cli.api.step import Step
from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.operation import arguments_of, described


def add(
    function: Callable[..., Any],
    further: Sequence[inspect.Parameter] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
    looks_ahead: bool = False,
) -> None:
    """Add the command of an operation: what it declares, some with other defaults, and further options."""
    step: Step | None = getattr(function, "step", None)
    own = [one for one in arguments_of(function) if not one.option.python_only]
    own = [one for one in own if one.name != "store" or one.option.is_positional]
    own = [replace(one, default=defaults.get(one.name, one.default)) for one in own]
    parameters = [*map(options.parameter_of, own), *further, *(_of_step(step) if step else ())]
    is_argument = {one.name for one in own if one.option.is_positional}
    parameters.sort(key=lambda one: one.name not in is_argument)

    def command(**values: Any) -> None:
        from augment_cli.cli import actions  # which is heavy

        if step is not None:
            actions.make(function, values, looks_ahead)
        else:
            getattr(actions, function.__name__)(values)

    name = function.command or function.__name__  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = name, help_of(function)
    app.command(name)(guarded(options.with_options(command, parameters)))


def help_of(function: Callable[..., Any]) -> str:
    """The help of an operation's command."""
    text, commands, _ = described(function)
    return text + "\n\n\b\nExamples:" + "".join(f"\n\n    {line}" for line in commands)


def _of_step(step: Step) -> list[inspect.Parameter]:
    """The options that commands share that make stages."""
    return [
        options.STORE,
        *(options.READING if step.reads_corpus else ()),
        *(options.WORKERS if step.has_workers else ()),
        options.OVERWRITE,
        *([options.DRY_RUN] if step.plan else ()),
        options.JSON,
        options.QUIET,
    ]
