"""Files that are complete or not there: atomic writes, digests, locks; files that a person names."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError, MixError, UsageError, UserError

MOST_BYTES = 64_000_000
_MOST_LEVELS = 100  # of tables and lists in each other; Python's own limit depends on who calls
_INTEGER_BITS = 64  # what TOML promises; a longer number can be neither printed nor made a float
_TOO_DEEP = f"more than {_MOST_LEVELS} lists or tables lie in each other"
_TOO_LONG = f"a number has more than {_INTEGER_BITS} bits"


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
def naming(path: object) -> Iterator[None]:
    """Name the file in errors of operations that know only its descriptor."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def unlike_any(stem: str) -> str:
    """A name for a temporary file: a worker that outlives a killed run never meets its successor's."""
    return f"{stem}-{os.getpid()}-{secrets.token_hex(4)}"


def write_atomically(path: Path, data: bytes, work: Path) -> None:
    """Write a small file so that a reader sees the old contents or the new ones, never a mixture."""
    # `work` is a folder on the same file system, where the temporary file may lie.
    work.mkdir(parents=True, exist_ok=True)
    temporary = work / unlike_any(path.name)
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
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENODEV}:  # a link; a socket
            raise
    raise BadInputError(
        f"{path}: is a link, a pipe, a socket or a device, where the store has its lock, a small file; "
        "delete it, then run the same command again"
    )


def _cannot_be_read(path: Path) -> bool:
    try:
        return path.exists() and not os.access(path, os.R_OK)
    except OSError:  # not even its folder may be looked into
        return True


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
        return UsageError(f"{shortened(os.fsdecode(where))}: the name is too long ({reason}); shorten it")
    if error.errno == errno.EXDEV:
        return MissingError(
            f"{where}: lies on another file system than the store's .work folder ({reason}); a store must "
            "lie on one file system, since only there a file can appear as a whole"
        )
    return MissingError(
        f"{where}: the file system refused ({reason}); repair it or use another {option}, {again}"
    )


def shortened(text: str, most: int = 60) -> str:
    """The beginning of a text, for people."""
    return text if len(text) <= most else f"{text[:most]}…"


def read_small_file(path: Path) -> bytes:
    """The bytes of a file that is small by its nature."""
    refuse_special(path)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        reason = f"it has more than {MOST_BYTES // 1_000_000} MB, which no such file has"
        raise OSError(errno.EINVAL, reason, str(path))
    return data


def read_small_text(path: Path) -> str:
    """The same as text, which is UTF-8; line ends become newlines."""
    return read_small_file(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path) -> dict[str, Any]:
    """A recipe, or whatever else is written in TOML."""
    try:
        return _parsed(read_small_text(path))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}; correct the file, or name another") from error


def with_every_set(words: Sequence[str]) -> list[str]:
    """A command's words with a `--set` before each of several changes that follow one.

    >>> with_every_set(["una", "--set", "steps=1", "batch=2", "--dry-run"])
    ['una', '--set', 'steps=1', '--set', 'batch=2', '--dry-run']
    """
    found: list[str] = []
    for word in words:
        follows = found[-2:-1] == ["--set"] or (found[-1:] and found[-1].startswith("--set="))
        found += ["--set", word] if follows and re.match(r"\w[\w.-]*=", word) else [word]
    return found


def parse_value(text: str) -> Any:
    """The value of a `--set`, in TOML's notation; what is none is a text, so that a word needs no quotes."""
    try:
        return _parsed(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
    except ValueError as error:
        cut = shortened(text)
        raise UsageError(f"--set: the value {cut} cannot be used: {error}; give a shorter one") from error


def _parsed(text: str) -> dict[str, Any]:
    """Tables of TOML."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise ValueError(_TOO_LONG) from None
    _check_within(tables)
    return tables


def _check_within(value: Any, level: int = 0) -> None:
    if level == _MOST_LEVELS:
        raise ValueError(_TOO_DEEP)
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
        raise ValueError(_TOO_LONG)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_within(inner, level + 1)


_BEGINNING = 4_096  # bytes of a file that show who wrote it


def check_target(target: Path, store: Path, is_own: Callable[[bytes], bool]) -> None:
    """See that a file may be written without harm to what is there."""
    around, is_inside = next(filter(_is_store, target.absolute().parents), None), lies_within(target, store)
    if around or is_inside:
        where = f"lies in the store {store}" if is_inside else f"{around} is a store"
        raise UsageError(
            f"{target}: {where}, which holds only what its manifest names; name a file outside it"
        )
    if target.is_dir():
        raise UsageError(f"{target}: is a folder; name a file in it, or another file")
    if not target.exists():
        return
    if not target.is_file():
        raise UsageError(
            f"{target}: is a pipe, a socket or a device, which cannot be replaced; name a regular file"
        )
    with target.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if beginning and not is_own(beginning):  # an empty one, as `mktemp` makes, holds nothing to lose
        raise UsageError(
            f"{target}: exists, and was not written by this command; name another file or delete it"
        )


def check_output_folder(
    out: Path, option: str, folders: Iterable[str] = (), files: Iterable[str] = ()
) -> None:
    """See that a folder can be written, and what will lie in it; nothing is made that is not there."""
    for folder in (out, *out.absolute().parents):
        if _is_store(folder):
            raise UsageError(
                f"{option} {out}: {folder} is a store, which holds only what its manifest names; choose "
                f"another {option}"
            )
    for folder in (out, *(out / name for name in folders)):
        # A link that leads nowhere is in the way too.
        nearest = next(
            place for place in (folder, *folder.absolute().parents) if place.exists() or place.is_symlink()
        )
        if not nearest.is_dir():
            raise BadInputError(
                f"{nearest}: is not a folder, and {folder} must be one; move it away, or choose another "
                f"{option}"
            )
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise MissingError(f"{nearest}: may not be written; make it writable, or choose another {option}")
    for file in (out / name for name in files):
        if file.exists() and not file.is_file():  # a pipe would be waited for, a device has no end
            kind = "a folder" if file.is_dir() else "a pipe or a device"
            raise BadInputError(
                f"{file}: is {kind}, where a file is written; move it away, or choose another {option}"
            )


def lies_within(path: str | Path, folder: str | Path) -> bool:
    """Whether a path is a folder or something in it, as it is written or where its links lead."""
    around = os.path.realpath(folder)
    as_written = Path(os.path.realpath(Path(path).parent)) / Path(path).name
    return any(place.is_relative_to(around) for place in (Path(os.path.realpath(path)), as_written))


def _is_store(folder: Path) -> bool:
    """Whether a folder has the manifest of a store; other programs call files of theirs so, too."""
    place = folder / "manifest.json"
    try:
        return place.is_file() and {"schema", "stages"} <= json.loads(place.read_bytes()).keys()
    except (OSError, ValueError, AttributeError, RecursionError):
        return (folder / ".work").is_dir()
