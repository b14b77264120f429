"""A stream whose bytes are digested on the way, as long as it is read in order."""

from __future__ import annotations

import hashlib
import io
from typing import Any


class Digested(io.RawIOBase):
    """A raw stream that knows the SHA-256 of what was read of it."""

    def __init__(self, source: io.RawIOBase) -> None:
        super().__init__()
        self._source = source
        self._sha256: Any = hashlib.sha256()
        self._is_whole = False

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read from any place; what is not read in order is not digested."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Fill the buffer, and digest what came."""
        count: int | None = self._source.readinto(buffer)
        self._is_whole = not count
        if count and self._sha256 is not None:
            self._sha256.update(memoryview(buffer)[:count])
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, after which only a reading from the beginning is digested."""
        if self._source.tell() != (place := self._source.seek(offset, whence)):
            self._sha256 = None if place else hashlib.sha256()
        return place

    def close(self) -> None:
        """Close the source too."""
        self._source.close()
        super().close()

    def digest(self) -> str | None:
        """SHA-256 of what was read, if that was the file from its beginning to its end."""
        return self._sha256.hexdigest() if self._is_whole and self._sha256 is not None else None
