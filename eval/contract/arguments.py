"""A command's arguments, read by typer; errors show what was typed without obeying it."""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from augment_cli.errors.visible import visible_line
from augment_cli.places import as_typed


class _Command(TyperCommand):
    def get_help(self, ctx: Any) -> str:
        """The help, with commands as they are typed here, and no `<bool>` behind switches."""
        for parameter in self.params:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return as_typed(super().get_help(ctx))


def call(function: Any, program: str, arguments: Sequence[str], examples: str = "") -> Any:
    """Call a function with what the command line says of its parameters; wrong words exit with code 2."""
    # Its parameters are annotated options, its docstring is the summary of the help, which ends with the
    # examples. Returns what the function returns; None after --help.
    for hint in get_type_hints(function, include_extras=True).values():
        for option in getattr(hint, "__metadata__", ()):
            option.readable = False  # whether a path can be read is for the command to say
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    epilog = "\n\n".join(f"\b\n{part}" for part in examples.strip().split("\n\n")) if examples else None
    names = {"help_option_names": ["-h", "--help"]}
    application.command(cls=_Command, epilog=epilog, context_settings=names)(function)
    command = typer.main.get_command(application)
    try:
        with command.make_context(as_typed(program), list(arguments)) as context:
            return command.invoke(context)
    except typer.Exit:  # after --help
        return None
    except Exception as error:
        message, show = getattr(error, "message", None), getattr(error, "show", None)
        if not isinstance(message, str) or show is None:
            raise
        error.message = visible_line(message)  # type: ignore[attr-defined]
        show()
        raise SystemExit(2) from None


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a dataclass for `taking`: an option of its name; `more` as of `typer.Option`."""
    return dataclasses.field(default=default, metadata={"help": help, "more": more})


def taking(kind: Any, function: Callable[[Any], Any], more: Sequence[Any] = ()) -> Callable[..., Any]:
    """A function of many options that calls `function` with a dataclass of them."""
    # The fields of the dataclass `kind` are made by `option`, or annotated with what typer makes of them.
    # `more` are further options, each with `name`, `default` and `help`: they come as the field `values`.
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for item in dataclasses.fields(kind):
        hint = hints[item.name]
        if item.metadata:
            flag = f"--{item.name.replace('_', '-')}"
            hint = Annotated[hint, typer.Option(flag, help=item.metadata["help"], **item.metadata["more"])]
        if item.name != "values":
            found.append(_parameter(item.name, item.default, hint))
    names = {one.name: one.name.replace("-", "_") for one in more}
    for one in more:
        shown: Any = type(one.default)
        shown = Annotated[shown, typer.Option(f"--{one.name}", help=one.help)]
        found.append(_parameter(names[one.name], one.default, shown))

    def flat(**given: Any) -> Any:
        values = {name: given.pop(own_name) for name, own_name in names.items()}
        return function(kind(**given, **({"values": values} if more else {})))

    flat.__doc__ = function.__doc__
    flat.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    flat.__annotations__ = {one.name: one.annotation for one in found}
    return flat


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    known = inspect.Parameter.empty if default is dataclasses.MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known, annotation=annotation)
