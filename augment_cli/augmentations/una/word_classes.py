"""Classes of terms for `same = "pos"`: only a term of the same class fits the place.

Names and numbers have the classes of their kinds (`entity_kinds.py`). Words have those of a list of words
that stand for one another in most sentences, and mean something else (`words/exchangeable_words.txt`),
parted by form: a plural comes for a plural, a past tense for a past tense. A spelling that is as well
another part of speech has no class, as no table says which of them a sentence means; nor has any other word.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.entity_kinds import NO_ENTITY, entity_digests, kinds_of_terms
from augment_cli.resources.tags import TAGS
from augment_cli.resources.word_lists import word_list_digests, word_table
from augment_cli.resources.wordnet import PART_LETTERS, load_wordnet, wordnet_digest
from augment_cli.tfidf import forms
from augment_cli.tfidf.term_table import TermTable

NO_CLASS = -1
RULES = 2  # 1 drew any word of the same part of speech and form
_LEAST_SHARE = 0.1  # of its uses, from which another part of speech makes a spelling ambiguous
_WORDS = 1 << 20  # classes of words stand above the kinds of names and numbers
_FORMS = 1 << 13  # times the line, above the bits of `TAGS`


def class_digests() -> dict[str, str]:
    """Digests of the shipped tables and lists that decide classes."""
    return {"wordnet": wordnet_digest()} | word_list_digests("exchangeable_words") | entity_digests()


def classes_of(table: TermTable) -> np.ndarray:
    """int32 (V,): a number for each term's class, 0, 1, 2, …; −1 for terms that are never replaced."""
    spellings, codes = _exchangeable()
    place = pc.fill_null(pc.index_in(table.terms, spellings), -1).to_numpy(zero_copy_only=False)
    found = np.where(place >= 0, codes[place], NO_CLASS)
    if len(table.cases):  # `President` for a governor, `Moon` for the sun
        found = np.where(table.cases == forms.AS_IT_IS, found, NO_CLASS)
    kinds = kinds_of_terms(table)
    found = np.where(kinds != NO_ENTITY, kinds, found)
    _, numbers = np.unique(found[found >= 0], return_inverse=True)
    result = np.full(len(found), NO_CLASS, np.int32)
    result[found >= 0] = numbers
    return result


@lru_cache(maxsize=1)
def _exchangeable() -> tuple[pa.StringArray, np.ndarray]:
    """The spellings of the listed words, and a number for the line and form of each."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    spelling = encoded.indices.to_numpy()
    uses = wordnet.entry_counts[wordnet.form_entries] + 0.5
    often = uses >= _LEAST_SHARE * np.bincount(spelling, uses)[spelling]
    parts = wordnet.entry_parts[wordnet.form_entries]
    bits = wordnet.form_bits.astype(np.int64)
    # lemminflect lists mass nouns, and many others, as their own plural.
    bits = np.where(bits & TAGS["NN"] > 0, bits & ~TAGS["NNS"], bits)
    found: dict[str, int] = {}
    for line, (letter, words) in enumerate(word_table("exchangeable_words")):
        if letter == "-":
            found |= dict.fromkeys(words.split(), _WORDS + line * _FORMS)
            continue
        part = PART_LETTERS.index(letter)
        entries = pc.is_in(wordnet.lemmas, pa.array(words.split())).to_numpy(zero_copy_only=False)
        mine = entries[wordnet.form_entries] & (parts == part)
        other = np.bincount(spelling, often & (parts != part), len(encoded.dictionary)) > 0
        for form in np.flatnonzero(mine & often & ~other[spelling]).tolist():
            word = wordnet.forms[form].as_py()
            # Of a spelling that is several forms, all of them: `walked`, past tense and participle.
            found[word] = found.get(word, _WORDS + line * _FORMS) | int(bits[form])
    return pa.array(list(found), pa.string()), np.array(list(found.values()), np.int64)
