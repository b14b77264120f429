"""Numbers in words: cardinals, ordinals, years, decimals, fractions, amounts, times."""

import re
from collections.abc import Callable
from functools import lru_cache

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ("", "thousand", "million", "billion", "trillion")
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"}
_ORDINALS |= {"nine": "ninth", "twelve": "twelfth"}
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent"), "¥": ("yen", "")}
_PLURALS = {"penny": "pence", "yen": "yen"}
LARGEST = 10**15


def cardinal(number: int) -> str:
    """`one hundred and twenty-three thousand, four hundred and five`, 0 ≤ number < 10¹⁵."""
    if not 0 <= number < LARGEST:
        raise ValueError(f"{number}: only numbers from 0 to {LARGEST - 1} have words here")
    if number < 1000:
        return _below_thousand(number)
    groups: list[str] = []
    for scale, name in enumerate(_SCALES):
        if group := number // 1000**scale % 1000:
            groups.insert(0, f"{_below_thousand(group)} {name}".rstrip())
    if 0 < number % 1000 < 100:  # one thousand and five
        return ", ".join(groups[:-1]) + " and " + groups[-1]
    return ", ".join(groups)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return _below_hundred(rest)
    text = f"{_SMALL[hundreds]} hundred"
    return f"{text} and {_below_hundred(rest)}" if rest else text


def _below_hundred(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_SMALL[ones]}" if ones else _TENS[tens]


def ordinal(number: int) -> str:
    """`twenty-first`, `one hundredth`."""
    words = cardinal(number)
    last = re.split("[ -]", words)[-1]
    usual = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return words.removesuffix(last) + _ORDINALS.get(last, usual)


def year(number: int) -> str:
    """`nineteen eighty-four`, `nineteen oh five`, `two thousand and nine`, 1000 ≤ number ≤ 9999."""
    high, low = divmod(number, 100)
    if high % 10 == 0 and low < 10:
        return cardinal(number)
    if low == 0:
        return f"{_below_hundred(high)} hundred"
    return f"{_below_hundred(high)} {'oh ' + _SMALL[low] if low < 10 else _below_hundred(low)}"


def _decade(number: int) -> str:
    """`nineteen eighties`, `eighteen hundreds`."""
    words = "two thousand" if number % 1000 == 0 else year(number)
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _with_decimals(whole: str, decimals: str | None) -> str:
    words = cardinal(_integer(whole))
    return " ".join([words, "point", *(_SMALL[int(digit)] for digit in decimals)]) if decimals else words


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


_FRACTIONS = {2: ("half", "halves"), 4: ("quarter", "quarters")}
_SUFFIXES = {"bn": "billion", "m": "million", "k": "thousand"}


def _money(sign: str, whole: str, cents: str | None, suffix: str | None) -> str:
    unit, small = _MONEY[sign]
    number = _integer(whole)
    units = _PLURALS.get(unit, unit + "s")
    if suffix:
        return f"{_with_decimals(whole, cents)} {_SUFFIXES.get(suffix, suffix)} {units}"
    words = f"{cardinal(number)} {unit if number == 1 else units}"
    if cents is None or not small or not int(cents):
        return words
    count = int(cents.ljust(2, "0"))
    return f"{words} and {cardinal(count)} {small if count == 1 else _PLURALS.get(small, small + 's')}"


def _clock(hour: str, minute: str) -> str:
    hours, minutes = int(hour), int(minute)
    if minutes == 0:
        return f"{_SMALL[hours]} o'clock" if hours <= 12 else f"{_below_hundred(hours)} hundred"
    return f"{_below_hundred(hours)} {'oh ' if minutes < 10 else ''}{_below_hundred(minutes)}"


def _fraction(top: str, bottom: str) -> str:
    usual = ordinal(int(bottom))
    singular, plural = _FRACTIONS.get(int(bottom), (usual, f"{usual}s"))
    return f"{_SMALL[int(top)]} {singular if top == '1' else plural}"


_NUMBER = r"(\d{1,3}(?:,\d{3})+|[1-9]\d*|0)"
_YEAR = re.compile(r"[12]\d{3}")
# The first pattern that fits a whole word, and how its groups are read.
_READERS: tuple[tuple[re.Pattern[str], Callable[..., str | None]], ...] = (
    (re.compile(r"(1[1-9]\d0|20\d0)s"), lambda digits: _decade(int(digits))),
    (re.compile(r"'?([2-9]0)s"), lambda digits: f"{_below_hundred(int(digits))[:-1]}ies"),
    (re.compile(_NUMBER + r"(?:st|nd|rd|th)", re.IGNORECASE), lambda digits: ordinal(_integer(digits))),
    (re.compile(_NUMBER + r"(?:\.(\d+))?%"), lambda *number: f"{_with_decimals(*number)} percent"),
    (re.compile(r"([$£€¥])" + _NUMBER + r"(?:\.(\d\d?))?(bn|m|k|million|billion)?"), _money),
    (re.compile(r"([1-9]|1[0-9]|2[0-3]):([0-5]\d)"), _clock),
    (re.compile(r"([1-9])/([2-9]|10)"), _fraction),
    (
        re.compile(r"([1-9]\d{0,2})((?:-[a-z]+)+)"),
        lambda number, rest: f"{cardinal(int(number)).replace(' ', '-')}{rest}",
    ),
    (re.compile(_NUMBER + r"(?:\.(\d+))?"), _with_decimals),
)


@lru_cache(maxsize=100_000)
def in_words(text: str, may_be_year: bool = True) -> str | None:
    """A word of a text in words, or None where it is not a number, or one without a usual reading."""
    # Recognised: years (1100–2099, four digits without a comma), decades, ordinals, percentages, amounts of
    # money, times, fractions, compounds of numbers below 1000 (`24-year-old`), decimals, cardinals.
    if may_be_year and _YEAR.fullmatch(text) and 1100 <= int(text) < 2100:
        return year(int(text))
    for pattern, read in _READERS:
        if match := pattern.fullmatch(text):
            try:
                return read(*match.groups())
            except ValueError:  # too large
                return None
    return None
