"""Write numbers in words: `1984` as `nineteen eighty-four`, `$5` as `five dollars`, `21st` as `twenty-first`.

AugCSE's NumericToWord: years, decades, ordinals, percentages, amounts of money, times, fractions, compounds,
decimals and cardinals, by rules of this project (`numbers.py`).

Differences from the original: every number of the sentence; numbers with letters or units grown to them
(`A4`, `10km`), with leading zeros, and those of dates with slashes stay, since they have several readings; a
four-digit number before a word that counts (`1500 people`) is read as a number and not as a year, unless a
word such as `the` or `his` stands before it (`the 2008 elections`); references (`[1]`) stay; an
amount and its scale are read together (`$3 million`: `three million dollars`); a day behind its month is an
ordinal; what nobody writes in words stays: numbers of names and versions (`Xbox 360`, `Drupal 6`), ranges and
seasons (`1995–96`), days before a month, years behind one, and what counts a list (`2 )`); case and spacing
survive.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, character_after, character_before, is_any, next_words, word_edits
from augment_cli.resources import word_groups, word_list
from augment_cli.resources.wordnet import TAGS, load_wordnet
from augment_cli.text.numbers import in_words, ordinal
from augment_cli.text.surface import ALPHANUMERIC, capitalised_where, character_classes

_WORDS = word_groups("number-to-words")
_MONEY = {"$": "dollars", "£": "pounds", "€": "euros", "¥": "yen"}
_SIGNS = "$£€¥"


@lru_cache(maxsize=1)
def _plural_nouns() -> frozenset[str]:
    """Words behind which a number counts things."""
    wordnet = load_wordnet()
    bits = wordnet.form_bits
    is_plural = (bits & TAGS["NNS"] > 0) & (bits & TAGS["NN"] == 0)
    plurals = wordnet.forms.filter(pa.array(is_plural)).to_pylist()
    # `his` is a plural of `hi`, and no word for things.
    return frozenset([*plurals, "people", *_WORDS.units]) - set(word_list("function_words"))


def number_places(words: Words) -> np.ndarray:
    """Indices of the words that begin with a digit or a sign of money and stand free."""
    values = words.texts.values
    first = values[words.flat_starts]
    digits = ((first >= ord("0")) & (first <= ord("9"))) | is_any(first, _SIGNS)
    index = np.flatnonzero(digits)
    # Not behind a decimal point, a slash, a letter's apostrophe, nor a minus or power sign.
    before = character_before(words, index)
    free = ~is_any(before, "./^~=*×÷+−±") & ~is_any(character_after(words, index), "^=*°′″×÷+−±")
    free &= character_classes()[before] & ALPHANUMERIC == 0
    free &= ~(is_any(before, "[") & is_any(character_after(words, index), "]"))  # a reference
    return index[free & ~_stays(words, index)]


def _stays(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): numbers that nobody writes in words: of names, versions, ranges, dates and lists."""
    values, last = words.texts.values, len(words) - 1
    before, behind = np.maximum(index - 1, 0), np.minimum(index + 1, last)
    near = words.follows_space[index]
    name = words.has_capital & ~words.among(word_list("function_words"))
    months = words.among(_WORDS.months)
    stays = near & ((name & ~months)[before] | words.among(_WORDS.labels)[before])
    # "1995–96"
    digits = (values >= ord("0")) & (values <= ord("9"))
    further = np.minimum(words.flat_ends[index] + 1, len(values) - 1)
    stays |= is_any(character_after(words, index), "–—-") & digits[further]
    earlier = np.maximum(words.flat_starts[index] - 2, 0)
    stays |= is_any(character_before(words, index), "–—-") & digits[earlier]
    # "until 4.30"; "42° 51' S."
    clock = pc.match_substring_regex(words.strings.take(pa.array(index)), r"^\d{1,2}\.[0-5]\d$")
    stays |= near & words.among(_WORDS.before_times)[before] & clock.to_numpy(zero_copy_only=False)
    ends = words.flat_ends[before]
    stays |= is_any(values[np.minimum(ends, len(values) - 1)], "°") | is_any(values[ends - 1], "°")
    # "18 October", "October 1911"
    stays |= months[behind] & words.follows_space[behind] & (behind > index)
    four = words.flat_ends[index] - words.flat_starts[index] == 4
    stays |= four & digits[words.flat_ends[index] - 1] & near & months[before]
    # "2 ) the lid", "3. the lid"
    ends = np.minimum(words.flat_ends[index], len(values) - 1)
    ends += (values[ends] == ord(" ")) & (ends < len(values) - 1)
    return stays | ((words.positions[index] == 0) & is_any(values[ends], ").:-"))


def is_day(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): numbers from 1 to 31 behind a month's name."""
    behind = words.among(_WORDS.months)[np.maximum(index - 1, 0)] & words.follows_space[index] & (index > 0)
    days = pc.is_in(words.strings.take(pa.array(index)), pa.array([str(day) for day in range(1, 32)]))
    return behind & days.to_numpy(zero_copy_only=False)


def _is_year_of(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): numbers behind a determiner or possessive, which are years if they can be."""
    before = np.maximum(index - 1, 0)
    codes, distinct = words.lower
    possessive = pc.ends_with(distinct, "'s").to_numpy(zero_copy_only=False)[codes[before]]
    return (words.among(_WORDS.before_year)[before] | possessive) & words.follows_space[index]


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    plurals = _plural_nouns()
    words = Words.of(rows.code_points)
    index = number_places(words)
    days = set(index[is_day(words, index)].tolist())
    years = set(index[_is_year_of(words, index)].tolist())
    first_words, last, texts = [], [], []
    plain = words.strings.take(pa.array(index)).to_pylist()
    for place, text, behind in zip(index.tolist(), plain, next_words(words, index), strict=True):
        if text[0] in _SIGNS and behind in _WORDS.scales:
            read, end = in_words(text + str(behind)), place + 1
            if read is None and (amount := in_words(text[1:], False)) is not None:
                read = f"{amount} {behind} {_MONEY[text[0]]}"
        else:
            may_be_year = behind not in plurals or place in years
            hour = text.removesuffix(":00") if behind in _WORDS.halves_of_day else text
            spoken = ordinal(int(text)) if place in days else in_words(hour, may_be_year)
            read, end = spoken, place
        if read is not None:
            first_words.append(place)
            last.append(end)
            texts.append(read)
    first, final = np.array(first_words, np.int64), np.array(last, np.int64)
    strings = capitalised_where(pa.array(texts, pa.string()), words.positions[first] == 0)
    edits = word_edits.replace_spans(words, first, final, strings)
    return Outcome(edits, word_edits.reasons_without(words, first))


NUMBER_TO_WORDS = Augmentation(
    name="number-to-words",
    version=4,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (NumericToWord)",
    languages=("en",),
    prepare=prepared(_run),
    examples=("augment-cli number-to-words",),
    is_random=False,
)
