"""A manifest as it is read: checked once, when a store is opened, so that no reader need ask again.

A manifest has its own SHA-256, but a digest only says that whoever wrote it last had the whole of it. A
forged or half-right one must be refused here, with the place that is wrong, and not somewhere in a report.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView
from typing import Any, TypeVar

import msgspec

from augment_cli.errors import BadInputError, MixError
from augment_cli.store.files import sha256_of_json
from augment_cli.store.manifest import MOST_PARTS, MOST_STAGES, Manifest, Part, Stage, is_stage_name
from augment_cli.store.schema import APPENDED_SCHEMA_VERSION, SCHEMA_VERSION
from augment_cli.store.settings import Settings

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


class FitParameters(msgspec.Struct):
    """Those of a TF-IDF matrix and its term table."""

    tokenizer: str
    min_df: int
    stages: list[str]


class ParseParameters(msgspec.Struct):
    """Those of a parse."""

    pipeline: str
    version: str


# Makers whose settings the package itself reads again, whatever they are called.
_PARAMETERS: dict[str, type[msgspec.Struct]] = {
    "corpus": CorpusParameters,
    "tfidf": FitParameters,
    "parses": ParseParameters,
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
    except ValueError as error:
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
