"""Edits on words: choosing them, replacing them in their case; contractions joined first (`do n't`)."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english import LISTS
from augment_cli.english.words import Words
from augment_cli.resources import word_list
from augment_cli.resources.wordnet import load_wordnet
from augment_cli.syntax.tree import words
from augment_cli.text.spans import CodePoints, Edits
from augment_cli.text.surface import capitalised, capitalised_where, case_pattern, in_patterns
from augment_cli.text.untouched import original_places, spaces_within, without

ARTICLES = pa.array(["a", "an"])
AMOUNTS = ("ceil", "floor", "coin")
AMOUNT_HELP = (
    "how many words a rate means: ceil, ⌈rate·words⌉; floor, ⌊rate·words⌋ but at least one; "
    "coin, each word on its own with this probability"
)
_SPLIT = r"(?i)[a-z] (n ?['’]t|['’](s|m|re|ve|ll|d))\b|n ['’]t\b"


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
    if lowered.startswith((*_VOWEL_SOUNDS, *_NEGATED)):
        return True
    return lowered[0] in "aeiou" and lowered != "one" and not lowered.startswith(_CONSONANT_SOUNDS)


# Written with a capital wherever they stand.
_PINNED = words("i i'm i've i'd i'll mr mrs ms dr") | (LISTS["calendar"] - {"march", "may"})


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Lower-case words that are not names: WordNet's, and the function words."""
    return frozenset([*load_wordnet().common_words.to_pylist(), *word_list("function_words")])


def lower_first_words(words: Words, index: np.ndarray) -> pa.StringArray:
    """The words (m,) as they stand, those that begin their text in lower case unless they are names."""
    strings = words.strings.take(pa.array(index))
    first = np.flatnonzero(words.positions[index] == 0)
    mask = np.zeros(len(index), bool)
    mask[first] = loses_capital(strings.take(pa.array(first)))
    return pc.if_else(pa.array(mask), pc.utf8_lower(strings), strings)


def loses_capital(strings: pa.StringArray) -> np.ndarray:
    """bool (m,): words with a capital that they have at the beginning of a sentence only."""
    lowered = pc.utf8_lower(strings)
    is_capitalised = pc.equal(strings, capitalised(lowered)).to_numpy(zero_copy_only=False)
    known = common_words()
    common = [word in known and word not in _PINNED for word in lowered.to_pylist()]
    return is_capitalised & np.array(common, bool)


def rate_parameter(default: float, help: str) -> float:
    """The parameter `rate`."""
    return parameter(default, help, minimum=0, maximum=1)


def amount_parameter(default: str) -> str:
    """The parameter `amount`."""
    return parameter(default, AMOUNT_HELP, choices=AMOUNTS)


def maximum_parameter(default: int) -> int:
    """The parameter `maximum`."""
    return parameter(default, "most words of a sentence; 0 for no limit", minimum=0)


def counts_of(words: np.ndarray, rate: float, amount: str, maximum: int) -> np.ndarray:
    """int64 (n,): how many of `words` (n,) a rate means; at least one where the rate is above 0."""
    # 0.1·30 is 3.0000000000000004 for some factors: a rounding error is not another word.
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
    """Choose some of the eligible words of each text."""
    # int64 (m,): indices of the chosen words, rising.
    index = np.flatnonzero(eligible)
    rows = words.rows[index]
    draws = uniform(key, row_ids[rows], words.positions[index])
    if amount == "coin":
        drawn = draws < rate
        index, rows, draws = index[drawn], rows[drawn], draws[drawn]
        limit = np.full(len(words.counts), maximum or len(words))
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
    reasons = np.full(count, Reason.NO_POSITION_DRAWN, object)
    reasons[np.bincount(words.rows[eligible], minlength=count) == 0] = Reason.NO_ELIGIBLE_TOKEN
    reasons[words.counts == 0] = Reason.NO_TOKEN
    return reasons


def reasons_without(words: Words, index: np.ndarray) -> np.ndarray:
    """As `reasons_for`, where the words of `index` (m,) are the eligible ones."""
    eligible = np.zeros(len(words), bool)
    eligible[index] = True
    return reasons_for(words, eligible)


def count_fields(*names: str) -> tuple[pa.Field, ...]:
    """Columns of numbers a row, for an augmentation's descriptor."""
    return tuple(pa.field(name, pa.int32(), nullable=False) for name in names)


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
    return in_case_of_first(words, index, replacements, index)


def in_case_of_first(
    words: Words, first: np.ndarray, strings: pa.Array, last: np.ndarray | None = None
) -> pa.StringArray:
    """Strings (m,), with a capital where the word they begin in the place of has one."""
    # In capitals where all words up to `last` (m,) are: `IS NOT` to `ISN'T`.
    if last is None:
        return capitalised_where(strings, words.has_capital[first])
    return in_patterns(strings, case_pattern(words.texts, words.flat_starts[first], words.flat_ends[last]))


def replace_words(words: Words, index: np.ndarray, replacements: pa.Array) -> Edits:
    """Edits that put strings (m,) in the place of words (m,), with `a` and `an` adapted before them."""
    return replace_spans(words, index, index, replacements)


def replace_spans(words: Words, first: np.ndarray, last: np.ndarray, replacements: pa.Array) -> Edits:
    """As `replace_words`, for stretches from word first[i] to word last[i]."""
    articles, forms = article_changes(words, first - 1, replacements, words.follows_space[first])
    free = ~np.isin(articles, np.concatenate([first, last]))
    articles, forms = articles[free], forms.filter(pa.array(free))
    starts = np.concatenate([words.flat_starts[first], words.flat_starts[articles]])
    ends = np.concatenate([words.flat_ends[last], words.flat_ends[articles]])
    rows = words.rows[np.concatenate([first, articles])]
    return edits_of(words, rows, starts, ends, pa.concat_arrays([replacements.cast(pa.string()), forms]))


def joined(rows: Rows) -> tuple[Rows, dict[int, np.ndarray]]:
    """The rows with their contractions joined, and where that took spaces out of each changed row."""
    split = pc.match_substring_regex(rows.texts, _SPLIT).to_numpy(zero_copy_only=False)
    found = {row: spaces_within(rows.texts[row].as_py()) for row in np.flatnonzero(split).tolist()}
    found = {row: places for row, places in found.items() if len(places)}
    if not found:
        return rows, found
    texts = rows.texts.to_pylist()
    for row, places in found.items():
        texts[row] = without(texts[row], places)
    column, points = pa.array(texts, pa.string()), rows.code_points
    protected = points.protected
    if protected is not None:
        protected = np.delete(
            protected, np.concatenate([points.offsets[row] + p for row, p in found.items()])
        )
    return replace(rows, texts=column, code_points=replace(CodePoints.of(column), protected=protected)), found


def restored(outcome: Outcome, found: dict[int, np.ndarray]) -> Outcome:
    """The outcome of joined rows as one of the original ones."""
    edits = outcome.edits
    starts, ends = edits.starts.copy(), edits.ends.copy()
    for row, places in found.items():
        mine = edits.rows == row
        starts[mine], ends[mine] = original_places(starts[mine], ends[mine], places)
    return replace(outcome, edits=replace(edits, starts=starts, ends=ends))
