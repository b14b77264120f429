"""Whether a run's folder can be written, seen before anything is loaded; and tensors written to it."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.errors import BadInputError, MissingError, UserError

if TYPE_CHECKING:
    from torch import Tensor

# What a run has in its folder.
_FOLDERS = ("checkpoints", "tensorboard", "last", "best", "whitened")
_FILES = ("log.jsonl", "summary.json", "run.png", "run.html")


def check_folder(out: Path) -> None:
    """See that a run can be written to a folder; nothing is made that is not there.

    Parameters
    ----------
    out : Path
        The run's folder, which need not exist.

    Raises
    ------
    BadInputError
        If a file is where a folder must be, or the other way round.
    MissingError
        If it must not be written, or lies where no folder can be made.
    """
    for folder in (out, *(out / name for name in _FOLDERS)):
        if (folder.exists() or folder.is_symlink()) and not folder.is_dir():
            raise BadInputError(
                f"{folder}: is a file, and the run needs a folder; move it away, or choose another --out"
            )
    for file in (out / name for name in _FILES):
        if file.exists() and not file.is_file():  # a pipe would be waited for, a device has no end
            kind = "a folder" if file.is_dir() else "a pipe or a device"
            raise BadInputError(f"{file}: is {kind}, and the run writes a file; move it away")
    nearest = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        raise BadInputError(f"{nearest}: is a file, so {out} cannot be made in it; choose another --out")
    for folder in (nearest, out / "checkpoints"):
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise MissingError(f"{folder}: may not be written; make it writable, or choose another --out")


def explain(error: OSError) -> UserError:
    """What an operating system's error means for a run: what, where, and what to do next.

    Parameters
    ----------
    error : OSError
        As it was raised.
    """
    where = error.filename2 or error.filename or "the run's folder"
    reason = os.strerror(error.errno) if error.errno else str(error)
    again = "run the same command again: it continues from the newest checkpoint"
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return MissingError(f"{where}: no room left ({reason}); free some disk space, then {again}")
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return MissingError(f"{where}: not allowed ({reason}); make it writable, or choose another --out")
    if error.errno in {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY}:
        return BadInputError(
            f"{where}: a file or folder is in the way ({reason}); move it away, then {again}"
        )
    return MissingError(f"{where}: the file system refused ({reason}); repair it, then {again}")


def write_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file; an error of the disk is one of the operating system, with its number.

    Parameters
    ----------
    tensors : mapping of str to torch.Tensor
        By name, each contiguous.
    path : Path
        The file.
    metadata : dict of str to str, optional
        For its header.

    Raises
    ------
    OSError
        If the disk is full or refuses.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(dict(tensors), path, metadata=metadata)
    except SafetensorError as error:
        if number := re.search(r"os error (\d+)", str(error)):
            code = int(number[1])
            raise OSError(code, os.strerror(code), str(path)) from error
        raise
