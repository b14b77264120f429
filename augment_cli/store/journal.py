"""What a kill leaves: the finished pieces of a stage, each a file, and notes of a change to several files.

The files lie in `.work/STAGE/FINGERPRINT/part-NNNNN/`. A file's name ends in a digest of its bytes, of the
stage's settings and of its place: where the two fit, the piece is complete. Whatever else lies there, be it
damaged, from another run or from another place, counts as no piece: it is deleted, and the piece made again.
"""

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.errors import BadInputError
from augment_cli.store.files import fsync, naming, refuse_links, unlike_any, write_atomically
from augment_cli.store.manifest import Stage, is_stage_name, part_name
from augment_cli.store.parquet import read_parquet, write_parquet
from augment_cli.store.settings import Settings

_PIECE = re.compile(r"piece-(\d+)-[0-9a-f]{64}\.parquet")


class MissingPieceError(Exception):
    """A piece is not there, or was not what it should be and is not there any more."""


class Journal:
    """The finished pieces of a stage that is being made."""

    def __init__(self, work: Path, stage: str, settings: Settings) -> None:
        self._fingerprint = settings.fingerprint
        self.folder = work / stage / self._fingerprint[:16]

    def _part(self, index: int) -> Path:
        return self.folder / f"part-{index:05d}"

    def finished(self, index: int) -> set[int]:
        """Numbers of a part's finished pieces, by the files' names alone."""
        try:
            names = [path.name for path in self._part(index).iterdir()]
        except FileNotFoundError:
            return set()
        return {int(match[1]) for name in names if (match := _PIECE.fullmatch(name))}

    def missing(self, index: int, count: int) -> list[int]:
        """Those of a part's `count` pieces that are not finished."""
        return sorted(set(range(count)) - self.finished(index))

    def rows_to_make(self, sizes: Mapping[int, Sequence[int]]) -> int:
        """Rows in the pieces that are not finished, of the rows of each piece of each part."""
        return sum(own[piece] for index, own in sizes.items() for piece in self.missing(index, len(own)))

    def write(self, index: int, piece: int | str, table: pa.Table) -> None:
        """Keep a finished piece; once this returns, no kill and no power cut loses it."""
        # `piece` is its number, or the name of what is kept beside the pieces of a part.
        folder, stem = self._part(index), _stem(piece)
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{unlike_any(stem)}.tmp"
        write_parquet(temporary, table.schema, [table], compression="none")
        temporary.replace(folder / f"{stem}-{self._digest(index, piece, temporary)}.parquet")
        fsync(folder)

    def read(self, index: int, piece: int | str, rows: int | None = None) -> pa.Table:
        """A finished piece, of `rows` rows where their number is known."""
        for path in self._part(index).glob(f"{_stem(piece)}-*.parquet"):
            try:
                # A pipe would be waited for, and a device has no end.
                if path.is_file() and path.stem.endswith(self._digest(index, piece, path)):
                    table = read_parquet(path)
                    if rows is None or table.num_rows == rows:
                        return table
            except BadInputError:
                pass
            except OSError as error:
                if error.errno not in (errno.EIO, errno.EACCES):
                    raise
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        raise MissingPieceError(f"{self._part(index)}: has no {_stem(piece)}")

    def read_part(self, index: int, sizes: Sequence[int]) -> Iterator[pa.Table]:
        """All pieces of a part, in their order; raises as `read` does."""
        return (self.read(index, piece, rows) for piece, rows in enumerate(sizes))

    def _digest(self, index: int, piece: int | str, path: Path) -> str:
        place = f"{self._fingerprint} {index} {piece}\n".encode()
        with naming(path), path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.sha256(place)).hexdigest()

    def forget(self, index: int, pieces: Iterable[int]) -> None:
        """Delete some pieces of a part: another one holds what they held."""
        for piece in pieces:
            for path in self._part(index).glob(f"{_stem(piece)}-*.parquet"):
                path.unlink(missing_ok=True)

    def remove(self, index: int) -> None:
        """Delete the pieces of a part; it is committed."""
        shutil.rmtree(self._part(index), ignore_errors=True)


def piece_sizes(rows: int, piece_rows: int) -> list[int]:
    """Rows of each piece of a part, where each but the last has `piece_rows`."""
    return [min(piece_rows, rows - first) for first in range(0, rows, piece_rows)]


def _stem(piece: int | str) -> str:
    return piece if isinstance(piece, str) else f"piece-{piece:05d}"


def pieces_in(folder: Path) -> list[Path]:
    """The finished pieces of all runs that left theirs in a stage's folder of `.work/`."""
    # `os.walk` passes over a folder that the running stage takes away meanwhile, `Path.rglob` fails.
    return [Path(at, name) for at, _, names in os.walk(folder) for name in names if _PIECE.fullmatch(name)]


# Makes missing pieces, given their numbers by part; calls back with a part's number when one of them is done.
Make = Callable[[dict[int, list[int]], Callable[[int], None]], None]


def make_parts(
    journal: Journal,
    pieces: Mapping[int, Sequence[Any]],
    make: Make,
    join: Callable[[int], None],
    in_order: bool = False,
) -> None:
    """Have the missing pieces made, and join those of each part as soon as all of them are there."""
    waiting = sorted(pieces)

    def missing(index: int) -> list[int]:
        return journal.missing(index, len(pieces[index]))

    def join_if_complete(index: int) -> bool:
        if missing(index):
            return False
        try:
            join(index)
        except MissingPieceError:
            return False
        journal.remove(index)
        waiting.remove(index)
        return True

    def look_at(index: int) -> None:
        if in_order:
            while waiting and join_if_complete(waiting[0]):
                pass
        elif index in waiting:
            join_if_complete(index)

    while True:
        for index in list(waiting):  # a run may have ended between the last piece and the commit
            look_at(index)
        if not waiting:
            return
        make({index: missing(index) for index in waiting}, look_at)


def one_by_one(
    run: Callable[..., None],
    task: str,
    arguments: Callable[[int, int], dict[str, Any]],
    progress: Callable[[int], None],
    order: Callable[[list[int]], list[int]] = list,
) -> Make:
    """How pieces are made by one call for each."""

    def make(missing: dict[int, list[int]], look_at: Callable[[int], None]) -> None:
        def done(result: tuple[int, int]) -> None:
            index, rows = result
            progress(rows)
            look_at(index)

        calls = [
            {**arguments(index, piece), "index": index, "piece": piece}
            for index, pieces in missing.items()
            for piece in order(pieces)
        ]
        run(task, calls, done, unit="pieces")

    return make


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
    _write_note(work, REMOVAL, sorted({*noted_removals(work, ()), *names}))


def noted_removals(work: Path, stages: Collection[str]) -> list[str]:
    """Noted names that the manifest does not have, nor any in or around them; a forged note has others."""
    noted = [name for name in _read_note(work, REMOVAL) if isinstance(name, str) and is_stage_name(name)]

    def is_kept(name: str) -> bool:
        return any(f"{name}/".startswith(f"{one}/") or f"{one}/".startswith(f"{name}/") for one in stages)

    return [name for name in noted if not is_kept(name)]


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
