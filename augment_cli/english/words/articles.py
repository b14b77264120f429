"""Whether English puts `a` or `an` before a word, and which articles a change leaves wrong."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.english.words.words import Words
from augment_cli.syntax.tree import words

ARTICLES = pa.array(["a", "an"])


def article_changes(
    words: Words, articles: np.ndarray, following: pa.Array, adjacent: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    """Which indefinite articles no longer fit the word behind them, and what they become."""
    # articles: ndarray of int64, shape (m,); Index of the word before each changed place; any number where
    # `adjacent` is False.
    # adjacent: ndarray of bool, shape (m,); Whether it stands directly behind it.
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
