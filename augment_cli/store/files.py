"""Files that are either complete or not there: atomic writes, digests, a lock that dies with its owner."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError, MixError, UsageError, UserError


def refuse_special(path: Path) -> None:
    """Refuse what is there under a file's name and is not one: a pipe is waited for, a device has no end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a file", str(path))


def refuse_links(path: Path, store: Path) -> None:
    """Refuse a path that reaches its place in a store through a symbolic link."""
    for place in (path, *path.parents):
        if place == store:
            return
        if place.is_symlink():
            raise BadInputError(f"{place}: is a symbolic link, and a store may not have any; remove it")


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with naming(path), path.open("rb") as file:
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
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of operations that know only its descriptor."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def write_atomically(path: Path, data: bytes, work: Path) -> None:
    """Write a small file so that a reader sees the old contents or the new ones, never a mixture."""
    # `work` is a folder on the same file system, where the temporary file may lie.
    work.mkdir(parents=True, exist_ok=True)
    temporary = work / f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}"
    with naming(temporary), temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    fsync(path.parent)


def replace_folder(finished: Path, target: Path) -> None:
    """Put a finished folder in another's place; what was there is deleted only after."""
    # Both lie on one file system. Between the two renames a reader finds no folder, never half of one.
    aside = target.with_name(f".{target.name}.replaced")
    shutil.rmtree(aside, ignore_errors=True)  # of a process that died here
    if target.exists():
        target.replace(aside)
    finished.replace(target)
    shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def hold_lock(
    path: Path, shared: bool = False, wait: bool = False, taken: str | None = None
) -> Iterator[None]:
    """Hold a lock file for the length of a `with` block."""
    # The kernel releases it when the owner dies, so a killed run leaves nothing to clean up.
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(_open_lock(path), "a+") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
            is_the_file = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.lstat())
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            taken = taken or (
                f"{path.parent.parent}: another run (process %s) is writing to this store; "
                "wait for it to end, or use another --store"
            )
            raise MixError(taken.replace("%s", owner)) from None
        if not is_the_file:  # its last owner deleted it, with a store that was never begun
            with hold_lock(path, shared, wait, taken):
                yield
            return
        if not shared:
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield


_SHOWN = 100  # characters of a name that is too long
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def writer_of(path: Path) -> str | None:
    """The process that holds a lock file for itself, None if nobody does."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _CAREFUL)) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip() or "unknown"
    except OSError:
        pass
    return None


def _open_lock(path: Path) -> int:
    """Open a lock file, and nothing else that has its name: no link is followed, no pipe waited for."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | _CAREFUL, 0o666)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENODEV}:  # a link; a socket
            raise _no_lock(path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_lock(path)
    return descriptor


def _no_lock(path: Path) -> UserError:
    return BadInputError(
        f"{path}: is a link, a pipe, a socket or a device, where the store has its lock, a small file; "
        "delete it, then run the same command again"
    )


def _cannot_be_read(path: Path) -> bool:
    try:
        return path.exists() and not os.access(path, os.R_OK)
    except OSError:  # not even its folder may be looked into
        return True


def _shortened(where: str | bytes) -> str:
    name = os.fsdecode(where)
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"


def explain(
    error: OSError,
    unnamed: str = "a file of the store",
    kept: str = "finished parts are kept",
    option: str = "--store",
) -> UserError:
    """What an operating system's error means for a person: what, where, and what to do next."""
    where = error.filename2 or error.filename or unnamed
    reason = os.strerror(error.errno) if error.errno else str(error)
    again = f"then run the same command again; {kept}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return MissingError(f"{where}: no room left ({reason}); free some disk space, {again}")
    if error.errno in {errno.EACCES, errno.EPERM} and _cannot_be_read(Path(where)):
        return BadInputError(f"{where}: not allowed to read it ({reason}); `chmod u+r` makes it readable")
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return MissingError(f"{where}: not allowed ({reason}); make it writable or use another {option}")
    if error.errno in {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY}:
        file = next((place for place in Path(where).parents if place.is_file()), where)  # should be a folder
        return BadInputError(f"{file}: a file or folder is in the way ({reason}); move it away, {again}")
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"{_shortened(where)}: the name is too long ({reason}); choose a shorter one")
    if error.errno == errno.EXDEV:
        return MissingError(
            f"{where}: lies on another file system than the store's .work folder ({reason}); a store must "
            "lie on one file system, since only there a file can appear as a whole"
        )
    return MissingError(
        f"{where}: the file system refused ({reason}); repair it or use another {option}, {again}"
    )
