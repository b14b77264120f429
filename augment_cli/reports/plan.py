"""`--dry-run`: which stages a command would make, and roughly how long and how large."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.ingest import STDIN, IngestOptions, find_files
from augment_cli.ingest.streams import CorpusFile, size_of
from augment_cli.runs.run import AugmentationRun
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf.term_table import forms_name, stage_names

# Seconds a million rows on two cores, and bytes a row: rounded from benchmarks/growth.py; of the shipped
# pipeline (benchmarks/parse_speed.py), a paraphraser of 6 million parameters (a full-size
# model takes far longer), all-MiniLM-L6-v2 in fp32 (benchmarks/embed_speed.py), benchmarks/mine_speed.py.
_COSTS = {
    "corpus": (2, 75),
    "tfidf": (7, 310),
    "forms": (3, 1),
    "parses": (700, 230),
    "augmentation": (9, 240),
    "model": (20_000, 240),
    "vectors": (5_000, 780),
    "scores": (10_000, 30),
    "mined-tfidf": (1_000, 110),
    "mined-vectors": (10_000, 110),
}
_SQUARE = ("scores", "mined-tfidf", "mined-vectors")  # their time grows with the square of the rows
_BYTES_PER_SENTENCE_OF_TEXT = 130
_BYTES_PER_SENTENCE_COMPRESSED = 62


def plan_run(
    store_path: Path,
    corpus: Sequence[str] | None,
    options: IngestOptions,
    runs: Sequence[tuple[AugmentationRun, str | None, int]],
    parses: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """One entry a stage: name, `to_do` or `done`, rows, estimated seconds and bytes. Writes nothing."""
    # `parses` names stages of parses to make, beside those that the runs need.
    store = Store.create(store_path)
    needed = [(name, "parses") for name in parses]
    for given, stage, draws in runs:
        run = given.resolved(store, stage)
        run.check_named(store, parses)
        if "tfidf" in run.needs:
            needed.append((stage_names(run.fit)[0], "tfidf"))
        if "forms" in run.needs:
            needed.append((forms_name(run.fit), "forms"))
        if "parses" in run.needs:
            needed.append((stage_name(run.parses), "parses"))
        if run.of:
            needed.append((run.of, "augmentation"))
        kind = "model" if "model" in run.needs else "augmentation"
        needed += [(run.of_draw(draw, draws).folder(stage), kind) for draw in range(draws)]
    return plan_stages(store_path, corpus, options, needed)


def plan_stages(
    store_path: Path, corpus: Sequence[str] | None, options: IngestOptions, needed: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """The same for stages by their names and kinds, which are keys of `_COSTS`."""
    if STDIN in (corpus or ()):
        raise UsageError("--dry-run cannot look into standard input; name the files with --corpus")
    store = Store.create(store_path)
    if store.has("corpus"):
        rows, entries = store.rows, [{"stage": "corpus", "state": "done", "rows": store.rows}]
    else:
        rows = estimate_rows([path for path, _ in find_files(corpus or [SAMPLE])], options.limit)
        entries = [_entry("corpus", "corpus", rows)]
    for name, kind in needed:
        if any(entry["stage"] == name for entry in entries):
            continue
        if store.has(name):
            entries.append({"stage": name, "state": "done", "rows": rows})
        else:
            entries.append(_entry(name, kind, rows))
    return entries


def estimate_rows(files: Sequence[CorpusFile], limit: int | None) -> int:
    """About how many sentences some files hold, from their sizes alone."""
    rows = 0
    for path in files:
        compressed = path.suffix in {".gz", ".zst", ".parquet"}
        per_row = _BYTES_PER_SENTENCE_COMPRESSED if compressed else _BYTES_PER_SENTENCE_OF_TEXT
        rows += max(1, size_of(path) // per_row)
    return rows if limit is None else min(rows, limit)


def _entry(name: str, kind: str, rows: int) -> dict[str, Any]:
    (seconds, size), millions = _COSTS[kind], (rows / 1e6) ** (2 if kind in _SQUARE else 1)
    return {
        "stage": name,
        "state": "to do",
        "rows": rows,
        "seconds": round(1 + millions * seconds, 1),
        "bytes": rows * size,
    }
