"""The term replacement of a surface."""

from __future__ import annotations

from augment_cli.augmentations.una.natural_surface import NaturalReplacement
from augment_cli.augmentations.una.paper_surface import PaperReplacement
from augment_cli.augmentations.una.term_replacement import TermReplacement, TermReplacementParameters
from augment_cli.contract.augmentation import Resources


def prepare(
    name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
) -> TermReplacement:
    """The function over rows that the parameters ask for."""
    surface = NaturalReplacement if parameters.surface == "natural" else PaperReplacement
    return surface(name, parameters, resources, opposite)
