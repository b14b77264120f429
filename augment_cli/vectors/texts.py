"""Texts of a stage over all its parts: which rows hold equal ones, and how long they are."""

import hashlib
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
from augment_cli.ingest.options import GIVEN
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store
from augment_cli.text.surface import normalize
from augment_cli.vectors.stages import CORPUS_STAGE


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


def equal_rows(store: Store, *stages: str, normalized: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """For each row of some stages, one behind the other, the first with the same text, and its length."""
    # Without a text these are −1 and 0.
    digests, lengths, present = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for stage, index in itertools.product(stages, range(len(store.parts))):
        texts = store.read_part(stage, index, ["text"])["text"].combine_chunks()
        present.append(texts.is_valid().to_numpy(zero_copy_only=False))
        lengths.append(pc.fill_null(pc.utf8_length(texts), 0).to_numpy().astype(np.int64))
        digests.append(digests_of(normalize(texts) if normalized else texts))
    halves = np.concatenate(digests).reshape(-1, 2)
    there = np.concatenate(present)
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: of equal texts the first row comes first
    is_new = np.ones(len(order), bool)
    is_new[1:] = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    first = np.empty(len(order), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    first[~there] = -1
    return first, np.concatenate(lengths)


def sentences_and_pairs(store: Store, positives: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """For each row the first with an equal sentence, and the pairs that are each other's positives."""
    # A pair of first rows a, b is the number a·n + b, and is there both ways; int64, rising, without repeats.
    rows = store.rows
    first, _ = equal_rows(store, CORPUS_STAGE, *positives, normalized=True)
    sentences, others = first[:rows], first[rows:]
    is_sentence = (others >= 0) & (others < rows)
    own, others = np.tile(sentences, len(positives))[is_sentence], others[is_sentence]
    return sentences, np.unique(np.concatenate([own * rows + others, others * rows + own]))


def given_positives(store: Store) -> list[str]:
    """The finished stages of positives that came with the input."""
    return [
        name
        for name in store.stages()
        if (settings := store.stage(name).settings)["stage"] == GIVEN
        and settings["parameters"]["kind"] == "positive"
        and store.has(name)
    ]


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


def digests_of(texts: pa.Array) -> np.ndarray:
    """128 bits of each text as two uint64, flat; rows without a text have one of their own."""
    whole = b"".join(
        hashlib.blake2b(text or b"", digest_size=16, person=b"text" if text is not None else b"null").digest()
        for text in texts.cast(pa.binary()).to_pylist()
    )
    return np.frombuffer(whole, np.uint64)
