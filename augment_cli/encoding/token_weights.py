"""Weights of tokens from how often a corpus uses them: the oldest way to a better sentence vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from augment_cli.encoding.words_apart import flat, whole_texts
from augment_cli.errors import UsageError
from augment_cli.store.files import sha256_of_json
from augment_cli.store.store import Store

KINDS = ("idf", "sif")
SIF = 1e-3  # a of Arora et al. 2017, the value of their experiments
_CHUNK = 4096  # texts tokenised at once


@dataclass(frozen=True)
class TokenCounts:
    """How often the tokens of a vocabulary of V occur."""

    occurrences: np.ndarray  # of each token in all texts, shape (V,), int64
    documents: np.ndarray  # number of texts that hold it, shape (V,), int64
    texts: int  # how many texts were counted
    # ids that the tokenizer adds to every text; they carry no meaning and get no weight
    special: tuple[int, ...] = ()

    @property
    def probability(self) -> np.ndarray:
        """Share of each token among all, shape (V,)."""
        return self.occurrences / max(1, self.occurrences.sum())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the numbers."""
        parts = [self.occurrences.tolist(), self.documents.tolist(), self.texts, list(self.special)]
        return sha256_of_json(parts)

    def weights(self, kind: str) -> np.ndarray:
        """Weight of each token, shape (V,), float32; 0 for special tokens."""
        if kind == "idf":
            found = np.log((1 + self.texts) / (1 + self.documents))
        elif kind == "sif":
            found = SIF / (SIF + self.probability)
        else:
            raise UsageError(f"unknown token weights {kind!r}; choose one of {', '.join(KINDS)}")
        found[list(self.special)] = 0
        return found.astype(np.float32)


def count_tokens(texts: Iterable[str], tokenizer: Any) -> TokenCounts:
    """Count the tokens of texts, special ones left out, whole texts whatever their length."""
    size = len(tokenizer)
    occurrences, documents, total = np.zeros(size, np.int64), np.zeros(size, np.int64), 0
    rest = iter(texts)
    while chunk := list(islice(rest, _CHUNK)):
        ids, lengths = flat(whole_texts(tokenizer), chunk)
        occurrences += np.bincount(ids, minlength=size)
        rows = np.repeat(np.arange(len(chunk)), lengths)
        documents += np.bincount(np.unique(rows * size + ids) % size, minlength=size)
        total += len(chunk)
    return TokenCounts(occurrences, documents, total, tuple(sorted(tokenizer.all_special_ids)))


def count_store(store: Store, tokenizer: Any, most: int = 0) -> TokenCounts:
    """Count the tokens of a store's corpus."""
    return count_tokens(texts_of(store, most), tokenizer)


def texts_of(store: Store, most: int = 0) -> Iterator[str]:
    """The first texts of a store's corpus, in its order; all where `most` is 0."""

    def every() -> Iterator[str]:
        for index in sorted(store.stage("corpus").parts):
            yield from store.read_part("corpus", index, ["text"])["text"].to_pylist()

    return islice(every(), most or None)
