"""What a pipeline says of some texts, as a table: no engine, no store."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.store.parquet import PARSES
from augment_cli.text.spans import offsets_from_lengths
from augment_cli.text.untouched import original_places, spaces_within, without

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.strings import StringStore
    from spacy.tokens import Doc

# Texts that go through the pipeline together: the more, the fewer distinct words for each text, and the fewer
# steps of the parser. Long texts make smaller batches, so that memory is bounded. The answers do not depend
# on it.
BATCH_TEXTS = 1_024
BATCH_CHARACTERS = 256_000

_ATTRIBUTES = ["IDX", "LENGTH", "SPACY", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"]
_EMPTY_MORPHOLOGY = "_"
_NOWHERE = np.zeros(0, np.int64)


def parse_texts(
    nlp: Language, texts: pa.StringArray, row_ids: np.ndarray | None = None, joins: bool = True
) -> pa.Table:
    """The table of texts without nulls; `row_ids` count from 0 by default."""
    # joins: English contractions written apart (`do n't`) are read as one
    from augment_cli.parsing.docs import docs_of  # spaCy is loaded where there is a pipeline

    blocks: list[np.ndarray] = [np.zeros((0, len(_ATTRIBUTES)), np.uint64)]
    # What new words leave in the vocabulary is given back at the end: memory is bounded by the texts.
    with _one_thread(), nlp.memory_zone():
        for batch in _batches(texts.to_pylist()):
            joined = joins and nlp.lang == "en"
            split = [spaces_within(text) if joined else _NOWHERE for text in batch]
            read = [without(text, at) if len(at) else text for text, at in zip(batch, split, strict=True)]
            for text, at, doc in zip(read, split, docs_of(nlp, read), strict=True):
                if doc.text != text:
                    raise UsageError(_altered(nlp, text, doc))
                block = doc.to_array([*_ATTRIBUTES]).reshape(len(doc), len(_ATTRIBUTES))
                blocks.append(_apart(block, at) if len(at) else block)
        lengths = np.array([len(block) for block in blocks[1:]], np.int64)
        columns = _columns(np.concatenate(blocks), lengths, nlp.vocab.strings)
    offsets = pa.array(offsets_from_lengths(lengths), pa.int32())
    row_ids = np.arange(len(texts)) if row_ids is None else row_ids
    lists = [pa.ListArray.from_arrays(offsets, columns[name]) for name in PARSES.names[1:]]
    return pa.table([pa.array(row_ids, pa.int64()), *lists], names=PARSES.names).cast(PARSES)


def _apart(block: np.ndarray, places: np.ndarray) -> np.ndarray:
    """A text's attributes with its contractions apart again: `n't` behind a space."""
    starts = block[:, 0].astype(np.int64)
    first, last = original_places(starts, starts + block[:, 1].astype(np.int64), places)
    block[:, 0], block[:, 1] = first, last - first
    block[:-1, 2] = first[1:] > last[:-1]
    return block


def _columns(flat: np.ndarray, lengths: np.ndarray, strings: StringStore) -> dict[str, pa.Array]:
    """The leaves of each list column from spaCy's attributes, uint64 (N, 10)."""
    value = {name: flat[:, position] for position, name in enumerate(_ATTRIBUTES)}
    first = np.cumsum(lengths) - lengths
    position = np.arange(len(flat)) - np.repeat(first, lengths)
    starts = value["IDX"].astype(np.int32)
    return {
        "starts": pa.array(starts),
        "ends": pa.array(starts + value["LENGTH"].astype(np.int32)),
        "whitespace": pa.array(value["SPACY"].astype(bool)),
        "lemmas": _strings(value["LEMMA"], strings),
        "pos": _strings(value["POS"], strings),
        "tags": _strings(value["TAG"], strings),
        "morphs": _strings(value["MORPH"], strings, absent=_EMPTY_MORPHOLOGY),
        "deps": _strings(value["DEP"], strings),
        # spaCy counts from the token, modulo 2^64.
        "heads": pa.array((position + value["HEAD"].astype(np.int64)).astype(np.int32)),
        "sentence_starts": pa.array((value["SENT_START"].astype(np.int64) == 1) | (position == 0)),
    }


def _strings(hashes: np.ndarray, strings: StringStore, absent: str = "") -> pa.StringArray:
    """Strings of spaCy's hashes, each looked up once; `absent`, which stands for nothing, becomes empty."""
    distinct, codes = np.unique(hashes, return_inverse=True)
    values = ["" if (value := strings[int(one)]) == absent else value for one in distinct]
    dictionary = pa.array(values, pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), dictionary).cast(pa.string())


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _altered(nlp: Language, text: str, doc: Doc) -> str:
    place = next((i for i, (a, b) in enumerate(zip(text, doc.text, strict=False)) if a != b), len(doc.text))
    return (
        f"pipeline {nlp.lang}_{nlp.meta['name']}: its tokens do not give the text again (from "
        f"{text[place : place + 20]!r} on), so no edit could be placed; choose another with --pipeline"
    )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep matrix products, and torch where a pipeline runs on it, to the one thread that each worker has."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")
    with threadpool_limits(1, user_api="blas"), contextlib.ExitStack() as afterwards:
        if torch is not None:
            afterwards.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield
