"""Positives: negate twice, so that the sentence says what it said (double negation).

Mao et al. 2022 (SDA), section DN. The default takes two negations that undo each other: `did not fail to
leave`, `there is no denying that he was a painter`, `not any evidence` for `no evidence`; questions and
requests (`I want to`) are left alone. The mode `paper` is its Algorithm 3, in the reading that its Table 1
needs: two edits or none, of which half put `Not` in front and few keep the meaning. The authors' later code,
which makes up for a missing edit with a phrase in front, is a mode.
"""

from dataclasses import dataclass
from typing import Any

from augment_cli.augmentations.sda.rules_by_language import (
    COLUMNS,
    by_rules,
    entailment_of_mode,
    settings_of_mode,
)
from augment_cli.contract.augmentation import Augmentation, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.languages import codes_with
from augment_cli.resources import english_terms_digest
from augment_cli.resources.wordnet import wordnet_digest

_RULES = 6  # number of the rules of the mode `faithful`; those of the other modes have not changed


@dataclass(frozen=True)
class DoubleNegationParameters:
    """Parameters of DN."""

    mode: str = parameter(
        "faithful",
        "faithful: negations that undo each other; paper: the paper's Algorithm 3, two edits or none; v3: "
        "the authors' later code",
        choices=("faithful", "paper", "v3"),
    )


def _resolve(parameters: DoubleNegationParameters, resources: Resources) -> dict[str, Any]:
    settings = settings_of_mode(parameters, _RULES)
    if parameters.mode != "faithful":
        return settings
    return settings | {"wordnet": wordnet_digest(), "terms": english_terms_digest()}


DN = Augmentation(
    name="dn",
    version=2,
    kind="positive",
    paper="Mao et al. 2022, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    languages=codes_with("dn"),
    parameters=DoubleNegationParameters,
    prepare=lambda parameters, resources: by_rules(resources.key("dn"), "dn", parameters.mode),
    resolve=_resolve,
    columns=COLUMNS,
    libraries=("lemminflect",),
    examples=("augment-cli dn", "augment-cli dn --mode paper --name dn-paper"),
    is_random=False,
    entailment=entailment_of_mode(
        "two negations undo each other", "two negations of different clauses do not undo each other"
    ),
)
