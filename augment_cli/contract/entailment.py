"""What a changed sentence says beside its original: the label that decides where it may stand in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, meaning_of
from augment_cli.contract.pack_options import BY_LABEL as BY_LABEL
from augment_cli.contract.pack_options import LABEL_MODES as LABEL_MODES

Label = Literal["same", "other", "neither"]
LABELS: tuple[str, ...] = get_args(Label)
# Which label a stage must have to stand among the positives, or the negatives.
NEEDED = {"positive": "same", "negative": "other"}
# The column of an augmentation whose rows have labels of their own; a null row has the augmentation's.
LABEL_COLUMN = pa.field("label", pa.string())


@dataclass(frozen=True)
class Entailment:
    """A label with its reason.

    Attributes
    ----------
    label : {"same", "other", "neither"}
        same: original and result entail each other. other: neither entails the other. neither: one entails
        the other and not the reverse, or it depends on the sentence.
    reason : str
        A clause, for messages and tables.
    """

    label: Label
    reason: str


_BY_MEANING = {
    "kept": Entailment("same", "it says the same in other words or marks"),
    "possibly altered": Entailment("neither", "whether it says the same depends on the sentence"),
    "altered": Entailment("other", "it says something else"),
}


def entailment_of(descriptor: Augmentation, parameters: Mapping[str, Any] | None = None) -> Entailment:
    """The label of an augmentation.

    Parameters
    ----------
    descriptor : Augmentation
        One without a label of its own gets it from AugCSE's class of meaning.
    parameters : mapping, optional
        As a stage's settings have them; by default the augmentation's defaults.
    """
    own = descriptor.entailment
    if callable(own):
        own = own(parameters if parameters is not None else {})
    return Entailment(*own) if own is not None else _BY_MEANING[meaning_of(descriptor)]
