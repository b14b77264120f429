"""A packed stage as one csv or jsonl file, for those who read no Parquet."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
from augment_cli.store.files import hold_lock
from augment_cli.store.store import Store
from augment_cli.store.targets import check_target

ENDINGS = (".csv", ".jsonl")
_BEGINNINGS = (b"anchor,positive", b"sentence1,sentence2", b'{"anchor": ', b'{"sentence1": ')


def export(store: Store, stage: str, path: Path) -> int:
    """Write a packed stage to one csv or jsonl file; complete, or not there."""
    check_export_path(path, store)
    # A name of its own, which is there for nobody else: no link is followed, and two exports do not mix.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.writing")
    rows = 0
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            for number, index in enumerate(sorted(store.stage(stage).parts)):
                table = store.read_part(stage, index)
                if path.suffix == ".csv":
                    _write_csv(file, table, with_names=number == 0)
                else:
                    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
                    file.writelines(lines)
                rows += table.num_rows
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return rows


def check_export_path(path: Path, store: Store, suffixes: Sequence[str] = ("",)) -> None:
    """See that a packed stage can be written, and replaces at most an earlier one."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out {path}: the name must end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")
    for suffix in suffixes:
        target = path.with_stem(path.stem + suffix)
        check_target(target, store.path, lambda beginning: beginning.startswith(_BEGINNINGS))
        if target.exists() and _may_be_input(target, store):
            raise UsageError(
                f"{target}: has the name of a file that the corpus of {store.path} was read from; name "
                "another file"
            )


@contextlib.contextmanager
def reserved(paths: Iterable[Path]) -> Iterator[None]:
    """Keep other runs away from the files that an export will write, until the `with` block ends."""
    with contextlib.ExitStack() as stack:
        for path in sorted(paths):
            taken = (
                f"--out {path}: another run (process %s) writes it; wait for its end, or name another file"
            )
            lock = path.with_name(f".{path.name}.lock")
            stack.enter_context(hold_lock(lock, taken=taken))
            stack.callback(lock.unlink, missing_ok=True)
        yield


def _may_be_input(path: Path, store: Store) -> bool:
    """Whether a file has the name of one that the corpus was read from; no store keeps whole paths."""
    sources: set[str] = set()
    for index in range(len(store.parts)):
        sources.update(pc.unique(store.read_part("corpus", index, ["source"])["source"]).to_pylist())
    place = f"/{path.resolve().as_posix()}"
    return any(place.endswith(f"/{source}") for source in sources)


def _write_csv(file: TextIO, table: pa.Table, with_names: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if with_names:
        writer.writerow(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row])
