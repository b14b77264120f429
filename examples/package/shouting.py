"""Put exclamation marks at the end of a sentence."""

from dataclasses import dataclass

import numpy as np

from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.text.spans import EditList


@dataclass(frozen=True)
class ShoutParameters:
    """Parameters of shouting."""

    marks: int = parameter(1, "how many exclamation marks", minimum=1)


def _prepare(parameters: ShoutParameters, resources: Resources) -> Prepared:
    def run(rows: Rows) -> Outcome:
        lengths = np.diff(rows.code_points.offsets)
        filled = np.flatnonzero(lengths)
        edits = EditList()
        edits.insert(filled, lengths[filled], "!" * parameters.marks)
        return Outcome(edits.edits(), np.full(len(rows), Reason.NO_TOKEN, object))

    return run


SHOUT = Augmentation(
    name="shout",
    version=1,
    kind="positive",
    paper="none; an example",
    needs=frozenset(),
    parameters=ShoutParameters,
    prepare=_prepare,
    examples=("augment-cli shout", "augment-cli shout --marks 3"),
)
