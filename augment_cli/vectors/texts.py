"""Texts of a stage over all its parts: which rows hold equal ones, and how long they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store
from augment_cli.text.normalization import normalize


def check_text_stage(store: Store, stage: str) -> None:
    """See that a stage has one text, or null, for each row of the corpus, and is finished."""
    record = store.stage(stage)
    if not store.has(stage):
        raise UsageError(f"{store.path}: stage {stage!r} is unfinished; run it again to finish it")
    if record.expected_parts != len(store.parts) or record.rows != store.rows:
        raise UsageError(f"{store.path}: stage {stage!r} has no row for each row of the corpus")
    columns = describe(store.part_path(stage, 0))[1].names if store.parts else ["row_id", "text"]
    if not {"row_id", "text"} <= set(columns):
        raise UsageError(f"{store.path}: stage {stage!r} has no texts; it has {', '.join(columns)}")


def equal_rows(store: Store, stage: str, normalized: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """For each row of a stage the first row with the same text, and how long its text is."""
    # Without a text these are −1 and 0.
    digests, lengths, present = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for index in range(len(store.parts)):
        texts = store.read_part(stage, index, ["text"])["text"].combine_chunks()
        present.append(texts.is_valid().to_numpy(zero_copy_only=False))
        lengths.append(pc.fill_null(pc.utf8_length(texts), 0).to_numpy().astype(np.int64))
        digests.append(_digests(normalize(texts) if normalized else texts))
    halves = np.concatenate(digests).reshape(-1, 2)
    there = np.concatenate(present)
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: of equal texts the first row comes first
    is_new = np.ones(len(order), bool)
    is_new[1:] = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    first = np.empty(len(order), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    first[~there] = -1
    return first, np.concatenate(lengths)


def rows_by_part(store: Store, row_ids: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Each part that has some of the rows: its index, which they are of `row_ids`, their rows in the part."""
    for index, (start, size) in enumerate(store.parts):
        some = np.flatnonzero((row_ids >= start) & (row_ids < start + size))
        if len(some):
            yield index, some, row_ids[some] - start


def texts_of(store: Store, row_ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sentences of the corpus by row_id, null where that is null; one part is in memory at a time."""
    wanted = pc.fill_null(row_ids, -1).to_numpy()
    pieces, position, count = [pa.array([], pa.string())], np.full(len(wanted), -1), 0
    for index, some, places in rows_by_part(store, wanted):
        column = store.read_part("corpus", index, ["text"])["text"].combine_chunks()
        pieces.append(column.take(pa.array(places)))
        position[some] = np.arange(count, count := count + len(some))
    found = pa.chunked_array(pieces).combine_chunks()
    return pa.chunked_array([found.take(pa.array(position, mask=position < 0))])


def _digests(texts: pa.Array) -> np.ndarray:
    """128 bits of each text as two uint64, flat; a row without text gets one of its own."""
    whole = b"".join(
        hashlib.blake2b(text or b"", digest_size=16, person=b"text" if text is not None else b"null").digest()
        for text in texts.cast(pa.binary()).to_pylist()
    )
    return np.frombuffer(whole, np.uint64)
