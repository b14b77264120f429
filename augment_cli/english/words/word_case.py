"""Words that move: a capital that only marked the sentence's beginning stays at the beginning."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english.words.words import Words
from augment_cli.resources.word_lists import word_list
from augment_cli.resources.wordnet import load_wordnet
from augment_cli.text.letter_case import capitalised

# Written with a capital wherever they stand.
_PINNED = pa.array(
    [
        *("i", "i'm", "i've", "i'd", "i'll", "mr", "mrs", "ms", "dr"),
        *("january", "february", "april", "june", "july", "august", "september", "october", "november"),
        *("december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ]
)


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Lower-case words that are not names: WordNet's, and the function words."""
    return frozenset([*load_wordnet().common_words.to_pylist(), *word_list("function_words")])


def lower_first_words(words: Words, index: np.ndarray) -> pa.StringArray:
    """The words (m,) as they stand, those that begin their text in lower case unless they are names."""
    strings = words.strings.take(pa.array(index))
    first = np.flatnonzero(words.positions[index] == 0)
    if not len(first):
        return strings
    plain = strings.take(pa.array(first))
    lower = loses_capital(plain)
    mask = np.zeros(len(index), bool)
    mask[first[lower]] = True
    return pc.replace_with_mask(strings, pa.array(mask), pc.utf8_lower(plain.filter(pa.array(lower))))


def loses_capital(strings: pa.StringArray) -> np.ndarray:
    """bool (m,): words with a capital that they have at the beginning of a sentence only."""
    lowered = pc.utf8_lower(strings)
    is_capitalised = pc.equal(strings, capitalised(lowered)).to_numpy(zero_copy_only=False)
    known = common_words()
    common = np.array([word in known for word in lowered.to_pylist()], bool)
    pinned = pc.is_in(lowered, _PINNED).to_numpy(zero_copy_only=False)
    return is_capitalised & common & ~pinned
