"""Put the sentences of a text in another order.

AugCSE's SentenceReordering, which needs texts of several sentences; one sentence has no other order.

Differences from the original: the order is drawn for each text instead of one fixed shuffle for all, and is
never the one that it has; a sentence counts as one only if it ends with a full stop, question or exclamation
mark and the next begins with a capital or a number, so that abbreviations part nothing; the white space
between the sentences survives.
"""

from collections.abc import Callable

import numpy as np

from augment_cli.contract.augmentation import Resources, english_rules, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.clauses.clause_rules import FINITE, outcome_of, put
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.words.word_edits import ranks_within
from augment_cli.resources import word_groups
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import any_of
from augment_cli.text.spans import EditList
from augment_cli.text.surface import slices

_FINAL = ".!?…"
_CLOSING = "\"'”’)]»"
_OPENING = "\"'“‘([«"
_LEAST = 2  # words of a sentence
_WORDS = word_groups("sentence-reordering")


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("sentence-reordering")

    def rule(view: ClauseView, english: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
        reasons[english] = Reason.ONE_SENTENCE
        _reorder(view, rows.row_ids, key, edits)

    return outcome_of(rows, rule)


def _reorder(view: ClauseView, row_ids: np.ndarray, key: int, edits: EditList) -> None:
    parses, rows = view.parses, view.rows
    first = _sentence_starts(view)
    last = np.append(first[1:], len(rows)) - 1
    owners = rows[first]
    counts = np.bincount(owners, minlength=len(parses))
    # Without a final mark the last sentence cannot stand before another.
    ends_well = _matches(view, last, lambda form: form[-1:] in _FINAL or form[-1:] in _CLOSING)
    whole = Constituents(view).are_whole(first, last)
    bad = np.bincount(owners, ~(ends_well & whole), len(parses)) > 0
    moves = (counts > 1)[owners] & ~bad[owners]
    first, last, owners = first[moves], last[moves], owners[moves]
    if not len(first):
        return
    offsets = np.searchsorted(owners, np.arange(len(parses) + 1))
    places = np.arange(len(owners)) - offsets[owners]
    order = ranks_within(owners, uniform(key, row_ids[owners], places))
    # The order that it has already is turned round by one.
    unchanged = np.bincount(owners, order != places, len(parses)) == 0
    counts = np.diff(offsets)[owners]
    order = np.where(unchanged[owners], (order + 1) % counts, order)
    source = offsets[owners] + order
    base = parses.texts.offsets[owners]
    strings = slices(parses.texts, base + parses.starts[first], base + parses.ends[last])
    texts = [strings[index].as_py() for index in source.tolist()]
    put(edits, owners, parses.starts[first], parses.ends[last], texts)


def _sentence_starts(view: ClauseView) -> np.ndarray:
    """int64 (m,): first token of each sentence, the first of each row among them."""
    parses, rows = view.parses, view.rows
    openings = parses.offsets[:-1][np.diff(parses.offsets) > 0]
    begins = view.mask(openings)
    maybe = np.flatnonzero(parses.sentence_starts & ~begins)
    maybe = maybe[parses.whitespace[maybe - 1]]
    capital = _matches(view, maybe, lambda form: form[:1].isupper() or form[:1].isdigit())
    opening = _matches(view, maybe, lambda form: form[:1] in _OPENING)
    closed = _matches(view, maybe - 1, lambda form: form[-1:] in _CLOSING)
    before = np.maximum(maybe - 1 - closed, 0)
    final = _matches(view, before, lambda form: form[-1:] in _FINAL) & (rows[before] == rows[maybe])
    maybe = maybe[(capital | opening) & final & ~_abbreviated(view, before)]
    begins[maybe] = True
    # Too short for a sentence, or without a verb: it belongs to the one in front.
    starts = np.flatnonzero(begins)
    following = np.append(starts[1:], len(rows))
    lengths = np.append(0, np.cumsum(~Constituents(view).is_mark))
    finite = any_of(view.verb_forms, FINITE) & parses.pos.among({"VERB", "AUX"})
    verbs = np.append(0, np.cumsum(finite))
    poor = (lengths[following] - lengths[starts] < _LEAST) | (verbs[following] == verbs[starts])
    begins[starts[poor]] = False
    begins[following[poor & (following < len(rows))]] = False
    begins[openings] = True
    return np.flatnonzero(begins)


def _abbreviated(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): full stops behind an initial or an abbreviation that something must follow."""
    alone = _matches(view, tokens, lambda form: form == ".")
    words_before = view.parses.lower_at(np.maximum(tokens - alone, 0))
    return words_before.where(
        lambda word: word.rstrip(".") in _WORDS.abbreviations or len(word.rstrip(".")) == 1
    )


def _matches(view: ClauseView, tokens: np.ndarray, test: Callable[[str], bool]) -> np.ndarray:
    return view.parses.forms_at(tokens).where(test)


SENTENCE_REORDERING = english_rules(
    name="sentence-reordering",
    version=1,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (SentenceReordering)",
    prepare=prepared(_run),
    examples=("augment-cli sentence-reordering",),
    meaning="possibly altered",
    entailment=("neither", "a sentence that refers to the one before it may lose it"),
)
