"""Files that a command writes where a person says: what must not be replaced is refused before any work."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from augment_cli.errors import UsageError

_BEGINNING = 4_096  # bytes of a file that show who wrote it


def check_target(target: Path, store: Path, is_own: Callable[[bytes], bool]) -> None:
    """See that a file may be written without harm to what is there.

    Parameters
    ----------
    target : Path
        The file; a link is judged by what it leads to.
    store : Path
        Folder of the store, of which nothing may be replaced and to which nothing may be added.
    is_own : callable
        Whether a file that begins with these bytes is an earlier one of the same command.

    Raises
    ------
    UsageError
        If `target` lies in the store, is no regular file, or is a file that something else wrote.
    """
    if lies_within(target, store):
        raise UsageError(
            f"{target}: lies in the store {store}, which holds only what the store's manifest names; name a "
            "file outside it"
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


def lies_within(path: str | Path, folder: str | Path) -> bool:
    """Whether a path is a folder or something in it, as it is written or where its links lead."""
    around = os.path.realpath(folder)
    as_written = Path(os.path.realpath(Path(path).parent)) / Path(path).name
    return any(place.is_relative_to(around) for place in (Path(os.path.realpath(path)), as_written))
