"""The manifest: which stages a store has, which of their parts are finished, and what they hold.

It is JSON with its own SHA-256, so that an edited or damaged one is refused instead of believed. This is its
model, with the limits that reading checks (`manifest_reading.py`), and how it is written.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Raw

from augment_cli.store.files import canonical_json, sha256_of_json
from augment_cli.store.schema import APPENDED_SCHEMA_VERSION, SCHEMA_VERSION
from augment_cli.store.settings import Count, Word

STAGE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*", re.ASCII)
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


_SORTED = msgspec.json.Encoder(order="sorted")


def dump_manifest(row_ranges: list[tuple[int, int]], stages: Mapping[str, Stage]) -> bytes:
    """The manifest's bytes, with the digest of all the rest: those of `json.dumps` with an indent of 1."""
    has_grown = any(stage.earlier for stage in stages.values())
    schema = APPENDED_SCHEMA_VERSION if has_grown else SCHEMA_VERSION

    def with_settings(text: Callable[[Any], str]) -> Manifest:
        return Manifest(
            schema, row_ranges, {name: _as_written(stage, text) for name, stage in stages.items()}
        )

    digest = hashlib.sha256(_SORTED.encode(with_settings(canonical_json))).hexdigest()
    manifest = msgspec.structs.replace(with_settings(_compact), sha256=digest)
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def _as_written(stage: Stage, text: Callable[[Any], str]) -> Stage:
    """The stage without its name, its settings already JSON: digests depend on how Python writes numbers."""
    replace: Any = msgspec.structs.replace
    written: Stage = replace(
        stage,
        settings=Raw(text(stage.settings)),
        parts={str(index): stage.parts[index] for index in sorted(stage.parts)},
        earlier=tuple(replace(one, settings=Raw(text(one.settings))) for one in stage.earlier),
        name="",
    )
    return written


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
