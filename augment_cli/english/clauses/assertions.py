"""What the faithful modes of AA and DN share, the main verbs of statements, and AA's: `did leave`.

"She did leave" says what "She left" says, and so does "The bridge was indeed built": each follows from the
other, as it does not with "She had to leave" or "She needs to leave".
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw, pick
from augment_cli.english import LISTS
from augment_cli.english.clauses.auxiliary import DO, base_forms, replace_verbs, runs_on
from augment_cli.english.clauses.clause_rules import FINITE, follows_adverb, refuse
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList

# Beside these a second negation, or an auxiliary, would say something else.
NEGATIVES = LISTS["denials"] | words("seldom rarely few little")
# No "do" in front of these: ought to, had better, dare say; "let" and "thank" hide an imperative.
_WITHOUT_DO = words("ought better beware let thank")
_QUOTATION_MARKS = words("\" ” ’ ' '' »")
_FINAL_MARKS = words(". ! ? … ... .. 。")
_INVERTED = words("i we they he she it you")
_DETERMINERS = frozenset({"DT", "PRP", "PRP$", "EX"})
_QUESTION_WORDS = words("who what which whose whom why how")  # "when" and "where" open clauses as well
ADVERBS = ("indeed", "in fact", "actually")
# Beside one of these another affirmation is one too many.
_AFFIRMED = words("indeed fact actually really truly certainly surely definitely probably perhaps maybe")


@dataclass(frozen=True)
class Assertions:
    """The main clauses of some rows (m,): statements whose first finite verb the parse tells for sure."""

    view: ClauseView
    rows: np.ndarray

    @cached_property
    def tokens(self) -> np.ndarray:
        """int64 (m,): the first of the main verb and its auxiliaries, which bears the tense."""
        view = self.view
        group = any_of(view.roles, (Role.AUXILIARY, Role.INFINITIVE)) & view.of_root
        group[view.roots[self.rows]] = True
        return view.first(group)[self.rows]

    @cached_property
    def is_main(self) -> np.ndarray:
        """bool (m,): whether that is the main verb itself."""
        return self.tokens == self.view.roots[self.rows]

    @cached_property
    def is_verb(self) -> np.ndarray:
        """bool (m,): a finite main verb other than "be", which takes "do"."""
        finite = any_of(self.view.verb_forms[self.tokens], DO)
        return self.is_main & finite & ~self.view.is_be[self.tokens]

    @cached_property
    def subjects(self) -> np.ndarray:
        """int64 (m,): head of the subject, "there" included, or −1."""
        view = self.view
        expletives = view.first((view.roles == Role.EXPLETIVE) & view.of_root)
        return np.where(view.subjects >= 0, view.subjects, expletives)[self.rows]

    @cached_property
    def bases(self) -> np.ndarray:
        """object (m,): infinitives of finite main verbs, None where nobody knows one, "" of other tokens."""
        bases = np.full(len(self.rows), "", object)
        bases[self.is_verb] = base_forms(self.view, self.tokens[self.is_verb])
        return bases

    @cached_property
    def adverb_in_front(self) -> np.ndarray:
        """bool (m,): whether the verb's own adverb stands directly before it, behind its subject."""
        return follows_adverb(self.view, self.tokens, self.subjects)

    @cached_property
    def goes_on(self) -> np.ndarray:
        """Bool (m,): main verbs that share their subject with a finite verb behind, wherever that hangs."""
        # A past participle without an auxiliary counts: behind a verb in the past it is one itself.
        view = self.view
        alone = any_of(view.verb_forms, (*DO, VerbForm.PAST_PARTICIPLE)) & ~self._have_subjects
        has_auxiliary = view.with_child(view.auxiliaries)
        places = np.flatnonzero((view.roles == Role.CONJUNCT) & alone & ~has_auxiliary)
        finite_head = any_of(view.verb_forms[view.parents[places]], DO)
        # "pointed to the heaven below and bade her look", whatever a parser hangs "bade" on
        lonely = np.flatnonzero(self._is_finite & ~self._have_subjects)
        joined = lonely[view.parses.pos.among({"CCONJ"})[np.maximum(lonely - 1, 0)]]
        places = np.concatenate([places[finite_head], joined])
        return self._any_of(places[places > view.roots[view.rows[places]]])

    @cached_property
    def is_torn(self) -> np.ndarray:
        """bool (m,): rows with a finite verb beside the main one that nothing joins to it: a wrong parse."""
        # In "The society founded in 1851 is the oldest" the supposed main verb is a participle.
        view, parses = self.view, self.view.parses
        joined = view.with_child(any_of(view.roles, (Role.MARKER, Role.NEGATION)))
        joined |= view.with_child(parses.deps.among({"cc", "mark"}))
        free = (
            self._is_finite & view.of_root & ~self._have_subjects & ~joined & (view.roles != Role.AUXILIARY)
        )
        places = np.flatnonzero(free)
        # In ClearNLP's scheme the conjunction belongs to the first verb.
        conjunctions = np.append(0, np.cumsum(parses.pos.among({"CCONJ"})))
        roots = view.roots[view.rows[places]]
        alone = conjunctions[places] == conjunctions[np.minimum(roots, places)]
        torn = self._any_of(places[alone & (places > roots)])
        behind = np.minimum(self.tokens + 1, len(view.roles) - 1)
        second = np.minimum(self.tokens + 2, len(view.roles) - 1)
        verbs = parses.pos.among({"VERB"}) & self._is_finite & ~self._have_subjects
        runs_into = verbs[behind] & (view.rows[behind] == self.rows) & (behind > self.tokens)
        runs_into |= verbs[second] & (view.rows[second] == self.rows) & (second > behind)
        return torn | (self.is_verb & runs_into)

    @cached_property
    def _is_no_verb(self) -> np.ndarray:
        """bool (m,): supposed verbs that something else speaks against."""
        # `"watched" objects`, `: found format`, `Getting started`, and what stands in quotation marks
        # inside a sentence, which is a message or a name.
        view, parses, tokens = self.view, self.view.parses, self.tokens
        before, behind = np.maximum(tokens - 1, 0), view.behind(tokens)
        quotes = parses.lower.among(_QUOTATION_MARKS) & ~parses.tags.among({"POS"})
        divided = parses.lower_at(before).among({":", ";"}) | parses.lower_at(behind).among({"-"})
        heads, begins = np.maximum(self.subjects, 0), self.sentence_begins
        inner = (heads > begins) & (view.edges[0][heads] == begins)
        named = parses.tags.among({"VB"})[begins] & inner  # "Convert Oracle" is no subject, nor is "Getting"
        named |= parses.tags.among({"VBG"})[begins] & (heads == begins) | parses.lower_at(begins).among(
            {"howto"}
        )
        counts = np.append(0, np.cumsum(quotes))
        inside = ((counts[tokens] - counts[begins]) % 2 == 1) & ~quotes[begins]
        inside |= ~self.is_verb & parses.lower_at(behind).among(_INVERTED)  # "Oracle can I use"
        return inside | (self.is_verb & (divided | named | (quotes[before] & quotes[behind])))

    @cached_property
    def _is_title(self) -> np.ndarray:
        """Bool (m,): texts without a mark at the end, unless the subject is a pronoun or has an article."""
        # `Oracle listener state blocked`, `SVN hooks for Windows` and `shell script templates` say nothing
        # of anything, and a tagger that has learned from prose takes a word of theirs for a verb.
        parses = self.view.parses
        marks = np.append(0, np.cumsum(parses.forms.among(_FINAL_MARKS)))
        ends = self.sentence_ends  # the mark may stand before a closing quotation mark or bracket
        is_open = marks[ends + 1] == marks[np.maximum(ends - 1, self.tokens)]
        heads = np.maximum(self.subjects, 0)
        known = parses.tags.among(_DETERMINERS) & ~parses.lower.among({"no"})
        determined: np.ndarray = known[heads] | known[self.view.edges[0][heads]]
        return is_open & ~determined

    @cached_property
    def follows_speech(self) -> np.ndarray:
        """bool (m,): subjects behind a quotation mark: `"Enough," he said`."""
        view, parses = self.view, self.view.parses
        heads = np.maximum(self.subjects, 0)
        pronouns = parses.pos.among({"PRON"})[heads]  # parsers hang the mark on them, too
        before = np.maximum(np.where(pronouns, heads, view.edges[0][heads]) - 1, 0)
        quoted = parses.lower_at(before).among(_QUOTATION_MARKS)
        quoted &= before > parses.offsets[:-1][self.rows]
        return quoted & (self.subjects >= 0)

    @cached_property
    def _is_finite(self) -> np.ndarray:
        view = self.view
        return any_of(view.verb_forms, DO) & view.parses.pos.among({"VERB", "AUX"})

    @cached_property
    def _have_subjects(self) -> np.ndarray:
        view = self.view
        return view.with_child(any_of(view.roles, (Role.SUBJECT, Role.EXPLETIVE, Role.CLAUSAL_SUBJECT)))

    def _any_of(self, places: np.ndarray) -> np.ndarray:
        return np.bincount(self.view.rows[places], minlength=len(self.view.parses))[self.rows] > 0

    @cached_property
    def sentence_ends(self) -> np.ndarray:
        """int64 (m,): last token of the sentence that each main verb stands in."""
        parses = self.view.parses
        starts = np.flatnonzero(parses.sentence_starts)
        ends = np.minimum(
            np.append(starts, len(parses.starts))[np.searchsorted(starts, self.tokens, "right")],
            parses.offsets[1:][self.rows],
        )
        return ends - 1

    @cached_property
    def sentence_begins(self) -> np.ndarray:
        """int64 (m,): first token of the sentence that each main verb stands in."""
        parses = self.view.parses
        starts = np.append(-1, np.flatnonzero(parses.sentence_starts))
        begins = starts[np.searchsorted(starts, self.tokens, "right") - 1]
        return np.maximum(begins, parses.offsets[:-1][self.rows])

    @cached_property
    def is_question(self) -> np.ndarray:
        """bool (m,): sentences with a question mark at their end, or whose subject asks."""
        parses = self.view.parses
        marks = np.append(0, np.cumsum(parses.holding("?", parses.pos.among({"PUNCT"}))))
        # The mark may stand before a closing quotation mark or bracket.
        asked = marks[self.sentence_ends + 1] > marks[np.maximum(self.sentence_ends - 1, self.tokens)]
        first = parses.lower_at(self.sentence_begins).among(_QUESTION_WORDS)
        subject = parses.lower_at(np.maximum(self.subjects, 0)).among(_QUESTION_WORDS)
        return asked | first | (subject & (self.subjects >= 0))

    def holds_word(self, wanted: frozenset[str]) -> np.ndarray:
        """bool (m,): whether a child of the main verb, or of its subject, is one of some words."""
        view = self.view
        places = np.flatnonzero(view.parses.lower.among(wanted))
        parents = view.parents[places]
        subjects = view.subjects[view.rows[places]]
        near = view.of_root[places] | (parents == subjects) | (places == subjects)
        mask = view.mask(places[near])
        return view.any(mask)[self.rows]

    def checks(self) -> list[tuple[np.ndarray, str]]:
        """What keeps a row from being changed, as `refuse` wants it: the first that holds is its reason."""
        view, parses, tokens = self.view, self.view.parses, self.tokens
        helper = ~self.is_main & any_of(view.verb_forms[tokens], FINITE)
        words_ = parses.lower_at(tokens)
        lemma_do = words_.among({"do", "does", "did"}) & ~self.is_main
        no_do = words_.among(_WITHOUT_DO) | parses.lower_at(view.behind(tokens)).among({"better"})
        negated = view.any(view.negations & view.of_root)[self.rows]
        # `she ground her teeth` is past: the verb does not agree.
        single = parses.lower_at(np.maximum(self.subjects, 0)).among({"he", "she", "it"})
        disagrees = (
            self.is_verb & (view.verb_forms[tokens] == VerbForm.PRESENT) & single & (self.subjects >= 0)
        )
        return [
            (negated, Reason.NEGATED),
            (lemma_do | ~(self.is_main | helper), Reason.OTHER_AUXILIARY),
            (self.is_main & ~self.is_verb & ~view.is_be[tokens], Reason.NO_FINITE_VERB),
            (self.is_main & ~any_of(view.verb_forms[tokens], FINITE), Reason.NO_FINITE_VERB),
            (self.is_question, Reason.QUESTION),
            (self.subjects < 0, Reason.NO_SUBJECT),
            (self.subjects > tokens, Reason.INVERTED),
            (no_do | runs_on(view, tokens), Reason.OTHER_AUXILIARY),
            (view.is_doubtful[tokens] & (view.verb_forms[tokens] != VerbForm.MODAL), Reason.DOUBTFUL_PARSE),
            (view.misread[tokens], Reason.DOUBTFUL_PARSE),
            (self.is_torn | disagrees | self._is_no_verb | self._is_title, Reason.DOUBTFUL_PARSE),
            (self.bases == None, Reason.DOUBTFUL_PARSE),  # noqa: E711  (element by element)
        ]


def faithful(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """`do`, `does`, `did` before a finite main verb; an adverb behind a form of "be", "have" or a modal."""
    # "She left" to "She did leave", "She also left" to "She did also leave", "It was built" to "It was indeed
    # built".
    answer = Answer.empty(len(view.parses))
    clauses = Assertions(view, rows)
    tokens = clauses.tokens
    # "nearly always goes" and "at first goes": no place between the words is right.
    second = view.parses.tags.among({"RB", "IN"})[np.maximum(tokens - 2, 0)]
    second &= view.rows[np.maximum(tokens - 2, 0)] == rows
    # "I had no pleasure in thinking"
    denies = view.any(view.parses.lower.among({"no"}) & view.of_root[view.parents])
    # "Wonderful were those wanderings": an adjective before "be" is no subject.
    adjective = view.parses.tags.among({"JJ", "JJR", "JJS"})[np.maximum(clauses.subjects, 0)]
    predicate = adjective & (clauses.subjects >= 0) & (clauses.subjects + 1 == tokens)
    good = refuse(
        answer.reasons,
        rows,
        *clauses.checks(),
        (clauses.holds_word(NEGATIVES), Reason.NEGATED),
        (clauses.holds_word(_AFFIRMED), Reason.RULE_DOES_NOT_APPLY),
        (clauses.is_verb & clauses.adverb_in_front & second, Reason.RULE_DOES_NOT_APPLY),
        (clauses.follows_speech, Reason.RULE_DOES_NOT_APPLY),
        (clauses.is_verb & denies[rows], Reason.NEGATED),
        (~clauses.is_verb & predicate, Reason.INVERTED),
    )
    # "did glare and scolded" would not do: the verbs of one subject are affirmed together.
    shared = clauses.is_verb & clauses.goes_on & ~clauses.adverb_in_front
    has_do = (clauses.is_verb & ~shared)[good]
    verbs, others = good[has_do], good[~has_do]

    forms = view.verb_forms[tokens[verbs]]
    helpers = np.array([DO[VerbForm(form)] for form in forms.tolist()], object)
    between = clauses.adverb_in_front[verbs]  # "did also go"
    replaced = np.where(between, "", helpers + " ").astype(object)
    replace_verbs(view, rows[verbs], tokens[verbs], replaced, clauses.bases[verbs], edits)
    for form in set(helpers[between].tolist()):
        mine = verbs[between & (helpers == form)]
        edits.insert(rows[mine], view.parses.starts[tokens[mine] - 1], form + " ")

    uniforms = draw(0)
    behind, front = others[~shared[others]], others[shared[others]]
    for index, places, texts in (
        (behind, view.parses.ends[tokens[behind]], [" " + adverb for adverb in ADVERBS]),
        (front, view.parses.starts[tokens[front]], [adverb + " " for adverb in ADVERBS]),
    ):
        edits.replace(rows[index], places, places, texts, pick(uniforms[rows[index]], len(ADVERBS)))
    answer.rules[rows[verbs]] = "do"
    answer.rules[rows[others]] = "adverb"
    return answer
