"""Put the predicate in front: `He was a Dutch painter` to `A Dutch painter, he was`.

AugCSE's YodaPerturbation: what follows the first auxiliary or the main verb moves to the front of its clause,
and a comma comes between.

Differences from the original: one clause moves, that of the main verb, from its subject to where the next
clause begins, instead of every stretch between conjunctions and marks, which tears lists apart; what opens
the sentence up to a comma stays in front; `not` stays with its auxiliary (`Seen, he has not`); questions,
imperatives and what a wrong parse would tear apart are left alone; final punctuation, spacing and the case
of names survive. Only a short predicate that ends the sentence moves, in one piece and without a clause of
its own; what somebody does to something moves before a pronoun alone, since of two nouns nobody knows then
which does it.
"""

import numpy as np

from augment_cli.contract.augmentation import english_rules
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.clause_rules import FINITE, Arguments, by_rule, negation_behind, put, refuse
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.untouched import has_gap

_LONGEST_FRONT, _LONGEST_SUBJECT, _SHORT_SENTENCE = 8, 7, 12  # tokens
_PERCEIVING = words("see hear watch feel make let have help notice")
_SHORT = {
    mark + end: verb
    for mark in "'’"
    for end, verb in (("s", "is"), ("m", "am"), ("re", "are"), ("ve", "have"), ("ll", "will"))
}


def _move(view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
    arguments, spans = Arguments(view), Constituents(view)
    # "In 1990 he was a Dutch painter.": first is "he", keep "was", left to right "a Dutch painter", which
    # gives "In 1990 a Dutch painter, he was."
    parses, roots, verbs = view.parses, view.roots[rows], arguments.first_verbs[rows]
    subjects = view.first((any_of(view.roles, (Role.SUBJECT, Role.EXPLETIVE))) & view.of_root)[rows]
    good = refuse(
        reasons,
        rows,
        (~any_of(view.verb_forms[verbs], FINITE), Reason.NO_FINITE_VERB),
        (subjects < 0, Reason.NO_SUBJECT),
        (subjects > verbs, Reason.INVERTED),
        (view.misread[verbs], Reason.DOUBTFUL_PARSE),
    )
    rows, roots, verbs, subjects = (array[good] for array in (rows, roots, verbs, subjects))
    keep = verbs + negation_behind(view, verbs)
    ends = _clause_ends(view, spans)[rows]
    left = keep + 1
    left = left + spans.is_space[np.minimum(left, len(view.roles) - 1)]
    right = spans.closed(np.minimum(left, ends), ends)
    first = _clause_starts(view, spans, rows, subjects)
    inside = np.minimum(left, len(view.roles) - 1)
    behind = view.behind(right)
    follows = (behind > right) & (view.rows[behind] == rows)
    torn = follows & spans.is_mark[behind] & ~spans.dividers[behind] & parses.whitespace[right]
    unfit = parses.pos.among({"CCONJ"})[inside] | parses.tags.among({"WP", "WDT", "WRB", "WP$"})[first]
    unfit |= ~_reads_as_a_front(view, arguments, spans, subjects, first, keep, left, right)
    good = refuse(
        reasons,
        rows,
        ((left > right) | spans.is_mark[inside] | ~parses.whitespace[keep], Reason.RULE_DOES_NOT_APPLY),
        ((right < roots) | (first > verbs) | (first < parses.offsets[:-1][rows]), Reason.DOUBTFUL_PARSE),
        (~spans.are_whole(left, right) | ~spans.are_whole(first, keep) | torn, Reason.DOUBTFUL_PARSE),
        (unfit, Reason.RULE_DOES_NOT_APPLY),
    )
    rows, keep, left, right, first = (array[good] for array in (rows, keep, left, right, first))
    opens = spans.opens(first)
    # The first word gives up its capital in the same edit.
    pairs = zip(
        spans.strings(left, right, to_front=opens), spans.strings(first, first, inwards=opens), strict=True
    )
    texts = [front.rstrip(",") + ", " + word for front, word in pairs]
    put(edits, rows, parses.starts[first], parses.ends[first], texts)
    # "A companion I'm": what is short for a verb is written out where it ends.
    verbs = verbs[good]
    forms = parses.lower_at(verbs)
    for place in np.flatnonzero((verbs == keep) & forms.among(_SHORT)).tolist():
        verb = verbs[place : place + 1]
        is_has = parses.lemmas_at(verb).values[0] == "have" and forms.values[forms.codes[place]][1:] == "s"
        full = "has" if is_has else _SHORT[forms.values[forms.codes[place]]]
        space = "" if parses.whitespace[verb[0] - 1] else " "
        put(edits, rows[place : place + 1], parses.starts[verb], parses.ends[verb], [space + full])
    # Another clause that follows without a mark gets a comma.
    follows = (follows & ~spans.is_mark[behind])[good]
    edits.replace(rows, parses.ends[keep], parses.ends[right], ["", ","], follows.astype(np.int64))


def _reads_as_a_front(
    view: ClauseView,
    arguments: Arguments,
    spans: Constituents,
    subjects: np.ndarray,
    first: np.ndarray,
    keep: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """bool (m,): short predicates that end the sentence, and short subjects with nothing torn off."""
    # In a sentence of a dozen words any of them is still understood; longer ones take a noun, an adjective
    # or a participle with what belongs to it.
    parses, rows, roots = view.parses, view.rows[first], view.roots[view.rows[first]]
    inside = np.minimum(left, len(view.roles) - 1)
    bears = spans.count(~spans.is_mark, right + 1, spans.bounds[1][rows]) == 0
    bears &= spans.count(spans.is_mark & ~spans.is_hyphen, left, right) == 0
    bears &= (right - left < _LONGEST_FRONT) & (keep - first < _LONGEST_SUBJECT)
    bears &= first == view.edges[0][subjects]
    bears &= ~parses.tags.among({"PRP", "RP"})[inside] & ~parses.deps.among({"prt", "compound:prt"})[inside]
    bears &= ~parses.lower_at(inside).among({"been", "place", "use", "part"})  # `Place in May, it took`
    bears &= ~view.any(parses.lower.among({"?"}))[rows] & ~has_gap(parses.texts)[rows]
    # `The engine, any reduction improves`: of two nouns nobody knows then which does it.
    acts = view.any(arguments.direct_objects & view.of_root)
    says = parses.lemmas_at(roots).lowered().among({"have", "contain", "include"}) | (keep < roots)
    says |= parses.lower_at(subjects).among({"i", "you", "he", "she", "we", "they"})
    bears &= ~acts[rows] | says
    # `They saw her dance`: whose dance, or whom?
    her = parses.lower_at(inside).among({"her"}) & (right == inside + 1)
    bears &= ~(her & parses.lemmas_at(roots).lowered().among(_PERCEIVING))

    clausal = any_of(view.verb_forms, FINITE) & parses.pos.among({"VERB", "AUX"})
    clausal |= parses.tags.among({"WDT", "WP", "WRB", "WP$"}) | parses.lower.among({"that", "than", "as"})
    plain = (spans.count(clausal, left, right) == 0) & (spans.count(spans.is_mark, first, keep) == 0)
    plain &= ~parses.tags.among({"RB", "RBR", "TO", "IN", "VB"})[inside]
    plain &= ~parses.lower_at(subjects).among({"it", "there", "this", "that"})
    # `Found, no trace was`
    plain &= ~parses.lower_at(first).among({"no", "any", "none", "nobody", "nothing"})
    few = np.diff(parses.offsets)[rows] <= _SHORT_SENTENCE
    return bears & (plain | few)


def _clause_starts(
    view: ClauseView, spans: Constituents, rows: np.ndarray, subjects: np.ndarray
) -> np.ndarray:
    """int64 (m,): first word of each row's main clause, behind the last comma in front of its subject."""
    places = np.arange(len(view.roles))
    breaks = spans.is_mark | (view.parses.pos.among({"CCONJ"}) & view.of_root)
    last = np.maximum.accumulate(np.where(breaks, places, -1))
    left = view.edges[0][subjects]
    return np.maximum(last[np.maximum(left - 1, 0)] + 1, spans.bounds[0][rows])


def _clause_ends(view: ClauseView, spans: Constituents) -> np.ndarray:
    """int64 (n,): last word of each row's main clause, before the next one."""
    places, left = np.arange(len(view.roles)), view.edges[0]
    behind = (places > view.roots[view.rows]) & view.of_root
    clausal = (view.roles == Role.CONJUNCT) & view.parses.pos.among({"VERB", "AUX"})
    clausal |= view.parses.deps.among({"parataxis"})
    # An adverbial clause behind a comma, and whatever follows a semicolon or colon.
    clausal |= (view.roles == Role.CLAUSE) & np.append(False, spans.commas[:-1])[: len(places)][left]
    heads = np.flatnonzero(behind & clausal & (left > view.roots[view.rows]))
    marks = np.flatnonzero(behind & spans.dividers & ~spans.commas & ~spans.is_space)
    starts = np.full(len(view.parses), len(places))
    np.minimum.at(starts, view.rows[heads], left[heads])
    np.minimum.at(starts, view.rows[marks], marks)
    starts = np.minimum(starts, spans.bounds[1] + 1)
    # Back over the conjunction and the marks in front of the next clause.
    skipped = spans.is_mark | view.parses.pos.among({"CCONJ"})
    before = np.maximum.accumulate(np.where(skipped, -1, places))
    return np.where(starts > 0, before[np.maximum(starts - 1, 0)], -1)


YODA = english_rules(
    name="yoda",
    version=5,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (YodaPerturbation)",
    prepare=lambda parameters, resources: by_rule(_move),
    examples=("augment-cli yoda",),
    is_random=False,
)
