"""Options that several commands share, each defined once, and groups of them that belong together.

A command takes a group as one parameter, such as `workers: options.Workers` or a parameter class, such as
`reading: IngestOptions`; `grouped` turns that into the group's options for Typer, in their place among the
others, and back into one value for the command.
"""

from __future__ import annotations

import glob
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.parameters import declared, help_of, option_name
from augment_cli.errors import UsageError

if TYPE_CHECKING:
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.engine.engine import Engine
    from augment_cli.session import StageResult
    from augment_cli.store.store import Store as StoreOfStages

Store = Annotated[Path, typer.Option("--store", help="folder of the store")]
Json = Annotated[bool, typer.Option("--json", help="print JSON on stdout")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="print warnings and errors only, and what --json asks for")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="worker processes; one for each core by default", show_default=False),
]
Corpus = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        help="file, folder or glob of .txt, .jsonl, .csv, .tsv, .parquet (also .gz, .zst), or the address of "
        "one, such as s3://bucket/folder, or - for standard input; may be given more than once. By default "
        "the store's own corpus, else the shipped sample",
        show_default=False,
    ),
]
Backend = Annotated[
    str, typer.Option("--backend", help="where parts are made: loky (processes), threading, dask, or ray")
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", help="address of the Dask scheduler, such as tcp://head:8786")
]
Address = Annotated[
    str | None, typer.Option("--address", help="of the Ray cluster's head node, such as head:6379")
]
Parts = Annotated[
    str | None,
    typer.Option(
        "--parts",
        help="make these parts only, such as 0-9,12; several such commands may run in one store at once",
    ),
]
SpacyPipeline = Annotated[
    str | None,
    typer.Option(
        "--pipeline",
        help="spaCy pipeline that parses: an installed one, such as en_core_web_sm, or a folder "
        "[default: the shipped English one]",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="print what would be done, and stop")]

Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="delete the stage if it is there with other settings, and what was made from it"
    ),
]

DEFAULT_STORE = Path("store")


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


@dataclass(frozen=True)
class Workers:
    """Where parts are made.

    Attributes
    ----------
    jobs : int or None
        Worker processes, from 1.
    backend : str
    scheduler, address : str or None
        As in `Engine`.
    """

    jobs: Jobs = None
    backend: Backend = "loky"
    scheduler: Scheduler = None
    address: Address = None

    def engine(self) -> Engine:
        """An engine with these workers."""
        from augment_cli.engine.engine import Engine

        return Engine.for_this_machine(self.jobs, self.backend, self.scheduler, self.address)


@dataclass(frozen=True)
class Output:
    """What a command that makes stages prints.

    Attributes
    ----------
    quiet : bool
        Nothing but warnings and errors.
    as_json : bool
        JSON on stdout instead of tables.
    """

    quiet: Quiet = False
    as_json: Json = False

    def reporter(self) -> ConsoleReporter:
        """Where messages and progress go while stages are made."""
        from augment_cli.cli.reporter import ConsoleReporter

        return ConsoleReporter(self.quiet)

    @property
    def is_for_people(self) -> bool:
        """Whether tables and hints are wanted."""
        return not (self.quiet or self.as_json)

    def show(self, store: StoreOfStages, results: Sequence[StageResult], of_parts: bool = False) -> None:
        """What the run made, of some parts how far the stage is; as JSON every stage of the store."""
        from augment_cli.cli import status_views, views

        if self.as_json:
            views.print_run(store, results)
        elif self.is_for_people and of_parts:
            status_views.show_parts(store, results)
        elif self.is_for_people:
            views.show_run(store, results)

    def show_examples(
        self,
        store: StoreOfStages,
        results: Sequence[StageResult],
        folders: Sequence[str],
        page: Path | None = None,
        of_parts: bool = False,
    ) -> None:
        """Some rows of the stages in `folders`, where the run made any; the report; what to type next."""
        from augment_cli.cli import views

        there = [folder for folder in folders if store.has(folder) and not of_parts]
        if there and self.is_for_people and any(result.was_made for result in results):
            views.show_hints(store, there, page)


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the options of its groups in place of each group, as Typer wants to see them.

    Parameters
    ----------
    function : callable
        With keyword parameters, each an annotated option, one of the groups above or a parameter class.

    Returns
    -------
    callable
        Takes the flat options, and calls `function` with the groups made of them.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, item in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            parameters.append(_option(name, hints[name], item.default))
    names = {name: [option.name for option in _options_of(kind)] for name, kind in groups.items()}

    def flat(**values: Any) -> None:
        for name, kind in groups.items():
            given = {item: values.pop(item) for item in names[name]}
            values[name] = kind(**{item: value for item, value in given.items() if value is not None})
        function(**values)

    flat.__name__, flat.__doc__ = function.__name__, function.__doc__
    return with_options(flat, parameters)


def with_options(function: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function of `**values` the signature that Typer reads its options from."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {item.name: item.annotation for item in parameters}
    return function


def _options_of(group: Any) -> list[inspect.Parameter]:
    if parameters := declared(group):
        return [option_of(item, _PANELS.get(group)) for item in parameters]
    hints = get_type_hints(group, include_extras=True)
    return [_option(item.name, hints[item.name], item.default) for item in fields(group)]


_PANELS: dict[Any, str] = dict.fromkeys((IngestOptions, Tolerance), "Reading the corpus")  # of the help
# What a field's annotation means on the command line, where it is more than the kind of its default.
_OPTIONAL: dict[str, Any] = {
    "tuple[str, ...]": list[str] | None,
    "bool | str": str | None,
    "str | None": str | None,
    "int | None": int | None,
    "float | None": float | None,
}
_OF_STAGES = ("--positive", "--negative")


def option_of(item: Field[Any], panel: str | None = None) -> inspect.Parameter:
    """The option of a parameter: a plain --flag for switches; its class checks the range, and names it."""
    flag, annotated = option_name(item), str(item.type)
    default = None if annotated in _OPTIONAL else item.default
    option = typer.Option(
        flag + f"/--no-{flag[2:]}" * (default is True),  # the other switches need no way back
        help=help_of(item),
        metavar=f"[{'|'.join(item.metadata['choices'])}]" if annotated == "bool | str" else None,
        autocompletion=complete_stage if flag in _OF_STAGES else None,
        rich_help_panel=panel,
    )
    return _option(item.name, Annotated[_OPTIONAL.get(annotated, type(default)), option], default)


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def part_numbers(parts: str | None) -> set[int] | None:
    """Part numbers from `0-9,12`; None, which is all parts, stays None.

    Raises
    ------
    UsageError
        If the text means something else.
    """
    if parts is None:
        return None
    numbers: set[int] = set()
    for piece in parts.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(piece) > 20:
            raise UsageError(f"--parts {parts}: use numbers and ranges from 0, such as 0-9,12")
        numbers.update(range(int(first), min(int(last or first), 99_999) + 1))
    return numbers
