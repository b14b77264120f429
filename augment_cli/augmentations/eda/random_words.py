"""Which words go or change places at random, with the space and marks that they leave without a purpose."""

import re
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.draws import bits, uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome
from augment_cli.english.words import Words, is_any, word_edits
from augment_cli.english.words.word_edits import (
    ARTICLES,
    article_changes,
    edits_of,
    lower_first_words,
    nothing,
)
from augment_cli.text.spans import Edits
from augment_cli.text.surface import LOWER, capitalised_where, character_classes

_OPENING, _CLOSING = "([{\"“‘«'", ")]}\"”’»'"
_BRACKETS = '()[]{}"“”«»'
_SWALLOWED = ",;:"
_SPACE, _COMMA = 1, 2  # of `_mark_flags`
COLUMNS = word_edits.count_fields("deleted", "words")


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
    """Edits that take words out, each with one of the spaces beside it."""
    # Neighbouring removed words go in one edit, with the commas between them; brackets and quotation marks
    # stay. A comma, semicolon or colon that would then begin the text or stand beside another mark goes
    # too, and so do the apostrophe of a possessive plural (`the wolves' den`) and brackets and quotation
    # marks around nothing. The first word that is left takes over a capital at the text's beginning, and
    # `a` becomes `an` where the next word now asks for it.
    # At least one word of each text must stay.
    index = np.flatnonzero(removed)
    if not len(index):
        return edits_of(words, index, index, index, nothing())
    rows = words.rows
    first, last, starts, ends = _with_empty_pairs(words, *_runs(words, index))
    starts, ends = _removed_spans(words, first, last, starts, ends)

    # What the rest needs: a capital at the beginning, another article.
    kept = np.append(np.flatnonzero(~removed), len(words))
    following = kept[np.searchsorted(kept, last)]
    has_next = following < words.offsets[rows[last] + 1]
    capital_at = np.unique(_new_capitals(words, first, following, has_next))
    letters = [chr(code) for code in words.texts.values[words.flat_starts[capital_at]].tolist()]
    inside = pc.utf8_upper(pa.array(letters, pa.string()))
    articles, forms = _articles_before_gaps(words, first, following, has_next & (following == last + 1))
    # An article that now begins the text takes its capital in the same edit.
    opening = np.isin(articles, capital_at)
    if opening.any():
        forms = capitalised_where(forms, opening)
        free = ~np.isin(capital_at, articles)
        capital_at, inside = capital_at[free], inside.filter(pa.array(free))
    owners = np.concatenate([rows[first], rows[capital_at], rows[articles]])
    places = np.concatenate([starts, words.flat_starts[capital_at], words.flat_starts[articles]])
    stops = np.concatenate([ends, words.flat_starts[capital_at] + 1, words.flat_ends[articles]])
    texts = pa.concat_arrays([pa.array([""] * len(starts), pa.string()), inside, forms])
    return edits_of(words, owners, places, stops, texts)


def _runs(words: Words, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last word of each run of neighbours in `index`, parted at brackets and quotation marks."""
    apart = (np.diff(index) > 1) | (np.diff(words.rows[index]) > 0)
    if words.texts.protected is not None:  # what is no word here, and stays
        protected = np.concatenate([[0], np.cumsum(words.texts.protected)])
        apart |= protected[words.flat_ends[index[:-1]]] < protected[words.flat_starts[index[1:]]]
    touching = np.flatnonzero(~apart)
    apart[touching] = _bracket_before(words, index[touching + 1])
    begins = np.append(True, apart)
    return index[begins], index[np.append(begins[1:], True)]


def _removed_spans(
    words: Words, first: np.ndarray, last: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What else goes with each run of words: possessives, orphaned commas, the space on one side."""
    # "However, the old ferry sank." without "However": the comma goes too, and a space; "The old ferry sank."
    rows = words.rows
    values = words.texts.values
    bounds = words.texts.offsets
    low, high = bounds[rows[first]], bounds[rows[first] + 1]
    flags = _mark_flags()

    def before(places: np.ndarray) -> np.ndarray:
        return np.where(places > low, values[np.maximum(places - 1, 0)], 0)

    def after(places: np.ndarray) -> np.ndarray:
        return _after(values, places, high)

    def opens_before(places: np.ndarray) -> np.ndarray:
        # A straight mark closes where it follows a word or another mark, `"V" points`.
        marks = before(places)
        opens = is_any(marks, _OPENING)
        straight = np.flatnonzero(opens & is_any(marks, "\"'") & (places - 1 > low))
        earlier = values[places[straight] - 2]
        opens[straight] = (flags[earlier] == 1) | is_any(earlier, _OPENING + "-–—/=")
        return opens

    ends = ends + _possessives(words, last, starts, ends, after(ends))
    # A comma with nothing before it, or after another mark.
    left = starts - (flags[before(starts)] == 1)
    quoted = left - is_any(before(left), "\"”’»'")  # `the "first," the second`
    orphaned = (flags[after(ends)] == 2) & ((left <= low) | (flags[before(quoted)] == 2) | opens_before(left))
    ends = ends + orphaned
    # One white-space side goes: the right one, unless a mark stands there.
    left_space, right_space = flags[before(starts)] == 1, flags[after(ends)] == 1
    left_open = (starts <= low) | left_space | opens_before(starts)
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
    # A comma before the mark that ends the sentence; edits that touch leave one gap.
    opens_gap = np.append(True, ~(shared & (starts[1:] == ends[:-1])))
    opening = np.flatnonzero(opens_gap)
    final = ends[np.append(opening[1:], len(ends)) - 1]
    closes = (final >= high[opening]) | is_any(_after(values, final, high[opening]), ".!?")
    reach = starts[opening]
    space = (reach > low[opening]) & (flags[values[reach - 1]] == 1)
    comma = reach - space - 1
    orphaned = closes & (comma >= low[opening]) & (flags[values[np.maximum(comma, 0)]] == 2)
    free = np.append(True, comma[1:] >= ends[opening[1:] - 1]) if len(opening) else orphaned
    starts[opening] = np.where(orphaned & free, comma, reach)
    # Of edits that touch, the first may have left its space for a word that the next one took.
    stuck = space & (is_any(_after(values, final, high[opening]), ".!?,;:)]}") | (final >= high[opening]))
    stuck &= (starts[opening] == reach) & np.append(True, reach[1:] - 1 >= ends[opening[1:] - 1])[
        : len(opening)
    ]
    starts[opening] -= stuck
    return starts, ends


def _after(values: np.ndarray, places: np.ndarray, high: np.ndarray) -> np.ndarray:
    """uint32 (m,): the character at each place, 0 at its text's end."""
    return np.where(places < high, values[np.minimum(places, len(values) - 1)], 0)


def _possessives(
    words: Words, last: np.ndarray, starts: np.ndarray, ends: np.ndarray, behind: np.ndarray
) -> np.ndarray:
    """bool (m,): runs whose last word is a plural with nothing but an apostrophe behind it (`males'`)."""
    values, bounds = words.texts.values, words.texts.offsets
    is_possessive = is_any(behind, "'’") & is_any(values[ends - 1], "sS")
    for place in np.flatnonzero(is_possessive).tolist():
        row = words.rows[last[place]]
        before = values[bounds[row] : starts[place]].astype("<u4").tobytes().decode("utf-32-le")
        # An opening mark before it makes the apostrophe the end of a quotation.
        is_possessive[place] = re.search(r"(^|[\s(])['‘]", before) is None
    return is_possessive


def _bracket_before(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): whether a bracket or double quotation mark stands between a word and the one before it."""
    values = words.texts.values
    has_bracket = np.zeros(len(index), bool)
    unlike = np.flatnonzero(~words.follows_space[index])
    for place in unlike.tolist():
        between = values[words.flat_ends[index[place] - 1] : words.flat_starts[index[place]]]
        has_bracket[place] = is_any(between, _BRACKETS).any()
    return has_bracket


def _with_empty_pairs(
    words: Words, first: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Runs with the brackets or quotation marks which would stand around nothing."""
    # One pair inside another goes with it, `("red")`, and so does one around several runs, `(a "red")`;
    # runs with no mark left between them become one.
    # First and last word of each run, start and end of what goes with it.
    values, bounds = words.texts.values, words.texts.offsets
    starts, ends = words.flat_starts[first], words.flat_ends[last]
    while True:
        rows = words.rows[first]
        is_around, stops = _pairs_around(values, starts, ends, bounds[rows], bounds[rows + 1])
        starts, ends = starts - is_around, np.where(is_around, stops, ends)
        same_row = rows[1:] == rows[:-1]
        parted = ~(same_row & _touch(values, ends[:-1], starts[1:], _SPACE))
        if not is_around.any() and parted.all():
            # With commas between them runs are one only where a pair is around them all.
            joined = np.append(True, ~(same_row & _touch(values, ends[:-1], starts[1:], _SPACE | _COMMA)))
            begins, closes = np.flatnonzero(joined), np.flatnonzero(np.append(joined[1:], True))
            of_row = rows[begins]
            is_around, _ = _pairs_around(
                values, starts[begins], ends[closes], bounds[of_row], bounds[of_row + 1]
            )
            if not is_around.any():
                return first, last, starts, ends
            parted = joined[1:] | ~is_around[np.cumsum(joined)[1:] - 1]
        begins, closes = np.append(True, parted), np.append(parted, True)
        first, starts, last, ends = first[begins], starts[begins], last[closes], ends[closes]


def _pairs_around(
    values: np.ndarray, starts: np.ndarray, ends: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """bool (m,): spans right inside a pair of marks; int64 (m,): where that pair ends."""
    left = np.where(starts > low, values[np.maximum(starts - 1, 0)], 0)
    # `"red,"`: a comma before the closing mark goes with the pair.
    stops = ends + (_mark_flags()[_after(values, ends, high)] == 2)
    right = _after(values, stops, high)
    is_around = np.zeros(len(starts), bool)
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        is_around |= (left == ord(opening)) & (right == ord(closing))
    return is_around, stops + 1


def _touch(values: np.ndarray, ends: np.ndarray, starts: np.ndarray, marks: int) -> np.ndarray:
    """bool (m,): whether up to two marks (bits of `_mark_flags`) are all between one span and the next."""
    between = starts - ends
    touches = between <= 2
    for step in range(2):
        near = np.flatnonzero(touches & (between > step))
        touches[near] = _mark_flags()[values[ends[near] + step]] & marks > 0
    return touches


def _new_capitals(words: Words, first: np.ndarray, following: np.ndarray, has_next: np.ndarray) -> np.ndarray:
    """Words that now begin their text, where it began with a capital and they do not."""
    opens = (words.positions[first] == 0) & has_next & words.has_capital[first]
    candidates = following[opens]
    return candidates[character_classes()[words.texts.values[words.flat_starts[candidates]]] & LOWER > 0]


def _articles_before_gaps(
    words: Words, first: np.ndarray, following: np.ndarray, has_next: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    places = np.flatnonzero((words.positions[first] > 0) & has_next)
    # Nothing but spaces may stand on either side of the gap.
    near = words.follows_space[first[places]] & words.follows_space[following[places]]
    places = places[near & words.among(ARTICLES)[first[places] - 1]]
    behind = words.strings.take(pa.array(following[places]))
    return article_changes(words, first[places] - 1, behind, np.ones(len(places), bool))


def deletions(
    words: Words, row_ids: np.ndarray, key: int, rate: float, amount: str, maximum: int
) -> np.ndarray:
    """Which words to delete; never all of a text."""
    eligible = words.counts[words.rows] > 1
    chosen = word_edits.choose(words, row_ids, eligible, key, rate, amount, maximum)
    removed = np.zeros(len(words), bool)
    removed[chosen] = True
    # Where every word was drawn, one of them stays: the one that the last draw of the row names.
    gone = np.flatnonzero(np.bincount(words.rows[chosen], minlength=len(words.counts)) == words.counts)
    gone = gone[words.counts[gone] > 0]
    if len(gone):
        kept = uniform(key, row_ids[gone], words.counts[gone]) * words.counts[gone]
        removed[words.offsets[gone] + kept.astype(np.int64)] = False
    return removed


def deletion_outcome(words: Words, removed: np.ndarray) -> Outcome:
    """Edits, reasons and columns for a choice of words to delete, bool (N,)."""
    reasons = word_edits.reasons_for(words, words.counts[words.rows] > 1)
    reasons[words.counts == 1] = Reason.TOO_FEW_WORDS
    deleted = np.bincount(words.rows[removed], minlength=len(words.counts))
    columns = word_edits.count_columns(deleted=deleted, words=words.counts)
    return Outcome(remove_words(words, removed), reasons, columns)


def crops(words: Words, row_ids: np.ndarray, key: int, rate: float, part: str) -> np.ndarray:
    """Which words go when a stretch is kept or cut out."""
    # At least one word of each text stays; at least one goes where rate > 0 and there are two.
    counts = words.counts
    gone = np.minimum(word_edits.counts_of(counts, rate, "ceil", 0), np.maximum(counts - 1, 0))
    length = counts - gone if part == "window" else gone
    places = counts - length + 1
    start = (uniform(key, row_ids, np.zeros(len(counts), np.int64)) * places).astype(np.int64)
    inside = words.positions - start[words.rows]
    inside_stretch = (inside >= 0) & (inside < length[words.rows])
    return ~inside_stretch if part == "window" else inside_stretch


def permutations(
    words: Words, row_ids: np.ndarray, key: int, rate: float, distance: str, maximum: int
) -> np.ndarray:
    """Swap words of each text at random, one swap after the other."""
    # int64 (N,): the word that comes to each place.
    source = np.arange(len(words))
    counts = words.counts
    amount = "floor" if distance == "any" else "ceil"
    swaps = word_edits.counts_of(counts, rate, amount, maximum)
    swaps[counts < 2] = 0
    # One step for all texts at a time: the swaps of one text follow on each other.
    for step in range(int(swaps.max(initial=0))):
        rows = np.flatnonzero(swaps > step)
        size = counts[rows].astype(np.uint64)
        drawn = bits(key, row_ids[rows], np.full(len(rows), step))
        one = ((drawn >> np.uint64(32)) % size).astype(np.int64)
        rest = drawn & np.uint64(0xFFFFFFFF)
        if distance == "any":
            other = (rest % (size - np.uint64(1))).astype(np.int64)
            other += other >= one
        else:
            to_left = (one == counts[rows] - 1) | ((rest % np.uint64(2) == 0) & (one > 0))
            other = np.where(to_left, one - 1, one + 1)
        first, second = words.offsets[rows] + one, words.offsets[rows] + other
        source[first], source[second] = source[second], source[first]
    return source


def swap_edits(words: Words, source: np.ndarray) -> Edits:
    """Edits that put word source[i] in the place of word i, with capitals where the text begins."""
    moved = np.flatnonzero(source != np.arange(len(words)))
    strings = lower_first_words(words, source[moved])
    strings = capitalised_where(strings, (words.positions[moved] == 0) & words.has_capital[moved])
    return word_edits.edits_of(
        words, words.rows[moved], words.flat_starts[moved], words.flat_ends[moved], strings
    )
