"""Whether results can be written, seen before anything is loaded; what errors of the disk mean."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from augment_cli.errors import BadInputError, MissingError, UserError

_FILES = ("table.md", "table.csv", "scores.png")  # what an evaluation writes beside the models' folders


def check_results(out: Path, cache: Path | None) -> None:
    """See that results can be written to a folder; nothing is made that is not there.

    Parameters
    ----------
    out : Path
        The folder of the results, which need not exist.
    cache : Path or None
        The folder of the embedding cache, which need not exist either; None without.

    Raises
    ------
    BadInputError
        If a file is where a folder must be, or the other way round.
    MissingError
        If one must not be written.
    """
    for folder, option in [(out, "--out"), *([(cache, "--cache")] if cache else [])]:
        # A link that leads nowhere is in the way too.
        nearest = next(
            place for place in (folder, *folder.absolute().parents) if place.exists() or place.is_symlink()
        )
        if not nearest.is_dir():
            raise BadInputError(
                f"{nearest}: is no folder, and {folder} must be one; move it away, or choose another {option}"
            )
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise MissingError(f"{nearest}: may not be written; make it writable, or choose another {option}")
    for file in (out / name for name in _FILES):
        if file.exists() and not file.is_file():
            raise BadInputError(f"{file}: is in the way of a file; move it away, or choose another --out")


def explain(error: OSError) -> UserError:
    """What an operating system's error means for an evaluation: what, where, and what to do next.

    Parameters
    ----------
    error : OSError
        As it was raised.
    """
    where = error.filename2 or error.filename or "the folder of the results"
    reason = os.strerror(error.errno) if error.errno else str(error)
    again = "run the same command again; stored embeddings are kept"
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return MissingError(f"{where}: no room left ({reason}); free some disk space, then {again}")
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return MissingError(
            f"{where}: not allowed ({reason}); change its permissions, or choose another --out"
        )
    if error.errno in {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY}:
        return BadInputError(
            f"{where}: a file or folder is in the way ({reason}); move it away, then {again}"
        )
    return MissingError(f"{where}: the file system refused ({reason}); repair it, then {again}")
