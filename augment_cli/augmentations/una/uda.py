"""Positives: replace the terms that matter least, keep those that carry the sentence (UDA).

The mode without hard negatives in the code of Shu and Lampos 2024, after Xie et al. 2020
(Unsupervised Data Augmentation): a_i = max z − z_i chooses the positions.

Difference from the original: a replacement means nearly the same as the word it replaces (`--terms alike`),
and positions are chosen among the words that have one. `--terms tfidf --surface in-place` draws any term of
similar weight for any token, as the original does; what that makes reads as noise.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from augment_cli.augmentations.una import alike_words, term_replacement
from augment_cli.augmentations.una.surfaces import prepare
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.errors import UsageError


@dataclass(frozen=True)
class UdaParameters(term_replacement.TermReplacementParameters):
    """Parameters of UDA."""

    terms: str = parameter(
        "alike",
        "how replacements are chosen: alike, by nearly the same meaning; tfidf, by similar weight",
        choices=("alike", "tfidf", "random"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.terms == "alike" and (self.surface != "natural" or self.same != "any"):
            option = f"--surface {self.surface}" if self.surface != "natural" else f"--same {self.same}"
            raise UsageError(f"{option} is for terms of similar weight; add --terms tfidf, or leave it out")


def _prepare(parameters: UdaParameters, resources: Resources) -> Prepared:
    if parameters.terms == "alike":
        return alike_words.AlikeReplacement("uda", parameters, resources)
    return prepare("uda", parameters, resources, opposite=True)


def _resolve(parameters: UdaParameters, resources: Resources) -> dict[str, Any]:
    settings = term_replacement.resolve(parameters, resources)
    return settings | alike_words.digests() if parameters.terms == "alike" else settings


def _warnings(parameters: UdaParameters, resources: Resources) -> list[str]:
    # Nothing is drawn from a window: what is said of its size does not matter.
    window = "random" if parameters.terms == "alike" else parameters.terms
    return term_replacement.warnings(dataclasses.replace(parameters, terms=window), resources)


UDA = Augmentation(
    name="uda",
    version=4,
    kind="positive",
    paper="Xie et al. 2020, Unsupervised Data Augmentation; as used by Shu and Lampos 2024",
    needs=frozenset({"tfidf"}),
    parameters=UdaParameters,
    prepare=_prepare,
    columns=term_replacement.COLUMNS,
    resolve=_resolve,
    also_needs=term_replacement.also_needs,
    of_draw=term_replacement.of_draw,
    notes=term_replacement.notes,
    warnings=_warnings,
    examples=(
        "augment-cli uda --beta 0.5",
        "augment-cli uda --terms tfidf --surface in-place --radius 4000 --beta 0.1 --name uda-paper",
    ),
)
