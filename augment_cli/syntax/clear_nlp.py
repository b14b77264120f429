"""Adaptor for ClearNLP labels, as `en_core_web_*` have them: already the tree that rules read.

The root of a clause is its verb, a form of "be" included; passives and negations have labels of their own.

Source: Choi and Palmer 2012, Guidelines for the CLEAR style constituent to dependency conversion.
"""

from __future__ import annotations

import numpy as np

from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import Role, Tree, words

# Labels that no Universal Dependencies treebank has: they tell the scheme of a row.
DISTINCTIVE = words(
    "acomp agent attr auxpass complm csubjpass dative dobj infmod intj meta neg nn npadvmod nsubjpass num "
    "number oprd partmod pcomp pobj poss possessive preconj predet prep prt quantmod rcmod relcl"
)

_ROLES = {
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


def tree(parses: ParseRows) -> Tree:
    """Roles by label; the heads stay."""
    roles = parses.deps.map(lambda label: _ROLES.get(label, Role.OTHER), np.uint8)
    roles[(roles == Role.AUXILIARY) & parses.tags.among({"TO"})] = Role.INFINITIVE
    roles[parses.parents == np.arange(len(roles))] = Role.ROOT
    return Tree(roles, parses.parents)
