"""The manifest: which stages a store has, which of their parts are finished, and what they hold.

It is JSON with its own SHA-256, so that an edited or damaged one is refused instead of believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from augment_cli.errors import BadInputError, MixError
from augment_cli.store.files import canonical_json, sha256_of_json
from augment_cli.store.manifest_schema import check_shape, refuse_constant
from augment_cli.store.schema import APPENDED_SCHEMA_VERSION, SCHEMA_VERSION

STAGE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*", re.ASCII)
RESERVED_NAMES = frozenset({"manifest.json", "readme.md"})


def part_name(index: int) -> str:
    """File name of a part: `part-00000.parquet`, `part-00001.parquet`, …"""
    return f"part-{index:05d}.parquet"


def is_stage_name(name: str) -> bool:
    """Whether a folder of the store may have this name; none of them leads out of the store."""
    return STAGE_NAME.fullmatch(name) is not None and name.split("/")[0] not in RESERVED_NAMES


@dataclass(frozen=True)
class Part:
    """A finished part as the manifest records it.

    `statistics` holds small sums over the part (JSON values) that reports add up.
    """

    rows: int
    bytes: int
    sha256: str
    statistics: dict[str, Any]

    @property
    def _entry(self) -> dict[str, Any]:
        return {
            "rows": self.rows, "bytes": self.bytes, "sha256": self.sha256, "statistics": self.statistics
        }  # fmt: skip

    @cached_property
    def canonical(self) -> str:
        """Its entry in the manifest, as `canonical_json` writes it."""
        return canonical_json(self._entry)

    @cached_property
    def indented(self) -> str:
        """Its entry in the manifest, as it stands there."""
        return _indented(self._entry, 4)


@dataclass(frozen=True)
class Earlier:
    """What the first `parts` parts of a stage were made with, before files were appended to the corpus."""

    settings: dict[str, Any]
    parts: int


@dataclass(frozen=True)
class Stage:
    """A stage as the manifest records it: its settings, how many parts it has, and those finished.

    `earlier` is empty but where files were appended to the corpus: then `settings` are those of the parts
    that have been added since.
    """

    name: str
    settings: dict[str, Any]
    expected_parts: int
    parts: dict[int, Part]
    earlier: tuple[Earlier, ...] = ()

    def settings_of(self, index: int) -> dict[str, Any]:
        """What a part was, or will be, made with."""
        return next((earlier.settings for earlier in self.earlier if index < earlier.parts), self.settings)

    @property
    def all_settings(self) -> list[dict[str, Any]]:
        """What any of its parts was made with, the first parts' first."""
        return [*(earlier.settings for earlier in self.earlier), self.settings]

    @cached_property
    def indented_settings(self) -> str:
        """Its settings, as they stand in the manifest."""
        return _indented(self.settings, 3)

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
        return sha256_of_json([self.parts[index].sha256 for index in sorted(self.parts) if index < count])

    @property
    def digests(self) -> set[str]:
        """Its digest, and those that it had before it was continued."""
        return {self.digest, *(self.digest_of_first(earlier.parts) for earlier in self.earlier)}


RowRanges = list[tuple[int, int]]  # (first row_id, number of rows) of each part of the corpus


@dataclass(frozen=True)
class Manifest:
    """A manifest that was read and checked.

    Attributes
    ----------
    data : bytes
        As they were read.
    row_ranges : list of (int, int)
    stages : dict of str to Stage
    """

    data: bytes
    row_ranges: RowRanges
    stages: dict[str, Stage]


def read_manifest(data: bytes, where: str, remedy: str) -> Manifest:
    """Check a manifest's bytes and make sense of them.

    Parameters
    ----------
    data : bytes
    where : str
        What they were read from, for messages.
    remedy : str
        What to do about a damaged one.

    Raises
    ------
    MixError
        If a version with another format wrote it.
    BadInputError
        If it is damaged, edited, or not a manifest of this package.
    """
    try:
        value = json.loads(data, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{where}: cannot be read ({error}); {remedy}") from error
    try:
        if (schema := value["schema"]) not in (SCHEMA_VERSION, APPENDED_SCHEMA_VERSION):
            raise MixError(
                f"{where.removesuffix('/manifest.json')}: written with store schema {schema}, this version "
                f"reads {SCHEMA_VERSION}; use another --store"
            )
        return Manifest(data, *parse_manifest(value))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadInputError(f"{where}: not a manifest of this package ({error}); {remedy}") from error


def dump_manifest(row_ranges: Sequence[tuple[int, int]], stages: dict[str, Stage]) -> bytes:
    """The manifest's bytes, with the digest of all the rest.

    A manifest is written at each commit, so it is put together from texts that each part and stage keeps of
    itself. The bytes are those of `json.dumps(value, indent=1, ensure_ascii=False)`.
    """
    has_grown = any(stage.earlier for stage in stages.values())
    schema = APPENDED_SCHEMA_VERSION if has_grown else SCHEMA_VERSION
    ranges = [list(pair) for pair in row_ranges]
    canonical_stages = ",".join(
        f"{canonical_json(name)}:{_canonical_stage(stage)}" for name, stage in sorted(stages.items())
    )
    canonical = (
        f'{{"parts":{canonical_json(ranges)},"schema":{schema},"stages":{{{canonical_stages}}}}}'  # as sorted
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    lines = [
        f' "schema": {schema}',
        f' "parts": {_indented_pairs(ranges)}',
        f' "stages": {_braces([f"{_quoted(name)}: {_indented_stage(s)}" for name, s in stages.items()], 1)}',
        f' "sha256": "{digest}"',
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _canonical_stage(stage: Stage) -> str:
    """The stage as `canonical_json` writes it: the keys of each object sorted as strings."""
    earlier = f'"earlier":{canonical_json(_earlier(stage))},' if stage.earlier else ""
    parts = ",".join(
        f'"{index}":{stage.parts[int(index)].canonical}' for index in sorted(map(str, stage.parts))
    )
    settings = canonical_json(stage.settings)
    return f'{{{earlier}"expected_parts":{stage.expected_parts},"parts":{{{parts}}},"settings":{settings}}}'


def _indented_stage(stage: Stage) -> str:
    parts = _braces([f'"{index}": {stage.parts[index].indented}' for index in sorted(stage.parts)], 3)
    entries = [
        f'"settings": {stage.indented_settings}',
        f'"expected_parts": {stage.expected_parts}',
        f'"parts": {parts}',
    ]
    if stage.earlier:
        entries.append(f'"earlier": {_indented(_earlier(stage), 3)}')
    return _braces(entries, 2)


def _earlier(stage: Stage) -> list[dict[str, Any]]:
    return [{"settings": item.settings, "parts": item.parts} for item in stage.earlier]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _indented(value: Any, level: int) -> str:
    """A JSON value as it stands within `level` others; a line end within a string is always escaped."""
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n" + " " * level)


def _indented_pairs(pairs: list[list[int]]) -> str:
    if not pairs:
        return "[]"
    return "[\n" + ",\n".join(f"  [\n   {first},\n   {rows}\n  ]" for first, rows in pairs) + "\n ]"


def _braces(entries: list[str], level: int) -> str:
    """An object of entries that are text already, and that stands within `level` others."""
    if not entries:
        return "{}"
    inner = " " * (level + 1)
    return "{\n" + ",\n".join(inner + entry for entry in entries) + "\n" + " " * level + "}"


def parse_manifest(value: Any) -> tuple[RowRanges, dict[str, Stage]]:
    """The row ranges of the parts, and the stages of a manifest.

    Raises
    ------
    ValueError
        If it is damaged, edited, or not a manifest of this package; the message says where.
    """
    check_shape(value)
    rest = {key: item for key, item in value.items() if key != "sha256"}
    if value["sha256"] != sha256_of_json(rest):
        raise ValueError("it was edited or damaged: its sha256 does not fit")
    row_ranges: RowRanges = []
    for first, rows in value["parts"]:
        if first != (sum(row_ranges[-1]) if row_ranges else 0):
            raise ValueError("the row ranges of its parts do not follow each other")
        row_ranges.append((first, rows))
    stages = {name: _stage(name, stage) for name, stage in value["stages"].items()}
    for name in stages:
        folders = name.split("/")
        if outer := next((o for n in range(1, len(folders)) if (o := "/".join(folders[:n])) in stages), None):
            raise ValueError(f"stage {name!r} lies inside stage {outer!r}")
    return row_ranges, stages


def _stage(name: str, value: dict[str, Any]) -> Stage:
    if not is_stage_name(name) or max(map(len, name.split("/"))) > 255:
        raise ValueError(f"{name!r} is not a valid stage name")
    expected = value["expected_parts"]
    earlier = tuple(Earlier(**item) for item in value.get("earlier", ()))
    for settings in (*(item.settings for item in earlier), value["settings"]):
        without_fingerprint = {key: item for key, item in settings.items() if key != "fingerprint"}
        if settings["fingerprint"] != sha256_of_json(without_fingerprint):
            raise ValueError(f"the settings of stage {name!r} do not fit their fingerprint")
    parts = {int(key): Part(**part) for key, part in value["parts"].items()}
    if parts and max(parts) >= expected:
        raise ValueError(f"stage {name!r} has an impossible part {max(parts)}: it has {expected} in all")
    return Stage(name, value["settings"], expected, parts, earlier)
