"""What a command writes where a person says: what must not be replaced is refused before any work."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from augment_cli.errors import BadInputError, MissingError, UsageError

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
