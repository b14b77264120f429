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

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.running import prepared
from augment_cli.contract.augmentation import Augmentation, Resources
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


Change = tuple[int, int, int, str]  # verb, start, end, text
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
        rows = view.rows[verbs]
        spans = Constituents(view)
        kinds = self._kinds(heads)
        target = targets[rows]
        inverted = _inverted(view, self.arguments, verbs)
        keep = (self.arguments.subjects[heads] >= 0) & ~(view.is_doubtful | view.misread)[verbs]
        keep &= spans.quotation[verbs] == spans.quotation[self.main[rows]]
        keep |= view.verb_forms[verbs] == VerbForm.MODAL
        keep &= ~((target == FUTURE) & ((kinds == _STAYS) | inverted))
        following = view.behind(verbs)
        keep &= ~(parses.lower_at(verbs).among({"used"}) & parses.lower_at(following).among({"to"}))
        # "could have been" has no future, and "can have been" is another claim.
        perfect = parses.lower_at(following).among({"have", "'ve", "’ve"}) & (following > verbs)
        keep &= ~(perfect & parses.lower_at(verbs).among({"can", "could", "must", "would"}))
        # "would resign in 1992" has no present: "will" says that it is yet to come.
        would = parses.lower_at(verbs).among({"would", "'d", "’d"})
        keep &= ~(would & (target == PRESENT) & self.is_dated[rows])
        cases = parses.forms_at(verbs).map(case_of, np.int64)
        keep &= (cases == AS_IT_IS) | spans.opens(verbs) | (verbs == self.main[rows])
        target = np.where((target == FUTURE) & (kinds == _SUBORDINATE), PRESENT, target)
        # "says that he will go", "said that he would go": here "will" has a past.
        reported = (target == PAST) & (kinds == _SUBORDINATE)
        chosen = np.flatnonzero(keep)
        return self._edits(*(array[chosen] for array in (verbs, heads, target, inverted, reported)))

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

    def _edits(
        self,
        verbs: np.ndarray,
        heads: np.ndarray,
        target: np.ndarray,
        inverted: np.ndarray,
        reported: np.ndarray,
    ) -> list[Changes]:
        view, parses = self.view, self.view.parses
        following = view.behind(verbs)
        behind = parses.lower_at(following).numbered(_NUMBERS)
        negations = np.where(view.rows[following] == view.rows[verbs], behind, 0)
        persons = self._persons(verbs, heads)
        modal = view.verb_forms[verbs] == VerbForm.MODAL
        has_will = modal & parses.lower_at(verbs).among(WILL) & ~reported
        plain = np.flatnonzero(~has_will)
        adverbs = follows_adverb(view, verbs, self.arguments.subjects[heads])
        columns = (persons, target, negations, adverbs)
        texts, of = self._texts(verbs[plain], *(column[plain] for column in columns))
        changes: list[Changes] = []
        ends = parses.ends[following]
        spans = (parses.starts[verbs - 1],) * 2, (parses.starts[verbs], parses.ends[verbs]), (ends, ends)
        for (start, end), pool in zip(spans, zip(*texts, strict=True), strict=False):
            put_in = np.array([text is not None for text in pool])[of]
            chosen, codes = plain[put_in], of[put_in]
            changes.append((verbs[chosen], start[chosen], end[chosen], [text or "" for text in pool], codes))
        moved = np.flatnonzero(has_will & (target != FUTURE))
        of_will = (verbs, heads, target, persons, negations, inverted)
        wills = [
            change
            for row in zip(*(column[moved].tolist() for column in of_will), strict=True)
            for change in self._without_will(*row)
        ]
        places = np.array([place for *place, _ in wills], np.int64).reshape(-1, 3)
        changes.append((*places.T, [text for *_, text in wills], np.arange(len(wills))))
        return changes

    def _texts(
        self,
        verbs: np.ndarray,
        persons: np.ndarray,
        targets: np.ndarray,
        negations: np.ndarray,
        adverbs: np.ndarray,
    ) -> tuple[list[tuple[str | None, str | None, str | None]], np.ndarray]:
        """What becomes of verbs (m,), each kind once: in front of its adverb, of itself, behind its "not"."""
        view, parses = self.view, self.view.parses
        forms, lemmas = parses.forms_at(verbs), parses.lemmas_at(verbs)
        joined = (negations == _NUMBERS["not"]) & ~parses.whitespace[verbs]
        apart = parses.whitespace[np.maximum(verbs - 1, 0)]  # "it 's"
        kinds, of = distinct(
            forms.codes,
            lemmas.codes,
            view.verb_forms[verbs],
            view.is_be[verbs],
            persons,
            targets,
            negations,
            joined,
            apart,
            adverbs,
        )
        texts: list[tuple[str | None, str | None, str | None]] = []
        for form, lemma, kind, is_be, person, tense, negation, is_joined, is_apart, adverb in kinds:
            word = forms.values[form]
            behind = _NEGATIONS[negation]
            changed = in_tense(word, kind, lemmas.values[lemma], is_be, person, tense, behind)
            if changed is None:
                texts.append((None, None, None))
                continue
            text, tail = changed[0] + " " * is_joined, changed[1] or None  # "cannot" is one word
            text = text.lstrip() if is_apart else text
            if adverb and text.lower().startswith("will "):  # "will never stop"
                texts.append((text[:5], text[5:], tail))
            else:
                texts.append((None, text, tail))
        return texts, of

    def _without_will(
        self, will: int, head: int, tense: int, person: int, negation: int, turned: bool
    ) -> list[Change]:
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
        verb = group[0]
        word, base = parses.form_of(will), parses.form_of(verb).lower()
        helping = base == "be" or (base == "have" and verb != head)
        start, end = int(parses.starts[will]), int(parses.ends[will])
        verb_start, verb_end = int(parses.starts[verb]), int(parses.ends[verb])
        if negation or turned:
            new = finite(base if helping else "do", tense, person)
            if new is None or (turned and helping and not negation and word.lower() not in {"will"}):
                return []
            space = " " if word[:1] in "'’" and not parses.whitespace[will - 1] else ""
            changes = [(will, start, end, space + in_case(new, case_of(word)))]
            if helping:
                changes.append((will, int(parses.ends[verb - 1]), verb_end, ""))
            return changes
        new = finite(base, tense, person)
        if new is None:
            return []
        new = in_case(new, case_of(parses.form_of(verb)))
        if will > parses.offsets[self.view.rows[will]] and parses.whitespace[will - 1]:
            start = int(parses.ends[will - 1])
        return [(will, start, end, ""), (will, verb_start, verb_end, new)]


TENSE = Augmentation(
    name="tense",
    version=7,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (TenseTransformation)",
    needs=frozenset({"parses"}),
    languages=("en",),
    parameters=TenseParameters,
    prepare=prepared(_run),
    columns=(pa.field("target", pa.string()),),
    libraries=("lemminflect",),
    examples=("augment-cli tense", "augment-cli tense --target future"),
    meaning="possibly altered",
    entailment=("neither", "what was, is or will be are three claims"),
)
