"""English double negations for DN's faithful mode: two negations that take each other away.

`any`: no evidence, not any evidence. `fail`: did not fail to leave. `phrase`: it is not true that he was not
a painter, where nothing in the sentence could come between the two negations: one clause, a definite subject;
or a phrase that is two negations, such as `there is no denying that he was a painter`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw
from augment_cli.english.clauses.assertions import NEGATIVES, Assertions
from augment_cli.english.clauses.auxiliary import DO, replace_verbs
from augment_cli.english.clauses.clause_rules import insert_not, put, refuse
from augment_cli.english.clauses.plain_clauses import is_plain, phrase_of, put_phrase
from augment_cli.english.inflection import base_form
from augment_cli.resources import word_list
from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList

# What somebody may be expected to do, so that "did not fail to" is how it would be said.
_EXPECTED = frozenset(word_list("expected_acts"))
# What a thing may be expected to do.
_EFFECTS = frozenset(word_list("expected_effects"))
# Adverbs that a negation would take in, or that speak of the whole sentence.
_SCOPED = frozenset(word_list("scoping_words"))
# Of these verbs those that need no object.
_INTRANSITIVE = words(
    "apologise apologize apply comment complain comply consult contribute object participate protest repair "
    "reply respond submit write vote"
)
_PERSON, _GROUP = 18, 14  # lexicographer files of nouns
_AGENTS = words("he she they i we who")
_REASONS = words("because since as so until till unless if lest though although whereas while that once")
_AUXILIARIES = words("is are was were am 's ’s 're ’re 'm ’m has have had 've ’ve can could will")
_WISHES = words("want need wish like wanted needed")
_NO_ANY = words("one doubt matter more less fewer longer sooner other such")


def faithful(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """The first rule that applies to each row, in the order `any`, `fail`, `phrase`."""
    answer = Answer.empty(len(view.parses))
    clauses = Assertions(view, rows)
    negatives = np.bincount(view.rows, view.parses.lower.among(NEGATIVES), len(view.parses))[rows]
    good = refuse(answer.reasons, rows, *clauses.checks())
    applies = np.zeros(len(rows), bool)
    applies[good] = True
    # Nobody denies "I want to book a table": it asks for something.
    wishes = view.parses.lower.among(_WISHES)
    wishes &= view.parses.lower.among({"i", "we"})[np.maximum(np.arange(len(wishes)) - 1, 0)]
    wished = view.any(wishes | view.parses.lower.among({"please", "wanna"}))[rows]
    spoken = view.parses.lower_at(np.maximum(clauses.subjects, 0)).among({"i", "we", "you"})
    wished |= spoken & ~view.is_past[clauses.tokens] & (clauses.subjects >= 0)
    nouns = _denied_nouns(view)[rows]
    denied = applies & (nouns >= 0) & (negatives == 1) & _takes_not(view, clauses)
    answer.reasons[rows[applies & (negatives > 0) & ~denied]] = Reason.NEGATED
    answer.reasons[rows[applies & (negatives == 0) & wished]] = Reason.QUESTION
    applies &= (negatives == 0) & ~wished
    inner = _verbs_to_fail(view, clauses, applies)
    fails = applies & (inner >= 0)
    phrased = applies & ~fails & _takes_not(view, clauses)
    phrased &= is_plain(view, clauses)

    _negate(view, clauses, np.flatnonzero(denied), edits)
    no = nouns[denied]
    put(edits, view.rows[no], view.parses.starts[no], view.parses.ends[no], ["any"] * len(no))
    _fail(view, clauses, np.flatnonzero(fails), inner, edits)
    chosen = np.flatnonzero(phrased)
    phrases = phrase_of(view, clauses, chosen)
    _negate(view, clauses, chosen[phrases == 0], edits)
    put_phrase(view, clauses, chosen, phrases, edits)
    for mask, name in ((denied, "any"), (fails, "fail"), (phrased, "phrase")):
        answer.rules[rows[mask]] = name
    return answer


def _denied_nouns(view: ClauseView) -> np.ndarray:
    """int64 (n,): the determiner "no" of an object, or of what there is not, or −1."""
    parses = view.parses
    no = np.flatnonzero(parses.forms.among({"no", "nO"}) & parses.tags.among({"DT"}))
    nouns = view.parents[no]
    following = parses.lower_at(view.behind(no)).among(_NO_ANY)
    expletive = view.any((view.roles == Role.EXPLETIVE) & view.of_root)[view.rows[no]]
    objects = parses.deps.among({"dobj", "obj"})[nouns] | (expletive & ~(view.roles[nouns] == Role.CLAUSE))
    # "scant chances and no system": the negation would take in what stands before.
    joined = np.append(0, np.cumsum(parses.pos.among({"CCONJ"})))
    roots = view.roots[view.rows[no]]
    fits = objects & view.of_root[nouns] & (no > roots) & ~following & (joined[no] == joined[roots])
    mask = view.mask(no[fits])
    return view.first(mask)


def _takes_not(view: ClauseView, clauses: Assertions) -> np.ndarray:
    """bool (m,): first verbs behind which "not" denies what the sentence says, and nothing else."""
    plain = view.parses.lower_at(clauses.tokens).among(_AUXILIARIES)
    return clauses.is_verb & ~clauses.adverb_in_front | ~clauses.is_verb & plain


def _negate(view: ClauseView, clauses: Assertions, index: np.ndarray, edits: EditList) -> None:
    is_verb = clauses.is_verb[index]
    others = index[~is_verb]
    insert_not(view, edits, *(clauses.tokens[others],) * 2)
    _with_do(view, clauses, index[is_verb], "not ", edits)


def _with_do(view: ClauseView, clauses: Assertions, index: np.ndarray, text: str, edits: EditList) -> None:
    tokens = clauses.tokens[index]
    forms = view.verb_forms[tokens].tolist()
    front = np.array([f"{DO[VerbForm(form)]} {text}" for form in forms], object)
    replace_verbs(view, clauses.rows[index], tokens, front, clauses.bases[index], edits)


def _verbs_to_fail(view: ClauseView, clauses: Assertions, applies: np.ndarray) -> np.ndarray:
    """int64 (m,): the verb that "fail to" goes before, or −1; looked for where `applies` (m,)."""
    # A finite main verb itself; the word behind "has" or "will", be it the main verb or another auxiliary.
    parses, tokens = view.parses, clauses.tokens
    behind = view.behind(tokens)
    own = (view.parents[behind] == view.roots[clauses.rows]) & (view.roles[behind] == Role.AUXILIARY)
    own |= behind == view.roots[clauses.rows]
    forms = view.verb_forms[behind]
    words_ = parses.lower_at(tokens)
    perfect = words_.among({"has", "have", "had"}) & (forms == VerbForm.PAST_PARTICIPLE)
    future = words_.among({"will"}) & (forms == VerbForm.BASE)
    helped = ~clauses.is_main & own & (perfect | future)
    inner = np.where(helped, behind, np.where(clauses.is_verb, tokens, -1))
    places = np.maximum(inner, 0)
    mains = view.roots[clauses.rows]
    passive = parses.lower_at(places).among({"been", "be"}) & (mains != places)
    possible = applies & (inner >= 0) & ~passive & ~clauses.goes_on & ~clauses.follows_speech
    # "been" and "be" before a present participle: nobody "had not failed to be waiting"
    goes_on = view.verb_forms[view.behind(places)] == VerbForm.PRESENT_PARTICIPLE
    goes_on &= parses.lower_at(places).among({"been", "be"})
    possible &= ~goes_on & ~view.is_be[mains] & ~clauses.adverb_in_front
    # Conjunctions of the main verb's own adverbial clauses, which a negation may take in.
    markers = parses.lower.among(_REASONS) & (view.of_root | view.of_root[view.parents])
    markers &= np.arange(len(view.roles)) > view.roots[view.rows]
    possible &= ~view.any(markers)[clauses.rows] & ~clauses.holds_word(_SCOPED)
    some = np.flatnonzero(possible)  # of these the verb is asked, which takes longest
    has_object = view.any(parses.deps.among({"dobj", "obj"}) & view.of_root)[clauses.rows[some]].tolist()
    lemmas = parses.lemmas_at(mains[some]).map(str.lower, object)
    verbs = np.where(clauses.is_verb[some], clauses.bases[some], lemmas).tolist()
    acting = _act(view, np.maximum(clauses.subjects[some], 0)).tolist()
    possible[some] = [
        verb in (_EXPECTED if acts else _EFFECTS) and (takes or verb in _INTRANSITIVE)
        for verb, acts, takes in zip(verbs, acting, has_object, strict=True)
    ]
    return np.where(possible, inner, -1)


def _act(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """bool (m,): subjects that do things: persons, groups of them, and names but for `the Gulf Stream`."""
    parses = view.parses
    files = parses.lemmas_at(heads).map(lambda lemma: _noun_files().get(lemma.lower(), -1), np.int64)
    people = any_of(files, (_PERSON, _GROUP))
    determined = parses.tags.among({"DT"})[view.edges[0][heads]]
    named = parses.pos.among({"PROPN"})[heads] & ((files < 0) | ~determined)
    return parses.lower_at(heads).among(_AGENTS) | people | named


@lru_cache(maxsize=1)
def _noun_files() -> dict[str, int]:
    """Lexicographer file of each common noun's most frequent sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    first = wordnet.entry_senses[entries]
    files = wordnet.synset_files[wordnet.sense_synsets[first]].tolist()
    lower = wordnet.spellings.take(pa.array(first)).to_pylist()
    return {word: file for word, file in zip(lower, files, strict=True) if word.islower()}


def _fail(
    view: ClauseView, clauses: Assertions, index: np.ndarray, inner: np.ndarray, edits: EditList
) -> None:
    parses = view.parses
    finite = clauses.is_verb[index]
    _with_do(view, clauses, index[finite], "not fail to ", edits)
    index = index[~finite]
    rows, tokens, verbs = clauses.rows[index], clauses.tokens[index], inner[index]
    insert_not(view, edits, tokens, tokens)
    forms, lemmas = parses.forms_at(verbs), parses.lemmas_at(verbs)
    kinds = view.verb_forms[verbs].tolist()
    texts = []
    for form, lemma, kind in zip(forms.codes.tolist(), lemmas.codes.tolist(), kinds, strict=True):
        word = forms.values[form]
        base = "be" if word.lower() in {"been", "be"} else base_form(word, kind, lemmas.values[lemma])
        fail = "failed" if kind == VerbForm.PAST_PARTICIPLE else "fail"
        texts.append(f"{fail} to {base or lemmas.values[lemma]}")
    put(edits, rows, parses.starts[verbs], parses.ends[verbs], texts)
