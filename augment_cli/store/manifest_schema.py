"""The shape of a manifest, checked once when a store is opened: what reads it later need not ask again.

A manifest has its own SHA-256, but a digest only says that whoever wrote it last had the whole of it. A
forged or half-right one must be refused here, with the place that is wrong, and not somewhere in a report.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

# Far beyond any honest value, and small enough that sums and arrays of them stay harmless.
_MOST_ROWS = 2**31 - 1  # of a part
_MOST_BYTES = 2**50
_MOST_PARTS = 1_000_000
_MOST_ROWS_IN_ALL = 2**40

Rows = Annotated[int, Meta(ge=0, le=_MOST_ROWS)]
RowId = Annotated[int, Meta(ge=0, le=_MOST_ROWS_IN_ALL)]
Count = Annotated[
    int, Meta(ge=-(2**62), le=2**62)
]  # sums of a part: of whole numbers, so they may be negative
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Digest = Annotated[str, Meta(max_length=200)]  # of a file or a stage; of a library or tokeniser, its version
Word = Annotated[str, Meta(min_length=1, max_length=200)]

Entry = TypeVar("Entry", bound=msgspec.Struct)


class PartEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A finished part; its statistics are sums, or sums by name (reasons, columns)."""

    rows: Rows
    bytes: Annotated[int, Meta(ge=0, le=_MOST_BYTES)]
    sha256: Sha256
    statistics: dict[Word, Count | dict[str, Count] | None]  # None: the sum of nothing


class SettingsEntry(msgspec.Struct, forbid_unknown_fields=True):
    """What a stage was made with, as `Settings.as_json` writes it."""

    schema: int
    stage: Word
    version: Count
    parameters: dict[Word, Any]
    seed: int | None
    inputs: dict[Word, Digest]
    resources: dict[Word, Digest]
    libraries: dict[Word, Digest]
    fingerprint: Sha256


PartCount = Annotated[int, Meta(ge=0, le=_MOST_PARTS)]


class EarlierEntry(msgspec.Struct, forbid_unknown_fields=True):
    """What the first parts of a stage were made with, before files were appended to the corpus."""

    settings: SettingsEntry
    parts: PartCount


class StageEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A stage: its settings, how many parts it will have, and those that are finished, by their number."""

    settings: SettingsEntry
    expected_parts: PartCount
    parts: dict[Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,6})\Z")], Any]
    earlier: list[EarlierEntry] = []


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


class ManifestEntry(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    schema: int
    parts: Annotated[list[tuple[RowId, Rows]], Meta(max_length=_MOST_PARTS)]
    stages: dict[Annotated[str, Meta(min_length=1, max_length=400)], Any]
    sha256: Sha256


def check_shape(value: Any) -> None:
    """See that a JSON value is a manifest.

    Parameters
    ----------
    value : Any
        As JSON reads it.

    Raises
    ------
    ValueError
        If it is not; the message says where, such as ``stage 'una', $.settings.seed``.
    """
    manifest = _convert(value, ManifestEntry, "")
    for name, value_of_stage in manifest.stages.items():
        place = f"stage {name!r}, "
        stage = _convert(value_of_stage, StageEntry, place)
        _check_settings(name, stage.settings, place)
        _check_earlier(name, stage, place)
        for index, value_of_part in stage.parts.items():
            part = _convert(value_of_part, PartEntry, f"{place}part {index}, ")
            for key, number in part.statistics.items():
                if isinstance(number, dict) != (key in _BY_NAME):
                    raise ValueError(f"{place}part {index}, $.statistics.{key}: is of another kind")
    _check_corpus(manifest)


def _check_settings(name: str, settings: SettingsEntry, place: str) -> None:
    if name in ("corpus", "rejects") and settings.stage != "corpus":
        raise ValueError(f"{place}$.settings.stage: is {settings.stage!r}")
    if (kind := _PARAMETERS.get(settings.stage)) is not None:
        _convert(settings.parameters, kind, f"{place}settings.parameters, ")
    needed = _NEEDED_RESOURCES.get(settings.stage)
    if needed is not None and needed not in settings.resources:
        raise ValueError(f"{place}$.settings.resources: lacks {needed}")


def _check_earlier(name: str, stage: StageEntry, place: str) -> None:
    """The same maker made all parts, and each further settings are those of further parts."""
    counts = [earlier.parts for earlier in stage.earlier]
    if counts != sorted(counts) or (counts and counts[-1] > stage.expected_parts):
        raise ValueError(f"{place}$.earlier: the numbers of parts do not follow each other")
    for earlier in stage.earlier:
        if earlier.settings.stage != stage.settings.stage:
            raise ValueError(f"{place}$.earlier: is of {earlier.settings.stage!r}")
        _check_settings(name, earlier.settings, place)


def _check_corpus(manifest: ManifestEntry) -> None:
    """The corpus has the rows that the manifest says all row-wise stages have."""
    if (corpus := manifest.stages.get("corpus")) is None:
        return
    if corpus["expected_parts"] != len(manifest.parts):
        raise ValueError("stage 'corpus', $.expected_parts: is not the number of parts")
    for index, (_, rows) in enumerate(manifest.parts):
        part = corpus["parts"].get(str(index))
        if part is not None and part["rows"] != rows:
            raise ValueError(f"stage 'corpus', part {index}, $.rows: is not the length of its row range")


def _convert(value: Any, kind: type[Entry], place: str) -> Entry:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at ")
        raise ValueError(f"{place}{where.strip('`') or '$'}: {reason}") from None


def refuse_constant(name: str) -> None:
    """For `json.loads(parse_constant=…)`: NaN and the infinities are no numbers of a manifest.

    Raises
    ------
    ValueError
        Always.
    """
    raise ValueError(f"{name} is not a valid number")
