"""Operations: what the command line and Python both offer, declared once as a function.

The function's signature is the declaration. A parameter is annotated with an `Option`, or its type is a
parameter class, whose fields (`parameter`) are then parameters of the operation. Its docstring is the help;
paragraphs of it that begin with `augment-cli` or `>>>` are examples of the command and of Python. The command
(`augment_cli/cli/commands.py`), the function for Python, its documentation and the reference page follow.
`making.py` declares what makes stages, `looking.py` what looks at a store. Loads nothing heavy.
"""

import dataclasses
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from augment_cli.contract.parameters import declared, help_of, option_name
from augment_cli.errors import UsageError, did_you_mean

Result = TypeVar("Result")
NOTHING = inspect.Parameter.empty
DECLARED: list[Callable[..., Any]] = []  # the functions for Python, as their declarations were read


@dataclass(frozen=True)
class Option:
    """What the command line and the documentation say of a parameter."""

    help: str
    name: str = ""  # of the option, where it is not the parameter's
    short: str = ""  # a further name for it, such as -n
    is_positional: bool = False
    completes: str = ""  # with which names the shell completes it: stage or recipe
    minimum: float | None = None
    metavar: str | None = None
    repeats: bool = False  # on the command line, where it is given one value at a time
    python_only: bool = False


@dataclass(frozen=True)
class Offers:
    """The fields of a parameter class that the command line offers, where those are not all."""

    fields: tuple[str, ...]


@dataclass(frozen=True)
class Fields:
    """For a parameter that gets the fields of a parameter class that were given, as a mapping."""

    kind: Any


@dataclass(frozen=True)
class Argument:
    """A parameter of an operation as callers see it: annotated itself, or a field of a parameter class."""

    name: str
    kind: Any  # its type
    default: Any
    option: Option
    field: Field[Any] | None = None


def positional(help: str, completes: str = "", repeats: bool = False, metavar: str | None = None) -> Option:
    """What is said of a parameter that the command line takes by its place."""
    return Option(help, is_positional=True, completes=completes, repeats=repeats, metavar=metavar)


Store = Annotated[str | Path, Option("folder of the store")]
Named = Annotated[str | None, Option("for a result beside the first", "name")]
Overwrite = Annotated[
    bool, Option("delete the stage if it is there with other settings, and what was made from it")
]
Jobs = Annotated[int | None, Option("worker processes; one for each core by default", minimum=1)]
Backend = Annotated[str, Option("where parts are made: loky (processes), threading, dask, or ray")]
Corpus = Annotated[
    str | Path | Sequence[str | Path] | None,
    Option(
        "file, folder or glob of .txt, .jsonl, .csv, .tsv, .parquet (also .gz, .zst), or the address of one, "
        "such as s3://bucket/folder, or - for standard input; may be given more than once. By default the "
        "store's own corpus, else the shipped sample",
        repeats=True,
    ),
]


def arguments_of(function: Callable[..., Any]) -> list[Argument]:
    """The parameters of an operation, fields of its parameter classes in their place among the others."""
    return list(_arguments(inspect.unwrap(function)))


def _arguments(function: Callable[..., Any]) -> Iterator[Argument]:
    hints = _hints(function)
    for name, item in inspect.signature(function).parameters.items():
        kind, said = _parts_of(hints[name])
        if taken := _taken(hints[name]):
            offered = next((one.fields for one in said if isinstance(one, Offers)), None)
            of_fields = get_type_hints(taken)
            for field in declared(taken):
                hidden = offered is not None and field.name not in offered
                option = Option(help_of(field), option_name(field)[2:], python_only=hidden)
                default = field.metadata["unset"] if offered is None else None  # as what is there was made
                yield Argument(field.name, of_fields[field.name], default, option, field)
        elif own := next((one for one in said if isinstance(one, Option)), None):
            yield Argument(name, kind, item.default, own)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    # What an operation works on is loaded when it is called, not when it is declared.
    unloaded = dict.fromkeys(
        ("Session", "StoreOfStages", "RecipeResult", "IngestReport", "Copied", "Adapted"), Any
    )
    tables = {"pa": types.SimpleNamespace(Table=Any), "pl": types.SimpleNamespace(DataFrame=Any)}
    return get_type_hints(function, localns={**unloaded, **tables}, include_extras=True)


def _parts_of(hint: Any) -> tuple[Any, list[Any]]:
    """The type of an annotation, and what `Annotated` adds to it."""
    kind, *said = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return kind, said


def kinds_of(kind: Any) -> tuple[Any, ...]:
    """The types that a union is of; of another type, itself."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _taken(hint: Any) -> Any:
    """The parameter class that a parameter of an operation takes, by its annotation; or None."""
    kind, said = _parts_of(hint)
    if asked := next((one.kind for one in said if isinstance(one, Fields)), None):
        return asked
    return next((one for one in kinds_of(kind) if dataclasses.is_dataclass(one) and declared(one)), None)


def grouped(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """The values that an operation's function takes, made of those of single fields."""
    values = dict(values)
    for name, hint in _hints(inspect.unwrap(function)).items():
        if name == "return" or (taken := _taken(hint)) is None:
            continue
        kind, said = _parts_of(hint)
        given = {field.name: values.pop(field.name) for field in declared(taken) if field.name in values}
        if any(isinstance(one, Fields) for one in said):
            values[name] = given
        elif given or type(None) not in kinds_of(kind):
            values[name] = taken(**given)
            getattr(values[name], "check", lambda: None)()  # what the class does not check when it is made
    return values


def described(function: Callable[..., Any]) -> tuple[str, list[str], str]:
    """Of an operation's documentation the text, the example commands, and the examples in Python."""
    paragraphs = inspect.cleandoc(inspect.unwrap(function).__doc__ or "").split("\n\n")
    commands = [one for one in paragraphs if one.startswith("augment-cli ")]
    examples = [one for one in paragraphs if one.startswith(">>> ")]
    text = [one for one in paragraphs if one not in (*commands, *examples)]
    return "\n\n".join(text), [line for one in commands for line in one.splitlines()], "\n\n".join(examples)


def _documentation(function: Callable[..., Any], arguments: Sequence[Argument]) -> str:
    """The numpydoc docstring that a declaration says."""
    text, _, examples = described(function)
    lines = "".join(f"{one.name} : {_words_of(one.kind)}\n    {one.option.help}\n" for one in arguments)
    shown = f"\nExamples\n--------\n>>> import augment_cli\n{examples}\n" if examples else ""
    return f"{text}\n\nParameters\n----------\n{lines}{shown}"


def _words_of(kind: Any) -> str:
    """A type as documentation says it: `str, optional`."""
    kinds = [one for one in kinds_of(kind) if one is not type(None)]
    words = [one.__name__ if isinstance(one, type) and not get_args(one) else str(one) for one in kinds]
    optional = ", optional" * (len(kinds) < len(kinds_of(kind)))
    return re.sub(r"\b\w+\.(?=\w)", "", " or ".join(words)) + optional


def operation(command: str = "") -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Declare an operation whose function is that for Python; fields of its classes are keywords."""

    def declare(function: Callable[..., Result]) -> Callable[..., Result]:
        own, arguments = inspect.signature(function).parameters, arguments_of(function)
        places = [one for one in arguments if one.name in own and own[one.name].kind is _BY_PLACE]
        others = [one for one in arguments if one not in places]
        return for_python(
            function, command, places, others, lambda values: function(**grouped(function, values))
        )

    return declare


_BY_PLACE, _BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def for_python(
    function: Callable[..., Any],
    command: str,
    places: Sequence[Argument],
    others: Sequence[Argument],
    run: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """The function for Python of an operation: `run` with its arguments by name, once they are checked."""
    own, arguments = inspect.signature(function).parameters.values(), [*places, *others]
    collecting = next((item.name for item in own if item.kind is item.VAR_KEYWORD), None)
    kinds: list[Any] = [_BY_PLACE] * len(places)
    kinds += [inspect.Parameter.VAR_KEYWORD if one.name == collecting else _BY_NAME for one in others]
    signature = inspect.Signature(
        [
            inspect.Parameter(one.name, kind, default=one.default, annotation=one.kind)
            for one, kind in zip(arguments, kinds, strict=True)
        ]
    )

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        named = _by_parameter(arguments, named)
        unknown = [name for name in named if name not in signature.parameters]
        if unknown and collecting is None:
            alike = did_you_mean(unknown[0], signature.parameters)
            known = ", ".join(signature.parameters)
            raise UsageError(f"{function.__name__}: has no parameter {unknown[0]!r}; it has {known}.{alike}")
        values = signature.bind(*given, **named).arguments
        refuse_swapped(function.__name__, values)
        further = values.pop(collecting, {}) if collecting else {}
        return run(values | further)

    call.__signature__, call.command = signature, command or function.__name__  # type: ignore[attr-defined]
    call.__doc__ = _documentation(function, arguments)
    DECLARED.append(call)
    return call


def _by_parameter(arguments: Sequence[Argument], named: Mapping[str, Any]) -> dict[str, Any]:
    """Values by parameter, of which some have the name that the command line has for them, such as n."""
    own = {one.name for one in arguments}
    words = {
        word.replace("-", "_"): one.name for one in arguments for word in (one.option.name, one.option.short)
    }
    return {name if name in own else words.get(name, name): value for name, value in named.items()}


_NEVER_STORES = {"stage", "stages", "name", "recipe", "texts", "out", "sets", "answers"}


def refuse_swapped(function: str, values: Mapping[str, Any]) -> None:
    """Refuse a store in the place of another argument, and say the call that was meant."""
    store = values.get("store", "store")
    for name in _NEVER_STORES & values.keys():
        wrong = values[name]
        if _is_store(wrong) and (not isinstance(wrong, str | Path) or not _is_store(store)):
            others = repr(str(store)) if "store" in values else ""
            raise UsageError(
                f"{function}: a store stands in the place of {name!r}; "
                f"call augment_cli.Store.open({str(plain(wrong))!r}).{function}({others})"
            )


def _is_store(value: Any) -> bool:
    is_folder = isinstance(value, str | Path) and Path(value, "manifest.json").is_file()
    return is_folder or plain(value) is not value


def plain(store: Any) -> Any:
    """The folder of a store that is given as an object; else what is given."""
    return store.path if hasattr(store, "path") and hasattr(store, "stages") else store


def shared_argument(name: str, annotated: Any, default: Any) -> Argument:
    """An argument of several operations, by the annotation that they share."""
    kind, option = get_args(annotated)
    return Argument(name, kind, default, option)
