"""JSON that is one array of objects, or whose objects take several lines: an object at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.ingest.checks import MAX_RAW_BYTES, RawLines, Reasons
from augment_cli.ingest.dialects import Dialect
from augment_cli.ingest.local_files import CorpusFile
from augment_cli.ingest.streams import BLOCK_BYTES, MAX_LINE_BYTES, DamageError, read_pieces

_BETWEEN = re.compile(r"[\s,]*")
_ENCODING, _ERRORS = "utf-8", "surrogateescape"  # bytes that are not UTF-8 survive, to be named


def read_objects(path: CorpusFile, source: str, dialect: Dialect) -> Iterator[RawLines]:
    """The objects of a document, as if each were a line; its number is that of the line it begins on.

    What cannot be read ends the file with one rejected row, as damage does.
    """
    damage: list[str] = []
    objects = _objects(path, dialect, damage)
    while found := _some_of(objects):
        lines, raw = zip(*found, strict=True)
        data = pa.array(raw, pa.large_binary())
        reasons: Reasons = [(len(raw) - 1, reason) for reason in damage]
        yield RawLines(source, np.array(lines), data, data, None, reasons)


def _some_of(objects: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    found, size = [], 0
    for one in objects:
        found.append(one)
        size += len(one[1])
        if size > BLOCK_BYTES:
            break
    return found


def _objects(path: CorpusFile, dialect: Dialect, damage: list[str]) -> Iterator[tuple[int, bytes]]:
    """Line and bytes of each object; `damage` gets the reason why the last one is the file's rest."""
    decode = json.JSONDecoder().raw_decode
    pieces = read_pieces(path, dialect.encoding, dialect.ends_in_return)
    to_text = codecs.getincrementaldecoder(_ENCODING)(_ERRORS)
    text, line, is_whole, reason = "", 1, False, ""
    is_array: bool | None = None
    while True:
        at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
        if is_array is None and at < len(text):
            is_array = text.startswith("[", at)
            at += is_array
            at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", 0, at)
        text = text[at:]
        start = 0
        try:
            while start < len(text) and not (is_array and text[start] == "]"):
                _, end = decode(text, start)
                if end == len(text) and not is_whole:
                    break
                yield line, text[start:end].encode(_ENCODING, _ERRORS)
                following = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
                line += text.count("\n", start, following)
                start = following
        except (ValueError, RecursionError):
            reason = Reason.DAMAGED_FILE if is_whole or len(text) - start > MAX_LINE_BYTES else ""
        text = text[start:]
        if is_array and text.startswith("]"):
            text, is_array = text[1:], False
            continue
        if reason or is_whole:
            break
        try:
            text += to_text.decode(next(pieces))
        except StopIteration:
            text += to_text.decode(b"", True)
            is_whole = True
        except DamageError as error:
            reason = error.reason
    if text.strip() or is_array or reason:
        damage.append(reason or Reason.DAMAGED_FILE)
        yield line, text[:MAX_RAW_BYTES].encode(_ENCODING, _ERRORS)
