"""Positives: negate twice, or take a negation away and put one in elsewhere (double negation).

Mao et al. 2023 (SDA), section DN, Algorithm 3, in the reading that its Table 1 needs: two edits or none.
The authors' later code, which makes up for a missing edit with a phrase in front, is a mode.
"""

from __future__ import annotations

from dataclasses import dataclass

from augment_cli.augmentations.syntax.shared import negation_english as english
from augment_cli.augmentations.syntax.shared import rules_chinese as chinese
from augment_cli.augmentations.syntax.shared.rules_by_language import COLUMNS, by_rules
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.syntax.clauses import Language


@dataclass(frozen=True)
class DoubleNegationParameters:
    """Parameters of DN."""

    mode: str = parameter(
        "recommended",
        "recommended: the paper's Algorithm 3, two edits or none; v3: the authors' later code",
        choices=("recommended", "v3"),
    )


def _prepare(parameters: DoubleNegationParameters, resources: Resources) -> Prepared:
    key = resources.key("dn")
    rules = {
        Language.ENGLISH: {"recommended": english.recommended, "v3": english.released}[parameters.mode],
        Language.CHINESE: chinese.negation,
    }

    return by_rules(key, rules)


DN = Augmentation(
    name="dn",
    version=1,
    kind="positive",
    paper="Mao et al. 2023, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    parameters=DoubleNegationParameters,
    prepare=_prepare,
    columns=COLUMNS,
    libraries=("lemminflect",),
    examples=("augment-cli dn", "augment-cli dn --mode v3 --name dn-v3"),
    is_random=False,
    meaning="possibly altered",
)
