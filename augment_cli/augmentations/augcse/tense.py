"""Put a sentence in another tense: `The river flows` to `The river flowed` or `The river will flow`.

AugCSE's TenseTransformation: past, present or future is drawn, and every verb takes that tense.

Differences from the original: the tense that the main verb has already is not drawn; verbs are found with
their auxiliaries by the parse and inflected by LemmInflect's dictionary, in agreement with their subjects
(`was` or `were`, `go` or `goes`); `did not go` becomes `will not go`, `can` `could` or `will be able to`; in
the future, adverbial and complement clauses stand in the present and relative clauses stay; direct speech
inside the sentence stays; no future beside a year that is over, or beside `yesterday`; a sentence whose main
verb has no such form is left alone, instead of changing some of its verbs; spacing and case survive. Dates
and adverbs (`yesterday`) stay as they are.

A strict reader found 8 % of the changed rows wrong (13 of 165), most of them titles in lower case (9 of 33).
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Resources, english_rules, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.clauses.clause_rules import (
    FINITE,
    Arguments,
    asks_with_do,
    distinct,
    ends_in_tag,
    follows_adverb,
    outcome_of,
    refuse,
)
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.verb_tense import (
    FIRST,
    FUTURE,
    NOMINATIVES,
    OTHER,
    PAST,
    PRESENT,
    TENSES,
    THIRD,
    WILL,
    asks_if_one_can,
    finite,
    in_tense,
    is_headline,
    is_past_dated,
    with_mended_conjuncts,
)
from augment_cli.resources import word_groups, word_list
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import AS_IT_IS, case_of, in_case

_WORDS = word_groups("tense")
_STAYS, _MAIN, _SUBORDINATE = range(3)
_NEGATIONS = ("", "not", "n't", "n’t")
_NUMBERS = {word: number for number, word in enumerate(_NEGATIONS) if word}
# Of what holds or is wanted now, no future: "I will want to close my account".
_STATES = frozenset(word_list("stative_verbs")) | words("want need like wish try look have hope think know")


@dataclass(frozen=True)
class TenseParameters:
    """Parameters of the tense transformation."""

    target: str = parameter(
        "any",
        "the tense to put sentences in; any: one of the two that the main verb has not, drawn",
        choices=("any", *TENSES),
    )


def _run(parameters: TenseParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("tense")
    draws = uniform(key, rows.row_ids, np.zeros(len(rows), np.int64))
    targets = np.full(len(rows), -1)

    def rule(view: ClauseView, english: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
        wanted = TENSES.index(parameters.target) if parameters.target != "any" else -1
        targets[:] = _transform(view, english, reasons, edits, draws, wanted)

    outcome = outcome_of(rows, rule)
    names = pa.array([*TENSES, None], pa.string()).take(pa.array(targets % (len(TENSES) + 1)))
    return Outcome(outcome.edits, outcome.reasons, {"target": names})


def _transform(
    view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, draws: np.ndarray, wanted: int
) -> np.ndarray:
    """Add the edits; int64 (n,), the tense that each row was put in, or −1."""
    # "She says that he lives here" in the past: "She said that he lived here", the main verb and those of its
    # clauses; "The river was not dammed in 1939" has a date, and no future.
    is_dated = is_past_dated(view)
    view = with_mended_conjuncts(view)
    count, parses = len(view.parses), view.parses
    arguments = Arguments(view)
    verbs, heads = _finite_verbs(view)
    main = np.full(count, -1)  # the finite verb of each row's main clause
    of_main = heads == view.roots[view.rows[verbs]]
    main[view.rows[verbs[of_main]]] = verbs[of_main]

    mains = main[rows]
    subjects = arguments.subjects[np.maximum(view.roots[rows], 0)]
    modal = view.verb_forms[mains] == VerbForm.MODAL
    good = refuse(
        reasons,
        rows,
        (mains < 0, Reason.NO_FINITE_VERB),
        (ends_in_tag(view, Constituents(view))[rows], Reason.QUESTION),
        (parses.lower_at(mains).among(_WORDS.no_other_tense), Reason.OTHER_AUXILIARY),
        (subjects < 0, Reason.NO_SUBJECT),
        (is_headline(view)[rows], Reason.RULE_DOES_NOT_APPLY),
        (asks_if_one_can(view, mains) | _has_lost_helper(view, rows, mains), Reason.QUESTION),
        ((view.is_doubtful[mains] & ~modal) | view.misread[mains], Reason.DOUBTFUL_PARSE),
    )
    rows, mains, modal, subjects = rows[good], mains[good], modal[good], subjects[good]
    will = parses.lower_at(mains).among(WILL) & modal
    current = np.where(view.is_past[mains], PAST, np.where(will, FUTURE, PRESENT))
    drawn = (current + 1 + (draws[rows] * 2).astype(np.int64)) % 3
    dated = is_dated[rows]
    # Of the two tenses left, a sentence with a date in the past takes the one that can be said of it.
    other = np.where(current == PAST, PRESENT, PAST)
    drawn = np.where(dated & (drawn == FUTURE), other, drawn)
    lemmas = parses.lemmas_at(mains)
    held = (current == PRESENT) & (lemmas.among(_STATES) | parses.lower_at(subjects).among({"i", "we"}))
    drawn = np.where(held & (drawn == FUTURE), PAST, drawn)
    target = drawn if wanted < 0 else np.full(len(rows), wanted)
    coming = view.any(parses.lower.among(_WORDS.to_come))[rows] & (wanted < 0)
    is_over = view.any(parses.lower.among(_WORDS.over))[rows] & (wanted < 0)
    good = refuse(
        reasons,
        rows,
        (target == current, Reason.SAME_TEXT),
        (dated & (target == FUTURE), Reason.RULE_DOES_NOT_APPLY),
        (is_over & (target == PRESENT), Reason.RULE_DOES_NOT_APPLY),
        (coming & (target == PAST), Reason.RULE_DOES_NOT_APPLY),
    )
    targets = np.full(count, -1)
    targets[rows[good]] = target[good]

    chosen = targets[view.rows[verbs]] >= 0
    verbs, heads = verbs[chosen], heads[chosen]
    changes = _Verbs(view, arguments, main, is_dated).edits(verbs, heads, targets)
    done = np.zeros(count, bool)
    for changed, *_ in changes:
        done[view.rows[changed[changed == main[view.rows[changed]]]]] = True
    failed = rows[good][~done[rows[good]]]
    reasons[failed] = np.where(
        _inverted(view, arguments, main[failed]), Reason.INVERTED, Reason.OTHER_AUXILIARY
    )
    targets[failed] = -1
    for changed, starts, ends, pool, codes in changes:
        kept = done[view.rows[changed]]
        edits.replace(view.rows[changed[kept]], starts[kept], ends[kept], pool, codes[kept])
    return targets


def _finite_verbs(view: ClauseView) -> tuple[np.ndarray, np.ndarray]:
    """Finite verbs that carry the tense of their clauses, and the heads of these clauses; int64 (m,) each."""
    parses = view.parses
    verbs = np.flatnonzero(any_of(view.verb_forms, FINITE) & parses.pos.among({"VERB", "AUX"}))
    # "The pain caused by …": a participle that a tagger took for the past.
    following = view.behind(verbs)
    participle = (view.verb_forms[verbs] == VerbForm.PAST) & parses.lower_at(following).among({"by"})
    verbs = verbs[~participle]
    heads = np.where(view.roles[verbs] == Role.AUXILIARY, view.parents[verbs], verbs)
    order = np.lexsort((verbs, heads))
    first = np.append(True, np.diff(heads[order]) > 0)[: len(order)]
    chosen = np.sort(order[first])
    verbs, heads = verbs[chosen], heads[chosen]
    # "has seen and heard": a verb that shares another's auxiliary has no tense of its own.
    sharing = (view.roles[verbs] == Role.CONJUNCT) & ~any_of(view.verb_forms[view.parents[verbs]], FINITE)
    # "was born and died": that of a passive is none of "died".
    own = view.with_child(view.roles == Role.SUBJECT)
    passive = view.with_child(view.auxiliaries & view.is_be & (view.verb_forms == VerbForm.PAST))
    own[verbs] |= (view.verb_forms[verbs] == VerbForm.PAST) & passive[view.parents[verbs]]
    keep = ~sharing | own[verbs]
    return verbs[keep], heads[keep]


def _has_lost_helper(view: ClauseView, rows: np.ndarray, mains: np.ndarray) -> np.ndarray:
    """bool (m,): rows that begin with a helper that is not their main verb: `Do other animals have`."""
    parses, first = view.parses, view.parses.offsets[rows]
    asked = parses.tags.among({"WRB", "WP", "WDT"})[first]
    helper = np.minimum(first + asked, parses.offsets[rows + 1] - 1)
    return parses.lower_at(helper).among(_WORDS.helpers) & (helper != mains) & (mains > helper)


def _inverted(view: ClauseView, arguments: Arguments, verbs: np.ndarray) -> np.ndarray:
    """bool (m,): verbs in front of their subjects, those behind "there" left out."""
    heads = np.where(view.roles[verbs] == Role.AUXILIARY, view.parents[verbs], verbs)
    subjects = arguments.subjects[heads]
    expletive = view.with_child(view.roles == Role.EXPLETIVE)
    # "What rate will I get": a helper before its pronoun, whatever the parse makes of "rate".
    behind = view.behind(verbs)
    asks = view.parses.lower_at(behind).among(NOMINATIVES) & (view.rows[behind] == view.rows[verbs])
    asks &= view.roles[verbs] == Role.AUXILIARY
    # "what will the weather be like": behind a "will" that is not turned stands its infinitive.
    first = view.parses.offsets[view.rows[verbs]]
    opens = view.parses.tags.among({"WRB", "WP", "WDT"})[first] & (verbs == first + 1)
    turned = ~view.parses.tags.among({"VB", "RB"})[behind]
    asks |= (opens | (verbs == first)) & (view.verb_forms[verbs] == VerbForm.MODAL) & turned
    asks |= view.is_be[verbs] & (view.roles[behind] == Role.EXPLETIVE) & (behind > verbs)  # "Is there a way"
    return ((subjects > verbs) & ~expletive[heads]) | asks | asks_with_do(view, verbs)


# The verbs (m,) of some changes, their starts and ends, their texts as a pool and its codes (m,).
Changes = tuple[np.ndarray, np.ndarray, np.ndarray, list[str], np.ndarray]


@dataclass(frozen=True)
class _Verbs:
    """Puts verbs in another tense."""

    view: ClauseView
    arguments: Arguments
    main: np.ndarray
    is_dated: np.ndarray

    def edits(self, verbs: np.ndarray, heads: np.ndarray, targets: np.ndarray) -> list[Changes]:
        """The edits of verbs (m,) in the clauses of heads (m,); targets (n,) are the rows' tenses."""
        view, parses = self.view, self.view.parses
        rows, spans = view.rows[verbs], Constituents(view)
        kinds, target, inverted = self._kinds(heads), targets[rows], _inverted(view, self.arguments, verbs)
        lower, following = parses.lower_at(verbs), view.behind(verbs)
        behind = parses.lower_at(following)
        keep = (self.arguments.subjects[heads] >= 0) & ~(view.is_doubtful | view.misread)[verbs]
        keep &= spans.quotation[verbs] == spans.quotation[self.main[rows]]
        keep |= view.verb_forms[verbs] == VerbForm.MODAL
        keep &= ~((target == FUTURE) & ((kinds == _STAYS) | inverted))
        keep &= ~(lower.among({"used"}) & behind.among({"to"}))
        # "could have been" has no future, and "can have been" is another claim.
        perfect = behind.among({"have", "'ve", "’ve"}) & (following > verbs)
        keep &= ~(perfect & lower.among({"can", "could", "must", "would"}))
        # "would resign in 1992" has no present: "will" says that it is yet to come.
        keep &= ~(lower.among({"would", "'d", "’d"}) & (target == PRESENT) & self.is_dated[rows])
        cases = parses.forms_at(verbs).map(case_of, np.int64)
        keep &= (cases == AS_IT_IS) | spans.opens(verbs) | (verbs == self.main[rows])
        target = np.where((target == FUTURE) & (kinds == _SUBORDINATE), PRESENT, target)
        # "says that he will go", "said that he would go": here "will" has a past.
        reported = (target == PAST) & (kinds == _SUBORDINATE)
        will = (view.verb_forms[verbs] == VerbForm.MODAL) & lower.among(WILL) & ~reported
        negations = np.where(view.rows[following] == rows, behind.numbered(_NUMBERS), 0)
        columns = (verbs, heads, target, self._persons(verbs, heads), negations)
        changes = self._inflected(*(column[keep & ~will] for column in columns))
        moved = keep & will & (target != FUTURE)
        wills = [
            change
            for row in zip(*(column[moved].tolist() for column in (*columns, inverted)), strict=True)
            for change in self._without_will(*row)
        ]
        places = np.array([place for *place, _ in wills], np.int64).reshape(-1, 3)
        return [*changes, (*places.T, [text for *_, text in wills], np.arange(len(wills)))]

    def _kinds(self, heads: np.ndarray) -> np.ndarray:
        """_MAIN, _SUBORDINATE, or _STAYS for relative clauses and what is not a clause; int64 (m,)."""
        view = self.view
        kinds = np.full(len(view.roles), _STAYS)
        kinds[view.roles == Role.ROOT] = _MAIN
        kinds[view.parses.deps.among({"parataxis"})] = _MAIN
        clauses = any_of(view.roles, (Role.CLAUSE, Role.CLAUSAL_SUBJECT)) & ~self.arguments.is_adnominal
        kinds[clauses] = _SUBORDINATE
        conjuncts = np.flatnonzero(view.roles == Role.CONJUNCT)
        for _ in range(3):
            kinds[conjuncts] = kinds[view.parents[conjuncts]]
        return kinds[heads]

    def _persons(self, verbs: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """OTHER, THIRD or FIRST: by the verb's own ending where it has one, else by its subject."""
        view, parses = self.view, self.view.parses
        subjects = self.arguments.subjects[heads]
        persons = np.where(self.arguments.is_plural(subjects), OTHER, THIRD)
        persons[(persons == THIRD) & parses.lower_at(subjects).among({"i"})] = FIRST
        forms, words = view.verb_forms[verbs], parses.lower_at(verbs)
        persons[forms == VerbForm.PRESENT_THIRD] = THIRD
        persons[(forms == VerbForm.PRESENT) & ~words.among({"am", "'m", "’m"})] = OTHER
        persons[words.among({"were"})] = OTHER
        persons[words.among({"was"}) & (persons == OTHER)] = THIRD
        return persons

    def _inflected(self, verbs: np.ndarray, heads: np.ndarray, *columns: np.ndarray) -> list[Changes]:
        """Verbs (m,) without "will" in a tense; the columns (m,) are tenses, persons and negations."""
        parses = self.view.parses
        adverbs = follows_adverb(self.view, verbs, self.arguments.subjects[heads])
        texts, of = self._texts(verbs, *columns, adverbs)
        ends = parses.ends[self.view.behind(verbs)]
        spans = (parses.starts[verbs - 1],) * 2, (parses.starts[verbs], parses.ends[verbs]), (ends, ends)
        changes: list[Changes] = []
        for (start, end), pool in zip(spans, zip(*texts, strict=True), strict=False):
            put_in = np.array([text is not None for text in pool])[of]
            pooled = [text or "" for text in pool]
            changes.append((verbs[put_in], start[put_in], end[put_in], pooled, of[put_in]))
        return changes

    def _texts(
        self, verbs: np.ndarray, *columns: np.ndarray
    ) -> tuple[list[tuple[str | None, str | None, str | None]], np.ndarray]:
        """What becomes of verbs (m,), each kind once: in front of its adverb, of itself, behind its "not"."""
        # columns (m,): tenses, persons, negations, whether an adverb stands in front
        view, parses = self.view, self.view.parses
        forms, lemmas = parses.forms_at(verbs), parses.lemmas_at(verbs)
        joined = (columns[2] == _NUMBERS["not"]) & ~parses.whitespace[verbs]
        apart = parses.whitespace[np.maximum(verbs - 1, 0)]  # "it 's"
        own = (forms.codes, lemmas.codes, view.verb_forms[verbs], view.is_be[verbs])
        kinds, of = distinct(*own, *columns, joined, apart)
        texts: list[tuple[str | None, str | None, str | None]] = []
        for form, lemma, kind, is_be, tense, person, negation, adverb, is_joined, is_apart in kinds:
            behind = _NEGATIONS[negation]
            changed = in_tense(forms.values[form], kind, lemmas.values[lemma], is_be, person, tense, behind)
            if changed is None:
                texts.append((None, None, None))
                continue
            text, tail = changed[0] + " " * is_joined, changed[1] or None  # "cannot" is one word
            text = text.lstrip() if is_apart else text
            split = 5 if adverb and text.lower().startswith("will ") else 0  # "will never stop"
            texts.append((text[:split] or None, text[split:], tail))
        return texts, of

    def _without_will(
        self, will: int, head: int, tense: int, person: int, negation: int, turned: bool
    ) -> list[tuple[int, int, int, str]]:
        """Edits that take "will" out: `will go` to `went`, `will not go` to `did not go`."""
        view, parses = self.view, self.view.parses
        group = [
            token
            for token in range(will + 1, head + 1)
            if view.verb_forms[token] == VerbForm.BASE
            and (token == head or (view.roles[token] == Role.AUXILIARY and view.parents[token] == head))
        ]
        if not group:
            return []
        verb, word = group[0], parses.form_of(will)
        base = parses.form_of(verb).lower()
        helping = base == "be" or (base == "have" and verb != head)
        stays = negation or turned
        new = finite("do" if stays and not helping else base, tense, person)
        if new is None or (turned and helping and not negation and word.lower() != "will"):
            return []
        start, end, verb_end = int(parses.starts[will]), int(parses.ends[will]), int(parses.ends[verb])
        if stays:
            space = " " if word[:1] in "'’" and not parses.whitespace[will - 1] else ""
            changes = [(will, start, end, space + in_case(new, case_of(word)))]
            return [*changes, (will, int(parses.ends[verb - 1]), verb_end, "")] if helping else changes
        if will > parses.offsets[view.rows[will]] and parses.whitespace[will - 1]:
            start = int(parses.ends[will - 1])
        new = in_case(new, case_of(parses.form_of(verb)))
        return [(will, start, end, ""), (will, int(parses.starts[verb]), verb_end, new)]


TENSE = english_rules(
    name="tense",
    version=7,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (TenseTransformation)",
    parameters=TenseParameters,
    prepare=prepared(_run),
    columns=(pa.field("target", pa.string()),),
    libraries=("lemminflect",),
    examples=("augment-cli tense", "augment-cli tense --target future"),
    meaning="possibly altered",
    entailment=("neither", "what was, is or will be are three claims"),
)
