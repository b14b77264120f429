"""Every command: made of its operation's declaration, or of an augmentation's.

The options, their help and the examples are declared in `augment_cli/api/`, and become Typer's here; what a
command does and prints is in `making.py` and `actions.py`. The help lists the commands in this file's order.
"""

from __future__ import annotations

import glob
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from augment_cli import api, augmentations
from augment_cli.api.making import Parts, Pipeline
from augment_cli.api.step import Step
from augment_cli.cli.application import AugmentationGroup, app, guarded
from augment_cli.contract import operation
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.operation import Argument, arguments_of, described
from augment_cli.contract.parameters import DEFAULT_SEED, MOST_DRAWS, declared, help_of, option_name

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

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
    said: dict[str, Any] = {
        "help": option.help,
        "metavar": option.metavar,
        "autocompletion": _COMPLETES.get(option.completes),
    }
    if option.minimum is not None:
        said["min"] = option.minimum
    flags = [f"--{option.name or argument.name.replace('_', '-')}"]
    flags = [f"-{option.short}", *flags] if option.short else flags
    typed = typer.Argument(**said) if option.is_positional else typer.Option(*flags, **said)
    if default is None and not is_required:
        kind = kind | None
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


def reading_of(values: dict[str, Any]) -> tuple[IngestOptions, Tolerance]:
    """How the corpus is read, of a command's values."""
    of_reading, of_lines = ([item.name for item in declared(kind)] for kind in (IngestOptions, Tolerance))
    return IngestOptions(**given(values, of_reading)), Tolerance(**given(values, of_lines))


def with_options(function: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function of `**values` the signature that Typer reads its options from."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {item.name: item.annotation for item in parameters}
    return function


# Options about an earlier stage, which an augmentation has only where it may read that stage.
_READS = {"fit": "tfidf", "parses": "parses", "pipeline": "parses"}
_SHARED = [
    valued("seed", int, "seed of all draws", DEFAULT_SEED),
    valued(
        "draws", int, "independent draws, each a stage of its own: NAME, NAME.1, …", 1, min=1, max=MOST_DRAWS
    ),
    valued("stage", str | None, "folder of the result, beside others", flag="name"),
    valued("fit", str | None, "which fit to read, where there are several"),
    valued("parses", str | None, "which parses to read, where there are several"),
    shared("pipeline", Pipeline),
    valued("of", str | None, "stage whose texts it changes in place of the corpus's: --of antonym"),
    valued("protect", str, "regular expression of what stays as it is, beside addresses and tags", ""),
    switch("anyway", "though the corpus looks to be in another language"),
    STORE,
    *READING,
    *WORKERS,
    shared("parts", Parts),
    OVERWRITE,
    DRY_RUN,
    JSON,
    QUIET,
]


def add(
    function: Callable[..., Any],
    further: Sequence[inspect.Parameter] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
    looks_ahead: bool = False,
) -> None:
    """Add the command of an operation: what it declares, some with other defaults, and further options."""
    step: Step | None = getattr(function, "step", None)
    offered = [one for one in arguments_of(function) if not one.option.python_only]
    own = [one for one in offered if one.name != "store" or one.option.is_positional]
    own = [replace(one, default=defaults.get(one.name, one.default)) for one in own]
    has_store = step is None and len(own) < len(offered)
    parameters = [*map(parameter_of, own), *[STORE] * has_store, *further]
    parameters += _of_step(step) if step else ()
    is_argument = {one.name for one in own if one.option.is_positional}
    parameters.sort(key=lambda one: one.name not in is_argument)

    def command(**values: Any) -> None:
        from augment_cli.cli import actions, making  # which are heavy

        if step is not None:
            making.make(function, values, looks_ahead)
        else:
            of_one = making if hasattr(making, function.__name__) else actions
            getattr(of_one, function.__name__)(values)

    name = function.command or function.__name__  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = name, _help_of(function)
    app.command(name)(guarded(with_options(command, parameters)))


def _help_of(function: Callable[..., Any]) -> str:
    """The help of an operation's command."""
    text, commands, _ = described(function)
    return text + "\n\n\b\nExamples:" + "".join(f"\n\n    {line}" for line in commands)


def _of_step(step: Step) -> list[inspect.Parameter]:
    """The options that commands share that make stages."""
    return [
        STORE,
        *(READING if step.reads_corpus else ()),
        *(WORKERS if step.has_workers else ()),
        OVERWRITE,
        *([DRY_RUN] if step.plan else ()),
        JSON,
        QUIET,
    ]


def make_command(name: str) -> Callable[..., None]:
    """A function with the signature that Typer turns into the augmentation's command."""
    descriptor = augmentations.get(name)
    own = declared(descriptor.parameters)
    reads = descriptor.needs | (frozenset({"parses"}) if descriptor.reads_parse_if_there else frozenset())
    common = [item for item in _SHARED if _READS.get(item.name) in {None, *reads}]

    def command(**values: Any) -> None:
        from augment_cli.cli.making import augment  # which is heavy

        parameters = {item.name: values.pop(item.name) for item in own}
        augment(name, parameters, dict.fromkeys(_READS) | values)

    command.__name__, command.__doc__ = name, _help_of_augmentation(name, descriptor)
    return guarded(with_options(command, [*map(option_of, own), *common]))


def _help_of_augmentation(name: str, descriptor: Augmentation) -> str:
    """Help text: summary, what it makes, the paper, examples."""
    examples = "".join(f"\n\n    {line}" for line in descriptor.examples)
    return (
        f"{augmentations.summary(name)}\n\n"
        f"Makes a stage of {descriptor.kind}s, and before it whatever is missing. "
        f"Source: {descriptor.paper}.\n\n\b\nExamples:{examples}"
    )


AugmentationGroup.make_command = staticmethod(make_command)

add(api.adapt, [JSON, QUIET])

add(api.look, [JSON])
add(api.inspect, [JSON])
add(api.stats, [JSON])
add(api.status, [switch("settings", "also the parts and all settings, digests among them"), JSON])
add(api.list_augmentations, [switch("recipes", "the recipes of `augment-cli run`"), JSON])
add(api.report, [JSON])
add(api.verify, [JSON])
add(api.judge, [JSON])

add(api.ingest_corpus, [JSON, QUIET])
add(api.fit)
add(api.parse)
add(
    api.run_recipe,
    [
        *WORKERS,
        DRY_RUN,
        valued("report", str | None, "write the page of `augment-cli report` there"),
        switch("behind", "make all that is behind since files were appended, no recipe"),
        JSON,
        QUIET,
    ],
)
add(api.embed)
add(api.combine)
add(api.score)
add(api.mine)
_SAMPLE = valued(
    "sample",
    int,
    "ask at most this many, keep their answers, say how long the rest takes, and stop; 0: ask all",
    0,
    min=0,
)
add(api.generate, [DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.llm_paraphrase, [DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.read_answers)

add(api.convert_weights)
add(api.remove)
add(
    api.pack_table,
    [
        valued("out", str | None, "write the rows to this .csv or .jsonl file too"),
        valued(
            "beir",
            str | None,
            "with --split: write the held-out pairs to this folder too, as a retrieval set in BEIR's layout, "
            "each positive a query",
        ),
        valued("recipe", str | None, "TOML file with a [pack] table instead of these options"),
        *WORKERS,
        switch("dry_run", "say how many rows each filter costs, and stop"),
        JSON,
        QUIET,
    ],
)
add(api.card, (), {"title": None, "license_name": None})
add(api.doctor, [JSON])

add(api.publish, [QUIET, JSON])
add(api.fetch, [QUIET, JSON])
