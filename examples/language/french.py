"""French: its quotation marks, and an adverb for `aa`: `Il est bien parti` for `Il est parti`."""

from __future__ import annotations

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.language import Language
from augment_cli.text.spans import EditList


def _affirmation(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """`bien` behind the first auxiliary of the main verb, or behind the verb; negated ones are left alone."""
    answer = Answer.empty(len(view.parses))
    roots, helping = view.roots[rows], view.first(view.auxiliaries & view.of_root)[rows]
    verbal = view.parses.pos.among({"VERB", "AUX"})[roots]
    negated = view.any(view.negations & view.of_root)[rows]
    answer.reasons[rows] = np.select([~verbal, negated], [Reason.NO_FINITE_VERB, Reason.NEGATED], "")
    good = verbal & ~negated
    verbs = np.where(helping >= 0, helping, roots)[good]
    edits.insert(rows[good], view.parses.ends[verbs], " bien")
    answer.rules[rows[good]] = "adverb"
    return answer


FRENCH = Language(code="fr", name="French", opening="« ", closing=" »", aa={"faithful": _affirmation})
