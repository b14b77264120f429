"""Notes in `.work/` of a change to several files: whoever opens the store next sees what a kill left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from augment_cli.store.files import fsync, refuse_links, write_atomically
from augment_cli.store.manifest import Stage, is_stage_name, part_name

REMOVAL = "remove.json"  # the stages whose folders are being deleted
APPEND = "append.json"  # the parts that are being given their names


def _write_note(work: Path, name: str, value: Any) -> None:
    """Write down what is about to be done; once this returns, no kill and no power cut loses it."""
    write_atomically(work / name, json.dumps(value).encode(), work / "parts")


def _read_note(work: Path, name: str) -> list[Any]:
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
    earlier = {name for name in _read_note(work, REMOVAL) if isinstance(name, str)}
    _write_note(work, REMOVAL, sorted(earlier | set(names)))


def noted_removals(work: Path, stages: Collection[str]) -> list[str]:
    """Noted names that the manifest does not have, nor any in or around them; a forged note has others."""
    kept = [f"{stage}/" for stage in stages]
    noted = [name for name in _read_note(work, REMOVAL) if isinstance(name, str) and is_stage_name(name)]
    return [
        name
        for name in noted
        if not any(f"{name}/".startswith(stage) or stage.startswith(f"{name}/") for stage in kept)
    ]


def finish_removal(store: Path, work: Path, stages: Collection[str]) -> None:
    """Delete the folders of noted stages that the manifest does not name; the note goes when all are gone."""
    names = noted_removals(work, stages)
    for name in names:
        refuse_links(store / name, store)
        for folder in (store, work):
            shutil.rmtree(folder / name, ignore_errors=True)
            for parent in list(Path(name).parents)[:-1]:  # of a cache, the folders around it
                with suppress(OSError):  # there are other caches in it
                    (folder / parent).rmdir()
    if not any((store / name).exists() for name in names):
        fsync(store)
        (work / REMOVAL).unlink(missing_ok=True)


def note_append(work: Path, parts: Iterable[tuple[str, int]]) -> None:
    """Write down which parts are about to get their names, so that `undo_append` finds them after a kill."""
    _write_note(work, APPEND, sorted(parts))


def noted_parts(work: Path, stages: Mapping[str, Stage]) -> list[tuple[str, int]]:
    """Parts that an append gave their names and the manifest does not name."""
    try:
        return [
            (name, index)
            for name, index in _read_note(work, APPEND)
            if isinstance(index, int) and name in stages and index not in stages[name].parts
        ]
    except (ValueError, TypeError):  # other things than pairs
        return []


def undo_append(store: Path, work: Path, stages: Mapping[str, Stage]) -> None:
    """Delete what an append that was killed before its manifest left under the names of parts."""
    for name, index in noted_parts(work, stages):
        (store / name / part_name(index)).unlink(missing_ok=True)
        fsync(store / name)
    (work / APPEND).unlink(missing_ok=True)
