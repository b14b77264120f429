"""What an interrupted run left to go on with: the finished pieces of stages in the journals of `.work/`."""

from __future__ import annotations

from pathlib import Path

from augment_cli.errors import BadInputError
from augment_cli.store.journal import pieces_in
from augment_cli.store.manifest import is_stage_name
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store


def rows_in_work(store: Store) -> dict[str, int]:
    """Rows that are made and not yet part of a finished part, by stage."""
    # The same command goes on from them.
    if not store.work.is_dir():
        return {}
    folders = {folder.name: folder for folder in sorted(store.work.iterdir()) if folder.is_dir()}
    rows = {
        name: sum(_rows_of(path) for path in pieces_in(folder))
        for name, folder in folders.items()
        if is_stage_name(name) and name != "parts" and not store.has(name)
    }
    return {name: count for name, count in rows.items() if count}


def _rows_of(path: Path) -> int:
    try:
        return describe(path)[0]
    except (BadInputError, OSError):  # damaged, or just now joined to a part; it is made again
        return 0
