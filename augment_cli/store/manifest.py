"""The manifest: which stages a store has, which of their parts are finished, and what they hold.

It is JSON with its own SHA-256. But a digest only says that whoever wrote it last had the whole of it. So a
manifest is checked once, when a store is opened: a forged or half-right one is refused with the place that is
wrong, and no reader need ask again.
"""

import functools
import json
import re
from collections.abc import ItemsView, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from augment_cli.errors import BadInputError, MixError
from augment_cli.store.files import sha256_of_json
from augment_cli.store.parquet import APPENDED_SCHEMA_VERSION, SCHEMA_VERSION
from augment_cli.store.settings import Count, Settings, Word

STAGE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*", re.ASCII)
MOST_CHARACTERS = 200  # of a folder's name: file systems have room for 255 bytes, and stages add words to it
PART_NAME = re.compile(r"part-[0-9]{5,}\.parquet", re.ASCII)
RESERVED_NAMES = frozenset({"manifest.json", "readme.md"})

# Far beyond any honest value, and small enough that sums and arrays of them stay harmless.
MOST_STAGES = 2_000
MOST_PARTS = 1_000_000  # of all stages together
Rows = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # of a part
RowId = Annotated[int, Meta(ge=0, le=2**40)]
Bytes = Annotated[int, Meta(ge=0, le=2**50)]
PartCount = Annotated[int, Meta(ge=0, le=MOST_PARTS)]
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]

RowRanges = Annotated[list[tuple[RowId, Rows]], Meta(max_length=MOST_PARTS)]


def part_name(index: int) -> str:
    """File name of a part: `part-00000.parquet`, `part-00001.parquet`, …"""
    return f"part-{index:05d}.parquet"


def is_stage_name(name: str) -> bool:
    """Whether a folder of the store may have this name; none of them leads out of the store."""
    if max(map(len, name.split("/"))) > MOST_CHARACTERS:
        return False
    return STAGE_NAME.fullmatch(name) is not None and name.split("/")[0] not in RESERVED_NAMES


if TYPE_CHECKING:
    Statistics = dict[str, Any]  # each maker knows which of its sums are numbers
else:
    Statistics = dict[Word, Count | dict[str, Count] | None]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finished part.

    `statistics` holds small sums over the part, or sums by name, that reports add up; they may be negative,
    and None is the sum of nothing.
    """

    rows: Rows
    bytes: Bytes
    sha256: Sha256
    statistics: Statistics


class Earlier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the first `parts` parts of a stage were made with, before files were appended to the corpus."""

    settings: dict[str, Any]
    parts: PartCount


@functools.lru_cache(2 * MOST_STAGES)
def _digest_of(parts: tuple[str, ...]) -> str:
    return sha256_of_json(parts)


class Stage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A stage: its settings, how many parts it will have, and those that are finished, by their number.

    `earlier` is empty but where files were appended to the corpus: then `settings` are those of the parts
    that have been added since. In the manifest the name stands in front of the stage, not within.
    """

    settings: dict[str, Any]
    expected_parts: PartCount
    parts: dict[PartCount, Part]
    earlier: tuple[Earlier, ...] = ()
    name: str = ""

    def settings_of(self, index: int) -> dict[str, Any]:
        """What a part was, or will be, made with."""
        return next((earlier.settings for earlier in self.earlier if index < earlier.parts), self.settings)

    @property
    def all_settings(self) -> list[dict[str, Any]]:
        """What any of its parts was made with, the first parts' first."""
        return [*(earlier.settings for earlier in self.earlier), self.settings]

    @property
    def is_complete(self) -> bool:
        """Whether every part is there."""
        return len(self.parts) == self.expected_parts

    @property
    def rows(self) -> int:
        """Rows in the finished parts."""
        return sum(part.rows for part in self.parts.values())

    @property
    def bytes(self) -> int:
        """Size of the finished parts on disk."""
        return sum(part.bytes for part in self.parts.values())

    @property
    def digest(self) -> str:
        """SHA-256 over the parts' digests, in order: what later stages record as their input."""
        return self.digest_of_first(self.expected_parts)

    def digest_of_first(self, count: int) -> str:
        """The digest that it had while it had `count` parts."""
        return _digest_of(tuple(self.parts[index].sha256 for index in sorted(self.parts) if index < count))

    @property
    def digests(self) -> set[str]:
        """Its digest, and those that it had before it was continued."""
        return {self.digest, *(self.digest_of_first(earlier.parts) for earlier in self.earlier)}


class Manifest(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The whole file; `row_ranges` are (first row_id, number of rows) of each part of the corpus."""

    schema: int
    row_ranges: RowRanges = msgspec.field(name="parts")
    stages: Annotated[
        dict[Annotated[str, Meta(min_length=1, max_length=400)], Stage], Meta(max_length=MOST_STAGES)
    ]
    sha256: str = ""


def dump_manifest(row_ranges: list[tuple[int, int]], stages: Mapping[str, Stage]) -> bytes:
    """The manifest's bytes, with the digest of all the rest: those of `json.dumps` with an indent of 1."""
    has_grown = any(stage.earlier for stage in stages.values())
    written = {
        name: msgspec.structs.replace(stage, name="", parts=dict(sorted(stage.parts.items())))
        for name, stage in stages.items()
    }
    manifest = Manifest(APPENDED_SCHEMA_VERSION if has_grown else SCHEMA_VERSION, row_ranges, written)
    # Python writes the numbers, on which digests depend; msgspec indents them, a hundred times as fast.
    value = msgspec.to_builtins(manifest, str_keys=True)
    value["sha256"] = sha256_of_json(value)
    return msgspec.json.format(json.dumps(value, ensure_ascii=False).encode(), indent=1) + b"\n"


# --- reading

Entry = TypeVar("Entry", bound=msgspec.Struct)


class CorpusParameters(msgspec.Struct):
    """Those of the stages that hold text and rejects; a later version may have more."""

    text_column: str | None = None
    id_column: str | None = None
    limit: int | None = None
    max_characters: int = 1
    part_rows: int = 1
    format: str | None = None
    quoting: bool = True
    split_sentences: bool = False
    deduplicate: bool | str = False
    separator: str | None = None
    line_breaks: str = "reject"


# Makers whose settings the package itself reads again, whatever they are called.
_PARAMETERS: dict[str, type[msgspec.Struct]] = {
    "corpus": CorpusParameters,
    "tfidf": msgspec.defstruct("Fit", [("tokenizer", str), ("min_df", int), ("stages", list[str])]),
    "parses": msgspec.defstruct("Parse", [("pipeline", str), ("version", str)]),
}
_NEEDED_RESOURCES = {"tfidf": "tokenizer", "parses": "pipeline"}
_BY_NAME = ("reasons", "sums", "unchanged")  # statistics that are sums by name; all others are single numbers


def read_manifest(data: bytes, where: str, remedy: str) -> Manifest:
    """Check a manifest's bytes and make sense of them."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{where}: cannot be read ({error}); {remedy}") from error
    try:
        if (schema := value["schema"]) not in (SCHEMA_VERSION, APPENDED_SCHEMA_VERSION):
            raise MixError(
                f"{where.removesuffix('/manifest.json')}: written with store schema {schema}, this version "
                f"reads {SCHEMA_VERSION}; use another --store"
            )
        return _checked(value)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadInputError(f"{where}: not a manifest of this package ({error}); {remedy}") from error


def _refuse_constant(name: str) -> None:
    """NaN and the infinities are no numbers of a manifest."""
    raise ValueError(f"{name} is not a valid number")


def _checked(value: Any) -> Manifest:
    """The manifest that a JSON value is; the ValueError says where it is none."""
    stages = value["stages"]
    if isinstance(stages, dict) and len(stages) > MOST_STAGES:
        raise ValueError(f"it has {len(stages):,} stages, and a store has at most {MOST_STAGES:,}")
    try:
        manifest = msgspec.convert(value, Manifest, str_keys=True)
    except msgspec.ValidationError:
        _raise_where(value)
        raise
    if manifest.sha256 != sha256_of_json({key: item for key, item in value.items() if key != "sha256"}):
        raise ValueError("it was edited or damaged: its sha256 does not fit")
    if (parts := sum(len(stage.parts) for stage in manifest.stages.values())) > MOST_PARTS:
        raise ValueError(f"it has {parts:,} parts, and a store has at most {MOST_PARTS:,}")
    for name, stage in manifest.stages.items():
        _check_stage(name, stage, value["stages"][name])
        manifest.stages[name] = msgspec.structs.replace(stage, name=name)
    _check_corpus(manifest)
    end = 0
    for first, rows in manifest.row_ranges:
        if first != end:
            raise ValueError("the row ranges of its parts do not follow each other")
        end = first + rows
    for name in manifest.stages:
        folders = name.split("/")
        outer = ("/".join(folders[:count]) for count in range(1, len(folders)))
        if around := next((one for one in outer if one in manifest.stages), None):
            raise ValueError(f"stage {name!r} lies inside stage {around!r}")
    return manifest


def _raise_where(value: Any) -> None:
    """Raise the error of the stage or part that is no such thing, by its name."""

    def items(value: Any, key: str) -> ItemsView[str, Any]:
        inner = value.get(key) if isinstance(value, dict) else None
        return (inner if isinstance(inner, dict) else {}).items()

    for name, stage in items(value, "stages"):
        for index, part in items(stage, "parts"):
            _convert(part, Part, f"stage {name!r}, part {index}, ")
        _convert(stage, Stage, f"stage {name!r}, ")
    _convert(value, Manifest, "")


def _convert(value: Any, kind: type[Entry], place: str) -> Entry:
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at ")
        raise ValueError(f"{place}{where.replace('`', '') or '$'}: {reason}") from None


def _check_stage(name: str, stage: Stage, value: Any) -> None:
    place = f"stage {name!r}, "
    if not is_stage_name(name) or max(map(len, name.split("/"))) > 255:
        raise ValueError(f"{name!r} is not a valid stage name")
    if "name" in value:
        raise ValueError(f"{place}$: Object contains unknown field `name`")
    if len(value["parts"]) != len(stage.parts):
        raise ValueError(f"{place}$.parts: has one of them twice")
    _check_settings(name, stage.settings, f"{place}$.settings")
    counts = [earlier.parts for earlier in stage.earlier]
    if counts != sorted(counts) or (counts and counts[-1] > stage.expected_parts):
        raise ValueError(f"{place}$.earlier: the numbers of parts do not follow each other")
    for earlier in stage.earlier:
        if (maker := earlier.settings.get("stage")) != stage.settings["stage"]:
            raise ValueError(f"{place}$.earlier: is of {maker!r}")
        _check_settings(name, earlier.settings, f"{place}$.earlier.settings")
    if stage.parts and max(stage.parts) >= stage.expected_parts:
        raise ValueError(
            f"stage {name!r} has an impossible part {max(stage.parts)}: it has {stage.expected_parts} in all"
        )
    for index, part in stage.parts.items():
        for key, number in part.statistics.items():
            if isinstance(number, dict) != (key in _BY_NAME):
                raise ValueError(f"{place}part {index}, $.statistics.{key}: is of another kind")


def _check_settings(name: str, value: dict[str, Any], place: str) -> None:
    try:
        settings = Settings.of_json(value)
    except (ValueError, msgspec.ValidationError) as error:
        reason, _, where = str(error).partition(" - at ")
        raise ValueError(f"{place}{where.strip('`$')}: {reason}") from None
    if name in ("corpus", "rejects") and settings.stage != "corpus":
        raise ValueError(f"{place}.stage: is {settings.stage!r}")
    if (kind := _PARAMETERS.get(settings.stage)) is not None:
        _convert(settings.parameters, kind, f"{place}.parameters, ")
    needed = _NEEDED_RESOURCES.get(settings.stage)
    if needed is not None and needed not in settings.resources:
        raise ValueError(f"{place}.resources: lacks {needed}")


def _check_corpus(manifest: Manifest) -> None:
    """The corpus has the rows that the manifest says all row-wise stages have."""
    if (corpus := manifest.stages.get("corpus")) is None:
        return
    if corpus.expected_parts != len(manifest.row_ranges):
        raise ValueError("stage 'corpus', $.expected_parts: is not the number of parts")
    for index, (_, rows) in enumerate(manifest.row_ranges):
        if index in corpus.parts and corpus.parts[index].rows != rows:
            raise ValueError(f"stage 'corpus', part {index}, $.rows: is not the length of its row range")
