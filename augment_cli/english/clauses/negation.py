"""English negations for DN: which words go, where "not" goes in, and the words themselves.

The rule of a changed row says what was done, in this order, joined by "+": `delete` (a negation was taken
out), `auxiliary`, `be`, `verb`, `front` (one was put in), `template` (a phrase of the authors' later code).
"""

from dataclasses import dataclass

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw, pick
from augment_cli.english.clauses.auxiliary import DO, base_forms, joined_to_word, lemmas_of
from augment_cli.english.clauses.clause_rules import put
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, is_penn, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import CAPITALISED, case_of, in_case

TEMPLATES = (
    "It isn't that",
    "The fact is not that",
    "It is not true that",
    "It is not the truth that",
    "Not that",
    "There is no way that",
    "There is no chance that",
    "It is impossible that",
    "It can't be that",
)
_NEGATIVES = words("no not n't n’t never")
_RELEASED_NEGATIVES = words("no not n't")
# Roots that take "not" directly behind them.
_SPECIAL = words("am is are was were can could will would shall should may must might 'm 're 's ’m ’re ’s")
# What a contracted auxiliary is called once its "n't" is gone.
_FULL = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}

_KINDS = ("+auxiliary", "+be", "+verb", "+front")
_AUXILIARY, _BE, _VERB, _FRONT = range(4)


@dataclass(frozen=True)
class _Plan:
    """Edits before they are made: `deleted` and `taken` are tokens, `kinds` says how each takes its "not"."""

    deleted: np.ndarray
    taken: np.ndarray
    kinds: np.ndarray


def recommended(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """Algorithm 3: the first negation goes, if there is one; then "not" comes in until two edits are made."""
    count, owner = len(view.parses), view.rows
    answer = Answer.empty(count)
    # Not "no longer" and "no. 4": by its Penn tag this "no" is no determiner.
    other_no = view.parses.lower.among({"no"})
    other_no &= view.parses.tags.where(lambda tag: is_penn(tag) and tag != "DT")
    negatives = view.parses.lower.among(_NEGATIVES) & ~other_no
    kinds = _kinds(view, rows, helping=(Role.AUXILIARY,), otherwise=_FRONT)
    first = view.first(negatives)[rows]
    deleted = first[first >= 0]
    has_deleted = view.row_mask(owner[deleted])
    # An auxiliary that keeps its own negation takes no second one.
    kinds[deleted] = -1
    kept = negatives.copy()
    kept[deleted] = False
    kinds[np.append(kept[1:] & (owner[1:] == owner[:-1]), False) & (kinds == _AUXILIARY)] = -1

    candidates = np.flatnonzero(kinds >= 0)
    needed = np.where(has_deleted, 1, 2)
    available = np.bincount(owner[candidates], minlength=count)
    wanted = (_rank(owner[candidates]) < needed[owner[candidates]]) & (available >= needed)[owner[candidates]]
    taken = candidates[wanted]

    doubtful = np.zeros(count, bool)
    verbs = taken[kinds[taken] == _VERB]
    doubtful[owner[verbs]] = [form is None for form in base_forms(view, verbs)]
    answer.reasons[rows] = np.select(
        [doubtful, (available > 0) | has_deleted],
        [Reason.DOUBTFUL_PARSE, Reason.ONE_NEGATION_ONLY],
        Reason.NO_RULE_APPLIES,
    )[rows]
    good = (available >= needed) & ~doubtful
    plan = _Plan(deleted[good[owner[deleted]]], taken[good[owner[taken]]], kinds)
    _apply(view, plan, edits)
    _name(view, plan, answer)
    return answer


def released(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """The authors' code: negations go, "not" comes in; an edit that stays alone gets a phrase in front."""
    count, owner = len(view.parses), view.rows
    answer = Answer.empty(count)
    chosen = np.zeros(count, bool)
    chosen[rows] = np.diff(view.parses.offsets)[rows] > 1
    negatives = view.parses.lower.among(_RELEASED_NEGATIVES) & chosen[owner]
    # Their loop removes from the list it walks over, so of two negations in a row the second stays.
    runs = np.append(False, negatives[:-1] & (owner[1:] == owner[:-1]))
    place = _rank(np.cumsum(~(runs & negatives)))
    deleted = np.flatnonzero(negatives & (place % 2 == 0))
    removed = np.bincount(owner[deleted], minlength=count)

    kinds = _kinds(view, np.flatnonzero(chosen), helping=(Role.AUXILIARY, Role.INFINITIVE), otherwise=-1)
    kinds[deleted] = -1
    candidates = np.flatnonzero(kinds >= 0)
    taken = candidates[_rank(owner[candidates]) < (2 - removed)[owner[candidates]]]
    plan = _Plan(deleted, taken, kinds)
    _apply(view, plan, edits)
    _name(view, plan, answer)
    lone = np.flatnonzero(removed + np.bincount(owner[taken], minlength=count) == 1)
    starts = view.parses.starts[view.parses.offsets[lone]]
    edits.replace(lone, starts, starts, [t + " " for t in TEMPLATES], pick(draw(0)[lone], len(TEMPLATES)))
    answer.rules[lone] = answer.rules[lone] + "+template"
    return answer


def _kinds(view: ClauseView, rows: np.ndarray, helping: tuple[Role, ...], otherwise: int) -> np.ndarray:
    """int8 (N,): how each token would take a negation, or −1."""
    parses, forms = view.parses, view.verb_forms
    kinds = np.full(len(forms), -1, np.int8)
    kinds[any_of(view.roles, helping) & view.row_mask(rows)[view.rows]] = _AUXILIARY
    roots = view.roots[rows]
    roots = roots[roots >= 0]
    verbal = parses.pos.among({"VERB", "AUX"})[roots]
    special = verbal & parses.lower_at(roots).among(_SPECIAL)
    finite = any_of(forms[roots], DO)
    kinds[roots] = np.select([special, finite], [_BE, _VERB], otherwise)
    return kinds


def _rank(owners: np.ndarray) -> np.ndarray:
    """0, 1, 2, … within each run of equal owners."""
    positions = np.arange(len(owners))
    begins = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
    return positions - np.maximum.accumulate(np.where(begins, positions, 0))


def _apply(view: ClauseView, plan: _Plan, edits: EditList) -> None:
    parses, owner = view.parses, view.rows
    _delete(view, plan.deleted, view.mask(plan.taken), edits)

    kinds = plan.kinds[plan.taken]
    tokens = plan.taken[(kinds == _AUXILIARY) | (kinds == _BE)]
    contracted = parses.lower_at(tokens).among(_FULL)
    edits.insert(owner[tokens[~contracted]], parses.ends[tokens[~contracted]], " not")
    tokens = tokens[contracted]
    forms = parses.forms_at(tokens)
    full = [in_case(_FULL.get(form.lower(), form), case_of(form)) + " not" for form in forms.values]
    edits.replace(owner[tokens], parses.starts[tokens], parses.ends[tokens], full, forms.codes)

    tokens = plan.taken[kinds == _VERB]
    words_, lemmas = parses.forms_at(tokens).listed(), lemmas_of(view, tokens)
    forms, joined = view.verb_forms[tokens].tolist(), joined_to_word(view, tokens).tolist()
    texts = [
        " " * is_joined + in_case(f"{DO[VerbForm(form)]} not {lemma}", case_of(word))
        for word, form, lemma, is_joined in zip(words_, forms, lemmas, joined, strict=True)
    ]
    put(edits, owner[tokens], parses.starts[tokens], parses.ends[tokens], texts)

    rows = owner[plan.taken[kinds == _FRONT]]
    edits.insert(rows, parses.starts[parses.offsets[rows]], "Not ")


def _delete(view: ClauseView, tokens: np.ndarray, is_taken: np.ndarray, edits: EditList) -> None:
    """Take words out with the space in front of them, or behind where there is none in front."""
    parses, owner = view.parses, view.rows
    rows = owner[tokens]
    opens = tokens == parses.offsets[:-1][rows]
    spaced = np.append(False, parses.whitespace[:-1])[tokens] & ~opens
    following = np.minimum(tokens + 1, len(owner) - 1)
    has_next = (following > tokens) & (owner[following] == rows)
    bracketed = ~opens & ~spaced & parses.pos.among({"PUNCT"})[tokens - 1]
    starts = np.where(spaced, parses.ends[tokens - 1], parses.starts[tokens])
    takes_next = (opens | bracketed) & has_next
    ends = np.where(takes_next, parses.starts[following], parses.ends[tokens])
    # "No trace was found": the next word takes over the capital, unless it is replaced itself.
    capital = opens & has_next & (parses.forms_at(tokens).map(case_of, np.int64) == CAPITALISED)
    capital &= ~is_taken[following]
    edits.replace(
        rows[~capital], starts[~capital], ends[~capital], [""], np.zeros(int((~capital).sum()), int)
    )
    tokens, following = tokens[capital], following[capital]
    forms = parses.forms_at(following)
    texts = [in_case(form, CAPITALISED) for form in forms.values]
    edits.replace(owner[tokens], parses.starts[tokens], parses.ends[following], texts, forms.codes)


def _name(view: ClauseView, plan: _Plan, answer: Answer) -> None:
    """Write down what was done to each row."""
    owner = view.rows
    names = np.full(len(view.parses), "", object)
    names[owner[plan.deleted]] = "+delete"
    rank = _rank(owner[plan.taken])
    for number in range(2):
        mine = plan.taken[rank == number]
        names[owner[mine]] += np.array(_KINDS, object)[plan.kinds[mine]]
    named = names != ""
    answer.rules[named] = [name[1:] for name in names[named]]
