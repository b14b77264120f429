"""What changes with a phrase that comes to another place: its pronoun's case, the verb's ending."""

from __future__ import annotations

import numpy as np

from augment_cli.english.clauses.clause_rules import Arguments, negation_behind, put
from augment_cli.english.inflection import base_form, inflected
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import AS_IT_IS, CAPITALISED, case_of, in_case

_BARE_NEGATED = words("need dare")  # these take no ending before "not"
_BE = words("am is are was were")


def change_case(
    view: ClauseView,
    heads: np.ndarray,
    single: np.ndarray,
    table: dict[str, str],
    texts: list[str],
    opens: np.ndarray,
) -> None:
    """Put pronouns that stand alone in the case of their new place."""
    forms = view.parses.lower_at(heads)
    for index in np.flatnonzero(single & forms.among(table)).tolist():
        word = table[forms.values[forms.codes[index]]]
        texts[index] = in_case(word, CAPITALISED if opens[index] else AS_IT_IS)


def agree(
    view: ClauseView,
    arguments: Arguments,
    rows: np.ndarray,
    verbs: np.ndarray,
    subjects: np.ndarray,
    edits: EditList,
) -> None:
    """Let verbs (m,) agree with their new subjects."""
    parses = view.parses
    forms, lemmas = parses.forms_at(verbs), parses.lemmas_at(verbs)
    plural, first = arguments.is_plural(subjects), parses.lower_at(subjects).among({"me"})
    kinds = view.verb_forms[verbs]
    lowered = forms.lowered()
    fixed = lowered.among(_BARE_NEGATED) & negation_behind(view, verbs)  # needn't
    agreeing = any_of(kinds, (VerbForm.PRESENT, VerbForm.PRESENT_THIRD)) & ~fixed
    agreeing |= (kinds == VerbForm.PAST) & lowered.among(_BE)  # other verbs have one form in the past
    changed, texts = [], []
    for index in np.flatnonzero(agreeing).tolist():
        form, lemma = forms.values[forms.codes[index]], lemmas.values[lemmas.codes[index]]
        new = _agreeing(form, int(kinds[index]), lemma, bool(plural[index]), bool(first[index]))
        if new is not None and new != form.lower():
            changed.append(index)
            texts.append(in_case(new, case_of(form)))
    chosen = np.array(changed, np.int64)
    put(edits, rows[chosen], parses.starts[verbs[chosen]], parses.ends[verbs[chosen]], texts)


def _agreeing(form: str, kind: int, lemma: str, plural: bool, first: bool) -> str | None:
    """A verb form for a subject: plural, first person singular, or third person singular."""
    word = form.lower()
    if word in _BE:
        past = word in {"was", "were"}
        if first:
            return "was" if past else "am"
        return ("were" if past else "are") if plural else ("was" if past else "is")
    if kind == VerbForm.PAST:
        return None
    base = base_form(form, kind, lemma)
    if base is None:
        return None
    return base if plural or first else inflected(base, VerbForm.PRESENT_THIRD)
