"""What sort of thing a noun names, by WordNet."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import words

_PERSON, _NAME = 18, -2  # lexicographer file noun.person
_PERSONS = words("i you he she we they me him her us them")


@lru_cache(maxsize=1)
def _files() -> dict[str, int]:
    """Lexicographer file of each noun's most frequent sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    files = wordnet.synset_files[wordnet.sense_synsets[wordnet.entry_senses[entries]]]
    lemmas = wordnet.lemmas.take(pa.array(entries)).to_pylist()
    return dict(zip(lemmas, files.tolist(), strict=True))


def file_of(lemma: str) -> int:
    """Lexicographer file of a noun's most frequent sense, or −1."""
    word = lemma.lower()
    return _files().get(word, _files().get(word.removesuffix("s"), -1))


def kinds_of(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): what sort of thing each noun names, by WordNet's files; names are one sort."""
    parses = view.parses
    kinds = parses.lemmas_at(heads).map(file_of, np.int64)
    kinds[parses.lower_at(heads).among(_PERSONS)] = _PERSON
    kinds[parses.tags.at(heads).among({"NNP", "NNPS"})] = _NAME
    return kinds
