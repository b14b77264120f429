"""Local files of a corpus, which must not change between their digest and their last line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO

from augment_cli.errors import BadInputError
from augment_cli.remote.files import Digested, RemoteFile
from augment_cli.store.files import sha256_of_file

_BUFFER_BYTES = 256 << 10


class LocalFile:
    """A file to read, with what `RemoteFile` has; its bytes are digested again while its lines are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found = _state(path)
        self._digest: str | None = None
        self._read: Digested | None = None

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
        self._read = Digested(io.FileIO(self.path))
        return io.BufferedReader(self._read, _BUFFER_BYTES)

    def sha256(self) -> str:
        """SHA-256 of its bytes, 64 hexadecimal digits."""
        self._digest = sha256_of_file(self.path)
        return self._digest

    def refuse_change(self) -> None:
        """See that what was read is what was found: size, times, inode, and the bytes if all were read."""
        read = self._read.digest() if self._read is not None else None
        other = self._digest is not None and read is not None and read != self._digest
        if other or _state(self.path) != self._found:
            raise BadInputError(
                f"{self}: changed while it was read, and nothing of it was kept; run the same command again "
                "when nothing writes to it"
            )


CorpusFile = LocalFile | RemoteFile | Path  # the last where a reader is used alone


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written to; of a file that is gone, nothing."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0, -1, 0, 0)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
