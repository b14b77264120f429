"""A packed stage as one csv or jsonl file; held-out pairs as a retrieval set in BEIR's layout."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.pack_options import CORPUS_STAGE, PackOptions
from augment_cli.errors import UsageError
from augment_cli.store.files import check_output_folder, check_target, hold_lock, write_atomically
from augment_cli.store.store import Store

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


_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
_SET_BEGINNINGS = (b'{"_id": ', b"query-id\t")


def check_beir_folder(folder: Path, store: Store, options: PackOptions) -> None:
    """See that such a set can be written, and replaces at most an earlier one."""
    if not options.split or options.layout == "labeled-pair":
        raise UsageError("--beir: holds the pairs that --split leaves out, of any layout but labeled-pair")
    check_output_folder(folder, "--beir", ("qrels",), _FILES)
    for name in _FILES:
        check_target(folder / name, store.path, lambda beginning: beginning.startswith(_SET_BEGINNINGS))


def write_beir(store: Store, stage: str, folder: Path) -> dict[str, int]:
    """Write the set: all distinct texts of the corpus are documents, the stage's positives queries."""
    documents: dict[str, int] = {}
    for index in range(len(store.parts)):
        rows = store.read_part(CORPUS_STAGE, index, ["row_id", "text"])
        for row, text in zip(rows["row_id"].to_pylist(), rows["text"].to_pylist(), strict=True):
            documents.setdefault(text, row)
    queries: dict[str, dict[int, None]] = {}  # with the documents that each finds
    for index in sorted(store.stage(stage).parts):
        rows = store.read_part(stage, index, ["anchor", "positive"])
        for anchor, query in zip(rows["anchor"].to_pylist(), rows["positive"].to_pylist(), strict=True):
            queries.setdefault(query, {})[documents[anchor]] = None
    found = [f"q{n}\td{row}\t1" for n, rows_of_query in enumerate(queries.values()) for row in rows_of_query]
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    contents = (
        _lines({"_id": f"d{row}", "title": "", "text": text} for text, row in documents.items()),
        _lines({"_id": f"q{number}", "text": query} for number, query in enumerate(queries)),
        "\n".join(["query-id\tcorpus-id\tscore", *found]) + "\n",
    )
    for name, content in zip(_FILES, contents, strict=True):
        write_atomically(folder / name, content.encode(), (folder / name).absolute().parent)
    return {"documents": len(documents), "queries": len(queries)}


def _lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
