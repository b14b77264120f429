"""Positives: affirm what the sentence says: `He left` to `He did leave`.

Mao et al. 2022 (SDA), section AA. The default affirms what the sentence says, and nothing more: `did leave`,
`was indeed built`. The paper's auxiliaries (`had to leave`) are the mode `paper`, inflected, with modals
replaced and what would come out wrong left alone; its Algorithm 2 and the authors' later code are further
modes.
"""

from dataclasses import dataclass

from augment_cli.augmentations.sda.rules_by_language import (
    COLUMNS,
    by_rules,
    entailment_of_mode,
    settings_of_mode,
)
from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.parameters import parameter
from augment_cli.errors import UsageError
from augment_cli.languages import codes_with

_RULES = 3  # number of the rules of the mode `faithful`; those of the other modes have not changed


@dataclass(frozen=True)
class AffirmativeAuxiliaryParameters:
    """Parameters of AA."""

    mode: str = parameter(
        "faithful",
        "faithful: do, does, did, or an adverb; paper: the paper's auxiliaries, inflected; literal: its "
        "Algorithm 2; v3: the authors' later code; v3_verb: its verb rule alone",
        choices=("faithful", "paper", "literal", "v3", "v3_verb"),
    )
    auxiliaries: str = parameter(
        "", "auxiliaries to draw from, separated by commas; a list for each mode but faithful"
    )

    def __post_init__(self) -> None:
        if self.auxiliaries and not self.names:
            raise UsageError(f"--auxiliaries {self.auxiliaries!r} names none; leave it out for the list")
        if self.auxiliaries and self.mode == "faithful":
            raise UsageError(
                f"--auxiliaries {self.auxiliaries!r}: the mode faithful has its own words; add --mode paper"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The auxiliaries, in lower case; none for the mode's list."""
        return tuple(item.strip().lower() for item in self.auxiliaries.split(",") if item.strip())


AA = Augmentation(
    name="aa",
    version=1,
    kind="positive",
    paper="Mao et al. 2022, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    languages=codes_with("aa"),
    parameters=AffirmativeAuxiliaryParameters,
    prepare=lambda parameters, resources: by_rules(
        resources.key("aa"), "aa", parameters.mode, parameters.names
    ),
    resolve=lambda parameters, resources: settings_of_mode(parameters, _RULES),
    columns=COLUMNS,
    libraries=("lemminflect",),
    examples=(
        "augment-cli aa",
        'augment-cli aa --mode paper --auxiliaries "have to, cannot but" --name aa-paper',
        "augment-cli aa --mode literal --name aa-literal",
    ),
    entailment=entailment_of_mode(
        "the auxiliary affirms what is said anyway", "what must or needs to be is not what is"
    ),
)
