"""Passive to active and back, and the two sides of an identity."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from augment_cli.english.clauses.clause_rules import ACCUSATIVES, NOMINATIVES, Arguments
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.turns import Tokens
from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing import CLAUSE, Edit, Places
from augment_cli.english.rephrasing.grammar import Grammar, upper_first
from augment_cli.resources import word_list
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import VerbForm, words
from augment_cli.text.surface import CAPITALISED, in_case

_Phrase = tuple[int, int, int]  # first and last token, head
_LONGEST = 8  # tokens of a subject or object
# Nobody puts these in the passive, or not with the same sense.
_STATIVE = frozenset(word_list("stative_verbs"))
_RELATIVE = words("who whom whose which that of to for and or , ( :")
_MANNERS = frozenset(word_list("manners"))
_QUANTIFIERS = words("all every each no any some many few most both only either neither none much half")
_BEFORE = words("NN NNS NNP NNPS PRP$ JJ DT CD POS")
_NOUNS, _PERSONS = words("NN NNS NNP NNPS"), words("i he she we they me him her us them")
_HEAVY = words("VBD VBZ VBP VBG MD PRP$ PRP WDT WP TO RB")
_KEEPING = words("conj xcomp ccomp iobj dative compound:prt advcl parataxis prt expl dep")
_FINITE_BE = {(True, True): "were", (True, False): "was", (False, True): "are", (False, False): "is"}
_NEW_AUXILIARY = {"has": "have", "have": "has", "is": "are", "are": "is", "was": "were", "were": "was"}


def voices(grammar: Grammar, is_wide: bool = False) -> list[Places]:
    """Places of the rules on voice and identity; wide: of clauses, verbs and tenses that read worse, too."""
    both = _Voices(grammar, ClauseView.of(grammar.parses), is_wide)
    return [
        _identity(grammar),
        Places.of_edits("passive_to_active", list(both.actives())),
        Places.of_edits("active_to_passive", list(both.passives())),
    ]


@dataclass(frozen=True)
class _Voices:
    grammar: Grammar
    view: ClauseView
    is_wide: bool

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.view)

    @cached_property
    def _deps(self) -> list[str]:
        return self.view.parses.deps.listed()

    @cached_property
    def _heads(self) -> list[int]:
        return self.view.parses.parents.tolist()

    @cached_property
    def _edges(self) -> list[tuple[int, int]]:
        return list(zip(*(edge.tolist() for edge in self.view.edges), strict=True))

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for token, head in enumerate(self._heads):
            if head != token:
                children.setdefault(head, []).append(token)
        return children

    def _verbs(self, *needed: str) -> Iterator[tuple[int, dict[str, int]]]:
        """Verbs with some dependents and nothing that has to stay, and their dependents by relation."""
        for verb, children in self._children.items():
            parts = {self._deps[child]: child for child in children}
            if parts.keys() >= {*needed} and _KEEPING.isdisjoint(parts):
                yield verb, parts

    def passives(self) -> Iterator[tuple[int, int, list[Edit]]]:
        """First and last token, and the edits: `She has found it` to `It has been found by her`."""
        for verb, parts in self._verbs("nsubj", "obj"):
            subject, thing = parts["nsubj"], parts["obj"]
            (low, high), (left, right) = self._edges[subject], self._edges[thing]
            lemma = self._lemma(verb)
            if lemma in _STATIVE or left != verb + 1 or not low <= subject <= high < verb:
                continue
            if not (self._fits(subject, low, high) and self._fits(thing, left, right)) or self._bare(thing):
                continue
            group = self._group(high + 1, verb)
            participle = inflected(lemma, VerbForm.PAST_PARTICIPLE)
            written = group and participle and self._passive(group, verb, self._is_plural(thing), participle)
            if written and self._is_sound(verb, subject, thing, low, right):
                phrases = (low, high, subject), (left, right, thing)
                yield low, right, self._edits(*phrases, written, "by ")

    def actives(self) -> Iterator[tuple[int, int, list[Edit]]]:
        """`It was found by her` to `She found it`."""
        for verb, parts in self._verbs("obl:agent", "nsubj:pass"):
            agent, subject = parts["obl:agent"], parts["nsubj:pass"]
            (low, high), (by, right) = self._edges[subject], self._edges[agent]
            by_word = self.tokens.lower[by] == "by" and by == verb + 1
            if "obj" in parts or not by_word or not high < verb or self._lemma(agent) in _MANNERS:
                continue
            if not (self._fits(subject, low, high) and self._fits(agent, by + 1, right)):
                continue
            group = self._group(high + 1, verb)
            written = group and self._active(group, verb, self._is_plural(agent))
            if written and self._is_sound(verb, agent, agent, low, right):
                phrases = (low, high, subject), (by + 1, right, agent)
                yield low, right, self._edits(*phrases, written, "")

    def _lemma(self, token: int) -> str:
        return self.view.parses.lemmas[token].lower()

    def _fits(self, head: int, left: int, right: int) -> bool:
        """Whether a phrase is a plain noun phrase or a pronoun."""
        tokens = self.tokens
        if right - left >= _LONGEST or not left <= head <= right:
            return False
        if tokens.tags[head] == "PRP":
            return tokens.lower[head] in _PERSONS | {"it"} and left == right
        inside = range(left, right + 1)
        marked = (tokens.forms[token].replace("-", "a").replace("'", "a")[0] for token in inside)
        heavy = not all(map(str.isalnum, marked)) or not _HEAVY.isdisjoint(tokens.tags[left : right + 1])
        row = tokens.rows[head]
        # "Her nephew | Frisch": it began before.
        begins = tokens.tags[left] not in {"IN", "CC"} and tokens.tag(left - 1, row) not in _BEFORE
        begins &= not (left == right and tokens.lower[head].endswith("ing"))
        behind = tokens.word(right + 1, row)
        return tokens.tags[head] in _NOUNS and not heavy and begins and behind not in _RELATIVE

    def _bare(self, head: int) -> bool:
        """Whether a noun has no article, and so may be half of a phrase: `gave birth`."""
        own = {self._deps[child] for child in self._children.get(head, [])}
        return self.tokens.tags[head] == "NN" and own.isdisjoint({"det", "nummod", "amod", "compound"})

    def _is_plural(self, head: int) -> bool:
        joined = any(self._deps[child] == "conj" for child in self._children.get(head, []))
        return joined or bool(Arguments(self.view).is_plural(np.array([head]))[0])

    def _is_sound(self, verb: int, doer: int, other: int, low: int, right: int) -> bool:
        """Whether no quantifier or negation would reach elsewhere; if not wide, in a plain main clause."""
        inside = self.tokens.lower[low : right + 1]
        quantified = sum(word in _QUANTIFIERS for word in inside)
        if quantified > 1 or (quantified == 1 and {"not", "n't", "never"} & set(inside)):
            return False
        return self.is_wide or self._is_plain(verb, doer, other, low, right)

    def _is_plain(self, verb: int, doer: int, other: int, low: int, right: int) -> bool:
        """Whether a main clause is short and plain: `Smith founded the school in May.`"""
        grammar, row = self.grammar, self.tokens.rows[verb]
        plain = grammar.is_plain & grammar.knows_capital & ~grammar.is_negated & (grammar.subjects >= 0)
        nouns = grammar.is_pos("NOUN", "PROPN") & ~grammar.is_time
        if not (plain[row] and grammar.roots[row] == verb and nouns[doer] and nouns[other]):
            return False
        is_passive = doer == other  # of a passive the agent alone is looked at
        if not is_passive and (self._lemma(verb) not in _listed() or self.tokens.tags[verb] == "VBN"):
            return False
        if low != grammar.openings[row] and self.tokens.lower[low - 1] != ",":
            return False
        strange = grammar.is_comma | grammar.is_dep("acl:relcl", "acl", "nmod:poss")
        strange |= grammar.is_pos("ADP") & ~grammar.is_word({"of", "by"})
        end = int(grammar.ends[row])
        if strange[low : right + 1].any() or (grammar.is_comma | grammar.is_verb)[right + 1 : end + 1].any():
            return False
        # What follows is a time or a place, which the agent may stand in front of.
        return right == end or self.tokens.lower[right + 1] in {"in", "on", "at"}

    def _group(self, first: int, verb: int) -> list[int] | None:
        """Auxiliaries of a verb, where nothing but adverbs stands between them; None where there is more."""
        found = []
        own = [child for child in self._children[verb] if self._deps[child] in {"aux", "aux:pass", "cop"}]
        if own and min(own) < first:  # "Would she do it?"
            return None
        for token in range(first, verb):
            if self._deps[token] in {"aux", "aux:pass"} and self._heads[token] == verb:
                found.append(token)
            elif self.tokens.tags[token] != "RB" or self._heads[token] != verb:
                return None
        return [*found, verb]

    def _passive(self, group: list[int], verb: int, plural: bool, participle: str) -> list[tuple[int, str]]:
        """What becomes of each word of the verb; empty where nobody knows."""
        tag, first = self.tokens.tags[verb], group[0]
        if len(group) == 1:
            if tag not in {"VBD", "VBZ", "VBP"}:
                return []
            return [(verb, f"{_FINITE_BE[tag == 'VBD', plural]} {participle}")]
        last, finite = self.tokens.lower[group[-2]], self.tokens.lower[first]
        if finite in {"do", "does", "did"} and len(group) == 2:
            return [(first, _FINITE_BE[finite == "did", plural]), (verb, participle)]
        between = {"VB": "be", "VBN": "been", "VBG": "being"}.get(tag)
        known = finite in _NEW_AUXILIARY or finite == "had" or self.tokens.tags[first] == "MD"
        helped = last in {"has", "have", "had"} if tag == "VBN" else True
        if between is None or not known or not helped:
            return []
        return [(first, _agreeing(finite, plural)), (verb, f"{between} {participle}")]

    def _active(self, group: list[int], verb: int, plural: bool) -> list[tuple[int, str]]:
        lemma = self._lemma(verb)
        words_ = [self.tokens.lower[token] for token in group[:-1]]
        if len(words_) == 1 and words_[0] in {"was", "were", "is", "are"}:
            form = VerbForm.PAST if words_[0][0] == "w" else VerbForm.PRESENT_THIRD
            new = lemma if form == VerbForm.PRESENT_THIRD and plural else inflected(lemma, form)
            return [(group[0], ""), (verb, new)] if new else []
        if len(words_) == 2 and self.tokens.tags[group[0]] == "MD" and words_[1] == "be":
            return [(group[1], ""), (verb, lemma)]
        return []

    def _edits(self, one: _Phrase, two: _Phrase, written: list[tuple[int, str]], by: str) -> list[Edit]:
        """Both phrases in the other's place, and the verb; a "by" goes in front of the second, or goes."""
        (low, high, subject), (left, right, other) = one, two
        parses, spans, tokens = self.view.parses, Constituents(self.view), self.tokens
        opens = bool(spans.opens(np.array([low]))[0] or parses.sentence_starts[low])
        at = np.array([opens])
        front = spans.strings(np.array([left]), np.array([right]), to_front=at)[0]
        back = spans.strings(np.array([low]), np.array([high]), inwards=at)[0]
        if low == high and tokens.lower[subject] in ACCUSATIVES:
            back = ACCUSATIVES[tokens.lower[subject]]
        if left == right and tokens.lower[other] in NOMINATIVES:
            front = NOMINATIVES[tokens.lower[other]]
        front = in_case(front, CAPITALISED) if opens and left == right and front.islower() else front
        edits: list[Edit] = [(int(parses.starts[low]), int(parses.ends[high]), front)]
        for token, text in written:
            start, end = int(parses.starts[token]), int(parses.ends[token])
            edits.append((start, int(parses.starts[token + 1]) if not text else end, text))
        begin = left if by else left - 1
        edits.append((int(parses.starts[begin]), int(parses.ends[right]), by + back))
        return [edit for edit in edits if edit[2] or edit[0] < edit[1]]


@cache
def _listed() -> frozenset[str]:
    return frozenset(word_list("passive_verbs"))


def _agreeing(auxiliary: str, plural: bool) -> str:
    is_plural = auxiliary in {"have", "are", "were"}
    return _NEW_AUXILIARY.get(auxiliary, auxiliary) if is_plural != plural else auxiliary


def _identity(grammar: Grammar) -> Places:
    """`Rome is the capital of Italy.` to `The capital of Italy is Rome.`"""
    rows = np.flatnonzero(grammar.is_plain & grammar.opens_with_subject)
    roots, subject = grammar.roots[rows], grammar.subjects[rows]
    be = grammar.first(grammar.of_root & grammar.is_dep("cop"))[rows]
    article = grammar.first(grammar.of_root & grammar.is_dep("det"))[rows]
    bad = grammar.of_root & grammar.is_dep("aux", "advmod", "conj", "parataxis", "advcl", "acl:relcl", "obl")
    good = (be >= 0) & (article == be + 1) & ~grammar.rows_with(bad)[rows]
    good &= grammar.is_word({"the"}, article) & grammar.is_word({"is", "was"}, be)
    good &= grammar.is_name[subject] & grammar.is_pos("NOUN", at=roots) & ~grammar.is_tag("NNS", at=roots)
    low, high = (edge[rows] for edge in grammar.subject_spans)
    good &= (high == be - 1) & ~grammar.is_word({"the"}, low)
    good &= ~grammar.has_child(grammar.is_dep("conj"))[subject]
    ends = grammar.ends[rows]
    good &= grammar.count(grammar.is_comma | grammar.is_verb & ~grammar.of_root, low, ends) == 0
    good &= grammar.is_word({"of"}, grammar.next_in_row(roots))

    def write(first: int, last: int, verb: int, end: int) -> list[Edit]:
        predicate = upper_first(grammar.text(verb + 1, end))
        return [
            grammar.edit(first, last, predicate),
            grammar.edit(verb + 1, end, grammar.inward(first, last)),
        ]

    return Places("identity_turned", CLAUSE, [(low, ends)], (low, high, be, ends), write).where(good)
