"""Positives: put an affirmative auxiliary such as "have to" in front of the main verb.

Mao et al. 2023 (SDA), section AA. The default replaces modals, inflects, and leaves alone what would come out
wrong; the paper's Algorithm 2 and the authors' later code are modes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from augment_cli.augmentations.syntax.shared import auxiliary_english as english
from augment_cli.augmentations.syntax.shared import rules_chinese as chinese
from augment_cli.augmentations.syntax.shared.auxiliary_english import Answer
from augment_cli.augmentations.syntax.shared.rules_by_language import COLUMNS, Rules, by_rules
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.errors import UsageError
from augment_cli.syntax.clauses import Language


@dataclass(frozen=True)
class AffirmativeAuxiliaryParameters:
    """Parameters of AA."""

    mode: str = parameter(
        "recommended",
        "recommended: inflected, modals replaced; literal: the paper's Algorithm 2; v3: the authors' later "
        "code; v3_verb: its verb rule alone",
        choices=("recommended", "literal", "v3", "v3_verb"),
    )
    auxiliaries: str = parameter("", "auxiliaries to draw from, separated by commas; a list for each mode")

    def __post_init__(self) -> None:
        if self.auxiliaries and not self.names:
            raise UsageError(f"--auxiliaries {self.auxiliaries!r} names none; leave it out for the list")

    @property
    def names(self) -> tuple[str, ...]:
        """The auxiliaries, in lower case; none for the mode's list."""
        return tuple(item.strip().lower() for item in self.auxiliaries.split(",") if item.strip())


_ENGLISH = {
    "recommended": english.recommended,
    "literal": english.literal,
    "v3": english.released,
    "v3_verb": english.released_verb,
}


def _prepare(parameters: AffirmativeAuxiliaryParameters, resources: Resources) -> Prepared:
    names = parameters.names
    key = resources.key("aa")

    def with_names(rules: Callable[..., Answer]) -> Rules:
        return lambda view, rows, draw, edits: rules(view, rows, draw, names, edits)

    rules = {
        Language.ENGLISH: with_names(_ENGLISH[parameters.mode]),
        Language.CHINESE: with_names(chinese.auxiliary),
    }

    return by_rules(key, rules)


AA = Augmentation(
    name="aa",
    version=1,
    kind="positive",
    paper="Mao et al. 2023, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    parameters=AffirmativeAuxiliaryParameters,
    prepare=_prepare,
    columns=COLUMNS,
    libraries=("lemminflect",),
    examples=(
        "augment-cli aa",
        'augment-cli aa --auxiliaries "have to, need to"',
        "augment-cli aa --mode literal --name aa-literal",
    ),
)
