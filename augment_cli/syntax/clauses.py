"""The clause view: what rules see of a parse, whatever its label scheme.

All of it is array passes over the flat tokens of a batch. The scheme is told for each row from its own
labels, so a row's view never depends on the rows beside it; a row without any label that only one scheme has
reads the same through either adaptor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augment_cli.syntax import schemes
from augment_cli.syntax.language import Language
from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import (
    Number,
    Role,
    Tree,
    VerbForm,
    any_of,
    first_of,
    form_of_morphology,
    form_of_tag,
    is_penn,
    number_of_morphology,
    number_of_tag,
    words,
)
from augment_cli.text.spans import ranges

_PLURAL_WORDS = words("we they these those both many few several ones")
_FIRST_AND_SECOND = frozenset({"i", "you"})
_BE = words("am is are was were 'm 're 's ’m ’re ’s be been being")
_CONTRACTED_S = frozenset({"'s", "’s"})
_TURNING = words("turn bear keep go stay steer veer move head look step swing fork exit make take hang")
_PAST_MODALS = words("would could 'd ’d")


@dataclass(frozen=True)
class ClauseView:
    """Clauses of a batch of n sentences with N tokens in all; positions are in the flat token arrays."""

    parses: ParseRows  # what it was made from
    roles: np.ndarray  # values of `Role`
    parents: np.ndarray  # head of each token; a root is its own head
    # values of `VerbForm`, from the fine tag where it is a Penn tag, else from the morphology
    verb_forms: np.ndarray
    # whether tag and morphology name different verb forms: two components of a pipeline disagree
    is_doubtful: np.ndarray
    # the row's main verb: its first root that is a verb, else its first root; −1 in a row without tokens
    roots: np.ndarray

    @classmethod
    def of(cls, parses: ParseRows) -> "ClauseView":
        """The view of a batch."""
        parses = schemes.as_universal(parses)
        tree = _tree_of(parses)
        by_tag = parses.tags.map(form_of_tag, np.uint8)
        by_morphology = parses.morphs.map(form_of_morphology, np.uint8)
        penn = parses.tags.where(is_penn)
        forms = np.where(penn, by_tag, by_morphology)
        doubtful = penn & (by_morphology > 0) & (by_tag != by_morphology)
        roots = np.flatnonzero(tree.roles == Role.ROOT)
        verbs = roots[parses.pos.among({"VERB", "AUX"})[roots]]
        count = len(parses)
        first = first_of(roots, parses.rows, count)
        first_verb = first_of(verbs, parses.rows, count)
        roots = np.where(first_verb >= 0, first_verb, first)
        view = cls(parses, tree.roles, tree.parents, forms, doubtful, roots)
        view._mend_past_tense()
        return view

    def _mend_past_tense(self) -> None:
        """A main verb tagged as past participle, behind its subject and without auxiliary, is in the past."""
        # Taggers mix these two up more than any others, and no sentence has such a participle as its main
        # verb.
        is_participle = self.verb_forms[self.roots] == VerbForm.PAST_PARTICIPLE
        participles = np.flatnonzero((self.roots >= 0) & is_participle)
        if not len(participles):
            return
        helped = self.any(self.auxiliaries & self.of_root)[participles]
        subjects, roots = self.subjects[participles], self.roots[participles]
        places = np.arange(len(self.roles))
        inside = (places > self.subjects[self.rows]) & (places < self.parents)
        parted = self.any((self.roles == Role.PUNCTUATION) & self.of_root & inside)[participles]
        past = roots[~helped & ~parted & (subjects >= 0) & (subjects < roots)]
        self.verb_forms[past] = VerbForm.PAST
        self.is_doubtful[past] = False

    @cached_property
    def misread(self) -> np.ndarray:
        """bool (N,): supposed main verbs in `Turn left`, an imperative, and in `That he lied annoyed me`."""
        parses, rows = self.parses, self.rows
        lefts = np.flatnonzero(parses.lower.among({"left"}))
        before = np.maximum(lefts - 1, 0)
        turns = parses.lower_at(before).among(_TURNING) & (rows[before] == rows[lefts])
        first = parses.offsets[:-1][np.diff(parses.offsets) > 0]
        marked = first[parses.lower_at(first).among({"that"}) & (self.roles[first] == Role.MARKER)]
        marked = marked[self.parents[marked] == self.roots[rows[marked]]]
        group = (self.auxiliaries & self.of_root) | self.mask(self.roots[self.roots >= 0])
        return self.mask(lefts[turns]) | (group & self.row_mask(rows[marked])[rows])

    @property
    def rows(self) -> np.ndarray:
        """int64 (N,): the sentence of each token."""
        return self.parses.rows

    def first(self, mask: np.ndarray) -> np.ndarray:
        """int64 (n,): position of the first token of each row for which `mask` (N,) holds, or −1."""
        return first_of(np.flatnonzero(mask), self.rows, len(self.parses))

    def any(self, mask: np.ndarray) -> np.ndarray:
        """bool (n,): whether `mask` (N,) holds for any token of the row."""
        return self.first(mask) >= 0

    def mask(self, tokens: np.ndarray) -> np.ndarray:
        """bool (N,): the tokens at some positions."""
        mask = np.zeros(len(self.roles), bool)
        mask[tokens] = True
        return mask

    def row_mask(self, rows: np.ndarray) -> np.ndarray:
        """bool (n,): some rows."""
        mask = np.zeros(len(self.parses), bool)
        mask[rows] = True
        return mask

    def with_child(self, children: np.ndarray) -> np.ndarray:
        """bool (N,): tokens with a child among some, given by a mask or by positions."""
        return self.mask(self.parents[children])

    def behind(self, tokens: np.ndarray) -> np.ndarray:
        """int64 (m,): the token behind each, whatever its row; the last one for itself."""
        return np.minimum(tokens + 1, len(self.roles) - 1)

    def has_behind(self, tokens: np.ndarray) -> np.ndarray:
        """bool (m,): tokens with another one behind them in their row."""
        return tokens + 1 < self.parses.offsets[1:][self.rows[tokens]]

    @cached_property
    def of_root(self) -> np.ndarray:
        """bool (N,): children of the row's main verb, itself left out."""
        of_root = self.parents == self.roots[self.rows]
        of_root[self.roots[self.roots >= 0]] = False
        return of_root

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (N,) each: first and last token of every token's full subtree."""
        lengths = np.diff(self.parses.offsets)
        return subtree_edges(self.parents, int(lengths.max(initial=0)))

    def right_edges(self, heads: np.ndarray) -> np.ndarray:
        """int64 (m,): the second of the `edges` of a few tokens, looked for in their rows alone."""
        rows, offsets = np.unique(self.rows[heads]), self.parses.offsets
        lengths = offsets[rows + 1] - offsets[rows]
        tokens = ranges(offsets[rows], lengths)
        parents = np.searchsorted(tokens, self.parents[tokens])
        right = subtree_edges(parents, int(lengths.max(initial=0)))[1]
        return tokens[right[np.searchsorted(tokens, heads)]]

    @cached_property
    def subjects(self) -> np.ndarray:
        """int64 (n,): the main verb's nominal subject (its head word), or −1."""
        return self.first((self.roles == Role.SUBJECT) & self.of_root)

    @cached_property
    def has_subject(self) -> np.ndarray:
        """bool (n,): whether the main verb has a subject, or a noun in front that a parser took for less."""
        kinds = (Role.SUBJECT, Role.CLAUSAL_SUBJECT, Role.EXPLETIVE)
        nominal = self.parses.pos.among({"NOUN", "PROPN", "PRON", "NUM"})
        in_front = np.arange(len(self.roles)) < self.roots[self.rows]
        return self.any((any_of(self.roles, kinds) | (nominal & in_front)) & self.of_root)

    @cached_property
    def auxiliaries(self) -> np.ndarray:
        """bool (N,): auxiliaries of any verb; not the "to" of infinitives."""
        return self.roles == Role.AUXILIARY

    @cached_property
    def negations(self) -> np.ndarray:
        """bool (N,): verb negations, as the scheme labels them."""
        return self.roles == Role.NEGATION

    @cached_property
    def clauses(self) -> np.ndarray:
        """bool (N,): heads of subordinate clauses (acl, advcl, ccomp, csubj, csubjpass, relcl, xcomp)."""
        # Without those that in the row's language nothing may part from what they belong to.
        clauses = (self.roles == Role.CLAUSE) | (self.roles == Role.CLAUSAL_SUBJECT)
        for language, mine in self.by_language:
            if language.joined_clauses and mine.any():
                bases = self.parses.deps.map(lambda label: label.partition(":")[0], object)
                clauses &= ~(np.isin(bases, list(language.joined_clauses)) & mine[self.rows])
        return clauses

    @cached_property
    def relatives(self) -> np.ndarray:
        """bool (N,): heads of relative clauses, by their label in either scheme."""
        return self.parses.deps.where(lambda label: label.endswith("relcl") or label == "rcmod")

    @cached_property
    def is_be(self) -> np.ndarray:
        """bool (N,): forms of "be" that are verbs or auxiliaries, contracted ones included."""
        maybe = np.flatnonzero(self.parses.pos.among({"VERB", "AUX"}))
        words = self.parses.lower_at(maybe)
        be = words.among(_BE)
        contracted = np.flatnonzero(be & words.among(_CONTRACTED_S))  # "'s" may be "has"
        be[contracted] = self.parses.lemmas_at(maybe[contracted]).among({"be", "'s", "’s"})
        return self.mask(maybe[be])

    @cached_property
    def copulas(self) -> np.ndarray:
        """int64 (n,): the main verb where it is a form of "be", else −1."""
        copulas = self.mask(self.roots[self.roots >= 0]) & self.is_be
        return self.first(copulas)

    @cached_property
    def is_past(self) -> np.ndarray:
        """bool (N,): past tense, "would" and "could" included."""
        past = self.verb_forms == VerbForm.PAST
        modals = np.flatnonzero(self.verb_forms == VerbForm.MODAL)
        past[modals] = self.parses.lower_at(modals).among(_PAST_MODALS)
        return past

    @cached_property
    def third_person_singular(self) -> np.ndarray:
        """bool (n,): whether a present-tense main verb would take the ending -s, by its subject."""
        # Where "there" stands in the subject's place, the first noun behind the verb decides.
        parses, rows = self.parses, self.rows
        nominal = parses.pos.among({"NOUN", "PROPN", "PRON", "NUM"})
        behind = nominal & self.of_root & (np.arange(len(rows)) > self.roots[rows])
        expletive = self.any((self.roles == Role.EXPLETIVE) & self.of_root)
        heads = np.where(self.subjects >= 0, self.subjects, np.where(expletive, self.first(behind), -1))
        third = np.ones(len(heads), bool)
        known = np.flatnonzero(heads >= 0)
        third[known] = self.numbers_of(heads[known]) != Number.PLURAL
        words = parses.lower_at(heads[known])
        third[known[words.among(_FIRST_AND_SECOND)]] = False
        return third

    def numbers_of(self, heads: np.ndarray) -> np.ndarray:
        """uint8 (m,): number of the noun phrases at some positions, coordination with "and" included."""
        parses = self.parses
        by_tag = parses.tags.map(number_of_tag, np.uint8)[heads]
        by_morphology = parses.morphs.map(number_of_morphology, np.uint8)[heads]
        numbers = np.where(by_tag > 0, by_tag, by_morphology)
        numbers[parses.lower_at(heads).among(_PLURAL_WORDS)] = Number.PLURAL
        conjuncts = np.flatnonzero(self.roles == Role.CONJUNCT)
        joined = self.with_child(conjuncts)
        maybe = np.flatnonzero(parses.pos.among({"CCONJ"}))
        either = self.with_child(maybe[parses.lower_at(maybe).among({"or", "nor"})])  # "a cat or a dog"
        either[self.parents[conjuncts[either[conjuncts]]]] = True
        numbers[joined[heads] & ~either[heads]] = Number.PLURAL
        return numbers

    @cached_property
    def by_language(self) -> list[tuple[Language, np.ndarray]]:
        """Each language that rows may be in, and which rows are in it: bool (n,)."""
        *told, usual = self.parses.languages
        rest = np.ones(len(self.parses), bool)
        found = []
        for language in told:
            found.append((language, self._is_in_script(language.script) & rest))
            rest &= ~found[-1][1]
        return [*found, (usual, rest)]

    def in_language(self, is_meant: Callable[[Language], bool]) -> np.ndarray:
        """bool (n,): rows in a language of which something is true."""
        mine = [rows for language, rows in self.by_language if is_meant(language)]
        return np.logical_or.reduce(mine) if mine else np.zeros(len(self.parses), bool)

    def _is_in_script(self, script: tuple[tuple[int, int], ...]) -> np.ndarray:
        """bool (n,): rows of which at least half of the tokens begin with a character of a script."""
        texts, parses = self.parses.texts, self.parses
        result = np.zeros(len(parses), bool)
        lowest = min(low for low, _ in script)
        first_byte = chr(lowest).encode()[0]  # of UTF-8, where bytes rise as characters do
        beyond = np.flatnonzero(texts.data >= first_byte)
        if not len(beyond):
            return result
        rows = np.unique(np.searchsorted(texts.byte_offsets, beyond, "right") - 1)
        lengths = parses.offsets[rows + 1] - parses.offsets[rows]
        tokens = ranges(parses.offsets[rows], lengths)
        first = texts.values[texts.offsets[parses.rows[tokens]] + parses.starts[tokens]]
        of_script = np.logical_or.reduce([(first >= low) & (first <= high) for low, high in script])
        share = np.bincount(np.repeat(np.arange(len(rows)), lengths), of_script, len(rows))
        result[rows[(share > 0) & (2 * share >= lengths)]] = True
        return result


def _tree_of(parses: ParseRows) -> Tree:
    """Each row through the adaptor of its own scheme."""
    distinctive = parses.deps.among(schemes.DISTINCTIVE)
    if not distinctive.any():
        return schemes.universal_tree(parses)
    marks = distinctive.astype(np.int64) - parses.deps.where(schemes.is_distinctive)
    is_clear = np.bincount(parses.rows, marks, len(parses)) > 0
    if not is_clear.any():
        return schemes.universal_tree(parses)
    if is_clear.all():
        return schemes.clear_nlp_tree(parses)
    one, other, which = schemes.clear_nlp_tree(parses), schemes.universal_tree(parses), is_clear[parses.rows]
    return Tree(np.where(which, one.roles, other.roles), np.where(which, one.parents, other.parents))


def subtree_edges(parents: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last token of every token's full subtree, for all trees of a batch at once."""
    # Depths come from pointer doubling; then each level, deepest first, hands its edges to its heads, so
    # that every token is touched once.
    # A root is its own head; tokens on a cycle get edges of part of it.
    positions = np.arange(len(parents))
    left, right = positions.copy(), positions.copy()
    depths = (parents != positions).astype(np.int32)
    jump = parents
    for _ in range(max(longest, 1).bit_length()):
        further = depths[jump]
        if not further.any():
            break
        depths += further
        jump = jump[jump]
    depths = np.minimum(depths, longest).astype(np.int16 if longest < 2**15 else np.int32)
    order = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[order], np.arange(int(depths.max(initial=0)) + 2))
    for depth in range(len(bounds) - 2, 0, -1):
        level = order[bounds[depth] : bounds[depth + 1]]
        np.minimum.at(left, parents[level], left[level])
        np.maximum.at(right, parents[level], right[level])
    return left, right
