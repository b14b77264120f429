"""Words that open a sentence and join it to the one before: `But he left.` to `However, he left.`"""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import FINITE, Grammar, upper_first
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.syntax.tree import words

_CONTRASTING = words("but yet")
_ALSO_CONTRASTING = words("however nevertheless nonetheless still yet rather instead merely only")
_CLAUSAL = words("when if after before while although though as since then in on at")
_QUOTES = words("\" “ ‘ '")
_NOMINATIVES = words("i you he she it we they there")
_NO_SUBJECTS = words("which who what that this one nothing none neither no not")


def openings(grammar: Grammar) -> list[Places]:
    """Places of all rules on the first word of a sentence."""
    rows = np.flatnonzero(grammar.is_statement & (grammar.subjects >= 0))
    first = grammar.openings[rows]
    told, spoken = _spoken(grammar)
    second = grammar.next_in_row(first)
    begins = grammar.subject_spans[0][rows]
    bare = (begins == second) & ~grammar.is_word(_NO_SUBJECTS, second)
    framed = (begins > second) & grammar.is_word(_CLAUSAL, second)
    joins = (bare | framed) & grammar.parses.whitespace[first]
    return [
        _however(grammar, np.append(first, told), np.append(joins, spoken)),
        _and_dropped(grammar, np.append(first, told), np.append(joins, spoken)),
        _interjection_dropped(grammar),
        _then_inside(grammar, rows, bare),
    ]


def _spoken(grammar: Grammar) -> tuple[np.ndarray, np.ndarray]:
    """First words (m,) behind a quotation mark that opens a row; whether a pronoun and its verb follow."""
    quotes = grammar.openings[np.diff(grammar.parses.offsets) > 2]
    first = quotes[grammar.is_word(_QUOTES, quotes)] + 1
    return first, _has_clause(grammar, grammar.next_in_row(first))


def _has_clause(grammar: Grammar, pronouns: np.ndarray) -> np.ndarray:
    """bool (m,): tokens that are a pronoun in front of its finite verb."""
    behind = grammar.next_in_row(pronouns)
    return grammar.is_word(_NOMINATIVES, pronouns) & grammar.is_tag(*FINITE, "MD", at=behind)


def _interjection_dropped(grammar: Grammar) -> Places:
    """`"Oh, I know."` to `"I know."`"""
    first = grammar.openings[np.diff(grammar.parses.offsets) > 3]
    first = first + grammar.is_word(_QUOTES, first)
    pronouns = grammar.next_in_row(first, 2)
    good = grammar.is_word(words("oh ah well why"), first) & grammar.is_comma[grammar.next_in_row(first)]
    good &= _has_clause(grammar, pronouns)

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token + 2, upper_first(grammar.text(token + 2)))]

    return Places("interjection_dropped", PHRASE, [(first, first + 2)], (first,), write).where(good)


def _however(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`But he left.` to `However, he left.`"""
    good = joins & grammar.is_word(_CONTRASTING, first) & grammar.is_pos("CCONJ", "ADV", at=first)
    inside = grammar.is_word(_ALSO_CONTRASTING) & (grammar.places > grammar.openings[grammar.rows])
    good &= ~grammar.rows_with(inside)[grammar.rows[first]]

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token, "However," if grammar.text(token)[0].isupper() else "however,")]

    return Places("opening_however", PHRASE, [(first, first)], (first,), write).where(good)


def _and_dropped(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`And he left.` to `He left.`"""
    good = joins & grammar.is_word({"and"}, first)

    def write(token: int) -> list[Edit]:
        text = grammar.text(token + 1)
        return [
            grammar.edit(token, token + 1, upper_first(text) if grammar.text(token)[0].isupper() else text)
        ]

    return Places("opening_and_dropped", PHRASE, [(first, first + 1)], (first,), write).where(good)


def _then_inside(grammar: Grammar, rows: np.ndarray, bare: np.ndarray) -> Places:
    """`Then he turned round.` to `He then turned round.`"""
    first = grammar.openings[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    verb = grammar.next_in_row(right)
    good = bare & grammar.is_word({"then"}, first) & (verb == grammar.roots[rows]) & (verb > right)
    good &= grammar.is_tag(*FINITE, at=verb) & grammar.is_pos("VERB", at=verb) & (right - left < 4)
    good &= (grammar.count(grammar.is_mark, left, right) == 0) & grammar.parses.whitespace[right]

    def write(opening: int, begin: int, end: int) -> list[Edit]:
        subject = grammar.in_front(begin, begin, opening)
        return [grammar.edit(opening, begin, subject), grammar.put_behind(end, " then")]

    return Places("then_inside", CLAUSE, [(first, left), (right, right)], (first, left, right), write).where(
        good
    )
