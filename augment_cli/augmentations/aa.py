"""Positives: put an affirmative auxiliary such as "have to" in front of the main verb.

Mao et al. 2023 (SDA), section AA. The default replaces modals, inflects, and leaves alone what would come out
wrong; the paper's Algorithm 2 and the authors' later code are modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.augmentations import auxiliary_english as english
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
from augment_cli.errors import UsageError
from augment_cli.syntax.clauses import ClauseView, Language


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


class AffirmativeAuxiliary:
    """AA with its parameters: a pure function of the batch."""

    def __init__(self, parameters: AffirmativeAuxiliaryParameters, resources: Resources) -> None:
        check_parameters(parameters)
        names = tuple(item.strip().lower() for item in parameters.auxiliaries.split(",") if item.strip())
        if parameters.auxiliaries and not names:
            raise UsageError(
                f"--auxiliaries {parameters.auxiliaries!r} names none; leave it out for the list"
            )
        self._names = names
        self._english = _ENGLISH[parameters.mode]
        self._key = resources.key("aa")

    def __call__(self, batch: Batch) -> Outcome:
        if batch.parses is None:
            raise ValueError("affirmative auxiliaries need the parses of their batch")
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

        for language, insert in ((Language.ENGLISH, self._english), (Language.CHINESE, chinese.auxiliary)):
            rows = np.flatnonzero(has_root & (view.languages == language))
            if len(rows):
                answer = insert(view, rows, draw, self._names, edits)
                rules[rows], reasons[rows] = answer.rules[rows], answer.reasons[rows]
        return Outcome(edits.edits(), reasons, {"rule": pa.array(rules, pa.string())})


_ENGLISH = {
    "recommended": english.recommended,
    "literal": english.literal,
    "v3": english.released,
    "v3_verb": english.released_verb,
}


def _prepare(parameters: AffirmativeAuxiliaryParameters, resources: Resources) -> Prepared:
    return AffirmativeAuxiliary(parameters, resources)


AA = Augmentation(
    name="aa",
    version=1,
    kind="positive",
    paper="Mao et al. 2023, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    parameters=AffirmativeAuxiliaryParameters,
    prepare=_prepare,
    columns=(pa.field("rule", pa.string()),),
    libraries=("lemminflect",),
    examples=(
        "augment-cli aa",
        'augment-cli aa --auxiliaries "have to, need to"',
        "augment-cli aa --mode literal --name aa-literal",
    ),
)
