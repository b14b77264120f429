"""Exchange two noun phrases, in one sentence of ten: `from Bern to Rome` to `from Rome to Bern`.

Who does what to whom, where from and where to, before what and after what: an encoder that sees words and not
their places takes both for the same. The plain phrase changes place (articles, adjectives and names before
the noun, and the noun); what is said of it behind stays. First come subject and object of one verb, which
then agrees with the other, and whose pronouns change their case (`She beats them` to `They beat her`): both
can act, or are things, or are neither. Then come two that are both singular or both plural, and are names, or
things of one sort by WordNet, or stand behind prepositions. Phrases that are joined (`Ann and Bob`), of which
one is said of the other (`the king of Spain`, `Rome is the capital`), and those of verbs that hold both ways
(`Ann met Bob`) stay.

Changes 11 % of Wikipedia's sentences and 4 % of questions, and with `--unlike` 17 and 11 %. Nearly all are
turned, and a blind reader found two in three to be nonsense: texts to learn roles from, not to show.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, compress, pairwise

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import english_rules
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.clause_rules import (
    ACCUSATIVES,
    FINITE,
    NOMINATIVES,
    Arguments,
    by_rule,
    negation_behind,
    put,
)
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.verb_tense import FIRST, OTHER, PAST, PRESENT, THIRD, finite
from augment_cli.english.inflection import base_form, inflected
from augment_cli.resources import word_groups, word_list
from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import AS_IT_IS, CAPITALISED, case_of, in_case

_PERSON, _NAME, _PLACE = 18, -2, 15  # lexicographer files of WordNet; names have none
_WORDS = word_groups("phrase-swap")
_BARE_NEGATED = words("need dare")  # these take no ending before "not"
_NOUNS = {"NN": 0, "NNS": 1, "NNP": 2, "NNPS": 3}  # only phrases of one of these change places
_SUBJECTS, _OBJECTS = words("nsubj nsubj:pass nsubjpass"), words("dobj obj obl:agent")
_PRONOUNS = frozenset(ACCUSATIVES) | frozenset(NOMINATIVES)
_LONGEST = 5  # tokens of a phrase
# Verbs and prepositions that hold both ways, and forms of "be", whose sides say the same of each other.
_BOTH_WAYS = frozenset(word_list("mutual_verbs"))
# Nothing to exchange: fixed phrases, and times, of which only another one stands there.
_EMPTY = frozenset(word_list("empty_nouns"))
# Lexicographer files of WordNet: persons, animals, groups and names (−2); artefacts, food, plants and the
# like; acts, cognition, communication, events, states.
_ACTORS, _THINGS = (_NAME, 5, 14, 18), (6, 8, 13, 17, 20, 27)
_ABSTRACT = (4, 7, 9, 10, 11, 12, 16, 19, 22, 24, 26)
_STEPS = 12  # from a word up to a verb


@lru_cache(maxsize=1)
def _files() -> dict[str, int]:
    """Lexicographer file of each noun's most frequent sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    files = wordnet.synset_files[wordnet.sense_synsets[wordnet.entry_senses[entries]]]
    lemmas = wordnet.lemmas.take(pa.array(entries)).to_pylist()
    return dict(zip(lemmas, files.tolist(), strict=True))


def file_of(lemma: str) -> int:
    """Lexicographer file of a noun's most frequent sense, or −1."""
    word = lemma.lower()
    return _files().get(word, _files().get(word.removesuffix("s"), -1))


def kinds_of(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): what sort of thing each noun names, by WordNet's files; names are one sort."""
    parses = view.parses
    kinds = parses.lemmas_at(heads).map(file_of, np.int64)
    kinds[parses.lower_at(heads).among(_WORDS.persons)] = _PERSON
    kinds[parses.tags.at(heads).among({"NNP", "NNPS"})] = _NAME
    return kinds


def _agree(view: ClauseView, verbs: np.ndarray, subjects: np.ndarray, edits: EditList) -> None:
    """Let verbs (m,) agree with their new subjects."""
    parses = view.parses
    forms, lemmas, kinds = parses.forms_at(verbs), parses.lemmas_at(verbs), view.verb_forms[verbs]
    first, plural = parses.lower_at(subjects).among({"me"}), Arguments(view).is_plural(subjects)
    persons = np.select([first, plural], [FIRST, OTHER], THIRD)
    lowered = forms.lowered()
    fixed = lowered.among(_BARE_NEGATED) & negation_behind(view, verbs)  # needn't
    agreeing = any_of(kinds, (VerbForm.PRESENT, VerbForm.PRESENT_THIRD)) & ~fixed
    agreeing |= (kinds == VerbForm.PAST) & lowered.among(_WORDS.be)  # other verbs have one form in the past
    for index in np.flatnonzero(agreeing).tolist():
        form, lemma = forms.values[forms.codes[index]], lemmas.values[lemmas.codes[index]]
        new = _agreeing(form, int(kinds[index]), lemma, int(persons[index]))
        if new is not None and new != form.lower():
            verb = verbs[index : index + 1]
            put(edits, view.rows[verb], parses.starts[verb], parses.ends[verb], [in_case(new, case_of(form))])


def _agreeing(form: str, kind: int, lemma: str, person: int) -> str | None:
    """A verb form for a subject: plural, first person singular, or third person singular."""
    word = form.lower()
    if word in _WORDS.be:
        return finite("be", PAST if word in {"was", "were"} else PRESENT, person)
    base = None if kind == VerbForm.PAST else base_form(form, kind, lemma)
    return inflected(base, VerbForm.PRESENT_THIRD) if base and person == THIRD else base


@dataclass(frozen=True)
class PhraseSwapParameters:
    """Parameters of the exchange of phrases."""

    unlike: bool = parameter(
        False, "also exchange subject and object where only one can act (`The book read Ann`)"
    )


def swap(
    view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, unlike: bool, roles_alone: bool
) -> None:
    """The exchange in some rows; with `roles_alone` that of subject and object, and no other."""
    parses, spans = view.parses, Constituents(view)
    pronouns = parses.tags.among({"PRP"}) & parses.lower.among(_PRONOUNS)
    heads = np.flatnonzero((parses.tags.among(set(_NOUNS)) | pronouns) & parses.deps.among(_WORDS.arguments))
    heads = heads[np.isin(view.rows[heads], rows) & ~parses.lower_at(heads).among(_EMPTY)]
    reasons[rows] = Reason.NO_ELIGIBLE_TOKEN
    if not len(heads):
        return
    left = _beginnings(view, heads)
    fits = (heads - left < _LONGEST) & ~spans.is_hyphen[np.maximum(left - 1, 0)]
    # The name goes on (`World War | I`), or the phrase began before (`an otherwise | unfavourable deal`).
    fits &= ~spans.is_hyphen[view.behind(heads)] & ~parses.tags.at(view.behind(heads)).among(_WORDS.goes_on)
    before = np.maximum(left - 1, 0)
    fits &= (view.parents[before] != heads) | (before >= left) | parses.deps.at(before).among({"case", "cc"})
    fits &= spans.are_whole(left, heads) & (spans.quotation[heads] == 0)
    fits &= ~(parses.tags.at(before).among(_WORDS.goes_on_before) & (before < left))
    fits &= ~parses.lower_at(before).among({"at", "in"}) | ~parses.lower_at(left).among({"least", "most"})
    heads, left = heads[fits], left[fits]
    reasons[view.rows[heads]] = Reason.RULE_DOES_NOT_APPLY
    determined = parses.tags.at(left).among({"DT", "PRP$"})
    numbered = spans.count(parses.tags.among({"CD"}), left, heads) > 0
    lemmas, behind = parses.lemmas_at(heads), parses.deps.at(heads).among({"pobj", "obl"})  # a preposition
    kinds, sorts = kinds_of(view, heads), parses.tags.at(heads).map(lambda tag: _NOUNS.get(tag, -1), np.int64)
    roles = _Roles(view, heads, left, unlike)
    chosen: list[tuple[int, int]] = []
    agreeing: list[int] = []
    for low, high in _stretches(view.rows[heads]):
        pairs = list(combinations(range(low, high), 2))
        if found := next((pair for pair in pairs if roles.can_change(*pair)), None):
            agreeing.append(len(chosen))
            chosen.append(found)
            continue
        for one, other in () if roles_alone else pairs:
            same_kind = kinds[one] == kinds[other] or sorts[one] > 1 or (behind[one] and behind[other])
            alike = sorts[one] == sorts[other] and same_kind
            alike &= determined[one] == determined[other] and numbered[one] == numbered[other]
            alike &= lemmas.codes[one] != lemmas.codes[other] and min(sorts[one], sorts[other]) >= 0
            if alike and left[other] > heads[one] and _turns(view, heads[one], heads[other], left[other]):
                chosen.append((one, other))
                break
    if not chosen:
        return
    first, second = np.array(chosen).T
    rows = view.rows[heads[first]]
    opens = spans.opens(left[first]) | parses.sentence_starts[left[first]]
    to_front = spans.strings(left[second], heads[second], to_front=opens)
    to_back = spans.strings(left[first], heads[first], inwards=opens)
    swapped = np.zeros(len(first), bool)
    swapped[agreeing] = True
    # A pronoun that stands alone gets the case of its new place.
    for side, table, texts in ((first, ACCUSATIVES, to_back), (second, NOMINATIVES, to_front)):
        forms = parses.lower_at(heads[side])
        pronoun = swapped & (left[side] == heads[side]) & forms.among(table)
        for index in np.flatnonzero(pronoun).tolist():
            case = CAPITALISED if side is second and opens[index] else AS_IT_IS
            texts[index] = in_case(table[forms.values[forms.codes[index]]], case)
    verbs = _finite_verbs(view, heads[first])
    agrees = swapped & (verbs >= 0)
    _agree(view, verbs[agrees], heads[second[agrees]], edits)
    differ = [a.lower() != b.lower() for a, b in zip(to_front, to_back, strict=True)]
    for side, texts in ((first[differ], to_front), (second[differ], to_back)):
        starts, ends = parses.starts[left[side]], parses.ends[heads[side]]
        put(edits, rows[differ], starts, ends, list(compress(texts, differ)))


def _sorts_of(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): 0 who can act, 1 things, 2 what is thought or happens, −1 other words."""
    # Of unlike sorts an exchange makes nonsense, which tells more than who did what.
    kinds, files = kinds_of(view, heads), view.parses.lemmas_at(heads).map(file_of, np.int64)
    kinds = np.where((kinds == _NAME) & (files >= 0) & (files != _PLACE), files, kinds)  # `English`
    sorts = np.full(len(heads), -1)
    for sort, of_sort in enumerate((_ACTORS, _THINGS, _ABSTRACT)):
        sorts[np.isin(kinds, of_sort)] = sort
    return sorts


class _Roles:
    """Which phrases (m,) are subject and object of one verb."""

    def __init__(self, view: ClauseView, heads: np.ndarray, left: np.ndarray, unlike: bool) -> None:
        self._view, self._unlike, parses = view, unlike, view.parses
        self._heads, self._left = heads.tolist(), left.tolist()
        self._is_subject = parses.deps.at(heads).among(_SUBJECTS)
        self._is_object = parses.deps.at(heads).among(_OBJECTS)
        self._sorts = _sorts_of(view, heads)
        conjunct = view.roles == Role.CONJUNCT
        self._bound = view.with_child(conjunct)[heads] | parses.tags.at(left).among({"PRP$"})
        # A second verb shares the subject, or `his` refers to it: neither would fit the other.
        sharing = (conjunct & parses.pos.among({"VERB", "AUX"})) | parses.deps.among(
            {"xcomp", "iobj", "dative"}
        )
        unfit = parses.lemmas.lowered().among(_BOTH_WAYS | _WORDS.light) | view.with_child(sharing) | conjunct
        self._unfit = unfit[view.parents[heads]]

    def can_change(self, one: int, other: int) -> bool:
        """Whether the first is the subject of the verb whose object is the second."""
        parents, lower = self._view.parents, self._view.parses.lower
        subject, verb, object_ = self._heads[one], parents[self._heads[one]], self._heads[other]
        alike = self._sorts[one] == self._sorts[other] and self._sorts[one] >= 0
        words_ = [lower.values[code] for code in lower.codes[[subject, object_]]]
        return bool(
            self._is_subject[one]
            and self._is_object[other]
            and not (self._unfit[one] or self._bound[one] or self._bound[other])
            and parents[object_] == verb
            and subject < verb < self._left[other]
            and (self._unlike or alike)
            and words_[0] != NOMINATIVES.get(words_[1], words_[1]).lower()
        )


def _beginnings(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): the first token of the plain phrase that ends with each noun."""
    parses = view.parses
    belongs = parses.tags.among(_WORDS.before) & parses.deps.among(_WORDS.own)
    left = heads.copy()
    for _ in range(_LONGEST):
        before = np.maximum(left - 1, 0)
        own = belongs[before] & (view.rows[before] == view.rows[heads]) & (before < left)
        up = view.parents[before]
        own &= (up == heads) | ((up > before) & (up <= heads))
        left = np.where(own, before, left)
    return left


def _finite_verbs(view: ClauseView, subjects: np.ndarray) -> np.ndarray:
    """int64 (m,): the finite verb of each subject's clause: the first auxiliary, else the verb; or −1."""
    verbs = view.parents[subjects]
    helpers = np.flatnonzero(view.roles == Role.AUXILIARY)[::-1]
    of = np.full(len(view.roles), -1)
    of[view.parents[helpers]] = helpers
    first = np.where((of[verbs] >= 0) & (of[verbs] < verbs), of[verbs], verbs)
    return np.where(any_of(view.verb_forms[first], FINITE), first, -1)


def _stretches(rows: np.ndarray) -> list[tuple[int, int]]:
    """Where the phrases of each row begin and end."""
    edges = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    return [(low, high) for low, high in pairwise(edges) if high - low > 1]


def _turns(view: ClauseView, one: int, other: int, left: int) -> bool:
    """Whether an exchange says something else: neither joins the other, or is said of it."""
    parses = view.parses
    between = [parses.lower.values[code] for code in parses.lower.codes[one + 1 : left]]
    said_of = len(between) < 3 and not _WORDS.said_of.isdisjoint(between)
    if said_of or between == [","] or not _WORDS.joined.isdisjoint(between):
        return False
    for token, end in ((other, one), (one, other)):  # neither hangs on the other
        for _ in range(_STEPS):
            token = int(view.parents[token])
            if token == end:
                return False
    verbs = {_verb_of(view, one), _verb_of(view, other)}
    return not any(parses.lemmas.values[parses.lemmas.codes[verb]].lower() in _BOTH_WAYS for verb in verbs)


def _verb_of(view: ClauseView, token: int) -> int:
    verbal = view.parses.pos.among({"VERB", "AUX"})
    for _ in range(_STEPS):
        if verbal[token]:
            break
        token = int(view.parents[token])
    return token


PHRASE_SWAP = english_rules(
    name="phrase-swap",
    version=2,
    kind="negative",
    paper="none; roles as in Tang et al. 2022 (AugCSE's subject-object switch), on any two phrases",
    prepare=lambda parameters, resources: by_rule(partial(swap, unlike=parameters.unlike, roles_alone=False)),
    parameters=PhraseSwapParameters,
    examples=("augment-cli phrase-swap", "augment-cli phrase-swap --unlike"),
    libraries=("lemminflect",),
    is_random=False,
    turns="content",
    entailment=("other", "two things trade places in what is said of them"),
)
