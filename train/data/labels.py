"""Labels by entailment in training: which stages may stand where, and which rows of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow.compute as pc

from augment_cli.augmentations.labels import check_labels, has_row_labels, row_labels
from augment_cli.contract.entailment import NEEDED
from augment_cli.store.store import Store
from train.data.texts import CORPUS, SELF


def needed_labels(store: Store, positives: Iterable[str], negatives: Iterable[str]) -> dict[str, str]:
    """Check the labels of stages, and say which label the rows of some of them must have.

    Parameters
    ----------
    store : Store
        Where the stages are.
    positives, negatives : iterable of str
        Stages of a recipe; `self` is passed over.

    Returns
    -------
    dict of str to str
        Stage to `same` or `other`, of the stages whose rows have labels of their own.

    Raises
    ------
    UsageError
        If the label of a whole stage is another one; the message has the reason.
    """
    needed: dict[str, str] = {}
    for kind, names in (("positive", positives), ("negative", negatives)):
        stages = [name for name in names if name not in {SELF, CORPUS} and name in store.stages()]
        check_labels(store, kind, stages, f"{kind}s:", 'labels = "kind"')
        needed |= {name: NEEDED[kind] for name in stages if has_row_labels(store, name)}
    return needed


def unfit_rows(store: Store, stage: str, part: int, needed: str, groups: list[int]) -> np.ndarray | None:
    """Rows of a stage whose own label is not the one that their column needs.

    Parameters
    ----------
    store : Store
        Where the stage is.
    stage : str
        A stage of texts, with its draw.
    part : int
        Number of the part.
    needed : str
        `same` or `other`.
    groups : list of int
        Row groups of the part.

    Returns
    -------
    numpy.ndarray or None
        Shape (rows of the groups,), bool; None where the rows have no labels of their own.
    """
    labels = row_labels(store, stage, part, groups)
    return None if labels is None else pc.not_equal(labels, needed).to_numpy()
