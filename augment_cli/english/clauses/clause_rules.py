"""What augmentations that rewrite clauses share: arguments of verbs, pronouns, the frame of a run."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augment_cli.contract.augmentation import Prepared
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Number, Role, VerbForm, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import CAPITALS, case_of

FINITE = (VerbForm.PAST, VerbForm.PRESENT, VerbForm.PRESENT_THIRD, VerbForm.MODAL)
ACCUSATIVES = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
NOMINATIVES = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
_RELATIVE = words("who which that")
_COUNTRIES = words("states nations netherlands philippines bahamas maldives emirates")
_PLURALS = words("you some all most half others")
_CONTRACTED_NEGATIONS = words("not n't n’t")

Rule = Callable[[ClauseView, np.ndarray, np.ndarray, EditList], None]


def outcome_of(rows: Rows, rule: Rule) -> Outcome:
    """Apply a rule to the rows in English that have a token."""
    # A rule adds edits, and sets the reasons (n,) of rows without one.
    if rows.parses is None:
        raise ValueError("a rule on clauses needs the parses of its rows")
    reasons = np.full(len(rows), Reason.NO_TOKEN, object)
    edits = EditList()
    filled = np.diff(rows.parses.offsets) > 0
    if filled.any():
        view = ClauseView.of(rows.parses)
        reasons[filled] = Reason.RULE_DOES_NOT_APPLY
        english = np.flatnonzero(filled & view.in_language(lambda language: language.code == "en"))
        if len(english):
            rule(view, english, reasons, edits)
    return Outcome(edits.edits(), reasons)


def by_rule(rule: Rule) -> Prepared:
    """An augmentation that is one rule on clauses; see `outcome_of`."""
    return lambda rows: outcome_of(rows, rule)


def distinct(*columns: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The distinct rows of some columns of small numbers from 0 on, and which of them each row is."""
    # The product of the largest values is below 2**63.
    keys = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        keys = keys * (int(column.max(initial=0)) + 1) + column
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    return list(zip(*(column[first].tolist() for column in columns), strict=True)), of


def refuse(reasons: np.ndarray, rows: np.ndarray, *checks: tuple[np.ndarray, str]) -> np.ndarray:
    """Write the first reason that holds to each row; int64, the indices of the rows for which none does."""
    first = np.full(len(rows), len(checks))
    for number, (mask, _) in reversed([*enumerate(checks)]):
        first[mask] = number
    refused = first < len(checks)
    texts = np.array([reason for _, reason in checks], object)
    reasons[rows[refused]] = texts[first[refused]]
    return np.flatnonzero(~refused)


def put(edits: EditList, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, texts: list[str]) -> None:
    """One text of its own for each span (m,)."""
    edits.replace(rows, starts, ends, texts, np.arange(len(texts)))


@dataclass(frozen=True)
class Arguments:
    """Verbs of some rows with N tokens, and what belongs to them, in either label scheme."""

    view: ClauseView

    @cached_property
    def direct_objects(self) -> np.ndarray:
        """bool (N,): direct objects, whatever their verb."""
        return self.view.parses.deps.among({"dobj", "obj"})

    @cached_property
    def prepositional(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (m,) each: nouns behind a preposition that belongs to a verb, and their verbs."""
        view = self.view
        deps, parents = view.parses.deps, view.parents
        nouns = np.flatnonzero(deps.among({"pobj"}))
        prepositions = parents[nouns]
        of_verb = deps.among({"prep", "agent", "dative"})[prepositions]
        oblique = np.flatnonzero(deps.among({"obl", "obl:agent"}))
        oblique = oblique[view.with_child(deps.among({"case"}))[oblique]]
        objects = np.concatenate([nouns[of_verb], oblique])
        verbs = np.concatenate([parents[prepositions[of_verb]], parents[oblique]])
        order = np.argsort(objects)
        return objects[order], verbs[order]

    def phrases(self, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last token of noun phrases (m,), without the preposition in front."""
        left, right = (edge[heads] for edge in self.view.edges)
        ends = np.full(len(self.view.roles), -1)  # the last preposition that is a noun's child (UD)
        cases = np.flatnonzero(self.view.parses.deps.among({"case"}))
        ends[self.view.parents[cases]] = cases
        case = ends[heads]
        return np.where((case >= left) & (case < heads), case + 1, left), right

    @cached_property
    def first_verbs(self) -> np.ndarray:
        """int64 (n,): first of the main verb and its auxiliaries, or −1."""
        view = self.view
        main = view.mask(view.roots[view.roots >= 0])
        return view.first(main | (view.auxiliaries & view.of_root))

    @cached_property
    def subjects(self) -> np.ndarray:
        """int64 (N,): subject of the clause whose head each token is, or −1."""
        # A coordinated verb without one has its neighbour's; "who", "which" and "that" stand for the noun
        # in front of their clause; behind "there" it is the noun that follows.
        view = self.view
        parents, parses = view.parents, view.parses
        subjects = np.full(len(parents), -1)
        nouns = np.flatnonzero(parses.pos.among({"NOUN", "PROPN", "PRON", "NUM"}))
        expletives = np.flatnonzero((view.roles == Role.EXPLETIVE) & (parents != np.arange(len(parents))))
        has_expletive = view.with_child(expletives)
        behind = nouns[has_expletive[parents[nouns]] & (nouns > parents[nouns])][::-1]
        subjects[parents[behind]] = behind
        own = np.flatnonzero(view.roles == Role.SUBJECT)[::-1]
        own = own[~has_expletive[parents[own]]]
        subjects[parents[own]] = own
        relative = own[parses.lower_at(own).among(_RELATIVE)]
        clauses = parents[relative]
        adnominal = self.is_adnominal[clauses] & (parents[clauses] < relative)
        subjects[clauses[adnominal]] = parents[clauses[adnominal]]
        conjuncts = np.flatnonzero(view.roles == Role.CONJUNCT)
        for _ in range(3):
            lonely = conjuncts[subjects[conjuncts] < 0]
            subjects[lonely] = subjects[parents[lonely]]
        return subjects

    @cached_property
    def clause_labels(self) -> np.ndarray:
        """int64 (N,): positions of the label that says what each clause is: a copula's is its predicate's."""
        places = np.arange(len(self.view.roles))
        copulas = self.view.parses.deps.among({"cop"})
        return np.where(copulas, self.view.parses.parents, places)

    @cached_property
    def is_adnominal(self) -> np.ndarray:
        """bool (N,): heads of relative and other adnominal clauses."""
        label = self.view.parses.deps.where(lambda dep: dep.partition(":")[0] in {"acl", "relcl", "rcmod"})
        return (self.view.roles == Role.CLAUSE) & label[self.clause_labels]

    def is_plural(self, heads: np.ndarray) -> np.ndarray:
        """bool (m,): noun phrases that a verb agrees with in the plural; "you" is one of them."""
        plural = self.view.numbers_of(heads) == Number.PLURAL
        words = self.view.parses.lower_at(heads)
        numerals = self.view.parses.tags.among({"CD"})[heads] & ~words.among({"one"})
        # Names such as "Landis", for which taggers like to find a plural.
        named = self.view.parses.tags.among({"NNPS"})[heads] & words.where(
            lambda word: word.endswith(("is", "us", "ss", "as", "os")) or word in _COUNTRIES
        )
        return (plural & ~named) | numerals | words.among(_PLURALS)


def negation_behind(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): whether "not" or "n't" follows directly."""
    return followed_by(view, tokens, _CONTRACTED_NEGATIONS)


def followed_by(view: ClauseView, tokens: np.ndarray, wanted: Collection[str]) -> np.ndarray:
    """bool (m,): whether one of some words follows directly, in the same row."""
    return view.has_behind(tokens) & view.parses.lower_at(view.behind(tokens)).among(wanted)


def follows_adverb(view: ClauseView, verbs: np.ndarray, subjects: np.ndarray) -> np.ndarray:
    """bool (m,): verbs with their own adverb directly in front, behind their subject: `never stops`."""
    before = np.maximum(verbs - 1, 0)
    adverb = view.parses.tags.among({"RB"})[before] & view.parses.whitespace[before]
    return adverb & (view.parents[before] == verbs) & (before > subjects) & (subjects >= 0)


_TAGGING = words(
    "do does did am is are was were have has had can could will would should may might must shall ca wo sha"
)
_TAGGED = words("i you he she it we they there")


def ends_in_tag(view: ClauseView, spans: Constituents) -> np.ndarray:
    """bool (n,): rows that end in a question tag: `He has a car, has he?`, `it is late isn't it`."""
    last = np.maximum(spans.bounds[1], 0)
    lower = view.parses.lower
    denied = lower.among(_CONTRACTED_NEGATIONS)[np.maximum(last - 1, 0)]
    helper = np.maximum(last - 1 - denied, 0)
    before = np.maximum(helper - 1, 0)
    tagged = (
        lower.among(_TAGGED)[last] & lower.among(_TAGGING)[helper] & (lower.among({","})[before] | denied)
    )
    return tagged & (before > spans.bounds[0])


def asks_with_do(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): `do`, `does`, `did` in front of a subject: `what does a baguette look like`."""
    parses, begins = view.parses, view.parses.offsets[:-1][view.rows[tokens]]
    opens = tokens == begins
    opens |= (tokens == begins + 1) & parses.tags.among({"WP", "WRB", "WDT"})[begins]
    behind = view.behind(tokens)
    acts = parses.tags.among({"VB", "RB"})[behind]
    return opens & parses.lower_at(tokens).among({"do", "does", "did"}) & ~acts


def follows_sign(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): words joined to a sign in front: `#do`."""
    before = np.maximum(tokens - 1, 0)
    parses = view.parses
    return parses.forms.among({"#", "@"})[before] & ~parses.whitespace[before] & (before < tokens)


def insert_not(view: ClauseView, edits: EditList, tokens: np.ndarray, verbs: np.ndarray) -> None:
    """Put `not` behind words (m,), in capitals where the verbs (m,) are."""
    capitals = view.parses.forms_at(verbs).where(lambda form: case_of(form) == CAPITALS)
    edits.replace(
        view.rows[tokens], *(view.parses.ends[tokens],) * 2, [" not", " NOT"], capitals.astype(np.int64)
    )
