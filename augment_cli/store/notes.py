"""Notes in `.work/` of a change to several files: whoever opens the store next sees what a kill left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from augment_cli.store.files import fsync, write_atomically
from augment_cli.store.manifest import is_stage_name
from augment_cli.store.verification import refuse_links

_REMOVAL = "remove.json"  # the stages whose folders are being deleted


def write_note(work: Path, name: str, value: Any) -> None:
    """Write down what is about to be done; once this returns, no kill and no power cut loses it."""
    write_atomically(work / name, json.dumps(value).encode(), work / "parts")


def read_note(work: Path, name: str) -> list[Any]:
    """What a note lists; nothing where there is none, or it is damaged."""
    if not (work / name).is_file():  # a pipe would be waited for, and a device has no end
        return []
    try:
        noted = json.loads((work / name).read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return []
    return noted if isinstance(noted, list) else []


def note_removal(work: Path, names: Collection[str]) -> None:
    """Write down which stages are about to leave the manifest, and then the disk."""
    earlier = {name for name in read_note(work, _REMOVAL) if isinstance(name, str)}
    write_note(work, _REMOVAL, sorted(earlier | set(names)))


def was_removing(work: Path) -> bool:
    """Whether stages are being deleted, or the process that did it was killed."""
    return (work / _REMOVAL).exists()


def half_removed(store: Path, work: Path, stages: Collection[str]) -> list[str]:
    """Stages that a removal took out of the manifest, and whose folders are still there."""
    return [name for name in _to_delete(work, stages) if (store / name).exists()]


def _to_delete(work: Path, stages: Collection[str]) -> list[str]:
    """Noted names that the manifest does not have, nor any in or around them; a forged note has others."""
    kept = [f"{stage}/" for stage in stages]
    noted = [name for name in read_note(work, _REMOVAL) if isinstance(name, str) and is_stage_name(name)]
    return [
        name
        for name in noted
        if not any(f"{name}/".startswith(stage) or stage.startswith(f"{name}/") for stage in kept)
    ]


def finish_removal(store: Path, work: Path, stages: Collection[str]) -> None:
    """Delete the folders of noted stages that the manifest does not name; the note goes when all are gone."""
    names = _to_delete(work, stages)
    for name in names:
        refuse_links(store / name, store)
        for folder in (store, work):
            shutil.rmtree(folder / name, ignore_errors=True)
            for parent in list(Path(name).parents)[:-1]:  # of a cache, the folders around it
                with suppress(OSError):  # there are other caches in it
                    (folder / parent).rmdir()
    if not any((store / name).exists() for name in names):
        fsync(store)
        (work / _REMOVAL).unlink(missing_ok=True)
