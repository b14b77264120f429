"""Positives: negate twice, or take a negation away and put one in elsewhere (double negation).

Mao et al. 2023 (SDA), section DN, Algorithm 3, in the reading that its Table 1 needs: two edits or none.
The authors' later code, which makes up for a missing edit with a phrase in front, is a mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.augmentations import negation_english as english
from augment_cli.augmentations import rules_chinese as chinese
from augment_cli.augmentations.base import (
    NO_FINITE_VERB,
    NO_TOKEN,
    Augmentation,
    Batch,
    Outcome,
    Prepared,
    Resources,
    check_parameters,
    parameter,
)
from augment_cli.draws import uniform
from augment_cli.edit_list import EditList
from augment_cli.syntax.clauses import ClauseView, Language


@dataclass(frozen=True)
class DoubleNegationParameters:
    """Parameters of DN."""

    mode: str = parameter(
        "recommended",
        "recommended: the paper's Algorithm 3, two edits or none; v3: the authors' later code",
        choices=("recommended", "v3"),
    )


class DoubleNegation:
    """DN with its parameters: a pure function of the batch."""

    def __init__(self, parameters: DoubleNegationParameters, resources: Resources) -> None:
        check_parameters(parameters)
        self._english = {"recommended": english.recommended, "v3": english.released}[parameters.mode]
        self._key = resources.key("dn")

    def __call__(self, batch: Batch) -> Outcome:
        if batch.parses is None:
            raise ValueError("double negation needs the parses of its batch")
        count = len(batch)
        rules, reasons = np.full(count, None, object), np.full(count, NO_TOKEN, object)
        edits = EditList()
        if not len(batch.parses.starts):
            return Outcome(edits.edits(), reasons, {"rule": pa.nulls(count, pa.string())})
        view = ClauseView.of(batch.parses)
        has_root = view.roots >= 0
        reasons[(np.diff(batch.parses.offsets) > 0) & ~has_root] = NO_FINITE_VERB

        def draw(counter: int) -> np.ndarray:
            return uniform(self._key, batch.row_ids, np.full(count, counter))

        for language, negate in ((Language.ENGLISH, self._english), (Language.CHINESE, chinese.negation)):
            rows = np.flatnonzero(has_root & (view.languages == language))
            if len(rows):
                answer = negate(view, rows, draw, edits)
                rules[rows], reasons[rows] = answer.rules[rows], answer.reasons[rows]
        return Outcome(edits.edits(), reasons, {"rule": pa.array(rules, pa.string())})


def _prepare(parameters: DoubleNegationParameters, resources: Resources) -> Prepared:
    return DoubleNegation(parameters, resources)


DN = Augmentation(
    name="dn",
    version=1,
    kind="positive",
    paper="Mao et al. 2023, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    parameters=DoubleNegationParameters,
    prepare=_prepare,
    columns=(pa.field("rule", pa.string()),),
    libraries=("lemminflect",),
    examples=("augment-cli dn", "augment-cli dn --mode v3 --name dn-v3"),
    is_random=False,
    meaning="possibly altered",
)
