"""Files that a person names: read to an end that is sure to come, never replaced by mistake."""

from __future__ import annotations

import errno
import json
import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.store.files import refuse_special

MOST_BYTES = 64_000_000
_MOST_LEVELS = 100  # of tables and lists in each other; Python's own limit depends on who calls
_INTEGER_BITS = 64  # what TOML promises; a longer number can be neither printed nor made a float
_SHOWN_CHARACTERS = 60


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


def parse_value(text: str) -> Any:
    """The value of a `--set`, in TOML's notation; what is none is a text, so that a word needs no quotes."""
    try:
        return _parsed(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
    except ValueError as error:
        cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        raise UsageError(f"--set: the value {cut} cannot be used: {error}; give a shorter one") from error


def _parsed(text: str) -> dict[str, Any]:
    """Tables of TOML."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError(f"more than {_MOST_LEVELS} lists or tables lie in each other") from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise ValueError(f"a number has more than {_INTEGER_BITS} bits") from None
    level: list[Any] = [tables]
    for _ in range(_MOST_LEVELS):
        if any(isinstance(value, int) and value.bit_length() > _INTEGER_BITS for value in level):
            raise ValueError(f"a number has more than {_INTEGER_BITS} bits")
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise ValueError(f"more than {_MOST_LEVELS} lists or tables lie in each other")
    return tables


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


_BEGINNING = 4_096  # bytes of a file that show who wrote it


def check_target(target: Path, store: Path, is_own: Callable[[bytes], bool]) -> None:
    """See that a file may be written without harm to what is there."""
    if lies_within(target, store):
        raise UsageError(
            f"{target}: lies in the store {store}, which holds only what the store's manifest names; name a "
            "file outside it"
        )
    for folder in target.absolute().parents:
        if _is_store(folder):
            raise UsageError(
                f"{target}: {folder} is a store, which holds only what its manifest names; name a file "
                "outside it"
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
