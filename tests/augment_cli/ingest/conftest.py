"""What the tests of ingest share: read some bytes into a new store, and look at what came of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from augment_cli.ingest import IngestOptions, IngestReport, ingest
from augment_cli.store.store import Store


@dataclass
class Ingested:
    store: Store
    report: IngestReport
    texts: list[str]
    rejects: list[dict[str, Any]]

    @property
    def reasons(self) -> list[tuple[int, str]]:
        return [(row["line"], row["reason"]) for row in self.rejects]


@pytest.fixture
def read_bytes(tmp_path):
    numbers = itertools.count()

    def read(data: bytes, name: str = "text.txt", strict: bool = False, **options: Any) -> Ingested:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        (folder / name).write_bytes(data)
        return read_path(folder / "store", folder / name, strict=strict, **options)

    return read


def read_path(store_path: Path, *corpus: Path, strict: bool = False, **options: Any) -> Ingested:
    store = Store.create(store_path)
    with store.lock():
        report = ingest(store, corpus, IngestOptions(**options), strict=strict)
    texts, rejects = store.read("corpus"), store.read("rejects")
    assert report.read == report.kept + report.rejected
    assert report.kept == texts.num_rows and report.rejected == rejects.num_rows
    assert texts["row_id"].to_pylist() == list(range(texts.num_rows))
    return Ingested(store, report, texts["text"].to_pylist(), rejects.to_pylist())


@pytest.fixture
def read_paths(tmp_path):
    numbers = itertools.count()

    def read(*corpus: Path, **options: Any) -> Ingested:
        return read_path(tmp_path / f"store-{next(numbers)}", *corpus, **options)

    return read
