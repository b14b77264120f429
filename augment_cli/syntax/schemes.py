"""Adaptors of label schemes, Universal Dependencies and ClearNLP's: one tree for the rules.

ClearNLP's labels, as `en_core_web_*` have them, are that tree already: the root of a clause is its verb, a
form of "be" included; passives and negations have labels of their own. In UD a predicate noun or adjective is
the head and the form of "be" its child (`cop`). Here the copula takes its predicate's place and what belongs
to the clause (subject, auxiliaries, negation, adverbial clauses) goes over to it, so that "He was a painter"
has the root "was" in either scheme. Stanford's Chinese dependencies, the labels of `zh_core_web_*`, become
Universal ones first: their heads are the same, so that labels and two parts of speech change.

Source: https://universaldependencies.org/u/dep/ and the English-specific notes; Choi and Palmer 2012,
Guidelines for the CLEAR style constituent to dependency conversion; Chang et al. 2009, and the labels that
spaCy documents for its Chinese pipelines; tags: Xia 2000, the Penn Chinese Treebank.
"""

import dataclasses

import numpy as np
import pyarrow as pa

from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import NEGATIONS, Role, Tree, any_of, words

_ROLES = {"nsubj": Role.SUBJECT, "csubj": Role.CLAUSAL_SUBJECT, "expl": Role.EXPLETIVE}
_ROLES |= {"aux": Role.AUXILIARY, "mark": Role.MARKER, "punct": Role.PUNCTUATION, "conj": Role.CONJUNCT}
_ROLES |= dict.fromkeys(("acl", "advcl", "ccomp", "xcomp"), Role.CLAUSE)
_WORDS = frozenset({"cop", "obl", "obj", "iobj", "flat", "fixed", "goeswith", "orphan", "reparandum", "clf"})

# Labels that go over to the copula wherever they stand; others only from in front of it.
_OF_THE_CLAUSE = frozenset({"nsubj", "csubj", "expl", "aux", "mark", "punct", "advcl", "parataxis"})

# A gerund after one of these is the complement of a preposition (ClearNLP: pcomp), not a clause of its own.
_PREPOSITIONS = words(
    "about after against at before besides between beyond by despite for from in into like of on over "
    "since through throughout to toward towards upon via with within without"
)


# Fine tags that English does not have: they tell a row, which has one at its verb or its mark.
_TAGS = words("AD AS BA CS DEC DEG DER DEV ETC LB LC M MSP NR NT OD P PN PU SB SP VA VC VE VV")
_UNIVERSAL = {
    "advcl:loc": "advcl",
    "advmod:rcomp": "compound:vv",
    "aux:asp": "aux",
    "aux:ba": "case",  # 把
    "aux:modal": "aux",
    "aux:prtmod": "mark:prt",
    "auxpass": "aux:pass",
    "compound:vc": "compound:vv",
    "dobj": "obj",
    "mark:clf": "clf",
    "nmod:prep": "obl",
    "nmod:range": "obl",
    "nmod:tmod": "obl:tmod",
    "nmod:topic": "dislocated",
    "nsubj:xsubj": "nsubj",
    "nsubjpass": "nsubj:pass",
}
# Labels that no Universal Dependencies treebank has: they tell the scheme of a row.
DISTINCTIVE = words(
    "acomp agent attr auxpass complm csubjpass dative dobj infmod intj meta neg nn npadvmod nsubjpass num "
    "number oprd partmod pcomp pobj poss possessive preconj predet prep prt quantmod rcmod relcl"
)

_CLEAR_NLP_ROLES = {
    label: role
    for role, labels in (
        (Role.SUBJECT, "nsubj nsubjpass"),
        (Role.CLAUSAL_SUBJECT, "csubj csubjpass"),
        (Role.EXPLETIVE, "expl"),
        (Role.AUXILIARY, "aux auxpass"),
        (Role.NEGATION, "neg"),
        (Role.MARKER, "mark complm"),
        (Role.CLAUSE, "acl advcl ccomp relcl rcmod xcomp"),
        (Role.PUNCTUATION, "punct"),
        (Role.CONJUNCT, "conj"),
    )
    for label in labels.split()
}


def is_distinctive(label: str) -> bool:
    """Whether a label is one that ClearNLP does not have."""
    return ":" in label or label in _WORDS


def _base(label: str) -> str:
    return label.partition(":")[0]


def universal_tree(parses: ParseRows) -> Tree:
    """Roles and heads, copulas promoted."""
    labels, parents = parses.deps, parses.parents
    count = len(parents)
    positions = np.arange(count)
    roles = labels.map(lambda label: _ROLES.get(_base(label), Role.OTHER), np.uint8)
    is_root = parents == positions
    roles[is_root] = Role.ROOT
    is_verbal = parses.pos.among({"VERB", "AUX"})

    roles[any_of(roles, (Role.MARKER, Role.AUXILIARY)) & parses.tags.among({"TO"})] = Role.INFINITIVE
    advmod = np.flatnonzero(labels.where(lambda label: _base(label) in {"advmod", "neg"}) & ~is_root)
    negative = parses.lower_at(advmod).among(NEGATIONS)
    negative |= parses.morphs.where(lambda morph: "Polarity=Neg" in morph)[advmod]
    negative |= labels.at(advmod).among({"neg"})
    roles[advmod[negative]] = Role.NEGATION

    open_clause = labels.where(lambda label: _base(label) == "xcomp") & ~is_root
    copula, predicate = _copulas(parses, is_root)
    if len(copula):
        roles, parents = _promoted(parses, roles, is_verbal, copula, predicate)
        open_clause[copula] = open_clause[predicate]
        open_clause[predicate] = False
    roles[open_clause & ~is_verbal & (roles == Role.CLAUSE)] = Role.OTHER  # "became mayor": no clause
    _prepositional_gerunds(parses, roles, parents)
    _expletives(parses, roles, parents)
    return Tree(roles, parents)


def _copulas(parses: ParseRows, is_root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of copulas and of their predicates; one for each predicate, none inside another."""
    is_copula = parses.deps.where(lambda label: _base(label) == "cop") & ~is_root
    copula = np.flatnonzero(is_copula & ~is_copula[parses.parents])
    predicate, first = np.unique(parses.parents[copula], return_index=True)
    return copula[first], predicate


def _promoted(
    parses: ParseRows, roles: np.ndarray, is_verbal: np.ndarray, copula: np.ndarray, predicate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Roles and heads with each copula in its predicate's place."""
    labels, parents = parses.deps, parses.parents
    copula_of = np.full(len(parents), -1)
    copula_of[predicate] = copula

    # "The trouble is that he lied": the predicate is a clause with a subject of its own.
    outer = np.zeros(len(parents), bool)
    outer[parents[labels.where(lambda label: label.endswith(":outer"))]] = True

    children = np.flatnonzero(copula_of[parents] >= 0)
    children = children[parents[children] != children]
    heads = parents[children]
    new_heads, kinds = copula_of[heads], roles[children]
    in_front = (children < new_heads) & (new_heads < heads)
    belongs = labels.at(children).where(lambda label: _base(label) in _OF_THE_CLAUSE) & ~outer[heads]
    belongs |= (kinds == Role.NEGATION) & ~outer[heads]
    belongs |= (kinds == Role.CONJUNCT) & (is_verbal[children] | (copula_of[children] >= 0))
    belongs |= kinds == Role.PUNCTUATION
    moves = belongs | in_front
    new_parents = parents.copy()
    new_parents[children[moves]] = new_heads[moves]
    new_parents[copula] = np.where(parents[predicate] == predicate, copula, new_parents[predicate])
    new_parents[predicate] = copula
    new_roles = roles.copy()
    new_roles[copula] = roles[predicate]
    new_roles[predicate] = np.where(outer[predicate], Role.CLAUSE, Role.OTHER)
    return new_roles, new_parents


def _prepositional_gerunds(parses: ParseRows, roles: np.ndarray, parents: np.ndarray) -> None:
    markers = np.flatnonzero(roles == Role.MARKER)
    heads = parents[markers[parses.lower_at(markers).among(_PREPOSITIONS)]]
    gerund = parses.tags.among({"VBG"})[heads] | parses.morphs.where(lambda m: "VerbForm=Ger" in m)[heads]
    heads = heads[gerund]
    roles[heads[roles[heads] == Role.CLAUSE]] = Role.OTHER


def _expletives(parses: ParseRows, roles: np.ndarray, parents: np.ndarray) -> None:
    """Existential "there" takes the subject's place; an "it" that only fills it is the subject."""
    expletives = np.flatnonzero(roles == Role.EXPLETIVE)
    if not len(expletives):
        return
    existential = parses.lower_at(expletives).among({"there"})
    main, others = expletives[existential], expletives[~existential]
    is_existential, has_subject = np.zeros((2, len(roles)), bool)
    is_existential[parents[main]] = True
    subjects = np.flatnonzero(roles == Role.SUBJECT)
    roles[subjects[is_existential[parents[subjects]] & (subjects > parents[subjects])]] = Role.OTHER
    has_subject[parents[subjects]] = True
    free = ~has_subject[parents[others]] & (others < parents[others])
    roles[others] = np.where(free, Role.SUBJECT, Role.OTHER)


def as_universal(parses: ParseRows) -> ParseRows:
    """The same parses, rows of this scheme with Universal labels."""
    tagged = parses.tags.among(_TAGS)
    if not tagged.any():
        return parses
    ours = (np.bincount(parses.rows, tagged, len(parses)) > 0)[parses.rows]
    deps = parses.deps
    labels = np.array([*deps.values, *(_UNIVERSAL.get(label, label) for label in deps.values)], dtype=object)
    labels = labels[deps.codes + ours * len(deps.values)]
    # The treebank has modals and predicative adjectives among its verbs.
    pos = np.array(parses.pos.values, dtype=object)[parses.pos.codes]
    pos[deps.among({"aux:modal"})] = "AUX"
    pos[parses.tags.among({"VA"}) & ours] = "ADJ"
    strings = {**parses.strings, "deps": pa.array(labels, pa.string()), "pos": pa.array(pos, pa.string())}
    return dataclasses.replace(parses, strings=strings)


def clear_nlp_tree(parses: ParseRows) -> Tree:
    """Roles by label; the heads stay."""
    roles = parses.deps.map(lambda label: _CLEAR_NLP_ROLES.get(label, Role.OTHER), np.uint8)
    roles[(roles == Role.AUXILIARY) & parses.tags.among({"TO"})] = Role.INFINITIVE
    roles[parses.parents == np.arange(len(roles))] = Role.ROOT
    return Tree(roles, parses.parents)
