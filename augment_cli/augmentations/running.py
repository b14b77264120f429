"""What augmentations share that are one function of their parameters, their resources and the rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.rows import Outcome, Rows

# One that applies rules of English to parses.
english_rules = partial(Augmentation, needs=frozenset({"parses"}), languages=("en",))


def prepared(run: Callable[[Any, Resources, Rows], Outcome]) -> Callable[[Any, Resources], Prepared]:
    """The `prepare` of a descriptor."""
    return lambda parameters, resources: partial(run, parameters, resources)


def with_labels(outcome: Outcome, neither: np.ndarray) -> Outcome:
    """The outcome with a label for each changed row: other, but for some rows (m,), which are neither."""
    labels = np.full(len(outcome.reasons), None, object)
    labels[outcome.edits.rows] = "other"
    labels[np.intersect1d(outcome.edits.rows, neither)] = "neither"
    return Outcome(outcome.edits, outcome.reasons, {"label": pa.array(labels, pa.string())})
