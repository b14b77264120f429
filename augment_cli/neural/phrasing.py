"""Turns of phrase that a paraphrasing model gets wrong though each of its words is right.

Each check compares an output with its original and finds one kind of slip, as reading outputs showed them.
"""

from __future__ import annotations

import re
from itertools import pairwise

from augment_cli.syntax.tree import words
from augment_cli.text.numbers import cardinal, ordinal

_TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_PREPOSITIONS = words("about against at by for from in into of on over through to towards under with")
# "to see if it stands": this "if" asks, and "If it stands, …" sets a condition.
_ASKS_IF = re.compile(
    r"\b(?:see|sees|saw|seen|know|knows|knew|known|ask|asks|asked|wonder|wonders|wondered|doubt|doubted|tell|"
    r"told|sure|certain|decide|decided|learn|learned|remember|remembered|say|understand)(?: \w+)? if\b"
)
_OPENS_WITH_PHRASE = re.compile(r"(?:in|on|at|with|by|for|from|after|before|through|to|under|over)\b")
_NOMINATIVE = re.compile(r"\b(?:i|he|she|we|they)\b")
_NUMBERS = frozenset(
    word for number in range(1, 100) for word in (cardinal(number), ordinal(number)) if " " not in word
)
_BETWEEN = re.compile(r"\bbetween (?:the )?([\w-]+) and (?:the )?([\w-]+)")
_QUOTE_IN_SMALL_LETTERS = re.compile(r"(?:^|[\s(—-])[\"'“‘]+[a-z]")
# "That very day" is that day and no other.
_VERY_ONE = re.compile(r"\b(?:the|that|this|these|those) very\b")
# What comes with a slip, and stands in no original that is written well.
_SLIPS = (
    re.compile(r"\bby (?:me|him|us|them)\b"),
    re.compile(r"\bby (?:i|he|she|we|they|her|you|it)(?=[.,;:!?]|$)"),
    re.compile(r"\b(?:is|was) this(?=[.,;:!?]|$)"),
    re.compile(r"\b(?:who|what|that|there|where|how)'m\b"),
    re.compile(
        r"\bin order to (?:the|an?|this|these|those|that|my|his|her|its|our|their|your|i|he|she|we|they)\b"
    ),
    re.compile(r"\b(?:i|we|you|they)'s\b"),
    re.compile(r"\b(?:do|does|did) there\b"),
    re.compile(r"\bin fact[!?]"),
)


def is_misphrased(original: str, output: str) -> bool:
    """Whether an output has a turn of phrase that its original has not and that no writer would choose.

    Parameters
    ----------
    original, output : str
        English; the output in one line.
    """
    one, two = (text.replace("’", "'").lower() for text in (original, output))
    if any(len(slip.findall(two)) > len(slip.findall(one)) for slip in _SLIPS):
        return True
    small = (len(_QUOTE_IN_SMALL_LETTERS.findall(text)) for text in (original, output))
    before, after = _TOKEN.findall(one), _TOKEN.findall(two)
    return (
        next(small) < next(small)
        or len(_VERY_ONE.findall(two)) < len(_VERY_ONE.findall(one))
        or after.count("and") < before.count("and")
        or _sets_a_condition(one, two)
        or _opens_with_as(one, two)
        or _exchanges_bounds(one, two)
        or _ends_with_a_clause(one, two)
        or _leaves_a_preposition_out(before, after)
        or _names_two_agents(before, after)
    )


def _sets_a_condition(original: str, output: str) -> bool:
    """Whether the clause of a question has come to the front: of "see if it stands", "if it stands, see"."""
    starts = (text.lstrip("\"'“‘([ ").startswith("if ") for text in (original, output))
    return not next(starts) and next(starts) and _ASKS_IF.search(original) is not None


def _opens_with_as(original: str, output: str) -> bool:
    """Whether a main clause has become a subordinate one by an "as" that the original does not have."""
    if not output.lstrip("\"'“‘([ ").startswith("as "):
        return False
    counts = (len(re.findall(r"\b(?:as|because|since)\b", text)) for text in (original, output))
    return next(counts) < next(counts)


def _exchanges_bounds(original: str, output: str) -> bool:
    """Whether numbers behind "between" have changed places."""
    bounds = [pair for pair in _BETWEEN.findall(original) if any(map(_is_number, pair))]
    return any(pair not in _BETWEEN.findall(output) for pair in bounds)


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in _NUMBERS


def _ends_with_a_clause(original: str, output: str) -> bool:
    """Whether a first clause such as "In the twilight he went home, …" stands behind what followed it."""
    opening, comma, _ = original.lstrip("\"'“‘([ ").partition(",")
    opens = comma and _OPENS_WITH_PHRASE.match(opening) and _NOMINATIVE.search(opening)
    return bool(opens) and output.lstrip("\"'“‘([ ").find(opening) > 0


def _leaves_a_preposition_out(before: list[str], after: list[str]) -> bool:
    """Whether the words around a preposition have closed up: of "go on with it", "go on it"."""
    known, closed = set(pairwise(before)), set(pairwise(after))
    return any(
        word in _PREPOSITIONS
        and before[place].isalpha()
        and before[place + 2].isalpha()
        and (before[place], before[place + 2]) in closed - known
        and after.count(word) < before.count(word)
        for place, word in enumerate(before[1:-1])
    )


def _names_two_agents(before: list[str], after: list[str]) -> bool:
    """Whether a sentence with "by" has become passive, with a second "by"."""
    return after.count("by") > before.count("by") > 0
