"""A corpus that grows: which of its first parts a stage was made from, and what a killed append left.

Files that are appended to a corpus become further parts; those that were there keep their bytes. So what a
stage was made from is still there as the first parts of its inputs, and their digests tell which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from augment_cli.store.files import fsync
from augment_cli.store.manifest import Stage, part_name
from augment_cli.store.notes import read_note, write_note

_NOTE = "append.json"  # in `.work/`: the parts that are being given their names


def parts_before(
    stages: Mapping[str, Stage], inputs: Mapping[str, str], now: Mapping[str, str] | None = None
) -> int | None:
    """How many parts the corpus had when a stage was made, where files were appended to it since."""
    if "corpus" not in stages or (now is not None and now.keys() != inputs.keys()):
        return None
    for earlier in stages["corpus"].earlier:
        first = {(stage.digest, stage.digest_of_first(earlier.parts)) for stage in stages.values()}
        if now is None:
            are_first = set(inputs.values()) <= {digest for _, digest in first}
        else:
            are_first = all((now[key], digest) in first for key, digest in inputs.items())
        if are_first:
            return earlier.parts
    return None


def note_append(work: Path, parts: Iterable[tuple[str, int]]) -> None:
    """Write down which parts are about to get their names, so that `undo_append` finds them after a kill."""
    write_note(work, _NOTE, sorted(parts))


def was_appending(work: Path) -> bool:
    """Whether an append is giving parts their names, or was killed there."""
    return (work / _NOTE).exists()


def append_is_over(work: Path) -> None:
    """The manifest names the parts: there is nothing to undo any more."""
    (work / _NOTE).unlink(missing_ok=True)


def noted_parts(work: Path, stages: Mapping[str, Stage]) -> list[tuple[str, int]]:
    """Parts that an append gave their names and the manifest does not name."""
    try:
        return [
            (name, index)
            for name, index in read_note(work, _NOTE)
            if isinstance(index, int) and name in stages and index not in stages[name].parts
        ]
    except (ValueError, TypeError):  # other things than pairs
        return []


def undo_append(store: Path, work: Path, stages: Mapping[str, Stage]) -> None:
    """Delete what an append that was killed before its manifest left under the names of parts."""
    for name, index in noted_parts(work, stages):
        (store / name / part_name(index)).unlink(missing_ok=True)
        fsync(store / name)
    append_is_over(work)
