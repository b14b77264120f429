"""Held-out pairs as a retrieval set in BEIR's layout: a positive is a query, and its anchor what it finds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from augment_cli.contract.pack_options import CORPUS_STAGE, PackOptions
from augment_cli.errors import UsageError
from augment_cli.store.files import write_atomically
from augment_cli.store.store import Store
from augment_cli.store.targets import check_output_folder, check_target

_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
_BEGINNINGS = (b'{"_id": ', b"query-id\t")


def check_beir_folder(folder: Path, store: Store, options: PackOptions) -> None:
    """See that such a set can be written, and replaces at most an earlier one."""
    if not options.split or options.layout == "labeled-pair":
        raise UsageError("--beir: holds the pairs that --split leaves out, of any layout but labeled-pair")
    check_output_folder(folder, "--beir", ("qrels",), _FILES)
    for name in _FILES:
        check_target(folder / name, store.path, lambda beginning: beginning.startswith(_BEGINNINGS))


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
