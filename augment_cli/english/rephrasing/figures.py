"""Dates and numbers in another form: `April 21, 1836` to `21 April 1836`, `20th century` to `twentieth`."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.rephrasing import PHRASE, WORD, Edit, Places
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.syntax.tree import words
from augment_cli.text.numbers import cardinal, ordinal

_MONTHS = words("January February March April May June July August September October November December")
_NUMBERS = {str(number): cardinal(number) for number in range(2, 100)}
_FIGURES = {cardinal(number): str(number) for number in [*range(3, 21), *range(30, 100, 10)]}
_ORDINALS = {f"{number}th": ordinal(number) for number in range(14, 21)} | {"21st": "twenty-first"}
_ORDINALS |= {word: figure for figure, word in _ORDINALS.items()}
_TENTHS = {f"{number}th": ordinal(number) for number in range(4, 21)}
_UNITS = words("am pm a.m. p.m. km m mi ft cm mm kg g lb ha % ° in")


def figures(grammar: Grammar) -> list[Places]:
    """Places of all rules on dates and numbers."""
    rules = (
        *(_day_first, _month_first, _month_of_year, _year_named, _year_named_inside, _in_to_during),
        *(_number_words, _number_figures, _centuries, _percent),
    )
    return [rule(grammar) for rule in rules]


def _pieces(grammar: Grammar) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bool (N,) each: months, days of a month, years."""
    months = grammar.parses.forms.among(_MONTHS)
    days = grammar.where_figures(lambda word: word.isdigit() and len(word) <= 2 and 1 <= int(word) <= 31)
    years = grammar.where_figures(lambda word: word.isdigit() and len(word) in (3, 4))
    return months, days, years


def _after(grammar: Grammar, mask: np.ndarray, step: int) -> np.ndarray:
    """bool (N,): tokens from which the mask holds some tokens further, in the same row."""
    further = grammar.next_in_row(grammar.places, step)
    return mask[further] & (further == grammar.places + step)


def _day_first(grammar: Grammar) -> Places:
    """`April 21, 1836` to `21 April 1836`; a comma behind the year goes, too."""
    months, days, years = _pieces(grammar)
    parts = ((days, 1), (grammar.is_comma, 2), (years, 3))
    found = np.flatnonzero(months & np.logical_and.reduce([_after(grammar, *part) for part in parts]))
    last = found + 3
    closing = grammar.next_in_row(last)
    # The comma that closes the year also closes what stands in front of it (`In Rome, on April 21, 1836, …`).
    open_ = grammar.is_comma & (grammar.places > grammar.openings[grammar.rows])
    first = grammar.openings[grammar.rows[found]]
    alone = grammar.count(open_, first, found - 1) == 0
    # That of a date which opens the sentence, behind a preposition or not, stays.
    dropped = (closing > last) & grammar.is_comma[closing] & alone & (found - first > 1)

    def text(month: int, end: int) -> str:
        return " ".join(grammar.text(month + step) for step in (1, 0, 3))

    return grammar.replaced("date_day_first", PHRASE, (found, np.where(dropped, closing, last)), text)


def _month_first(grammar: Grammar) -> Places:
    """`21 April 1836` to `April 21, 1836`; a comma follows inside the sentence."""
    months, days, years = _pieces(grammar)
    found = np.flatnonzero(days & _after(grammar, months, 1) & _after(grammar, years, 2))
    before, behind = grammar.next_in_row(found, -1), grammar.next_in_row(found + 2)
    # Ranges (`17–21 April 1836`, `21 April 1836 – 4 May`) keep their form.
    joined = ~grammar.is_mark[before] | grammar.is_comma[before] | grammar.is_word({"("}, at=before)
    commas = np.where((behind > found + 2) & ~grammar.is_mark[behind], ",", "")

    def text(day: int, comma: str, year: int) -> str:
        return f"{grammar.text(day + 1)} {grammar.text(day)}, {grammar.text(year)}{comma}"

    return grammar.replaced("date_month_first", PHRASE, (found, commas, found + 2), text, joined)


def _month_of_year(grammar: Grammar) -> Places:
    """`in May 2016` to `in May of 2016`."""
    months, _, years = _pieces(grammar)
    before, behind = grammar.next_in_row(grammar.places, -1), grammar.next_in_row(grammar.places, 2)
    joined = grammar.is_word(words("- – to and or /"), at=behind)
    months &= grammar.is_word(words("in since until by during"), at=before) & (before < grammar.places)
    found = np.flatnonzero(months & _after(grammar, years, 1) & ~joined & grammar.parses.whitespace)
    return grammar.inserted("month_of_year", PHRASE, (found, found + 1), " of")


def _in_year(grammar: Grammar) -> np.ndarray:
    """bool (N,): "in" in front of a year."""
    _, _, years = _pieces(grammar)
    return grammar.is_word({"in"}) & _after(grammar, years & grammar.is_year, 1)


def _year_named(grammar: Grammar) -> Places:
    """`In 1999, he left.` to `In the year 1999, he left.`"""
    opens = grammar.places == grammar.openings[grammar.rows]
    found = np.flatnonzero(opens & _in_year(grammar) & _after(grammar, grammar.is_comma, 2))
    return grammar.inserted("year_named", PHRASE, (found, found + 1), " the year")


def _year_named_inside(grammar: Grammar) -> Places:
    """`He left in 1999.` to `He left in the year 1999.`: a small change, for where there is no other."""
    found = np.flatnonzero(_in_year(grammar))
    behind = grammar.next_in_row(found, 2)
    good = (found > grammar.openings[grammar.rows[found]]) & (behind == found + 2)
    good &= grammar.is_word(words(". , ;"), behind) | grammar.is_pos("ADP", at=behind)
    good &= ~grammar.is_word(words("to between"), behind) & ~grammar.is_year[grammar.next_in_row(found, 3)]
    return grammar.inserted("year_named", WORD, (found, found + 1), " the year", good)


def _in_to_during(grammar: Grammar) -> Places:
    """`in the 1970s` to `during the 1970s`."""
    lower = grammar.parses.lower
    decade = grammar.is_year & lower.where(lambda word: word.endswith("0s"))
    ordinals = lower.where(lambda word: word[:1].isdigit() and word.endswith(("st", "nd", "rd", "th")))
    article = _after(grammar, grammar.is_word({"the"}), 1)
    times = _after(grammar, decade, 2)
    times |= _after(grammar, ordinals, 2) & _after(grammar, grammar.is_word({"century"}), 3)
    found = np.flatnonzero(grammar.is_word({"in"}) & grammar.is_dep("case") & article & times)

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token, grammar.capital("during", token))]

    return Places("in_to_during", PHRASE, [(found, found + 1)], (found,), write)


def _number_words(grammar: Grammar) -> Places:
    """`2 books` to `two books`."""
    after, before = grammar.next_in_row(grammar.places), grammar.next_in_row(grammar.places, -1)
    numbers = grammar.parses.lower.among(_NUMBERS) & grammar.is_dep("nummod")
    numbers &= (grammar.parents == grammar.places + 1) & grammar.parses.whitespace
    numbers &= grammar.is_tag("NNS", at=after) & grammar.parses.forms_at(after).where(str.islower)
    plain = grammar.is_pos("VERB", "DET", "ADP", "CCONJ", "AUX", "ADV", at=before)
    plain &= ~grammar.is_word({"to", "of", "and"}, before)
    numbers &= plain | (before == grammar.places)
    # Next to a number in figures, another one stays in figures.
    digits = grammar.where_figures(lambda word: True) & ~grammar.is_year
    alone = grammar.per_row(digits) == 1
    found = np.flatnonzero(numbers & alone[grammar.rows] & ~grammar.is_word(_UNITS, after))

    def text(token: int) -> str:
        return grammar.capital(_NUMBERS[grammar.text(token)], token)

    return grammar.replaced("number_in_words", PHRASE, (found,), text)


def _number_figures(grammar: Grammar) -> Places:
    """`three miles` to `3 miles`."""
    tokens = np.flatnonzero(grammar.is_word(_FIGURES) & grammar.is_dep("nummod"))
    nouns = grammar.parents[tokens]
    before, behind = grammar.next_in_row(tokens, -1), grammar.next_in_row(tokens)
    good = grammar.is_tag("NNS", at=nouns) & (behind == nouns) & grammar.is_lemma(LISTS["measures"], nouns)
    good &= (before < tokens) & ~grammar.is_pos("NUM", "PUNCT", at=before) & grammar.parses.whitespace[tokens]
    further = grammar.next_in_row(nouns)
    good &= ~grammar.is_word(words("or to and"), before) & ~grammar.is_word(words("or to and -"), further)
    good &= ~grammar.is_pos("NUM", at=further)  # "five feet eight"

    def text(token: int) -> str:
        return _FIGURES[grammar.text(token).lower()]

    return grammar.replaced("number_in_figures", PHRASE, (tokens,), text, good)


def _centuries(grammar: Grammar) -> Places:
    """`the 20th century` to `the twentieth century`, and back."""
    after = grammar.next_in_row(grammar.places)
    ordinals = grammar.parses.lower.among(_ORDINALS)
    once = grammar.per_row(ordinals) == 1  # `the 17th and 18th centuries` keep one form
    ordinals &= grammar.is_word({"century", "centuries"}, after)
    # `their 12th season`
    other = grammar.parses.lower.among(_TENTHS) & grammar.parses.forms.where(str.islower)[after]
    ordinals |= other & grammar.is_tag("NN", "NNS", at=after) & grammar.is_dep("amod", "nummod")
    found = np.flatnonzero(ordinals & once[grammar.rows] & grammar.parses.whitespace)

    def text(token: int) -> str:
        return grammar.capital((_TENTHS | _ORDINALS)[grammar.text(token).lower()], token)

    return grammar.replaced("century", PHRASE, (found,), text)


def _percent(grammar: Grammar) -> Places:
    """`5%` to `5 percent`, where no other one stands in the sentence."""
    signs = grammar.is_word({"%"})
    once = grammar.per_row(signs) == 1
    before = grammar.next_in_row(grammar.places, -1)
    counted = grammar.is_pos("NUM")[before] & (before < grammar.places)
    found = np.flatnonzero(signs & once[grammar.rows] & counted)
    behind = grammar.next_in_row(found)
    good = grammar.is_mark[behind] & ~grammar.is_word({"-", "/"}, behind)
    good |= grammar.parses.whitespace[found]

    def write(token: int) -> list[Edit]:
        return [(grammar.stops[token - 1], grammar.stops[token], " percent")]

    return Places("percent", PHRASE, [(found - 1, found)], (found,), write).where(good)
