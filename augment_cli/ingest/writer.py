"""Collects accepted and rejected lines, writes full parts to `.work/`, commits all of them at the end."""

import dataclasses
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.reasons import Reason
from augment_cli.errors import BadInputError
from augment_cli.ingest import checks
from augment_cli.ingest.options import IngestOptions, checked, refuse_empty, roles_of
from augment_cli.store.parquet import CORPUS, CORPUS_WITH_ID, REJECTS, REJECTS_WITH_REPEATED, ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store

_REJECT_BYTES = 16 << 20
_MOST_TEXT = (1 << 31) - 1  # bytes of a row group: what 32-bit offsets reach


class CorpusWriter:
    """Used as a context manager: parts are written in a thread of its own while the next are collected.

    Where it `appends`, rows and parts are numbered on from those that the store has, and what repeats one of
    its rows is a duplicate, too.
    """

    def __init__(
        self, store: Store, settings: Settings, options: IngestOptions, appends: bool = False
    ) -> None:
        self._store, self._settings, self._options = store, settings, options
        self._schema = CORPUS_WITH_ID if options.id_column else CORPUS
        for name in options.kept:
            self._schema = self._schema.append(pa.field(name, pa.string()))
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._rejects: list[pa.Table] = []
        self._parts: dict[str, list[PendingPart]] = {"corpus": [], "rejects": []}
        self._begun: Counter[str] = Counter()
        self._being_written: deque[Future[PendingPart]] = deque()
        self._thread = ThreadPoolExecutor(1)
        self._is_near = options.deduplicate == "near"
        self._duplicates = checks.Duplicates(options.near_similarity if self._is_near else None)
        self._reject_schema = REJECTS_WITH_REPEATED if self._is_near else REJECTS
        self._joined: list[int] = []  # row_ids of waiting texts whose line breaks were joined
        self._given = dict.fromkeys(roles_of(options), 0)  # texts in each column of pairs
        self._unusual: dict[str, list[str]] = {}
        self._filled: Counter[str] = Counter()  # values in each column that is kept
        self.without_field: bytes | None = None  # the first object that seems to lack the text or an id
        self.kept = 0
        self.reasons: Counter[str] = Counter()
        if appends:
            self._go_on()

    def _go_on(self) -> None:
        self.kept = self._store.rows
        for stage in self._parts:
            self._begun[stage] = self._store.stage(stage).expected_parts
        for index in range(len(self._store.parts) if self._options.deduplicate else 0):
            for table in self._store.iterate_part("corpus", index, ["text"]):
                self._duplicates.add(table["text"].combine_chunks())  # all are kept again, as when they came

    def __enter__(self) -> "CorpusWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    @property
    def is_full(self) -> bool:
        """Whether `limit` is reached."""
        return self._options.limit is not None and self.kept >= self._options.limit

    def note(self, source: str, words: str) -> None:
        """Take down how a file is read, where that is unusual."""
        self._unusual.setdefault(words, []).append(source)

    @property
    def notes(self) -> list[str]:
        """How files were read, where that was unusual, for people."""
        empty = [name for name in self._options.keep_columns if not self._filled[name]]
        return [f"no row has a {name!r} (--keep-column): it stays empty" for name in empty] + [
            f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}: {words}"
            for words, names in self._unusual.items()
        ]

    def add(self, raw_lines: checks.RawLines, strict: bool) -> None:
        """Take over some lines of a source."""
        breaks, joined = self._options.line_breaks, np.array([], int)
        if breaks == "join":
            texts, joined = checks.without_line_breaks(raw_lines.texts)
            raw_lines = dataclasses.replace(raw_lines, texts=texts)
        reasons = checks.reasons_to_reject(raw_lines, self._options.max_characters, breaks == "keep")
        repeated = np.full(len(reasons), -1)
        if self._options.deduplicate:
            self._mark_duplicates(raw_lines, reasons, repeated)
        keep = np.flatnonzero(reasons == "")
        if self._options.limit is not None and len(keep) > (room := self._options.limit - self.kept):
            keep = keep[:room]
            reasons = reasons[: keep[-1] + 1]  # lines after the last one kept were not looked at
        bad = np.flatnonzero(reasons != "")
        if strict and (faults := bad[~np.isin(reasons[bad], [*checks.REPEATS])]).size:
            raise BadInputError(
                f"{raw_lines.source}, line {raw_lines.lines[faults[0]]}: {reasons[faults[0]]}; "
                "correct the line, or run without --strict to set such lines aside"
            )
        self._joined += (self.kept + np.flatnonzero(np.isin(keep, joined))).tolist()
        self._keep(raw_lines, keep)
        if len(bad):
            self._reject(raw_lines, bad, reasons[bad], repeated[bad])

    def _mark_duplicates(self, raw_lines: checks.RawLines, reasons: np.ndarray, repeated: np.ndarray) -> None:
        good = np.flatnonzero(reasons == "")
        repeated[good], is_equal = self._duplicates.add(checks.select_texts(raw_lines, good))
        is_near = repeated[good] >= 0
        reasons[good[is_near & is_equal]] = Reason.DUPLICATE
        reasons[good[is_near & ~is_equal]] = Reason.NEAR_DUPLICATE

    def _keep(self, raw_lines: checks.RawLines, keep: np.ndarray) -> None:
        columns = {
            "row_id": pa.array(np.arange(self.kept, self.kept + len(keep))),
            "text": checks.select_texts(raw_lines, keep),
            "source": pa.repeat(raw_lines.source, len(keep)),
            "line": pa.array(raw_lines.lines[keep]),
        }
        if raw_lines.ids is not None:
            columns["id"] = raw_lines.ids.take(pa.array(keep))
        columns |= {name: column.take(pa.array(keep)) for name, column in raw_lines.more.items()}
        for name in raw_lines.more:
            self._filled[name] += len(keep) - columns[name].null_count
        self._waiting.append(pa.table(columns, schema=self._schema))
        self._waiting_rows += len(keep)
        self.kept += len(keep)
        while self._waiting_rows >= self._options.part_rows:
            self._write_corpus_part()

    def _reject(
        self, raw_lines: checks.RawLines, bad: np.ndarray, reasons: np.ndarray, repeated: np.ndarray
    ) -> None:
        raw = raw_lines.raw.take(pa.array(bad))
        columns = {
            "source": pa.repeat(raw_lines.source, len(bad)),
            "line": pa.array(raw_lines.lines[bad]),
            "reason": pa.array(reasons.tolist(), pa.string()),
            "raw": pc.binary_slice(raw, 0, checks.MAX_RAW_BYTES).cast(pa.binary()),
        }
        if self._is_near:
            columns["repeats"] = pa.array(repeated, mask=repeated < 0)
        lacks = np.flatnonzero((reasons == Reason.NO_TEXT_FIELD) | (reasons == Reason.WRONG_TYPE))
        if self.without_field is None and lacks.size and raw_lines.is_json:
            self.without_field = raw_lines.raw[int(bad[lacks[0]])].as_py()
        self.reasons.update(reasons.tolist())
        self._rejects.append(pa.table(columns, schema=self._reject_schema))
        rows = sum(table.num_rows for table in self._rejects)
        if rows >= self._options.part_rows or sum(table.nbytes for table in self._rejects) > _REJECT_BYTES:
            self._write_reject_part()

    def _write_corpus_part(self) -> None:
        table = pa.concat_tables(self._waiting)
        part, rest = table.slice(0, self._options.part_rows), table.slice(self._options.part_rows)
        self._waiting, self._waiting_rows = [rest], rest.num_rows
        statistics = {"characters": pc.sum(pc.utf8_length(part["text"])).as_py() or 0}
        end = part["row_id"][-1].as_py() + 1
        if joined := sum(row < end for row in self._joined):
            statistics[checks.JOINED] = joined
            self._joined = [row for row in self._joined if row >= end]
        limits = (self._options.max_characters, self._options.line_breaks)
        for column, role in roles_of(self._options).items():
            _, counted = checked(part, column, role, *limits)
            self._given[column] += counted["given"]
        self._write("corpus", part, statistics)

    def _write_reject_part(self) -> None:
        table = pa.concat_tables(self._rejects) if self._rejects else self._reject_schema.empty_table()
        self._rejects = []
        self._write("rejects", table, {"reasons": dict(sorted(Counter(table["reason"].to_pylist()).items()))})

    def _write(self, stage: str, table: pa.Table, statistics: dict[str, object]) -> None:
        if len(self._being_written) > 1:  # no more than two parts in memory
            self._collect()
        index = self._begun[stage]
        self._begun[stage] += 1
        part = stage, index, table.schema, _row_groups(table), self._settings, statistics
        self._being_written.append(self._thread.submit(self._store.write_part, *part))

    def _collect(self) -> None:
        pending = self._being_written.popleft().result()
        self._parts[pending.stage].append(pending)

    def finish(self) -> None:
        """Write what is left to `.work/`; nothing of the store is changed."""
        if self._waiting_rows:
            self._write_corpus_part()
        if self._rejects or not self._begun["rejects"]:
            self._write_reject_part()
        while self._being_written:
            self._collect()
        for column, given in self._given.items():
            if not given:
                refuse_empty(column)

    def append(self, with_corpus: Sequence[str]) -> None:
        """Write what is left, and enter all parts in the manifest at once, behind those that are there."""
        self.finish()
        self._store.append([*self._parts["rejects"], *self._parts["corpus"]], self._settings, with_corpus)
        for stage in self._parts:
            self._store.clean_work(stage)

    def commit(self) -> None:
        """Fix the row ranges of the parts, and enter all parts in the manifest; `finish` comes before it."""
        first, row_ranges = 0, []
        for pending in self._parts["corpus"]:
            row_ranges.append((first, pending.part.rows))
            first += pending.part.rows
        self._store.set_row_ranges(row_ranges)
        # Rejects first: a store with a complete corpus always has its rejects.
        for stage in ("rejects", "corpus"):
            missing = self._store.begin(stage, self._settings, len(self._parts[stage]))
            for pending in self._parts[stage]:
                if pending.index in missing:
                    self._store.commit(pending)
            self._store.clean_work(stage)


def _row_groups(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, max(table.num_rows, 1), ROW_GROUP_ROWS):
        rows = table.slice(start, ROW_GROUP_ROWS)
        if "text" in rows.column_names and (pc.sum(pc.binary_length(rows["text"])).as_py() or 0) > _MOST_TEXT:
            first = rows["source"][0].as_py(), rows["line"][0].as_py()
            raise BadInputError(
                f"{first[0]}, from line {first[1]}: {rows.num_rows:,} texts in a row take more than "
                f"{_MOST_TEXT:,} bytes; set long ones aside with a smaller --max-characters, or cut them up"
            )
        yield rows
