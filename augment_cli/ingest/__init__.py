"""Ingest: text files to the corpus stage, and what is no sentence to the rejects with its reason."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import BadInputError, IncompleteError
from augment_cli.files import sha256_of_file, sha256_of_json
from augment_cli.ingest import checks
from augment_cli.ingest.readers import Columns, kind_of, read_file
from augment_cli.schema import CORPUS, CORPUS_WITH_ID, PART_ROWS, REJECTS, ROW_GROUP_ROWS
from augment_cli.settings import Settings
from augment_cli.store import PendingPart, Store

VERSION = 1


@dataclass(frozen=True)
class IngestOptions:
    """How to read a corpus.

    Parameters
    ----------
    text_column, id_column : str, optional
        Fields of jsonl and Parquet input; `text` and none by default.
    limit : int, optional
        Keep the first `limit` sentences.
    max_characters : int
        Longer lines are rejected.
    part_rows : int
        Rows a part, in all stages of the store.
    """

    text_column: str | None = None
    id_column: str | None = None
    limit: int | None = None
    max_characters: int = checks.MAX_CHARACTERS
    part_rows: int = PART_ROWS


@dataclass(frozen=True)
class IngestReport:
    """What was read; `read == kept + rejected`, always."""

    kept: int
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        """Number of lines in the rejects."""
        return sum(self.reasons.values())

    @property
    def read(self) -> int:
        """Number of lines looked at (a damaged rest of a file counts as one)."""
        return self.kept + self.rejected

    def check(self, max_rejects: float) -> None:
        """Raise `IncompleteError` if more than the share `max_rejects` was rejected, or a file is damaged."""
        damaged = {reason: count for reason, count in self.reasons.items() if reason in checks.DAMAGE}
        detail = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.reasons.items()))
        advice = "see what they are with `augment-cli inspect rejects`"
        if damaged:
            raise IncompleteError(f"input files are damaged ({detail}); {advice}, and fetch the files again")
        if self.rejected > max_rejects * self.read:
            raise IncompleteError(
                f"{self.rejected:,} of {self.read:,} lines were rejected ({detail}), more than "
                f"--max-rejects {max_rejects:g} allows; {advice}"
            )


def find_files(corpus: Sequence[str | Path]) -> list[tuple[Path, str]]:
    """The files meant by paths, folders and globs, with the names under which they are stored.

    Folders are searched for the known endings, at any depth, in sorted order. Stored names are
    relative to what all files have in common, so that they don't depend on where a corpus lies.

    Raises
    ------
    BadInputError
        If a path does not exist, or a folder or glob has no file to read.
    """
    files: list[Path] = []
    for entry in corpus:
        path = Path(entry).expanduser()
        if path.is_dir():
            found = sorted(
                child
                for child in path.rglob("*")
                if child.is_file() and kind_of(child) and not child.name.startswith(".")
            )
            if not found:
                raise BadInputError(f"{path}: no .txt, .jsonl, .ndjson, .parquet (or .gz) file in it")
        elif path.exists():
            found = [path]
        else:
            found = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
            if not found:
                raise BadInputError(f"{path}: no such file; --corpus takes files, folders and globs")
        files += [file for file in found if file not in files]
    parent = Path(os.path.commonpath([file.resolve().parent for file in files]))
    return [(file, file.resolve().relative_to(parent).as_posix()) for file in files]


def corpus_settings(files: Sequence[tuple[Path, str]], options: IngestOptions) -> Settings:
    """What the corpus stage depends on: the files' names and digests, and how they are read."""
    digest = sha256_of_json([[name, sha256_of_file(path)] for path, name in files])
    return Settings(
        "corpus",
        VERSION,
        parameters={
            "text_column": options.text_column,
            "id_column": options.id_column,
            "limit": options.limit,
            "max_characters": options.max_characters,
            "part_rows": options.part_rows,
        },
        inputs={"files": digest},
    )


def ingest(
    store: Store,
    corpus: Sequence[str | Path],
    options: IngestOptions | None = None,
    *,
    strict: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> IngestReport:
    """Read a corpus into the store's `corpus` and `rejects` stages.

    Parameters
    ----------
    store : Store
        New, or holding the same corpus (then nothing is read again).
    corpus : sequence of str or Path
        Files, folders, globs.
    options : IngestOptions
        How to read them.
    strict : bool
        Stop at the first line that would be rejected.
    progress : callable
        Called with the number of sentences kept since the last call.

    Raises
    ------
    BadInputError
        If nothing can be read, or with `strict` at the first bad line.
    MixError
        If the store holds another corpus.
    """
    options = options or IngestOptions()
    files = find_files(corpus)
    settings = corpus_settings(files, options)
    if store.has("corpus") and store.has("rejects"):
        store.begin("corpus", settings)
        return report_of(store)

    writer = _CorpusWriter(store, settings, options)
    for path, source in files:
        for batch in read_file(path, source, Columns(options.text_column, options.id_column)):
            before = writer.kept
            writer.add(batch, strict)
            progress(writer.kept - before)
            if writer.is_full:
                break
        if writer.is_full:
            break
    if writer.kept == 0:
        raise BadInputError(
            f"{', '.join(str(path) for path, _ in files[:3])}: no sentence could be read "
            f"({dict(writer.reasons) or 'the input is empty'})"
        )
    writer.commit()
    return report_of(store)


def report_of(store: Store) -> IngestReport:
    """Counts of the store's corpus, from the manifest."""
    reasons: Counter[str] = Counter()
    for part in store.stage("rejects").parts.values():
        reasons.update(part.statistics["reasons"])
    return IngestReport(store.stage("corpus").rows, dict(reasons))


class _CorpusWriter:
    """Collects accepted and rejected lines, writes full parts to `.work/`, commits all at the end."""

    def __init__(self, store: Store, settings: Settings, options: IngestOptions) -> None:
        self._store, self._settings, self._options = store, settings, options
        self._schema = CORPUS_WITH_ID if options.id_column else CORPUS
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._rejects: list[pa.Table] = []
        self._corpus_parts: list[PendingPart] = []
        self._reject_parts: list[PendingPart] = []
        self.kept = 0
        self.reasons: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        return self._options.limit is not None and self.kept >= self._options.limit

    def add(self, batch: checks.RawBatch, strict: bool) -> None:
        reasons = checks.reasons_to_reject(batch, self._options.max_characters)
        keep = np.flatnonzero(reasons == "")
        if self._options.limit is not None and len(keep) > (room := self._options.limit - self.kept):
            keep = keep[:room]
            reasons = reasons[: keep[-1] + 1]  # lines after the last one kept were not looked at
        bad = np.flatnonzero(reasons != "")
        if strict and len(bad):
            raise BadInputError(
                f"{batch.source}, line {batch.lines[bad[0]]}: {reasons[bad[0]]}; "
                "mend the line, or run without --strict to set such lines aside"
            )
        self._keep(batch, keep)
        self._reject(batch, bad, reasons[bad])

    def _keep(self, batch: checks.RawBatch, keep: np.ndarray) -> None:
        columns = {
            "row_id": pa.array(np.arange(self.kept, self.kept + len(keep))),
            "text": checks.select_texts(batch, keep),
            "source": pa.repeat(batch.source, len(keep)),
            "line": pa.array(batch.lines[keep]),
        }
        if batch.ids is not None:
            columns["id"] = batch.ids.take(pa.array(keep))
        self._waiting.append(pa.table(columns, schema=self._schema))
        self._waiting_rows += len(keep)
        self.kept += len(keep)
        while self._waiting_rows >= self._options.part_rows:
            self._write_corpus_part()

    def _reject(self, batch: checks.RawBatch, bad: np.ndarray, reasons: np.ndarray) -> None:
        if not len(bad):
            return
        columns = {
            "source": pa.repeat(batch.source, len(bad)),
            "line": pa.array(batch.lines[bad]),
            "reason": pa.array(reasons.tolist(), pa.string()),
            "raw": checks.take_binary(batch.raw, bad),
        }
        self.reasons.update(reasons.tolist())
        self._rejects.append(pa.table(columns, schema=REJECTS))
        if sum(table.num_rows for table in self._rejects) >= ROW_GROUP_ROWS:
            self._write_reject_part()

    def _write_corpus_part(self) -> None:
        table = pa.concat_tables(self._waiting)
        part, rest = table.slice(0, self._options.part_rows), table.slice(self._options.part_rows)
        self._waiting, self._waiting_rows = [rest], rest.num_rows
        index = len(self._corpus_parts)
        characters = pc.sum(pc.utf8_length(part["text"])).as_py() or 0
        self._corpus_parts.append(
            self._store.write_part(
                "corpus", index, self._schema, _row_groups(part), self._settings, {"characters": characters}
            )
        )

    def _write_reject_part(self) -> None:
        table = pa.concat_tables(self._rejects) if self._rejects else REJECTS.empty_table()
        self._rejects = []
        index = len(self._reject_parts)
        statistics = {"reasons": dict(Counter(table["reason"].to_pylist()))}
        self._reject_parts.append(
            self._store.write_part("rejects", index, REJECTS, [table], self._settings, statistics)
        )

    def commit(self) -> None:
        if self._waiting_rows:
            self._write_corpus_part()
        if self._rejects or not self._reject_parts:
            self._write_reject_part()
        first, plan = 0, []
        for pending in self._corpus_parts:
            plan.append((first, pending.part.rows))
            first += pending.part.rows
        self._store.set_plan(plan)
        # Rejects first: a store with a complete corpus always has its rejects.
        for stage, parts in (("rejects", self._reject_parts), ("corpus", self._corpus_parts)):
            missing = self._store.begin(stage, self._settings, len(parts))
            for pending in parts:
                if pending.index in missing:
                    self._store.commit(pending)
            self._store.clean_work(stage)


def _row_groups(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, ROW_GROUP_ROWS):
        yield table.slice(start, ROW_GROUP_ROWS)
