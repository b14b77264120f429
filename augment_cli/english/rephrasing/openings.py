"""Words that open a sentence and join it to the one before: `But he left.` to `However, he left.`"""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import FINITE, Grammar
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.syntax.tree import words

_CONTRASTING = words("but yet")
_ALSO_CONTRASTING = words("however nevertheless nonetheless still yet rather instead merely only")
_CLAUSAL = words("when if after before while although though as since then in on at")
_NO_SUBJECTS = words("which who what that this one nothing none neither no not")


def openings(grammar: Grammar) -> list[Places]:
    """Places of all rules on the first word of a sentence."""
    rows = np.flatnonzero(grammar.is_statement & (grammar.subjects >= 0))
    first = grammar.openings[rows]
    second = grammar.next_in_row(first)
    begins = grammar.subject_spans[0][rows]
    bare = (begins == second) & ~grammar.is_word(_NO_SUBJECTS, second)
    framed = (begins > second) & grammar.is_word(_CLAUSAL, second)
    joins = (bare | framed) & grammar.parses.whitespace[first]
    return [
        _however(grammar, first, joins),
        _and_dropped(grammar, first, joins),
        _then_inside(grammar, rows, bare),
    ]


def _however(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`But he left.` to `However, he left.`"""
    good = joins & grammar.is_word(_CONTRASTING, first) & grammar.is_pos("CCONJ", "ADV", at=first)
    inside = grammar.is_word(_ALSO_CONTRASTING) & (grammar.places > grammar.openings[grammar.rows])
    good &= ~grammar.rows_with(inside)[grammar.rows[first]]

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token, grammar.capital("however,", token))]

    return Places("opening_however", PHRASE, [(first, first)], (first,), write).where(good)


def _and_dropped(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`And he left.` to `He left.`"""
    good = joins & grammar.is_word({"and"}, first)

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token + 1, grammar.in_front(token + 1, token + 1, token))]

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

    return Places("then_inside", CLAUSE, [(first, left), (right, right)], (first, left, right), write).where(good)
