"""Options as Typer takes them: made of an operation's arguments, and those that many commands share."""

import glob
import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import Field
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from augment_cli.contract import operation
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.operation import Argument
from augment_cli.contract.parameters import declared, help_of, option_name

DEFAULT_STORE = Path("store")
_READING = "Reading the corpus"  # the heading of these options in the help


def complete_stage(ctx: typer.Context, incomplete: str) -> list[str]:
    """The stages of the store that begin as typed, for the shell's completion; none without a store."""
    try:
        manifest = json.loads((Path(ctx.params.get("store") or DEFAULT_STORE) / "manifest.json").read_bytes())
        return [name for name in manifest["stages"] if name.startswith(incomplete)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def complete_recipe(incomplete: str) -> list[str]:
    """The shipped recipes that begin as typed."""
    folder = Path(__file__).parent.parent / "recipes"
    return sorted(path.stem for path in folder.glob(f"{glob.escape(incomplete)}*.toml"))


_COMPLETES: dict[str, Any] = {"stage": complete_stage, "recipe": complete_recipe}
# What a field's annotation means on the command line, where it is more than the kind of its default.
_OPTIONAL: dict[str, Any] = {
    "tuple[str, ...]": list[str] | None,
    "bool | str": str | None,
    "str | None": str | None,
    "int | None": int | None,
    "float | None": float | None,
}


def option_of(item: Field[Any], panel: str | None = None) -> inspect.Parameter:
    """The option of a field: a plain --flag for switches; its class checks the range, and names it."""
    flag, annotated = option_name(item), str(item.type)
    default = None if annotated in _OPTIONAL else item.default
    option = typer.Option(
        flag + f"/--no-{flag[2:]}" * (default is True),  # the other switches need no way back
        help=help_of(item),
        metavar=f"[{'|'.join(item.metadata['choices'])}]" if annotated == "bool | str" else None,
        autocompletion=complete_stage if flag in ("--positive", "--negative") else None,
        rich_help_panel=panel,
    )
    return _parameter(item.name, Annotated[_OPTIONAL.get(annotated, type(default)), option], default)


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def parameter_of(argument: Argument) -> inspect.Parameter:
    """The option, or the argument, that the command line has for an operation's argument."""
    if argument.field is not None:
        of_corpus = any(argument.field in declared(kind) for kind in (IngestOptions, Tolerance))
        made = option_of(argument.field, _READING if of_corpus else None)
        if argument.default is None and made.default is not None:
            kind, typed = get_args(made.annotation)
            return made.replace(default=None, annotation=Annotated[kind | None, typed])
        return made
    option, is_required = argument.option, argument.default is operation.NOTHING
    kind = _kind_of(argument.kind, option.repeats)
    default = operation.NOTHING if is_required else None if option.repeats else argument.default
    said: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "min": option.minimum}
    said["autocompletion"] = _COMPLETES.get(option.completes)
    flags = [f"--{option.name or argument.name.replace('_', '-')}"]
    flags = [f"-{option.short}", *flags] if option.short else flags
    typed = typer.Argument(**said) if option.is_positional else typer.Option(*flags, **said)
    kind = kind | None if default is None and not is_required else kind
    return _parameter(argument.name, Annotated[kind, typed], default)


def _kind_of(kind: Any, repeats: bool) -> Any:
    """The type of a value as typed."""
    kinds = operation.kinds_of(kind)
    if repeats:
        return list[int] if any(get_args(one) == (int,) for one in kinds) else list[str]
    return next((one for one in kinds if one in (bool, int, float)), str)


def shared(name: str, annotated: Any, default: Any = None) -> inspect.Parameter:
    """The option of what `augment_cli.contract.operation` declares for several operations."""
    return parameter_of(operation.shared_argument(name, annotated, default))


def switch(name: str, help: str, *flags: str) -> inspect.Parameter:
    """An option that only commands have: a switch."""
    flags = flags or (f"--{name.replace('_', '-')}",)
    return _parameter(name, Annotated[bool, typer.Option(*flags, help=help)], False)


def valued(name: str, kind: Any, help: str, default: Any = None, **more: Any) -> inspect.Parameter:
    """An option that only commands have, with a value."""
    flag = f"--{more.pop('flag', name).replace('_', '-')}"
    return _parameter(name, Annotated[kind, typer.Option(flag, help=help, **more)], default)


STORE = valued("store", Path, "folder of the store", DEFAULT_STORE)
OVERWRITE = shared("overwrite", operation.Overwrite, False)
JSON = switch("as_json", "print JSON on stdout", "--json")
QUIET = switch("quiet", "print warnings and errors only, and what --json asks for", "--quiet", "-q")
DRY_RUN = switch("dry_run", "print what would be done, and stop")
READING = [
    shared("corpus", operation.Corpus),
    *(option_of(item, _READING) for kind in (IngestOptions, Tolerance) for item in declared(kind)),
]
WORKERS = [
    shared("jobs", operation.Jobs),
    shared("backend", operation.Backend, "loky"),
    valued("scheduler", str | None, "address of the Dask scheduler, such as tcp://head:8786"),
    valued("address", str | None, "of the Ray cluster's head node, such as head:6379"),
]


def given(values: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Of a command's values those with these names that were given."""
    return {name: values[name] for name in names if values.get(name) not in (None, [])}


def fields_of(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Of a command's values the fields of a parameter class that were given."""
    return given(values, [item.name for item in declared(kind)])


def reading_of(values: dict[str, Any]) -> tuple[IngestOptions, Tolerance]:
    """How the corpus is read, of a command's values."""
    return IngestOptions(**fields_of(IngestOptions, values)), Tolerance(**fields_of(Tolerance, values))


def with_options(function: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function of `**values` the signature that Typer reads its options from."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {item.name: item.annotation for item in parameters}
    return function
