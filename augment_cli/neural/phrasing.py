"""Turns of phrase that a paraphrasing model gets wrong though each of its words is right.

Each check compares an output with its original and finds one kind of slip, as reading outputs showed them.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from augment_cli.syntax.tree import words
from augment_cli.text.numbers import cardinal, ordinal

_TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_PREPOSITIONS = words("about against at by for from in into of on over through to towards under with")
_MAY_NOT_GO = _PREPOSITIONS | {"the"}
_SAME_NUMBER = words("this these those another both either neither")
_RESTRICTIONS = words("only just merely simply solely")
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
# "Temples such as man never saw" are not like anything.
_SUCH_AS_CLAUSE = re.compile(
    r"\bsuch as (?:the|an?|his|her|its|their|my|your|i|you|he|she|it|we|they|\w+ (?:never|ever))\b"
)
# "It is due to the rain", or "due directly to": only "due to" as one preposition is "because of".
_PREDICATE_DUE = re.compile(r"\b(?:is|are|was|were|be|been)(?: \w+){0,3} due\b|\bdue (?!to\b)")
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_QUOTED_WORDS = re.compile(r"[\"“]((?:[\w'’-]+ ){0,2}[\w'’-]+)[\"”]")
_DETERMINERS = words("a an the my your his her its our their this that these those")
_LAST_CLAUSE = re.compile(r", (\w+ \w+)[.!?][\"'”’]?$")
# "That very day" is that day and no other.
_VERY_ONE = re.compile(r"\b(?:the|that|this|these|those) very\b")
# What comes with a slip, and stands in no original that is written well.
_SLIPS = (
    re.compile(r"\bby (?:me|him|us|them)\b"),
    re.compile(r"\bby (?:i|he|she|we|they|her|you|it)(?=[.,;:!?]|$)"),
    re.compile(r"\b(?:is|was|are|were) (?:this|it|he|she|they|these|those|such)(?=[.,;:!]|$)"),
    re.compile(r"\boccur\w* (?:on|upon)\b"),
    re.compile(r"\b(?:who|what|that|there|where|how)'m\b"),
    re.compile(
        r"\bin order to (?:the|an?|this|these|those|that|my|his|her|its|our|their|your|i|he|she|we|they)\b"
    ),
    re.compile(r"\b(?:i|we|you|they)'s\b"),
    re.compile(r"\b(?:do|does|did) there\b"),
    re.compile(r"\b(?:for|in) what way\b"),
    re.compile(r"\b(?:am|is|are|was|were|be|been) remaining\b"),
    re.compile(r"\b(?:soon|shortly|later|then) (?:subsequently|afterwards|later|soon)\b"),
    re.compile(r"\battempt(?:ed|ing|s)?\b(?! (?:to|at)\b)"),
    re.compile(r"\bduring the night\b"),
    re.compile(r"\b(?:extremely|highly) (?:well|much|many|few|same|good|best|one)\b"),
    re.compile(r", (?:do not|don't) \w+[.!?]*[\"'”’]?$"),
    re.compile(r"\ba kid\b"),
    re.compile(r"\b(?:no|yes) in fact\b"),
    re.compile(r"\b(\w+) and \1\b"),
    re.compile(r"\bbeg[aiu]n\w* to (?:an?|the|my|your|his|her|its|our|their)\b"),
    re.compile(
        r"\b(?:more|most) (?:big|fast|great|hard|high|huge|large|odd|quick|rich|sad|small|strong|tiny|weak)\b"
    ),
    re.compile(r"\bof it\b"),
    re.compile(r"\b(?:hardly|scarcely|barely)(?=[.,;:!?])"),
    re.compile(r"\bknown as (?:back|up|off|out|on|upon|for|to|in)\b"),
    re.compile(r"'s (?:is|are|was|were|am)\b"),
    re.compile(r"\b[a-z]+s's\b"),
    re.compile(r"\b(?:so|as|how|too|very|not) (?:an? (?:large|great|small) number|a lot|the majority)\b"),
    re.compile(
        r"\bto (?:about|across|against|at|by|for|from|in|into|of|on|over|to|toward|towards|upon|with)\b"
    ),
    re.compile(r"\bof (?:next|last|yesterday|today|to-?day|tomorrow|to-?morrow)\b"),
    re.compile(r"\bof (?:\w+ ){1,3}[\"“]"),
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
        or any(after.count(word) < before.count(word) for word in ("and", "but"))
        or any(after.count(word) != before.count(word) for word in _SAME_NUMBER)
        or _loses_a_restriction(before, after)
        or (_PREDICATE_DUE.search(one) is not None and after.count("due") < before.count("due"))
        or set(_HYPHENATED.findall(two)) != set(_HYPHENATED.findall(one))
        or len(_SUCH_AS_CLAUSE.findall(two)) < len(_SUCH_AS_CLAUSE.findall(one))
        or not _quoted(original) <= _quoted(output)
        or _counts_another_person(before, after)
        or _renames_an_attribute(before, after)
        or _ends_with_who_said_it(one, two)
        or _sets_a_condition(one, two)
        or _opens_with_as(one, two)
        or _exchanges_bounds(one, two)
        or _ends_with_a_clause(one, two)
        or _leaves_a_word_out(before, after)
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


def _loses_a_restriction(before: list[str], after: list[str]) -> bool:
    """Whether an "only" or its like has gone: "Only then did he go" says more than "Then he went"."""
    return sum(word in _RESTRICTIONS for word in after) < sum(word in _RESTRICTIONS for word in before)


def _quoted(text: str) -> Counter[str]:
    """Words that stand in quotation marks as words, without a mark of their own."""
    return Counter(_QUOTED_WORDS.findall(text))


def _counts_another_person(before: list[str], after: list[str]) -> bool:
    """Whether "does not" has become "don't"."""
    counts = [
        (sum(word in ("does", "doesn't") for word in some), sum(word in ("do", "don't") for word in some))
        for some in (before, after)
    ]
    return counts[1][0] < counts[0][0] and counts[1][1] > counts[0][1]


def _renames_an_attribute(before: list[str], after: list[str]) -> bool:
    """Whether a participle before its noun is another: of "the remaining part", "the staying part"."""
    new = set(pairwise(after)) - set(pairwise(before))
    return any(
        one in _DETERMINERS and two.endswith(("ing", "ed")) and two not in before and len(two) > len("thing")
        for one, two in new
    )


def _ends_with_who_said_it(original: str, output: str) -> bool:
    """Whether "I thought" of "I thought it rained, and that …" has gone to the end of the clauses."""
    found = _LAST_CLAUSE.search(output)
    if found is None or not original.lstrip("\"'“‘([ ").startswith(found[1] + " "):
        return False
    return any(mark in original for mark in (",", " and ", " that ", ";"))


def _leaves_a_word_out(before: list[str], after: list[str]) -> bool:
    """Whether the words around a preposition or a "the" have closed up: of "go on with it", "go on it"."""
    known, closed = set(pairwise(before)), set(pairwise(after))
    return any(
        word in _MAY_NOT_GO
        and before[place].isalpha()
        and before[place + 2].isalpha()
        and (before[place], before[place + 2]) in closed - known
        and after.count(word) < before.count(word)
        for place, word in enumerate(before[1:-1])
    )


def _names_two_agents(before: list[str], after: list[str]) -> bool:
    """Whether a sentence with "by" has become passive, with a second "by"."""
    return after.count("by") > before.count("by") > 0
