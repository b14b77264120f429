"""Edits on words: choosing them, replacing them in their case, removing them with their space."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.base import (
    NO_ELIGIBLE_TOKEN,
    NO_POSITION_DRAWN,
    NO_TOKEN,
    parameter,
)
from augment_cli.draws import uniform
from augment_cli.spans import Edits, string_array
from augment_cli.surface import LOWER, UPPER, case_pattern, character_classes
from augment_cli.words import Words

AMOUNTS = ("ceil", "floor", "coin")
AMOUNT_HELP = (
    "how many words a rate means: ceil, ⌈rate·words⌉; floor, ⌊rate·words⌋ but at least one; "
    "coin, each word on its own with this probability"
)


def rate_parameter(default: float, help: str) -> float:
    """The parameter `rate`."""
    return parameter(default, help, minimum=0, maximum=1)


def amount_parameter(default: str) -> str:
    """The parameter `amount`."""
    return parameter(default, AMOUNT_HELP, choices=AMOUNTS)


def maximum_parameter(default: int) -> int:
    """The parameter `maximum`."""
    return parameter(default, "at most so many words of a sentence; 0 for no limit", minimum=0)


def counts_of(words: np.ndarray, rate: float, amount: str, maximum: int) -> np.ndarray:
    """int64 (n,): how many of `words` (n,) a rate means; at least one where the rate is above 0."""
    # 0.1·30 is 3.0000000000000004 for some factors: a hair above is not another word.
    counts = np.ceil(rate * words - 1e-9) if amount == "ceil" else np.floor(rate * words + 1e-9)
    counts = np.maximum(counts, 1 if rate > 0 else 0)
    if maximum:
        counts = np.minimum(counts, maximum)
    return counts.astype(np.int64)


def choose(
    words: Words,
    row_ids: np.ndarray,
    eligible: np.ndarray,
    key: int,
    rate: float,
    amount: str = "ceil",
    maximum: int = 0,
) -> np.ndarray:
    """Choose some of the eligible words of each text.

    Parameters
    ----------
    words : Words
        N words of n texts.
    row_ids : ndarray of int64, shape (n,)
    eligible : ndarray of bool, shape (N,)
    key : int
        From `Resources.key`.
    rate : float
        In [0, 1], of all words of a text.
    amount : {"ceil", "floor", "coin"}
        How a rate becomes a number of words; see `AMOUNT_HELP`.
    maximum : int
        At most so many; 0 for no limit.

    Returns
    -------
    ndarray of int64, shape (m,)
        Indices of the chosen words, rising.
    """
    index = np.flatnonzero(eligible)
    rows = words.rows[index]
    draws = uniform(key, row_ids[rows], words.positions[index])
    if amount == "coin":
        drawn = draws < rate
        index, rows, draws = index[drawn], rows[drawn], draws[drawn]
        limit = np.full(len(words.counts), maximum or np.iinfo(np.int64).max)
        if not maximum:
            return index
    else:
        limit = counts_of(words.counts, rate, amount, maximum)
    return np.sort(index[ranks_within(rows, draws) < limit[rows]])


def ranks_within(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """int64 (m,): rank of each of `values`, in [0, 1), among those of its row; rows (m,) rise."""
    order = np.argsort(rows + values, kind="stable")  # one sort for both keys
    first = np.searchsorted(rows, rows, "left")
    ranks = np.empty(len(rows), np.int64)
    ranks[order] = np.arange(len(rows))
    return ranks - first


def reasons_for(words: Words, eligible: np.ndarray) -> np.ndarray:
    """Why rows without an edit have none: no words, no eligible one, or none drawn; object (n,)."""
    count = len(words.counts)
    reasons = np.full(count, NO_POSITION_DRAWN, object)
    reasons[np.bincount(words.rows[eligible], minlength=count) == 0] = NO_ELIGIBLE_TOKEN
    reasons[words.counts == 0] = NO_TOKEN
    return reasons


def count_columns(**counts: np.ndarray) -> dict[str, pa.Array]:
    """Numbers a row (n,) as int32 columns."""
    return {name: pa.array(values.astype(np.int32)) for name, values in counts.items()}


def edits_of(
    words: Words, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, replacements: pa.Array
) -> Edits:
    """Edits from rows and spans (m,) in the flattened code points, in any order; none may overlap."""
    order = np.lexsort((ends, starts, rows))
    rows, starts, ends = rows[order], starts[order], ends[order]
    base = words.texts.offsets[rows]
    return Edits(
        rows.astype(np.int64),
        (starts - base).astype(np.int32),
        (ends - base).astype(np.int32),
        replacements.take(pa.array(order)).cast(pa.string()),
    )


def merged(one: Edits, other: Edits) -> Edits:
    """The edits of both, which touch different rows."""
    rows = np.concatenate([one.rows, other.rows])
    order = np.argsort(rows, kind="stable")
    return Edits(
        rows[order],
        np.concatenate([one.starts, other.starts])[order],
        np.concatenate([one.ends, other.ends])[order],
        pa.concat_arrays([one.replacements, other.replacements]).take(pa.array(order)),
    )


def some_edits(edits: Edits, keep: np.ndarray) -> Edits:
    """The edits of a bool mask (m,)."""
    replacements = edits.replacements.filter(pa.array(keep))
    return Edits(edits.rows[keep], edits.starts[keep], edits.ends[keep], replacements)


def nothing() -> pa.StringArray:
    """No strings."""
    return pa.array([], pa.string())


def in_case_of(words: Words, index: np.ndarray, replacements: pa.Array) -> pa.StringArray:
    """Replacements (m,) in the case pattern of the words they stand for: as it is, Capitalised, CAPITALS."""
    patterns = case_pattern(words.texts, words.starts[index], words.ends[index])
    if not patterns.any():
        return replacements
    result = replacements
    for pattern, change in ((1, capitalised), (2, pc.utf8_upper)):
        chosen = patterns == pattern
        if chosen.any():
            changed = change(replacements.filter(pa.array(chosen)))
            result = pc.replace_with_mask(result, pa.array(chosen), changed)
    return result


def in_case_of_first(words: Words, index: np.ndarray, strings: pa.Array) -> pa.StringArray:
    """Strings (m,), with a capital where the word they begin in the place of has one."""
    classes = character_classes()
    mask = pa.array(classes[words.texts.values[words.starts[index]]] & UPPER > 0)
    return pc.replace_with_mask(strings, mask, capitalised(strings.filter(mask)))


def capitalised(strings: pa.Array) -> pa.Array:
    """The first letter in upper case, the others as they are."""
    first = pc.utf8_upper(pc.utf8_slice_codeunits(strings, 0, 1))
    return pc.binary_join_element_wise(first, pc.utf8_slice_codeunits(strings, 1), "")


def replace_words(words: Words, index: np.ndarray, replacements: pa.Array) -> Edits:
    """Edits that put strings (m,) in the place of words (m,), with `a` and `an` adapted before them."""
    return replace_spans(words, index, index, replacements)


def replace_spans(words: Words, first: np.ndarray, last: np.ndarray, replacements: pa.Array) -> Edits:
    """As `replace_words`, for stretches from word first[i] to word last[i]."""
    articles, forms = article_changes(words, first - 1, replacements, words.follows_space[first])
    free = ~np.isin(articles, np.concatenate([first, last]))
    articles, forms = articles[free], forms.filter(pa.array(free))
    starts = np.concatenate([words.starts[first], words.starts[articles]])
    ends = np.concatenate([words.ends[last], words.ends[articles]])
    rows = words.rows[np.concatenate([first, articles])]
    return edits_of(words, rows, starts, ends, pa.concat_arrays([replacements.cast(pa.string()), forms]))


_ARTICLES = pa.array(["a", "an"])


def article_changes(
    words: Words, articles: np.ndarray, following: pa.Array, adjacent: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    """Which indefinite articles no longer fit the word behind them, and what they become.

    Parameters
    ----------
    words : Words
    articles : ndarray of int64, shape (m,)
        Index of the word before each changed place; any number where `adjacent` is False.
    following : pyarrow.Array, length m
        What will stand behind it.
    adjacent : ndarray of bool, shape (m,)
        Whether it stands directly behind it.
    """
    is_article = words.among(_ARTICLES)
    candidates = np.flatnonzero(adjacent & (articles >= 0))
    candidates = candidates[is_article[articles[candidates]]]
    if not len(candidates):
        return np.zeros(0, np.int64), nothing()
    articles = articles[candidates]
    encoded = following.take(pa.array(candidates)).dictionary_encode()
    sounds = np.array([begins_with_vowel_sound(word) for word in encoded.dictionary.to_pylist()], bool)
    wants_an = sounds[encoded.indices.to_numpy()]
    is_an = words.ends[articles] - words.starts[articles] == 2
    # A letter A as a name, such as `Vitamin A`, is no article; nor is one in capitals.
    plain = words.strings.take(pa.array(articles)).to_pylist()
    known = np.array([word in {"a", "an", "A", "An"} for word in plain], bool)
    first = words.positions[articles] == 0
    known &= first | np.array([word[0] == "a" for word in plain], bool)
    wrong = np.flatnonzero((wants_an != is_an) & known)
    changed = [plain[place][0] + ("n" if wants_an[place] else "") for place in wrong.tolist()]
    return articles[wrong], pa.array(changed, pa.string())


_VOWEL_LETTERS = frozenset("aeiou")
# Written with a vowel and spoken with a consonant, and the other way round.
_CONSONANT_SOUNDS = (
    "eu", "ew", "one-", "once", "ouija", "uni", "use", "usu", "usa", "uti", "ura", "ure", "uro", "ubi",
    "uga", "uku", "ute", "uta", "ufo",
)  # fmt: skip
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


_OPENING, _CLOSING = "([{\"“‘«'", ")]}\"”’»'"
_BRACKETS = '()[]{}"“”«»'
_SWALLOWED = ",;:"


@lru_cache(maxsize=1)
def _mark_flags() -> np.ndarray:
    """uint8 of every code point: 1 white space, 2 a comma and its like."""
    flags = np.zeros(0x110000, np.uint8)
    for code in range(0x3001):
        if chr(code).isspace():
            flags[code] = 1
    flags[[ord(mark) for mark in _SWALLOWED]] = 2
    return flags


def remove_words(words: Words, removed: np.ndarray) -> Edits:
    """Edits that take words out, each with one of the spaces beside it.

    Neighbouring removed words go in one edit, with the commas between them; brackets and quotation
    marks stay. A comma, semicolon or colon that would then begin the text or follow another mark goes
    too, and so do brackets and quotation marks around nothing. The first word that is left takes over
    a capital at the text's beginning, and `a` becomes `an` where the next word now asks for it.

    Parameters
    ----------
    words : Words
    removed : ndarray of bool, shape (N,)
        At least one word of each text must stay.
    """
    index = np.flatnonzero(removed)
    if not len(index):
        return edits_of(words, index, index, index, nothing())
    rows = words.rows
    first, last = _runs(words, index)
    starts, ends = _removed_spans(words, first, last)

    # What the rest needs: a capital at the beginning, another article.
    kept = np.append(np.flatnonzero(~removed), len(words))
    following = kept[np.searchsorted(kept, last)]
    has_next = following < words.offsets[rows[last] + 1]
    capital_at = np.unique(_new_capitals(words, first, following, has_next))
    inside = pc.utf8_upper(_characters(words.texts.values[words.starts[capital_at]]))
    articles, forms = _articles_before_gaps(words, first, following, has_next & (following == last + 1))
    # An article that now begins the text takes its capital in the same edit.
    opening = np.isin(articles, capital_at)
    if opening.any():
        mask = pa.array(opening)
        forms = pc.replace_with_mask(forms, mask, capitalised(forms.filter(mask)))
        free = ~np.isin(capital_at, articles)
        capital_at, inside = capital_at[free], inside.filter(pa.array(free))
    owners = np.concatenate([rows[first], rows[capital_at], rows[articles]])
    places = np.concatenate([starts, words.starts[capital_at], words.starts[articles]])
    stops = np.concatenate([ends, words.starts[capital_at] + 1, words.ends[articles]])
    texts = pa.concat_arrays([pa.array([""] * len(starts), pa.string()), inside, forms])
    return edits_of(words, owners, places, stops, texts)


def _runs(words: Words, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last word of each run of neighbours in `index`, parted at brackets and quotation marks."""
    apart = (np.diff(index) > 1) | (np.diff(words.rows[index]) > 0)
    touching = np.flatnonzero(~apart)
    apart[touching] = _bracket_before(words, index[touching + 1])
    begins = np.append(True, apart)
    return index[begins], index[np.append(begins[1:], True)]


def _removed_spans(words: Words, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What goes with each run of words: empty pairs of marks, orphaned commas, the space on one side."""
    rows = words.rows
    values = words.texts.values
    bounds = words.texts.offsets
    low, high = bounds[rows[first]], bounds[rows[first] + 1]
    starts, ends = words.starts[first], words.ends[last]

    starts, ends = _with_empty_pairs(values, starts, ends, low, high)
    flags = _mark_flags()

    def before(places: np.ndarray) -> np.ndarray:
        return np.where(places > low, values[np.maximum(places - 1, 0)], 0)

    def after(places: np.ndarray) -> np.ndarray:
        return np.where(places < high, values[np.minimum(places, len(values) - 1)], 0)

    # A comma with nothing before it, or after another mark.
    left = starts - (flags[before(starts)] == 1)
    orphaned = (flags[after(ends)] == 2) & (
        (left <= low) | (flags[before(left)] == 2) | _is_in(before(left), _OPENING)
    )
    ends = ends + orphaned
    # One white-space side goes: the right one, unless a mark stands there.
    left_space, right_space = flags[before(starts)] == 1, flags[after(ends)] == 1
    left_open = (starts <= low) | left_space | _is_in(before(starts), _OPENING)
    take_right = right_space & left_open
    take_left = left_space & ~right_space
    while take_right.any():
        ends = ends + take_right
        take_right = take_right & (flags[after(ends)] == 1) & (ends < high)
    while take_left.any():
        starts = starts - take_left
        take_left = take_left & (flags[before(starts)] == 1) & (starts > low)

    # Two edits may both have claimed the space or the mark between them.
    shared = rows[first][1:] == rows[first][:-1]
    starts[1:] = np.where(shared, np.maximum(starts[1:], ends[:-1]), starts[1:])
    return starts, ends


def _bracket_before(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): whether a bracket or double quotation mark stands between a word and the one before it."""
    values = words.texts.values
    found = np.zeros(len(index), bool)
    unlike = np.flatnonzero(~words.follows_space[index])
    for place in unlike.tolist():
        between = values[words.ends[index[place] - 1] : words.starts[index[place]]]
        found[place] = _is_in(between, _BRACKETS).any()
    return found


def _is_in(characters: np.ndarray, marks: str) -> np.ndarray:
    return np.isin(characters, [ord(mark) for mark in marks])


def _with_empty_pairs(
    values: np.ndarray, starts: np.ndarray, ends: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Spans that take in the brackets or quotation marks which would stand around nothing."""
    starts, ends = starts.copy(), ends.copy()
    inside = np.flatnonzero((starts > low) & (ends < high))
    left, right = values[starts[inside] - 1], values[ends[inside]]
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        pair = inside[(left == ord(opening)) & (right == ord(closing))]
        starts[pair] -= 1
        ends[pair] += 1
    return starts, ends


def _new_capitals(words: Words, first: np.ndarray, following: np.ndarray, has_next: np.ndarray) -> np.ndarray:
    """Words that now begin their text, where it began with a capital and they do not."""
    classes, values = character_classes(), words.texts.values
    opens = (words.positions[first] == 0) & has_next
    opens &= classes[values[words.starts[first]]] & UPPER > 0
    candidates = following[opens]
    return candidates[classes[values[words.starts[candidates]]] & LOWER > 0]


def _articles_before_gaps(
    words: Words, first: np.ndarray, following: np.ndarray, has_next: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    adjacent = (words.positions[first] > 0) & has_next
    places = np.flatnonzero(adjacent)
    is_article = words.among(_ARTICLES)
    places = places[is_article[first[places] - 1]]
    # Nothing but spaces may stand on either side of the gap.
    places = places[words.follows_space[first[places]] & words.follows_space[following[places]]]
    if not len(places):
        return np.zeros(0, np.int64), nothing()
    behind = words.strings.take(pa.array(following[places]))
    return article_changes(words, first[places] - 1, behind, np.ones(len(places), bool))


def _characters(codes: np.ndarray) -> pa.StringArray:
    """One string for each code point (m,)."""
    data = np.frombuffer(codes.astype("<u4").tobytes().decode("utf-32-le").encode(), np.uint8)
    return string_array(np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data)), data)
