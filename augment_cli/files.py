"""Files that are either complete or not there: atomic writes, digests, a lock that dies with its owner."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from augment_cli.errors import MixError


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_json(value: Any) -> str:
    """SHA-256 of a JSON value in its canonical form (sorted keys, no spaces)."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """One string for one JSON value: sorted keys, no spaces, non-ASCII characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fsync(path: Path) -> None:
    """Make a file's contents, or a folder's entries, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, data: bytes, work: Path) -> None:
    """Write a small file so that a reader sees the old contents or the new ones, never a mixture.

    `work` is a folder on the same file system, where the temporary file may lie.
    """
    work.mkdir(parents=True, exist_ok=True)
    temporary = work / f"{path.name}.{os.getpid()}"
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    fsync(path.parent)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock file for the length of a `with` block.

    The kernel releases it when the owner dies, so a killed run leaves nothing to clean up.

    Raises
    ------
    MixError
        If another process holds it; the message names that process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise MixError(
                f"{path.parent.parent}: another run (process {owner}) is writing to this store; "
                "wait for it to end, or use another --store"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
