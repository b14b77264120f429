"""Which texts are positives of which sentences, over the whole store: what no row may have as a negative."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.labels import row_labels
from augment_cli.contract.entailment import BY_LABEL, NEEDED
from augment_cli.pack.options import CORPUS_STAGE, PackOptions
from augment_cli.store.store import Store
from augment_cli.vectors.texts import digests_of, given_positives

NO_PAIRS = np.zeros(0, np.uint64)


def positive_stages(store: Store, options: PackOptions) -> list[str]:
    """The stages whose texts are nobody's negatives where the sentence is equal: the sentence itself, too."""
    return list(dict.fromkeys([CORPUS_STAGE, *options.positives, *given_positives(store)]))


def known_pairs(store: Store, options: PackOptions) -> np.ndarray:
    """Pairs of sentences and their positives in all parts, as `pairs_of` gives them, rising."""
    pairs = [NO_PAIRS]
    for index in range(len(store.parts)):
        own = (texts_of(store, name, index, options) for name in positive_stages(store, options))
        pairs.append(pairs_among(own))
    return np.unique(np.concatenate(pairs))


def pairs_among(columns: Iterable[pa.ChunkedArray]) -> np.ndarray:
    """Pairs of the sentences, which come first, with each of the other columns, and with themselves."""
    sentences, *others = columns
    pairs = [pairs_of(sentences, texts)[texts.is_valid().to_numpy()] for texts in (sentences, *others)]
    return np.unique(np.concatenate(pairs))


def pairs_of(sentences: pa.ChunkedArray, texts: pa.ChunkedArray) -> np.ndarray:
    """A number for each pair, uint64 (n,): equal where both texts are, but for case and spaces."""
    first, second = (digests_of(_alike(column)).reshape(-1, 2)[:, 0] for column in (sentences, texts))
    return first * np.uint64(0x9E3779B97F4A7C15) + second


def has_repeats(store: Store) -> bool:
    """Whether a sentence is there more than once, but for case and spaces."""
    return _has_repeats(store.path, store.stage(CORPUS_STAGE).digest)


@lru_cache(maxsize=1)
def _has_repeats(path: Path, digest: str) -> bool:
    store = Store.open(path)
    digests = [NO_PAIRS]
    for index in range(len(store.parts)):
        digests.append(digests_of(_alike(store.read_part(CORPUS_STAGE, index, ["text"])["text"]))[::2])
    whole = np.concatenate(digests)
    return len(np.unique(whole)) < len(whole)


def _alike(texts: pa.ChunkedArray) -> pa.Array:
    # Signs count: "C++" is not "C#".
    spaced = pc.replace_substring_regex(pc.utf8_lower(texts.combine_chunks()), r"\s+", " ")
    return pc.utf8_trim_whitespace(spaced)


def texts_of(store: Store, name: str, index: int, options: PackOptions) -> pa.ChunkedArray:
    """The texts of a part of a stage, null where the row's own label does not fit its column."""
    texts = store.read_part(name, index, ["text"])["text"]
    if options.labels != BY_LABEL or (labels := row_labels(store, name, index)) is None:
        return texts
    needed = NEEDED["positive" if name in options.positives else "negative"]
    return pc.if_else(pc.equal(labels, needed), texts, pa.scalar(None, pa.string()))
