"""Whether a file of a store is the one that was committed."""

from __future__ import annotations

import os
from pathlib import Path

from augment_cli.errors import BadInputError
from augment_cli.store.files import sha256_of_file
from augment_cli.store.manifest import Part

# Parts whose digest this process has compared, by path, size, time and inode: each is hashed once.
_VERIFIED: set[tuple[object, ...]] = set()


def verify_part(path: Path, part: Part) -> None:
    """See that a file has the size and SHA-256 that the manifest has of it."""
    again = "run the command that made the stage again to make it anew"
    try:
        status = path.stat()
        key = _key(path, status, part)
        if key in _VERIFIED:
            return
        is_the_part = status.st_size == part.bytes and path.is_file() and sha256_of_file(path) == part.sha256
    except (FileNotFoundError, NotADirectoryError):
        raise BadInputError(f"{path}: the file is missing; {again}") from None
    if not is_the_part:
        raise BadInputError(
            f"{path}: its bytes differ from what was committed (size or sha256), so it is damaged, "
            f"or from another run; delete it and {again}"
        )
    _VERIFIED.add(key)


def remember_verified(path: Path, part: Part) -> None:
    """Note that a file has been compared already, by the commit that has just given it its name."""
    _VERIFIED.add(_key(path, path.stat(), part))


def _key(path: Path, status: os.stat_result, part: Part) -> tuple[object, ...]:
    return (path, status.st_ino, status.st_size, status.st_mtime_ns, part.sha256)


def refuse_links(path: Path, store: Path) -> None:
    """Refuse a path that reaches its place in a store through a symbolic link."""
    for place in (path, *path.parents):
        if place == store:
            return
        if place.is_symlink():
            raise BadInputError(f"{place}: is a symbolic link, and a store may not have any; remove it")
