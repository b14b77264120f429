"""Exchange subject and object, in one sentence of forty: `The dogs chase it` to `It chases the dogs`.

AugCSE's SentenceSubjectObjectSwitch: of what `phrase-swap` exchanges, the subject and the object of one verb
alone. The original exchanges the subtrees before and behind the root, whatever they are, without agreement
or case.

Changes 3 % of sentences of Wikipedia and books, 2 % of questions and hardly any request: few sentences have
a subject and an object of one kind that may trade places. `--unlike` takes phrases of two kinds.
"""

import dataclasses
from functools import partial

from augment_cli.augmentations.rules.phrase_swap import PHRASE_SWAP, swap
from augment_cli.english.clauses.clause_rules import by_rule

SUBJECT_OBJECT_SWITCH = dataclasses.replace(
    PHRASE_SWAP,
    name="subject-object-switch",
    version=7,
    paper="Tang et al. 2022, AugCSE (SentenceSubjectObjectSwitch)",
    prepare=lambda parameters, resources: by_rule(partial(swap, unlike=parameters.unlike, roles_alone=True)),
    examples=("augment-cli subject-object-switch", "augment-cli subject-object-switch --unlike"),
    entailment=("other", "who does it and whom it is done to trade places"),
)
