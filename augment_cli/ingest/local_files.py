"""Local files of a corpus, which must not change between their digest and their last line."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any, BinaryIO

from augment_cli.errors import BadInputError
from augment_cli.remote.files import RemoteFile
from augment_cli.store.files import sha256_of_file

_BUFFER_BYTES = 256 << 10


class LocalFile:
    """A file to read, with what `RemoteFile` has; its bytes are digested again while its lines are read.

    Parameters
    ----------
    path : Path
        Of a regular file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found = _state(path)
        self._digest: str | None = None
        self._read: _Digested | None = None

    def __str__(self) -> str:
        return str(self.path)

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "stem", "suffix", "suffixes"):
            return getattr(self.path, name)
        raise AttributeError(name)

    @property
    def size(self) -> int:
        """Bytes, when it was found."""
        return self._found[2]

    def open(self, mode: str = "rb") -> BinaryIO:
        """The file for reading from its beginning."""
        self._read = _Digested(self.path)
        return io.BufferedReader(self._read, _BUFFER_BYTES)

    def sha256(self) -> str:
        """SHA-256 of its bytes, 64 hexadecimal digits."""
        self._digest = sha256_of_file(self.path)
        return self._digest

    def refuse_change(self) -> None:
        """See that what was read is what was found: size, times, inode, and the bytes if all were read.

        Raises
        ------
        BadInputError
            If it was written to, replaced or removed since.
        """
        read = self._read.digest() if self._read is not None else None
        other = self._digest is not None and read is not None and read != self._digest
        if other or _state(self.path) != self._found:
            raise BadInputError(
                f"{self}: changed while it was read, and nothing of it was kept; run the same command again "
                "when nothing writes to it"
            )


class _Digested(io.RawIOBase):
    """A file whose bytes are digested on the way, as long as it is read in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = io.FileIO(path)
        self._sha256: Any = hashlib.sha256()
        self._is_whole = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count = self._file.readinto(buffer)
        self._is_whole = not count
        if count and self._sha256 is not None:
            self._sha256.update(memoryview(buffer)[:count])
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if self._file.tell() != (place := self._file.seek(offset, whence)):
            self._sha256 = None if place else hashlib.sha256()
        return place

    def close(self) -> None:
        self._file.close()
        super().close()

    def digest(self) -> str | None:
        """SHA-256 of what was read, if that was the file from its beginning to its end."""
        return self._sha256.hexdigest() if self._is_whole and self._sha256 is not None else None


CorpusFile = LocalFile | RemoteFile | Path  # the last where a reader is used alone


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written to; of a file that is gone, nothing."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0, -1, 0, 0)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
