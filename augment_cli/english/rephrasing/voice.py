"""Passive to active and back, and the two sides of an identity."""

from __future__ import annotations

import numpy as np

from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing.grammar import OBJECT_FORMS, Grammar, upper_first
from augment_cli.english.rephrasing.places import CLAUSE, Edit, Places
from augment_cli.resources.word_lists import word_list
from augment_cli.syntax.morphology import VerbForm
from augment_cli.syntax.tree import words

_BOUND = words("for with as to during after before since until about against between while when")
_LOOSE = words("in on at")
_LONGEST = 9
MANNERS = words(
    "ballot vote hand mail post accident chance bus car train air sea road majority referendum means "
    "mistake law default way boat plane ship rail foot phone letter email virtue nature birth "
    "weight volume area force"
)
_REFLEXIVE = words("himself herself itself themselves myself each other another")
_EVERY_DOER = words("who which that this these those it there what he she they we i you")


def voices(grammar: Grammar) -> list[Places]:
    """Places of all rules on voice and identity."""
    return [_to_active(grammar), _to_passive(grammar), _identity(grammar)]


def _starts_clause(grammar: Grammar, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): tokens at which the sentence begins, or its clause behind a comma."""
    begins = tokens == grammar.openings[grammar.rows[tokens]]
    return begins | grammar.is_comma[np.maximum(tokens - 1, 0)]


def _before_time(grammar: Grammar, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """int64 (m,): where noun phrases end if what says when (`in 1999`) belongs to the verb."""
    preposition = grammar.is_word(_LOOSE) & grammar.is_pos("ADP")
    heads = np.flatnonzero(preposition & grammar.is_time[grammar.parents])
    cut = np.zeros(len(grammar), bool)
    cut[heads] = True
    following = np.minimum.accumulate(np.where(cut, grammar.places, len(grammar))[::-1])[::-1]
    place = following[np.minimum(left + 1, len(grammar) - 1)]
    return np.where((place > left) & (place <= right), place - 1, right)


def _forms(grammar: Grammar, verbs: np.ndarray, form: VerbForm) -> list[str]:
    """A form of each verb (m,); "" where there is none."""
    lemmas = grammar.parses.lemmas_at(verbs)
    table = [(inflected(lemma.lower(), form) or "") if lemma.isalpha() else "" for lemma in lemmas.values]
    return [table[code] for code in lemmas.codes.tolist()]


def _to_active(grammar: Grammar) -> Places:
    """`The novel was written by Ann in 1990.` to `Ann wrote the novel in 1990.`"""
    rows = np.flatnonzero(grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated)
    roots = grammar.roots[rows]
    subject = grammar.subjects[rows]
    agent = grammar.first(grammar.of_root & grammar.is_dep("obl:agent"))[rows]
    be = grammar.first(grammar.of_root & grammar.is_dep("aux:pass"))[rows]
    good = (
        (agent > roots)
        & (be >= 0)
        & grammar.is_dep("nsubj:pass", at=subject)
        & grammar.is_tag("VBN", at=roots)
    )
    bad = grammar.of_root & grammar.is_dep(
        "conj", "cop", "expl", "aux", "mark", "xcomp", "ccomp", "parataxis"
    )
    # "was caught while travelling": the one who travels is the subject.
    bad |= grammar.of_root & grammar.is_dep("advcl") & grammar.is_tag("VBG")
    good &= ~grammar.rows_with(bad)[rows]
    rows, roots, subject, agent, be = (array[good] for array in (rows, roots, subject, agent, be))
    low, high = (edge[rows] for edge in grammar.subject_spans)
    by, right = grammar.trimmed(agent)
    right = _before_time(grammar, by, right)
    good = (by == roots + 1) & grammar.is_word({"by"}, by) & (right >= agent) & (right - by < _LONGEST)
    good &= grammar.is_tag("VBD", "VBZ", "VBP", at=be) & grammar.is_word(words("was were is are"), be)
    adverbs = grammar.count(grammar.is_tag("RB"), be + 1, roots - 1) == roots - 1 - be
    good &= (high == be - 1) & adverbs & (roots - be <= 2) & _starts_clause(grammar, low)
    good &= grammar.knows_capital[rows]
    good &= grammar.count(grammar.is_comma, low, high) == 0
    good &= grammar.count(grammar.is_comma | grammar.is_verb | grammar.is_tag("VBG"), by, right) == 0
    good &= grammar.count(grammar.is_word(_BOUND) & grammar.is_pos("ADP", "SCONJ"), by + 1, right) == 0
    good &= grammar.is_pos("NOUN", "PROPN", at=agent) & ~grammar.is_time[agent]
    good &= ~grammar.is_lemma(MANNERS, agent)
    behind = grammar.next_in_row(right)
    ends = grammar.ends[rows]
    good &= ~grammar.is_comma[behind] & (grammar.count(grammar.is_word({"by"}), right + 1, ends) == 0)
    good &= ~grammar.is_pos("NOUN", "PROPN", "CCONJ", "VERB", "AUX", at=behind) | (behind == right)
    plural = grammar.is_plural(agent)
    past = grammar.is_tag("VBD", at=be)
    third = _forms(grammar, roots, VerbForm.PRESENT_THIRD)
    before, base = _forms(grammar, roots, VerbForm.PAST), _forms(grammar, roots, VerbForm.BASE)
    forms = [
        one if is_past else many if is_plural else other
        for one, other, many, is_past, is_plural in zip(
            before, third, base, past.tolist(), plural.tolist(), strict=True
        )
    ]
    kept = good & np.array([bool(form) for form in forms], bool)

    def write(first: int, last: int, verb: int, end: int, auxiliary: int, new: str) -> list[Edit]:
        doer = grammar.in_front(verb + 2, end, first)
        done = grammar.inward(first, last)
        if first == last:
            done = OBJECT_FORMS.get(done.lower(), done)
        adverb = grammar.text(auxiliary + 1, verb - 1) + " " if verb > auxiliary + 1 else ""
        return [
            grammar.edit(first, last, doer),
            grammar.edit(auxiliary, verb, adverb + new),
            (grammar.stops[verb], grammar.stops[end], " " + done),
        ]

    return Places(
        "passive_to_active", CLAUSE, [(low, right)], (low, high, roots, right, be, forms), write
    ).where(kept)


def _to_passive(grammar: Grammar) -> Places:
    """`Smith founded the company in 1990.` to `The company was founded by Smith in 1990.`"""
    verbs = frozenset(word_list("passive_verbs"))
    chosen = grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated
    chosen[chosen] &= (grammar.is_lemma(verbs) & grammar.is_tag("VBD", "VBZ", "VBP"))[grammar.roots[chosen]]
    rows = np.flatnonzero(chosen)
    roots, subject = grammar.roots[rows], grammar.subjects[rows]
    thing = grammar.first(grammar.of_root & grammar.is_dep("obj"))[rows]
    bad = grammar.of_root & grammar.is_dep(
        "conj", "xcomp", "ccomp", "iobj", "cop", "aux", "compound:prt", "expl", "parataxis", "advcl", "advmod"
    )
    good = (thing > roots) & ~grammar.rows_with(bad)[rows] & grammar.is_dep("nsubj", at=subject)
    rows, roots, subject, thing = (array[good] for array in (rows, roots, subject, thing))
    low, high = (edge[rows] for edge in grammar.subject_spans)
    left, right = grammar.trimmed(thing)
    right = _before_time(grammar, left, right)
    ends = grammar.ends[rows]
    good = (high == roots - 1) & (left == roots + 1) & (right >= thing) & _starts_clause(grammar, low)
    good &= (right - left < _LONGEST) & (high - low < _LONGEST)
    good &= grammar.is_pos("NOUN", "PROPN", at=thing) & grammar.is_pos("NOUN", "PROPN", at=subject)
    good &= ~grammar.is_time[thing] & ~grammar.is_word(_EVERY_DOER, subject)
    inside = grammar.is_comma | grammar.is_word(_REFLEXIVE) | grammar.is_dep("acl:relcl", "acl", "nmod:poss")
    inside |= grammar.is_pos("ADP") & ~grammar.is_word({"of"})
    good &= grammar.count(inside, left, right) == 0
    good &= grammar.count(grammar.is_comma | grammar.is_dep("acl:relcl", "acl"), low, high) == 0
    # What follows must be a time or a place, which the agent may stand in front of.
    behind = grammar.next_in_row(right)
    good &= (right == ends) | (grammar.is_word(_LOOSE, behind) & grammar.is_dep("case", at=behind))
    good &= grammar.count(grammar.is_comma | grammar.is_verb, right + 1, ends) == 0
    plural = grammar.is_plural(thing)
    past = grammar.is_tag("VBD", at=roots)
    participles = _forms(grammar, roots, VerbForm.PAST_PARTICIPLE)
    kept = good & np.array([bool(form) for form in participles], bool)
    written = [
        f"{('were' if many else 'was') if was else ('are' if many else 'is')} {participle}"
        for participle, many, was in zip(participles, plural.tolist(), past.tolist(), strict=True)
    ]

    def write(first: int, last: int, begin: int, end: int, new: str) -> list[Edit]:
        done, doer = grammar.in_front(begin, end, first), grammar.inward(first, last)
        return [
            grammar.edit(first, last, done),
            grammar.edit(last + 1, last + 1, new),
            grammar.edit(begin, end, f"by {doer}"),
        ]

    return Places(
        "active_to_passive", CLAUSE, [(low, right)], (low, high, left, right, written), write
    ).where(kept)


def _identity(grammar: Grammar) -> Places:
    """`Rome is the capital of Italy.` to `The capital of Italy is Rome.`"""
    rows = np.flatnonzero(grammar.is_plain & grammar.opens_with_subject)
    roots, subject = grammar.roots[rows], grammar.subjects[rows]
    be = grammar.first(grammar.of_root & grammar.is_dep("cop"))[rows]
    article = grammar.first(grammar.of_root & grammar.is_dep("det"))[rows]
    bad = grammar.of_root & grammar.is_dep("aux", "advmod", "conj", "parataxis", "advcl", "acl:relcl", "obl")
    good = (be >= 0) & (article == be + 1) & ~grammar.rows_with(bad)[rows]
    good &= grammar.is_word({"the"}, article) & grammar.is_word({"is", "was"}, be)
    good &= grammar.is_name[subject] & grammar.is_pos("NOUN", at=roots) & ~grammar.is_tag("NNS", at=roots)
    low, high = (edge[rows] for edge in grammar.subject_spans)
    good &= (
        (high == be - 1)
        & ~grammar.is_word({"the"}, low)
        & ~grammar.has_child(grammar.is_dep("conj"))[subject]
    )
    ends = grammar.ends[rows]
    good &= grammar.count(grammar.is_comma | grammar.is_verb & ~grammar.of_root, low, ends) == 0
    after = grammar.next_in_row(roots)
    good &= grammar.is_word({"of"}, after)

    def write(first: int, last: int, verb: int, end: int) -> list[Edit]:
        predicate = upper_first(grammar.text(verb + 1, end))
        subject_text = grammar.inward(first, last)
        return [grammar.edit(first, last, predicate), grammar.edit(verb + 1, end, subject_text)]

    return Places("identity_turned", CLAUSE, [(low, ends)], (low, high, be, ends), write).where(good)
