"""From a file to blocks of whole lines, in bounded memory: damage is named, changes are refused."""

import codecs
import contextlib
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.errors import BadInputError
from augment_cli.remote.files import RemoteFile, TwiceReadFile


class LocalFile(TwiceReadFile):
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found = _state(path)
        self.size = self._found[2]

    def __str__(self) -> str:
        return str(self.path)

    def _raw(self) -> io.RawIOBase:
        return io.FileIO(self.path)

    def _has_changed(self, read: str | None) -> bool:
        return _state(self.path) != self._found


CorpusFile = LocalFile | RemoteFile


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written to; of a file that is gone, nothing."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0, -1, 0, 0)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


BLOCK_BYTES = 4 << 20
_HEAD_BYTES = 64 << 10
PIECE_BYTES = 256 << 10  # read at a time; what a damage may cost beside it
# Of a line without an end, no more than this (and one block) is kept in memory; it is rejected.
MAX_LINE_BYTES = 16 << 20
# Text shrinks to a third or a tenth. What grows by more than this was made to fill a disk.
_MAX_RATIO, _RATIO_FROM_BYTES = 200, 256 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class DamageError(Exception):
    """A stream that cannot be read further; carries the reason for the rejects."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Block:
    """Bytes that end at a line end."""

    data: bytes
    is_first_too_long: bool = False  # the first line was longer than `MAX_LINE_BYTES`; its middle is left out
    damage: str | None = None  # the last line is the rest of a file that breaks here, for this reason


def read_head(path: CorpusFile) -> bytes:
    """The first bytes of a file, uncompressed, as far as they can be read."""
    head = b""
    with contextlib.suppress(DamageError):
        for data in _chunks(path):
            head += data
            if len(head) >= _HEAD_BYTES:
                break
    return head


def read_pieces(path: CorpusFile, encoding: str = "utf-8", ends_in_return: bool = False) -> Iterator[bytes]:
    """A file as UTF-8 in pieces of any length; what compresses it is told from its first bytes."""
    # A byte order mark is dropped. Bytes that `encoding` does not know make their line one that is not UTF-8,
    # to be rejected.
    try:
        for data in _limited(path, _as_utf8(_chunks(path), encoding)):
            yield data.replace(b"\r", b"\n") if ends_in_return else data
    except UnicodeError as error:
        raise BadInputError(
            f"{path}: cannot be read as {encoding} ({error}); name its encoding with --encoding (UTF-16 "
            "without a byte order mark is utf-16-le or utf-16-be)"
        ) from None


def read_blocks(path: CorpusFile, encoding: str = "utf-8", ends_in_return: bool = False) -> Iterator[Block]:
    """The same in blocks of whole lines; a missing line end is added at the end of the file."""
    waiting: list[bytes] = []
    size = 0
    is_too_long = False
    damage = None
    try:
        for data in read_pieces(path, encoding, ends_in_return):
            waiting.append(data)
            size += len(data)
            if size < BLOCK_BYTES:
                continue
            joined = b"".join(waiting)
            if cut := joined.rfind(b"\n") + 1:
                yield Block(joined[:cut], is_too_long)
                is_too_long = False
            rest = joined[cut:]
            is_too_long |= len(rest) > MAX_LINE_BYTES
            waiting = [rest[:MAX_LINE_BYTES]]
            size = len(waiting[0])
    except DamageError as error:
        damage = error.reason
    if size or damage:
        joined = b"".join(waiting)
        end = b"" if joined.endswith(b"\n") and not damage else b"\n"
        yield Block(joined + end, is_too_long, damage)


def _chunks(path: CorpusFile) -> Iterator[bytes]:
    """Uncompressed bytes, without a byte order mark."""
    with path.open() as file:
        try:
            magic = file.read(4)
            file.seek(0)
            if magic.startswith(_GZIP):
                chunks = _gunzip(file)
            elif magic == _ZSTD:
                chunks = _unzstd(file)
            else:
                chunks = iter(lambda: file.read(PIECE_BYTES), b"")
            first = next(chunks, b"")
            # A first chunk may be shorter than the mark.
            while len(first) < len(_BYTE_ORDER_MARK) and (more := next(chunks, b"")):
                first += more
            yield first.removeprefix(_BYTE_ORDER_MARK)
            yield from chunks
        except OSError:
            raise DamageError(Reason.DAMAGED_FILE) from None


def _as_utf8(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in ("utf-8", "utf-8-sig"):
        yield from chunks
        return
    decoder, is_first = codecs.getincrementaldecoder(encoding)(_SPOIL), True
    for data in chunks:
        if text := decoder.decode(data):
            # As UTF-16 it takes the mark away, as UTF-16-LE it does not.
            yield (text.removeprefix("\ufeff") if is_first else text).encode("utf-8", _SPOIL)
            is_first = False
    yield decoder.decode(b"", True).encode("utf-8", _SPOIL)


_SPOIL = "augment_cli.spoil"


def _spoil(error: UnicodeError) -> tuple[str | bytes, int]:
    """What cannot be decoded becomes the byte FF, which no UTF-8 has, so that its line is rejected."""
    if isinstance(error, UnicodeDecodeError):
        return "\udcff", error.end
    if isinstance(error, UnicodeEncodeError):
        return b"\xff" * (error.end - error.start), error.end
    raise error


codecs.register_error(_SPOIL, _spoil)


def _gunzip(file: BinaryIO) -> Iterator[bytes]:
    """Members one after the other, checksums verified; all bytes before a damage are given out."""
    decoder = None
    packed = b""
    while packed or (packed := file.read(PIECE_BYTES)):
        if decoder is None:
            packed = packed.lstrip(b"\0")  # padding between members
            if not packed:
                continue
            decoder = zlib.decompressobj(wbits=31)
        try:
            data = decoder.decompress(packed, PIECE_BYTES)
        except zlib.error:
            raise DamageError(Reason.DAMAGED_GZIP) from None
        if data:
            yield data
        packed = decoder.unconsumed_tail
        if decoder.eof:
            packed, decoder = decoder.unused_data, None
    if decoder is not None:
        raise DamageError(Reason.DAMAGED_GZIP)


def _unzstd(file: BinaryIO) -> Iterator[bytes]:
    try:
        with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
            while data := stream.read(PIECE_BYTES):
                yield data
    except (OSError, pa.ArrowException):
        raise DamageError(Reason.DAMAGED_ZSTD) from None


def _limited(path: CorpusFile, chunks: Iterator[bytes]) -> Iterator[bytes]:
    allowed = max(_RATIO_FROM_BYTES, _MAX_RATIO * path.size)
    for data in chunks:
        allowed -= len(data)
        if allowed < 0:
            raise DamageError(Reason.DECOMPRESSION_BOMB)
        yield data


def split_lines(block: bytes) -> pa.LargeBinaryArray:
    """The lines of a block that ends in a line end; a carriage return before it belongs to the end."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == 0x0A)
    starts = np.append(0, ends[:-1] + 1)
    dropped = ends
    lengths = ends - starts
    if b"\r\n" in block:
        returns = (ends > starts) & (data[np.maximum(ends - 1, 0)] == 0x0D)
        lengths = lengths - returns
        dropped = np.concatenate([ends, ends[returns] - 1])
    keep = np.ones(len(data), bool)
    keep[dropped] = False
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data[keep])]
    )
