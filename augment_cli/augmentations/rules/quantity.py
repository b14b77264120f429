"""Change one number, date or unit: `two children` to `five children`, `ten minutes` to `ten hours`.

Numbers in digits and in words, ordinals, years, months, weekdays, `today` and `tomorrow`, the times of a day
(`6 pm`, `in the morning`), and the unit behind a number, in texts with and without capitals; one place of
a sentence is drawn, and further draws take others. A number keeps its shape (digits, commas, decimals), and
its order among the numbers beside it, so that `from 1990 to 1995` still runs forwards. What a bound implies
(`at least five` implies `at least three`), numbers grown to letters or signs, references in brackets, and
`one` stay. `entity-swap` draws numbers by how often the corpus has them; this needs no fit, and reads words.

Changes 20 % of prose, 7 % of questions and 17 % of requests.
"""

import re
from collections.abc import Iterator, Sequence

from augment_cli.contract.augmentation import english_rules
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, by_turns
from augment_cli.resources import word_groups, word_table
from augment_cli.syntax.tree import words

_ROWS = [(kind, listed.split()) for kind, listed in word_table("number_series")]
_CARDINALS, _TENS, _SCALES, _ORDINALS, _MONTHS, _DAYS = (listed for kind, listed in _ROWS if kind != "units")
_UNITS = [listed for kind, listed in _ROWS if kind == "units"]
_SERIES_OF = {word: series for series in (_CARDINALS, _TENS, _SCALES, _MONTHS, _DAYS) for word in series}
_CLOCK = {"am": "pm", "pm": "am", "a.m.": "p.m.", "p.m.": "a.m."}
_PARTS = ["morning", "afternoon", "evening"]
_WORDS = word_groups("quantity")
_SPANS = [["week", "month", "year"], ["weekend", "week", "month"]]
_NEAR = {"today": "tomorrow", "tomorrow": "today", "tonight": "tomorrow night", "yesterday": "last week"}
_DATED = {*_MONTHS, *(month[:3] for month in _MONTHS), "sept"}
_NOT_COMING = words("VBD VBN VBG")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,15}(?:\.\d{1,4})?")
_SUFFIXED = re.compile(r"(\d{1,2})(st|nd|rd|th)")
_GROWN = frozenset("./:'’°^=*×÷+−±#@_~&\\")


def _find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    numbers = tokens.view.parses.forms.where(lambda form: form[:1].isdigit())
    for place, number in enumerate(numbers.tolist()):
        word, text = tokens.lower[place], None
        if number:
            text = None if _bounded(tokens, place) else _other_number(tokens, place, draw(place))
        elif word in _NEAR or word in _CLOCK or word in _PARTS or word in _SPANS[0] or word == "weekend":
            text = _other_time(tokens, place, draw(place))
        elif word in _SERIES_OF:
            text = _other_word(tokens, place, draw(place))
        elif word in _ORDINALS and _counts(tokens, place):
            text = _another(_ORDINALS, word, draw(place))
        if text is not None:
            yield [(place, place, text)]
        if (tokens.tags[place] == "CD" or number) and not _SUFFIXED.fullmatch(word):
            yield from _other_unit(tokens, place, draw(place))


def _counts(tokens: Tokens, place: int) -> bool:
    """Whether an ordinal has its noun behind, and no first one before it: `the second page`."""
    row = tokens.rows[place]
    follows = tokens.tag(place + 1, row)[:2] in {"NN", "JJ"}
    lone = {"first", "last", "former", "half", "hand"}.isdisjoint(tokens.words_of(row))
    return tokens.word(place - 1, row) == "the" and not tokens.names[place] and follows and lone


def _another(series: list[str], word: str, draw: float) -> str:
    return series[(series.index(word) + 1 + int(draw * (len(series) - 1))) % len(series)]


def _bounded(tokens: Tokens, place: int) -> bool:
    row = tokens.rows[place]
    before = [tokens.word(place - step, row) for step in (1, 2)]
    return not _WORDS.bounds.isdisjoint(before) or tokens.word(place + 1, row) == "or"


def _value(form: str) -> float | None:
    return float(form.replace(",", "")) if _NUMBER.fullmatch(form) else None


def _other_number(tokens: Tokens, place: int, draw: float) -> str | None:
    """Another number of the same shape, on the same side of those beside it."""
    row, form = tokens.rows[place], tokens.forms[place]
    if _is_grown(tokens, place) or tokens.word(place - 1, row) in {"war", "layer"}:
        return None
    # Of the notes of a country each has its value.
    if form in {"500", "1000", "2000"} and not _WORDS.money.isdisjoint(tokens.words_of(row)):
        return None
    if suffixed := _SUFFIXED.fullmatch(form.lower()):
        old = int(suffixed[1])
        near = tokens.lower[max(tokens.bounds[row], place - 5) : place] + tokens.lower[place + 1 : place + 6]
        if any(_SUFFIXED.fullmatch(other) for other in near):  # "from the 14th to the 19th"
            return None
        day = [number for number in range(4, 21) if number != old][int(draw * 16)]
        return f"{day}th" if 3 < old < 21 else None
    old_value = _value(form)
    if old_value is None or form in {"1", "0", "007"} or (form[0] == "0" and "." not in form):
        return None
    begin, end = tokens.bounds[row], tokens.bounds[row + 1]
    beside = [
        value
        for other in [*range(max(begin, place - 3), place), *range(place + 1, min(end, place + 4))]
        if (value := _value(tokens.forms[other])) is not None
    ]
    for step in range(8):
        new = _drawn(tokens, place, (draw + step * 0.618) % 1)
        value = _value(new)
        if (
            value is None
            or value in {old_value, *beside}
            or (value == 2 and tokens.word(place - 1, row) == "all")
        ):
            continue
        if all((value < other) == (old_value < other) for other in beside):
            return new
    return None


def _is_grown(tokens: Tokens, place: int) -> bool:
    """Whether something is written to a number: a letter, point or slash, another number, a bracket."""
    row = tokens.rows[place]
    begin, end = tokens.bounds[row], tokens.bounds[row + 1]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    further = tokens.word(place + 2, row)
    counts = tokens.noun_behind(place) in {"NNS", "NNPS"} or tokens.names[place + 1 : place + 2].any()
    if (
        # "1 . 2 million" of a text in tokens, and what counts a list: "2 ) not very", "2 the picture is good"
        (behind == "." and further[:1].isdigit())
        or behind == ")" != before[:1] != "("
        or (before == "." and place > begin + 1 and tokens.forms[place - 2][:1].isdigit())
        or (place == begin and not counts)
        or (before[:1].isdigit() or behind[:1].isdigit())  # "2 3 5 trichlorophenol"
    ):
        return True
    if place > begin and not tokens.spaced[place - 1]:
        last = tokens.forms[place - 1][-1]
        if last in _GROWN or last.isalnum() or tokens.forms[place - 1] in {"[", "-"}:
            return True
    if place + 1 == end or tokens.spaced[place]:
        return False
    first = tokens.forms[place + 1][0]
    if first == "." and (place + 2 >= end or tokens.spaced[place + 1]):
        return False
    return first in _GROWN or first.isdigit() or tokens.forms[place + 1] == "]"


def _drawn(tokens: Tokens, place: int, draw: float) -> str:
    row, form = tokens.rows[place], tokens.forms[place]
    value = _value(form) or 0
    dated = {tokens.word(place + step, row) for step in (-4, -3, -2, -1, 1)} & _DATED
    if dated and value <= 31 and form.isdigit():
        return str(1 + int(draw * 28))
    if len(form) == 4 and form.isdigit() and 1100 <= value <= 2100:  # a year
        # Of a year that somebody asks about, one near it: in four years there are elections, too.
        steps = [-8, -4, -3, -2, 2, 3, 4, 8] if tokens.asks[row] else [*range(-30, -1), *range(2, 31)]
        steps = [-4, 4] if "election" in tokens.words_of(row) else steps
        return str(int(value) + steps[int(draw * len(steps))])
    if value <= 12 and form.isdigit():
        if tokens.word(place - 1, row) == "of" and tokens.tag(place - 2, row) in {"CD", "IN", "RB", "RP"}:
            return str(max(int(value), 5) + int(draw * 6))  # "one out of 6"
        rated = tokens.word(place + 1, row) in _WORDS.rated
        return str(2 + int(draw * (4 if rated and value <= 5 else 11)))
    first = str(1 + int(draw * 9))
    if value <= 100 and tokens.word(place + 1, row) in {"%", "percent", "per"} and form.isdigit():
        return str(5 + int(draw * 90))
    return first + form[1:]


def _other_word(tokens: Tokens, place: int, draw: float) -> str | None:
    """Another word of the same series: `two`, `twenty`, `million`, `March`, `Monday`."""
    row, word, form, tag = tokens.rows[place], tokens.lower[place], tokens.forms[place], tokens.tags[place]
    series = _SERIES_OF[word]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    new = _another(series, word, draw)
    if _bounded(tokens, place) or (behind == "-" and not tokens.spaced[place] and series is _TENS):
        return None
    if series in (_MONTHS, _DAYS):
        dated = before in _WORDS.dated or before[:1].isdigit() or behind[:1].isdigit()
        small = form[0].islower() and word not in {"may", "march"} and tag.startswith("NN")
        fits = (form[0].isupper() or small) and dated and not tokens.names[max(place - 1, 0)]
    elif tag != "CD" or tokens.names[place]:
        return None
    elif series is _SCALES:
        fits = (tokens.tag(place - 1, row) == "CD" or before in {"a", "$", "£", "€"}) and behind != "and"
    else:
        beside = {before, behind, tokens.word(place + 2, row), tokens.word(place - 2, row)}
        fits = beside.isdisjoint({"to", "between", "out", new}) and not (new == "two" and before == "all")
    return new if fits else None


def _other_time(tokens: Tokens, place: int, draw: float) -> str | None:
    """`today` and `tomorrow`, `6 am` and `6 pm`, `next week` and `next month`, where there is one time."""
    row, word = tokens.rows[place], tokens.lower[place]
    own, behind = tokens.words_of(row), tokens.word(place + 1, row)
    before, ahead = tokens.word(place - 1, row), tokens.word(place - 2, row)
    if own.count(word) > 1 or tokens.names[place] or behind in _WORDS.behind_times:
        return None
    others: Sequence[str] = ()
    if word in _NEAR:
        tags = {tokens.tags[other] for other in range(tokens.bounds[row], tokens.bounds[row + 1])}
        coming = word == "yesterday" or not tags & _NOT_COMING
        named = len({*_NEAR, *_DAYS, *_PARTS, "week", "night"}.intersection(own)) > 1
        if coming and not named and tokens.tags[place] in {"NN", "RB"}:
            others = [_NEAR[word]] if before not in {"of", "until", "till", "since", "by"} else ()
    elif word in _CLOCK:
        # "10 am in the morning"
        if (before[:1].isdigit() or before in _CARDINALS) and _WORDS.of_a_day.isdisjoint(own):
            others = [_CLOCK[word]]
    elif word in _PARTS:
        clock = tokens.tag(place - 3, row) == "CD"  # "ten in the morning"
        said = before in {"this", "tomorrow", "yesterday"} or (ahead, before) == ("in", "the")
        if said and _CLOCK.keys().isdisjoint(own):  # not "at 10 am in the morning"
            others = [other for other in _PARTS if not clock or "afternoon" not in {other, word}]
    elif before in {"next", "last", "this"} and behind not in {"of", "end", "old"} and ahead != "of":
        others = _SPANS[word == "weekend"]
    choices = [other for other in others if other != word and other not in own]
    return choices[int(draw * len(choices))] if choices else None


def _other_unit(tokens: Tokens, place: int, draw: float) -> Iterator[Turn]:
    """Another unit of its group behind a number."""
    row = tokens.rows[place]
    unit = place + 1 + (tokens.word(place + 1, row) == "-" and not tokens.spaced[place])
    word, following = tokens.word(unit, row), tokens.word(unit + 1, row)
    if {following, tokens.word(unit + 2, row)} & {"old", "olds"}:  # "a 13-hour-old girl"
        return
    if following in {"and", "to", "or", "(", "/", "per"} or tokens.tag(unit + 1, row) == "CD":
        return
    for group in _UNITS:
        if word in group and not tokens.names[unit]:
            near = group[max(group.index(word) - 1, 0) : group.index(word) + 2]
            yield [(unit, unit, _another(near, word, draw))]


QUANTITY = english_rules(
    name="quantity",
    version=5,
    kind="negative",
    paper="none; numbers and units as in the pairs of Naik et al. 2018 (stress tests for inference)",
    prepare=lambda parameters, resources: by_turns(_find, resources.key("quantity")),
    examples=("augment-cli quantity", "augment-cli quantity --draws 2"),
    turns="content",
    entailment=("other", "another number, date or unit stands there"),
)
