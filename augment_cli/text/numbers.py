"""Numbers in words: cardinals, ordinals, years, decimals, fractions, amounts, times."""

from __future__ import annotations

import re
from functools import lru_cache

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ("", "thousand", "million", "billion", "trillion")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent"), "¥": ("yen", "")}
_PLURALS = {"penny": "pence", "yen": "yen"}
LARGEST = 10**15


def cardinal(number: int) -> str:
    """`one hundred and twenty-three thousand, four hundred and five`, 0 ≤ number < 10¹⁵."""
    if not 0 <= number < LARGEST:
        raise ValueError(f"{number}: only numbers from 0 to {LARGEST - 1} have words here")
    if number < 1000:
        return _below_thousand(number)
    groups = []
    rest, scale = number, 0
    while rest:
        rest, group = divmod(rest, 1000)
        if group:
            name = f" {_SCALES[scale]}" if scale else ""
            groups.append(_below_thousand(group) + name)
        scale += 1
    last = number % 1000
    if 0 < last < 100:  # one thousand and five
        return ", ".join(reversed(groups[1:])) + " and " + groups[0]
    return ", ".join(reversed(groups))


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
    head, separator, last = re.fullmatch(r"(?s)(?:(.*)([ -]))?([a-z]+)", words).groups()  # type: ignore[union-attr]
    if last in _ORDINALS:
        last = _ORDINALS[last]
    elif last.endswith("y"):
        last = f"{last[:-1]}ieth"
    else:
        last = f"{last}th"
    return f"{head}{separator}{last}" if head is not None else last


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


def _decimal(whole: str, digits: str) -> str:
    return f"{cardinal(_integer(whole))} point {' '.join(_SMALL[int(digit)] for digit in digits)}"


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


_FRACTIONS = {2: ("half", "halves"), 4: ("quarter", "quarters")}
_NUMBER = r"(\d{1,3}(?:,\d{3})+|[1-9]\d*|0)"
_PATTERNS = {
    "decade": re.compile(r"(1[1-9]\d0|20\d0)s"),
    "short_decade": re.compile(r"'?([2-9]0)s"),
    "ordinal": re.compile(_NUMBER + r"(?:st|nd|rd|th)", re.IGNORECASE),
    "percent": re.compile(_NUMBER + r"(?:\.(\d+))?%"),
    "money": re.compile(r"([$£€¥])" + _NUMBER + r"(?:\.(\d\d?))?(bn|m|k|million|billion)?"),
    "clock": re.compile(r"([1-9]|1[0-9]|2[0-3]):([0-5]\d)"),
    "fraction": re.compile(r"([1-9])/([2-9]|10)"),
    "phone": re.compile(r"\d{3}-0\d{3}|\d{3}-\d{3}-\d{4}"),
    "range": re.compile(_NUMBER + "-" + _NUMBER),
    "compound": re.compile(r"([1-9]\d{0,2})(-[a-z]+)+"),
    "number": re.compile(_NUMBER + r"(?:\.(\d+))?"),
}
_SUFFIXES = {"bn": "billion", "m": "million", "k": "thousand"}


@lru_cache(maxsize=100_000)
def in_words(text: str, may_be_year: bool = True) -> str | None:
    """A word of a text in words, or None where it is not a number, or one without a usual reading."""
    # Recognised: years (1100–2099, four digits without a comma), decades, ordinals, percentages, amounts of
    # money, times, fractions, telephone numbers, ranges (`200-300`), compounds of numbers below 1000
    # (`24-year-old`), decimals, cardinals.
    for kind, pattern in _PATTERNS.items():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        groups = match.groups()
        if kind not in {"phone", "decade", "short_decade", "clock", "fraction"}:
            number = _integer(groups[1] if kind == "money" else groups[0])
            if number >= LARGEST:
                return None
        return _read(kind, text, groups, may_be_year)
    return None


def _range(low: str, high: str) -> str | None:
    """`two hundred to three hundred`, `nineteen forty to nineteen forty-five`; None for a score or label."""
    is_round = low.endswith("0") and high.endswith("0")
    is_phone = len(low) == 3 and len(high) == 4 and not is_round  # 555-1234, not 200-1000
    if _integer(low) >= _integer(high) or is_phone:
        return None
    are_years = all(len(text) == 4 and 1100 <= int(text) < 2100 for text in (low, high))
    return " to ".join(year(int(text)) if are_years else cardinal(_integer(text)) for text in (low, high))


def _read(kind: str, text: str, groups: tuple[str | None, ...], may_be_year: bool) -> str | None:
    first = str(groups[0]) if groups else ""
    if kind == "decade":
        return _decade(int(first))
    if kind == "short_decade":
        return f"{_below_hundred(int(first))[:-1]}ies"
    if kind == "ordinal":
        return ordinal(_integer(first))
    if kind == "percent":
        words = _decimal(first, groups[1]) if groups[1] else cardinal(_integer(first))
        return f"{words} percent"
    if kind == "money":
        return _money(first, str(groups[1]), groups[2], groups[3])
    if kind == "clock":
        return _clock(int(first), int(str(groups[1])))
    if kind == "fraction":
        return _fraction(int(first), int(str(groups[1])))
    if kind == "phone":
        return " ".join(_SMALL[int(digit)] for digit in text if digit != "-")
    if kind == "range":
        return _range(first, str(groups[1])) if _integer(str(groups[1])) < LARGEST else None
    if kind == "compound":
        return f"{cardinal(_integer(first)).replace(' ', '-')}{text[len(first) :]}"
    if groups[1]:
        return _decimal(first, groups[1])
    number = _integer(first)
    if may_be_year and len(text) == 4 and 1100 <= number < 2100:
        return year(number)
    return cardinal(number)


def _money(sign: str, whole: str, cents: str | None, suffix: str | None) -> str:
    unit, small = _MONEY[sign]
    number = _integer(whole)
    if suffix:
        words = _decimal(whole, cents) if cents else cardinal(number)
        return f"{words} {_SUFFIXES.get(suffix, suffix)} {_PLURALS.get(unit, unit + 's')}"
    words = f"{cardinal(number)} {unit if number == 1 else _PLURALS.get(unit, unit + 's')}"
    if cents is None or not small or not int(cents):
        return words
    count = int(cents.ljust(2, "0"))
    return f"{words} and {cardinal(count)} {small if count == 1 else _PLURALS.get(small, small + 's')}"


def _clock(hour: int, minute: int) -> str:
    if minute == 0:
        return f"{_SMALL[hour]} o'clock" if hour <= 12 else f"{_below_hundred(hour)} hundred"
    return f"{_below_hundred(hour)} {'oh ' + _SMALL[minute] if minute < 10 else _below_hundred(minute)}"


def _fraction(top: int, bottom: int) -> str:
    singular, plural = _FRACTIONS.get(bottom, (ordinal(bottom), f"{ordinal(bottom)}s"))
    return f"{_SMALL[top]} {singular if top == 1 else plural}"
