"""English affirmation for AA's faithful mode: the auxiliary "do", or an adverb where English has no such one.

"She did leave" says what "She left" says, and so does "The bridge was indeed built": each follows from the
other, as it does not with "She had to leave" or "She needs to leave".
"""

from __future__ import annotations

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw, pick
from augment_cli.english.clauses.assertions import NEGATIVES, Assertions
from augment_cli.english.clauses.auxiliary import DO, replace_verbs
from augment_cli.english.clauses.clause_rules import refuse
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import VerbForm, words
from augment_cli.text.spans import EditList

ADVERBS = ("indeed", "in fact", "actually")
# Beside one of these another affirmation is one too many.
_AFFIRMED = words("indeed fact actually really truly certainly surely definitely probably perhaps maybe")


def faithful(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """`do`, `does`, `did` before a finite main verb; an adverb behind a form of "be", "have" or a modal."""
    # "She left" to "She did leave", "She also left" to "She did also leave", "It was built" to "It was indeed
    # built".
    answer = Answer.empty(len(view.parses))
    clauses = Assertions(view, rows)
    tokens = clauses.tokens
    # "nearly always goes" and "at first goes": no place between the words is right.
    second = view.parses.tags.among({"RB", "IN"})[np.maximum(tokens - 2, 0)]
    second &= view.rows[np.maximum(tokens - 2, 0)] == rows
    # "I had no pleasure in thinking"
    denies = view.any(view.parses.lower.among({"no"}) & view.of_root[view.parents])
    # "Wonderful were those wanderings": an adjective before "be" is no subject.
    adjective = view.parses.tags.among({"JJ", "JJR", "JJS"})[np.maximum(clauses.subjects, 0)]
    predicate = adjective & (clauses.subjects >= 0) & (clauses.subjects + 1 == tokens)
    good = refuse(
        answer.reasons,
        rows,
        *clauses.checks(),
        (clauses.holds_word(NEGATIVES), Reason.NEGATED),
        (clauses.holds_word(_AFFIRMED), Reason.RULE_DOES_NOT_APPLY),
        (clauses.is_verb & clauses.adverb_in_front & second, Reason.RULE_DOES_NOT_APPLY),
        (clauses.follows_speech, Reason.RULE_DOES_NOT_APPLY),
        (clauses.is_verb & denies[rows], Reason.NEGATED),
        (~clauses.is_verb & predicate, Reason.INVERTED),
    )
    # "did glare and scolded" would not do: the verbs of one subject are affirmed together.
    shared = clauses.is_verb & clauses.goes_on & ~clauses.adverb_in_front
    has_do = (clauses.is_verb & ~shared)[good]
    verbs, others = good[has_do], good[~has_do]

    forms = view.verb_forms[tokens[verbs]]
    helpers = np.array([DO[VerbForm(form)] for form in forms.tolist()], object)
    between = clauses.adverb_in_front[verbs]  # "did also go"
    replaced = np.where(between, "", helpers + " ").astype(object)
    replace_verbs(view, rows[verbs], tokens[verbs], replaced, clauses.bases[verbs], edits)
    for form in set(helpers[between].tolist()):
        mine = verbs[between & (helpers == form)]
        edits.insert(rows[mine], view.parses.starts[tokens[mine] - 1], form + " ")

    uniforms = draw(0)
    behind, front = others[~shared[others]], others[shared[others]]
    for index, places, texts in (
        (behind, view.parses.ends[tokens[behind]], [" " + adverb for adverb in ADVERBS]),
        (front, view.parses.starts[tokens[front]], [adverb + " " for adverb in ADVERBS]),
    ):
        edits.replace(rows[index], places, places, texts, pick(uniforms[rows[index]], len(ADVERBS)))
    answer.rules[rows[verbs]] = "do"
    answer.rules[rows[others]] = "adverb"
    return answer
