"""Options that several commands share, each defined once, and groups of them that belong together.

A command takes a group as one parameter, such as `workers: options.Workers`; `grouped` turns that into the
group's options for Typer, in their place among the others, and back into one value for the command.
"""

from __future__ import annotations

import glob
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from augment_cli.errors import UsageError

if TYPE_CHECKING:
    from augment_cli.cli.reporter import ConsoleReporter
    from augment_cli.engine.engine import Engine
    from augment_cli.ingest import IngestOptions
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
_READING = "Reading the corpus"  # the panel of the help that these are shown in

TextColumn = Annotated[
    str | None,
    typer.Option("--text-column", help="field of structured input [default: text]", rich_help_panel=_READING),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id-column", help="field to keep as the rows' own id", rich_help_panel=_READING),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="read the first N sentences only", rich_help_panel=_READING),
]
MaxCharacters = Annotated[
    int,
    typer.Option("--max-characters", min=1, help="longer lines are set aside", rich_help_panel=_READING),
]
PartRows = Annotated[
    int, typer.Option("--part-rows", min=1, help="rows a part, in every stage", rich_help_panel=_READING)
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="text, jsonl, csv, tsv or parquet, whatever the file's ending",
        rich_help_panel=_READING,
    ),
]
Quoting = Annotated[
    bool,
    typer.Option(
        "--quoting/--no-quoting",
        help='whether csv and tsv fields may be quoted with "',
        rich_help_panel=_READING,
    ),
]
SplitSentences = Annotated[
    bool,
    typer.Option(
        "--split-sentences", help="cut each text into sentences, one row each", rich_help_panel=_READING
    ),
]
Deduplicate = Annotated[
    str | None,
    typer.Option(
        "--deduplicate",
        help="keep the first of equal texts, count the others as duplicates: exact (also with no value), or "
        "near (of nearly equal ones, too)",
        metavar="[exact|near]",
        rich_help_panel=_READING,
    ),
]
NearSimilarity = Annotated[
    float,
    typer.Option(
        "--near-similarity",
        help="of near duplicates: at least so much of their 4-grams in common",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        help="of text, jsonl, csv and tsv, such as latin-1, cp1252 or utf-16",
        rich_help_panel=_READING,
    ),
]
KeepColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--keep-column",
        help="further field to keep in the corpus, such as label; repeatable",
        rich_help_panel=_READING,
    ),
]
PositiveColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--positive-column",
        help="field with a positive of the text: becomes a stage of its name; repeatable",
        rich_help_panel=_READING,
    ),
]
NegativeColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--negative-column",
        help="field with a negative of the text: becomes a stage of its name; repeatable",
        rich_help_panel=_READING,
    ),
]
MaxRejects = Annotated[
    float,
    typer.Option(
        "--max-rejects", min=0, max=1, help="share of lines that may be set aside", rich_help_panel=_READING
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="stop at the first bad line", rich_help_panel=_READING)
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
class Reading:
    """How a corpus is read: the same options in every command that takes `--corpus`.

    Attributes
    ----------
    keep_column, positive_column, negative_column : list of str, optional
        The `keep_columns`, `positive_columns` and `negative_columns` of `IngestOptions`.

    Notes
    -----
    All others are those of `IngestOptions` by the same name.
    """

    text_column: TextColumn = None
    id_column: IdColumn = None
    keep_column: KeepColumns = None
    positive_column: PositiveColumns = None
    negative_column: NegativeColumns = None
    limit: Limit = None
    format: Format = None
    encoding: Encoding = "utf-8"
    quoting: Quoting = True
    split_sentences: SplitSentences = False
    deduplicate: Deduplicate = None
    near_similarity: NearSimilarity = 0.8
    max_characters: MaxCharacters = 5_000
    part_rows: PartRows = 50_000

    def values(self) -> dict[str, Any]:
        """The arguments of `IngestOptions`."""
        values = dict(vars(self))
        for kind in ("keep", "positive", "negative"):
            values[f"{kind}_columns"] = tuple(values.pop(f"{kind}_column") or ())
        return values | {"deduplicate": self.deduplicate or False}

    def ingest_options(self) -> IngestOptions:
        """The same for `Session.ingest`."""
        from augment_cli.ingest import IngestOptions

        return IngestOptions(**self.values())


@dataclass(frozen=True)
class Tolerance:
    """Which lines a corpus may have beside its sentences, as `Session.ingest` takes it.

    Attributes
    ----------
    max_rejects : float
        Share of lines, 0 to 1, that may be set aside.
    strict : bool
        Whether to stop at the first bad line.
    """

    max_rejects: MaxRejects = 0.01
    strict: Strict = False


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

    def show(self, store: StoreOfStages, results: Sequence[StageResult]) -> None:
        """What the run made; as JSON every stage of the store."""
        from augment_cli.cli import views

        if self.as_json:
            views.print_run(store, results)
        elif self.is_for_people:
            views.show_run(store, results)

    def show_examples(
        self,
        store: StoreOfStages,
        results: Sequence[StageResult],
        folders: Sequence[str],
        page: Path | None = None,
    ) -> None:
        """Some rows of the stages in `folders`, where the run made any; the report; what to type next."""
        from augment_cli.cli import views

        there = [folder for folder in folders if store.has(folder)]
        if there and self.is_for_people and any(result.was_made for result in results):
            views.show_hints(store, there, page)


_GROUPS = (Reading, Tolerance, Workers, Output)


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the options of its groups in place of each group, as Typer wants to see them.

    Parameters
    ----------
    function : callable
        With keyword parameters, each an annotated option or one of the groups above.

    Returns
    -------
    callable
        Takes the flat options, and calls `function` with the groups made of them.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if kind in _GROUPS}
    parameters: list[inspect.Parameter] = []
    for name, item in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            parameters.append(_option(name, hints[name], item.default))

    def flat(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{item.name: values.pop(item.name) for item in fields(kind)})
        function(**values)

    flat.__name__, flat.__doc__ = function.__name__, function.__doc__
    return with_options(flat, parameters)


def with_options(function: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function of `**values` the signature that Typer reads its options from."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {item.name: item.annotation for item in parameters}
    return function


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_option(item.name, hints[item.name], item.default) for item in fields(group)]


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
