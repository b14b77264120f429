"""Negate the sentence: `He left` to `He did not leave`; a negated one loses its negation.

SNCSE's negation, which it uses as a soft negative: near in form, opposite in sense. The first negation goes;
where there is none, the first auxiliary of the main verb, or the main verb itself, is negated; an
imperative gets `Do not`; a text without a verb is left alone, or gets `Not` in front (`--verbless front`).

Differences from the original: `never` and `no` count as negations as well (there `not` alone), but not in `no
longer`, `not only` or `whether or not`, and `no` turns into `some`; `did not go` becomes `went` instead of
`did go`; `any` behind a negation that goes becomes `some`, and where `ever`, `yet`, `either` or `at all`
needs the negation, it stays; `not` follows the subject in a question, which is labelled *neither*, since it
asks the same; a sentence negated by `nobody`, `nothing`, `neither` and the like is left alone, since another
negation would undo it; so is one whose finite verb the parse cannot tell, or that ends in `has he?`; the word
behind `Not` gives up its capital; spacing and case survive.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from augment_cli.contract.augmentation import LABEL_COLUMN, Resources, english_rules, prepared, with_labels
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english import BINDING, HEADLINE
from augment_cli.english.clauses.auxiliary import DO
from augment_cli.english.clauses.clause_rules import (
    FINITE,
    Arguments,
    asks_with_do,
    distinct,
    ends_in_tag,
    follows_adverb,
    follows_sign,
    insert_not,
    outcome_of,
    put,
    refuse,
)
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.verb_tense import OTHER, PAST, PRESENT, THIRD, finite
from augment_cli.english.inflection import base_form
from augment_cli.resources import word_groups
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import CAPITALISED, case_of, in_case

_WORDS = word_groups("negation")
# What needs a negation in front of it: without one `any` says `some`, and the others say nothing.
_SOME = {"any" + end: "some" + end for end in ("", "one", "body", "thing", "where")}
_BEFORE = words("or if why")
# "Because it did not start, we walked", "Help! It does not start", "nor did he": what else is said
# needs the negation.
_NEEDING = words("because help nor")
# "is also not here", not "is not also here"
_IN_FRONT = words("still also probably")
_DO = {"do": (PRESENT, OTHER), "does": (PRESENT, THIRD), "did": (PAST, THIRD)}
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_LIGHT = _WORDS.nominatives | words("it there one everyone everybody someone somebody anyone anybody")


@dataclass(frozen=True)
class NegationParameters:
    """Parameters of the negation."""

    verbless: str = parameter(
        "leave",
        "a sentence without a finite verb: leave, leave it alone; front, put Not in front of it",
        choices=("leave", "front"),
    )


def _run(parameters: NegationParameters, resources: Resources, rows: Rows) -> Outcome:
    asks = np.zeros(len(rows), bool)

    def rule(view: ClauseView, chosen: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
        negation = Negation(view, edits)
        negation.run(chosen, reasons, parameters.verbless == "front")
        asks[:] = negation.asks

    return with_labels(outcome_of(rows, rule), np.flatnonzero(asks))


@dataclass(frozen=True)
class Negation:
    """Negates the rows of a batch."""

    view: ClauseView
    edits: EditList
    _pending: list[tuple[int, int, int, str]] = field(default_factory=list)  # row, start, end, text

    def run(self, rows: np.ndarray, reasons: np.ndarray, front: bool) -> None:
        """Add the edits of some rows (m,), and the reasons of those that get none."""
        view = self.view
        removable, others = self._negations()
        first = view.first(removable)
        verbs, subjects = self._main_verbs
        good = refuse(
            reasons,
            rows,
            ((first[rows] < 0) & view.any(others)[rows], Reason.NEGATED),
            ((first[rows] >= 0) & view.any(view.parses.lower.among(_NEEDING))[rows], Reason.NEGATED),
            (self._inverts(first[rows]), Reason.NEGATED),
            (ends_in_tag(view, self._spans)[rows], Reason.QUESTION),
        )
        rows = rows[good]
        has, is_finite, has_finite = first[rows] >= 0, verbs[rows] >= 0, view.any(self._is_finite)[rows]
        self._remove(first[rows[has]], reasons)
        rest = rows[~has & is_finite]
        self._add(rest, verbs[rest], subjects[rest], reasons)
        edited, starts, ends = np.array([place for *place, _ in self._pending], np.int64).reshape(-1, 3).T
        put(self.edits, edited, starts, ends, [text for *_, text in self._pending])
        # There is one, but the parse does not say which.
        reasons[rows[~has & ~is_finite & has_finite]] = Reason.DOUBTFUL_PARSE
        verbless = ~has & ~has_finite
        imperative = verbless & self._is_imperative(rows)
        self._forbid(view.roots[rows[imperative]])
        verbless &= ~imperative
        if front:
            self._front(rows[verbless])
        else:
            reasons[rows[verbless]] = Reason.NO_FINITE_VERB

    def _inverts(self, tokens: np.ndarray) -> np.ndarray:
        """bool (m,): negations (m,) in front of a turned verb, such as `never did he`; -1 is none."""
        view = self.view
        behind = view.behind(np.maximum(tokens, 0))
        never = view.parses.lower.among({"never"})[tokens] & (tokens >= 0)
        inverted: np.ndarray = (
            never & view.parses.lower.among({*_DO, "have", "has", "had", "was", "were"})[behind]
        )
        return inverted & ~self.asks[view.rows[tokens]]

    @cached_property
    def _spans(self) -> Constituents:
        return Constituents(self.view)

    @cached_property
    def _is_finite(self) -> np.ndarray:
        verbal = self.view.parses.pos.among({"VERB", "AUX"})
        return any_of(self.view.verb_forms, FINITE) & verbal

    @cached_property
    def asks(self) -> np.ndarray:
        """bool (n,): rows that end in a question mark, or begin with a question word or a turned verb."""
        # "Is there no fee?" asks what "Is there a fee?" asks: neither denies anything.
        view, parses = self.view, self.view.parses
        marks = parses.pos.among({"PUNCT"})
        asks = view.any(parses.holding("?", marks))
        verbs, subjects = self._main_verbs
        turned = (verbs >= 0) & (subjects > verbs) & (verbs == self._spans.bounds[0])
        first = np.maximum(self._spans.bounds[0], 0)
        asked = parses.tags.among({"WRB", "WP", "WDT", "WP$"})[first] & (subjects > verbs)
        wondering = parses.lower_at(first).among(words("how why")) & (verbs >= 0)
        # "What cards do you take", "My card, can I use it": a helper before its pronoun, whatever the parse.
        helped = view.any(self._before_pronoun)
        opens = parses.tags.among({"WRB", "WP", "WDT", "WP$"})[first]
        turned |= (verbs >= 0) & self._before_pronoun[verbs] & (subjects > verbs)
        # "What is now Ecuador was a colony" states something.
        second = view.behind(first)
        turned |= opens & ((verbs == second) | asks_with_do(view, second)) & view.has_behind(first)
        return asks | turned | asked | wondering | (opens & helped)

    @cached_property
    def _before_pronoun(self) -> np.ndarray:
        """bool (N,): auxiliaries directly before a pronoun that can only be a subject: `do you`."""
        view, parses = self.view, self.view.parses
        tokens = np.arange(len(view.roles))
        pronoun = parses.lower.among(_WORDS.nominatives)[view.behind(tokens)] & view.has_behind(tokens)
        return pronoun & parses.lower.among(_WORDS.helpers)

    @cached_property
    def _main_verbs(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: the finite verb of each row's main clause and its subject, or −1."""
        # Where the root is not one, the first finite verb with a subject outside subordinate clauses.
        view = self.view
        verbs = Arguments(view).first_verbs
        verbs = np.where((verbs >= 0) & self._is_finite[verbs], verbs, -1)
        subject = np.full(len(view.roles), -1)  # of each clause's head
        subjects = np.flatnonzero(any_of(view.roles, (Role.SUBJECT, Role.EXPLETIVE)))[::-1]
        subject[view.parents[subjects]] = subjects
        heads = np.where(view.roles == Role.AUXILIARY, view.parents, np.arange(len(view.roles)))
        free = ~any_of(view.roles[heads], (Role.CLAUSE, Role.CLAUSAL_SUBJECT))
        others = view.first(self._is_finite & free & (subject[heads] >= 0))
        verbs = np.where(verbs >= 0, verbs, others)
        return verbs, np.where(verbs >= 0, subject[heads[verbs]], -1)

    def _negations(self) -> tuple[np.ndarray, np.ndarray]:
        """bool (N,) each: negations that can go, and those that rule another one out."""
        view, parses = self.view, self.view.parses
        maybe = np.flatnonzero(parses.tags.among({"DT", "RB", "CC", "NN", "PRP", "IN", "UH", "JJ"}))
        lower = parses.lower_at(maybe)
        tokens = maybe[lower.among(_WORDS.negations)]
        others = view.mask(maybe[lower.among(_WORDS.other_negatives)])
        # "DON'T" is one token to a tokeniser that knows "Don't".
        others |= parses.lower.where(lambda word: len(word) > 3 and word.endswith(("n't", "n’t")))
        following, before = view.behind(tokens), np.maximum(tokens - 1, 0)
        forms = parses.lower_at(tokens)
        behind, front = parses.lower_at(following), parses.lower_at(before)
        same = view.rows[following] == view.rows[tokens]
        is_no, is_not = forms.among({"no"}), forms.among({"not"})
        capital = parses.forms_at(tokens).where(lambda form: form[:1].isupper())
        # "no wasting time", "no 5", "no."
        doing = is_no & same & parses.tags.among({"VBG"})[following]
        fixed = doing | (
            is_no & same & (behind.among(_WORDS.after_no) | parses.tags.among({"CD", "."})[following])
        )
        fixed |= is_no & (capital & ~self._spans.opens(tokens) | ~parses.tags.among({"DT"})[tokens])
        fixed |= is_not & same & behind.among(_WORDS.after_not)
        fixed |= is_not & front.among(_BEFORE) & (view.rows[before] == view.rows[tokens]) & (before < tokens)
        removable = view.mask(tokens[~fixed])
        compared = is_no & parses.tags.among({"JJR", "RBR"})[following]  # "is no better than"
        others[tokens[compared | doing]] = True
        others[
            tokens[fixed & (is_no & behind.among(_WORDS.after_no) | is_not & behind.among(_WORDS.after_not))]
        ] = True
        return removable, others

    def _some(self, token: int, begin: int, end: int) -> list[int] | None:
        """Each `any` in the reach of a negation; None where another word needs it."""
        parses = self.view.parses
        found: list[int] = []
        words_ = [self._lower(place) for place in range(token + 1, end)]
        if "anymore" in words_:
            return None
        marks, compared = parses.pos.among({"PUNCT"}), parses.tags.among({"JJR", "RBR"})
        for place, word, following in zip(range(token + 1, end), words_, [*words_[1:], ""], strict=False):
            if word in _WORDS.licensors or (marks[place] and word != "-"):
                break
            fixed = following in _WORDS.after_no or (following != "" and compared[place + 1])
            bound = (word == "any" and fixed) or (word in _SOME and place == token + 1 < begin + 3)
            if word in _WORDS.polar or (word, following) in {("at", "all"), ("least", "bit")} or bound:
                return None
            if word in _SOME:
                found.append(place)
        return found

    def _remove(self, tokens: np.ndarray, reasons: np.ndarray) -> None:
        """Take negations (m,) out, each with the space in front of it or behind."""
        view, parses = self.view, self.view.parses
        for token in tokens.tolist():
            word, row = self._lower(token), int(view.rows[token])
            begin, end = int(parses.offsets[row]), int(parses.offsets[row + 1])
            licensed = [] if self.asks[row] else self._some(token, begin, end)
            if licensed is None:
                reasons[row] = Reason.NEGATED
                continue
            for place in licensed:
                self._put(place, place, _SOME[self._lower(place)], place)
            helper = token - 1 if token > begin and word not in {"no", "never"} else -1
            name = self._lower(helper) if helper >= 0 else ""
            if name in _DO and not self.asks[row] and self._remove_do(helper, token, end):
                continue
            if name in _STEMS:
                self._put(helper, token, _STEMS[name], helper)
            elif word == "no":
                self._put(token, token, "some", token)
            elif token > begin and (parses.whitespace[token - 1] or helper >= 0):
                self._pending.append((row, int(parses.ends[token - 1]), int(parses.ends[token]), ""))
            elif token + 1 < end:
                # The next word takes over the beginning.
                following, opens = np.array([token + 1]), self._spans.opens(np.array([token]))
                self._put(token, token + 1, self._spans.strings(following, following, to_front=opens)[0])

    def _remove_do(self, helper: int, token: int, end: int) -> bool:
        """`did not go` to `went`; whether it could be done."""
        view, parses = self.view, self.view.parses
        head = int(view.parents[helper])
        of_verb = view.roles[helper] == Role.AUXILIARY and token < head < end
        if not of_verb or view.verb_forms[head] != VerbForm.BASE:
            return False
        word = self._lower(head)
        new = "be" if word == "be" else finite(word, *_DO[self._lower(helper)])  # "Don't be shy"
        # A question keeps its "do"; "does know or care"
        asks = (view.roles[token + 1 : head] == Role.SUBJECT).any()
        sharing = (view.roles == Role.CONJUNCT) & (view.parents == head) & (view.verb_forms == VerbForm.BASE)
        if new is None or asks or sharing.any():
            return False
        if case_of(self._form(helper)) == CAPITALISED:  # "Don't go": the next word takes over the capital
            following = new if head == token + 1 else self._form(token + 1)
            self._put(helper, token + 1, in_case(following, CAPITALISED))
            if head == token + 1:
                return True
        else:
            span = int(parses.starts[helper]), int(parses.starts[token + 1])
            self._pending.append((int(view.rows[helper]), *span, ""))
        self._put(head, head, new, head)
        return True

    def _add(self, rows: np.ndarray, verbs: np.ndarray, subjects: np.ndarray, reasons: np.ndarray) -> None:
        """Negate finite verbs (m,)."""
        view, parses = self.view, self.view.parses
        modal = view.verb_forms[verbs] == VerbForm.MODAL
        special = modal | view.is_be[verbs] | (view.roles[verbs] == Role.AUXILIARY)
        blank = parses.lower_at(verbs).where(str.isspace)  # "I  see": a space that is tagged as a verb
        contracted = parses.lower_at(verbs).where(lambda form: form[:1] in "'’") & ~special
        plain = np.flatnonzero(~special)
        forms, lemmas = parses.forms_at(verbs[plain]), parses.lemmas_at(verbs[plain])
        kinds, of = distinct(forms.codes, view.verb_forms[verbs[plain]], lemmas.codes)
        of_verbs = np.zeros(len(verbs), np.int64)
        of_verbs[plain] = of
        inflected = [(forms.values[form], form_of, lemmas.values[lemma]) for form, form_of, lemma in kinds]
        bases = [base_form(*kind) or "" for kind in inflected]
        doubtful = np.zeros(len(verbs), bool)
        doubtful[plain] = np.array([not base for base in bases], bool)[of]
        good = refuse(
            reasons,
            rows,
            (~special & (subjects < 0), Reason.NO_SUBJECT),
            (~special & (subjects > verbs), Reason.INVERTED),  # "Come in," said he.
            (~special & self._is_helped(rows), Reason.QUESTION),
            (~special & self._is_headline(rows), Reason.DOUBTFUL_PARSE),
            (self._asks_degree(rows), Reason.QUESTION),
            (special & self._is_limited(verbs), Reason.NO_ELIGIBLE_TOKEN),
            (follows_sign(view, verbs), Reason.PROTECTED),
            (doubtful | contracted | (view.is_doubtful[verbs] & ~special), Reason.DOUBTFUL_PARSE),
            (view.misread[verbs] | blank, Reason.DOUBTFUL_PARSE),
        )
        helped = good[special[good]]
        places = self._behind_subject(verbs[helped], subjects[helped])
        known = places >= 0
        reasons[rows[helped[~known]]] = Reason.QUESTION
        insert_not(view, self.edits, places[known], verbs[helped[known]])

        helpers = [f"{DO[VerbForm(form)]} not " for _, form, _ in inflected]
        cases = [case_of(word) for word, *_ in inflected]
        whole = [
            in_case(helper + base, case) for helper, base, case in zip(helpers, bases, cases, strict=True)
        ]
        others = good[~special[good]]
        adverbs = follows_adverb(view, verbs, subjects)[others]
        index = others[~adverbs]
        self.edits.replace(rows[index], *self._span(verbs[index]), whole, of_verbs[index])
        index = others[adverbs]  # "did not also go"
        alone = list(map(in_case, bases, cases))
        self.edits.replace(rows[index], *self._span(verbs[index]), alone, of_verbs[index])
        before = parses.starts[verbs[index] - 1]
        self.edits.replace(rows[index], before, before, helpers, of_verbs[index])

    def _is_helped(self, rows: np.ndarray) -> np.ndarray:
        """bool (m,): questions that begin with a helper, so that no other verb is finite: `Do cats have`."""
        lower = self.view.parses.lower_at(self.view.parses.offsets[rows])
        return self.asks[rows] & lower.among(_WORDS.helpers)

    def _is_headline(self, rows: np.ndarray) -> np.ndarray:
        """bool (m,): longer rows that nothing binds, in which `do not` would stand alone."""
        parses = self.view.parses
        bound = self.view.any(parses.lower.among(BINDING))[rows]
        return ~bound & (np.diff(parses.offsets)[rows] >= HEADLINE)

    def _is_limited(self, verbs: np.ndarray) -> np.ndarray:
        """bool (m,): verbs before a word with which `not` says something else: `is only`, `is just`."""
        view = self.view
        return view.has_behind(verbs) & view.parses.lower_at(view.behind(verbs)).among(_WORDS.after_not)

    def _asks_degree(self, rows: np.ndarray) -> np.ndarray:
        """bool (m,): `How big is it`, which nobody asks of what is not so."""
        parses = self.view.parses
        first = parses.offsets[rows]
        second = np.minimum(first + 1, parses.offsets[rows + 1] - 1)
        graded = parses.tags.among({"JJ", "RB"})[second] & ~parses.lower_at(second).among({"many"})
        return parses.lower_at(first).among({"how"}) & graded

    def _behind_subject(self, verbs: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        """int64 (m,): what "not" follows: the subject of a turned verb, else the verb; −1 if nobody knows."""
        view, parses = self.view, self.view.parses
        rows = view.rows[verbs]
        last = parses.offsets[rows + 1] - 1
        behind = np.minimum(verbs + 1, last)
        asks = self.asks[rows]
        asked = self._before_pronoun[verbs] & asks
        stays = (subjects < verbs) | (behind == verbs)
        # "is there not", "is it not": a pronoun is a whole subject.
        light = parses.lower.among(_LIGHT) | (parses.tags.among({"DT"}) & parses.pos.among({"PRON"}))
        asked |= asks & light[behind] & (behind > verbs)  # "Is it possible"
        expletive = view.roles[subjects] == Role.EXPLETIVE
        places = np.select([asked, stays, light[behind], expletive], [behind, verbs, behind, verbs], -1)
        rest = np.flatnonzero(places < 0)
        right = view.right_edges(subjects[rest])
        # A subject that runs to the sentence's end holds the predicate: a wrong parse.
        ends = right >= last[rest]
        ends |= parses.pos.among({"PUNCT"})[np.minimum(right + 1, last[rest])]
        places[rest[~ends]] = right[~ends]
        # "what will the weather be like": a subject behind, whatever the parse says.
        first = parses.offsets[rows]
        opens = (verbs == first) | ((verbs == first + 1) & (view.verb_forms[verbs] == VerbForm.MODAL))
        lost = asks & opens & parses.tags.among(_WORDS.nominal)[behind]
        # "what time are the movies playing", of which the parse makes a statement
        asked = parses.tags.among({"WRB", "WP", "WDT"})[first] & (verbs == first + 2)
        lost |= asked & view.is_be[verbs] & parses.tags.among({"DT", "PRP$"})[behind]
        # "why is water wet"
        why = parses.tags.among({"WRB"})[np.maximum(verbs - 1, first)]
        lost |= asks & why & parses.tags.among(_WORDS.nominal)[behind]
        places[(lost | asks_with_do(view, verbs)) & (places == verbs)] = -1
        late = ~asks & (places == verbs) & (behind > verbs) & parses.lower.among(_IN_FRONT)[behind]
        return np.where(late, behind, places)

    def _is_imperative(self, rows: np.ndarray) -> np.ndarray:
        """bool (m,): rows whose main verb is an infinitive without "to" or subject: `Let G be a group`."""
        view = self.view
        roots = view.roots[rows]
        helped = view.any(any_of(view.roles, (Role.AUXILIARY, Role.INFINITIVE)) & view.of_root)
        base = (roots >= 0) & (view.verb_forms[roots] == VerbForm.BASE) & ~view.has_subject[rows]
        return base & ~helped[rows] & view.parses.pos.among({"VERB", "AUX"})[roots]

    def _forbid(self, verbs: np.ndarray) -> None:
        """`Let` to `Do not let`."""
        opens = self._spans.opens(verbs)
        words_ = self._spans.strings(verbs, verbs, inwards=opens)
        texts = [
            ("DO NOT " if word.isupper() else "Do not " if first else "do not ") + word
            for first, word in zip(opens, words_, strict=True)
        ]
        put(self.edits, self.view.rows[verbs], *self._span(verbs), texts)

    def _front(self, rows: np.ndarray) -> None:
        first = self._spans.bounds[0][rows]
        rows, first = rows[first >= 0], first[first >= 0]
        texts = self._spans.strings(first, first, inwards=True)
        put(self.edits, rows, *self._span(first), ["Not " + text for text in texts])

    def _span(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.view.parses.starts[tokens], self.view.parses.ends[tokens]

    def _form(self, token: int) -> str:
        return self.view.parses.form_of(token)

    def _lower(self, token: int) -> str:
        return self._form(token).lower()

    def _put(self, first: int, last: int, text: str, model: int = -1) -> None:
        """A text in the place of some tokens, in the case of one of them."""
        parses = self.view.parses
        text = in_case(text, case_of(self._form(model))) if model >= 0 else text
        row = int(self.view.rows[first])
        self._pending.append((row, int(parses.starts[first]), int(parses.ends[last]), text))


NEGATION = english_rules(
    name="negation",
    version=8,
    kind="negative",
    paper="Wang and Dou 2023, SNCSE: Contrastive Learning for Unsupervised Sentence Embedding with Soft "
    "Negative Samples",
    parameters=NegationParameters,
    prepare=prepared(_run),
    columns=(LABEL_COLUMN,),
    libraries=("lemminflect",),
    examples=("augment-cli negation", "augment-cli negation --verbless front"),
    is_random=False,
    turns="polarity",
    entailment=("other", "what was asserted is denied; a row that asks is labelled neither"),
)
