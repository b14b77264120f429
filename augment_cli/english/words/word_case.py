"""`a` or `an` before a word, and words that move: a capital that marked the beginning stays there."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english.words.words import Words
from augment_cli.resources import word_list
from augment_cli.resources.wordnet import load_wordnet
from augment_cli.syntax.tree import words
from augment_cli.text.surface import capitalised

ARTICLES = pa.array(["a", "an"])


def article_changes(
    words: Words, articles: np.ndarray, following: pa.Array, adjacent: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    """Which indefinite articles no longer fit the word behind them, and what they become."""
    # `articles` (m,) is the word before each changed place, if it stands directly before it, `adjacent` (m,).
    # `a river` with `ocean` for `river`: its `a` becomes `an`.
    is_article = words.among(ARTICLES)
    candidates = np.flatnonzero(adjacent & (articles >= 0))
    candidates = candidates[is_article[articles[candidates]]]
    if not len(candidates):
        return np.zeros(0, np.int64), pa.array([], pa.string())
    articles = articles[candidates]
    encoded = following.take(pa.array(candidates)).dictionary_encode()
    sounds = np.array([begins_with_vowel_sound(word) for word in encoded.dictionary.to_pylist()], bool)
    wants_an = sounds[encoded.indices.to_numpy()]
    is_an = words.flat_ends[articles] - words.flat_starts[articles] == 2
    # A letter A as a name, such as `Vitamin A`, is not an article, and neither is one in capitals.
    plain = words.strings.take(pa.array(articles)).to_pylist()
    known = np.array([word in {"a", "an", "A", "An"} for word in plain], bool)
    first = words.positions[articles] == 0
    known &= first | np.array([word[0] == "a" for word in plain], bool)
    wrong = np.flatnonzero((wants_an != is_an) & known)
    changed = [plain[place][0] + ("n" if wants_an[place] else "") for place in wrong.tolist()]
    return articles[wrong], pa.array(changed, pa.string())


_VOWEL_LETTERS = frozenset("aeiou")
# Written with a vowel and spoken with a consonant, and the other way round.
_CONSONANT_SOUNDS = tuple(
    words("eu ew one- once ouija uni use usu usa uti ura ure uro ubi uga uku ute uta ufo")
)
_VOWEL_SOUNDS = ("hour", "heir", "honest", "honor", "honour", "herb ", "8", "11,", "18,")
_SPELLED_VOWELS = frozenset("AEFHILMNORSX")
# unimportant, unidentified: `un` as a prefix before i, not the stem of `one`.
_NEGATED = ("unim", "unin", "unid", "unig", "unill", "unit ", "unir")


@lru_cache(maxsize=200_000)
def begins_with_vowel_sound(word: str) -> bool:
    """Whether English puts `an` before a word."""
    if not word:
        return False
    if len(word) > 1 and word[:2].isupper() and word.isupper():
        return word[0] in _SPELLED_VOWELS  # an FBI agent
    lowered = word.lower()
    if lowered[0].isdigit():
        return lowered[0] == "8" or lowered.rstrip("th") in {"11", "18"}
    if lowered.startswith(_VOWEL_SOUNDS):
        return True
    if lowered == "one" or lowered.startswith("one-"):
        return False
    if lowered.startswith(_NEGATED):
        return True
    return lowered[0] in _VOWEL_LETTERS and not lowered.startswith(_CONSONANT_SOUNDS)


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
