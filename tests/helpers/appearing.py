"""Files that a running command is making, counted from outside."""

from __future__ import annotations

from pathlib import Path


def appeared(folder: Path, pattern: str) -> int:
    """How many files match, while another process makes folders, fills them and takes them away.

    A folder that goes between being listed and being read ends `Path.glob` with an error; what is left by
    then is counted at the next look.
    """
    try:
        return sum(1 for _ in folder.glob(pattern))
    except FileNotFoundError:
        return 0
