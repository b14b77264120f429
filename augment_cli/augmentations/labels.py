"""Where a stage may stand in training: among the positives, the negatives, or nowhere, by its labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.contract.augmentation import LABEL_COLUMN, NEEDED, Entailment, entailment_of
from augment_cli.contract.pack_options import CORPUS_STAGE
from augment_cli.errors import UsageError
from augment_cli.store.conditions import Condition, meets
from augment_cli.store.store import Store


def entailment_of_stage(settings: Mapping[str, Any]) -> Entailment | None:
    """The label of a stage, from its settings; None of a stage that no augmentation made."""
    maker = settings["stage"]
    if maker not in augmentations.names():
        return None
    parameters = settings.get("parameters", {})
    if "of" in parameters:
        return Entailment(parameters["label"], f"it changes what {parameters['of']} made")
    return entailment_of(augmentations.get(maker), parameters)


def check_labels(store: Store, kind: str, stages: Sequence[str], option: str, unless: str) -> None:
    """Refuse stages whose label does not let them stand among the positives, or the negatives."""
    for name in stages:
        entailment = entailment_of_stage(store.stage(name).settings)
        if entailment is not None and entailment.label != NEEDED[kind]:
            raise UsageError(
                f"{option} {name}: its label is {entailment.label!r} ({entailment.reason}), and a {kind} "
                f"must be {NEEDED[kind]!r}; {unless} takes it as its paper does"
            )


def has_row_labels(store: Store, name: str) -> bool:
    """Whether each row of a stage has a label of its own."""
    return LABEL_COLUMN.name in store.read_rows(name, 0, []).schema.names


def row_labels(store: Store, name: str, index: int) -> pa.ChunkedArray | None:
    """Labels of a part's rows; None of a stage whose rows all have that of the augmentation."""
    if not has_row_labels(store, name):
        return None
    entailment = entailment_of_stage(store.stage(name).settings)
    labels = store.read_part(name, index, [LABEL_COLUMN.name])[LABEL_COLUMN.name]
    return pc.fill_null(labels, entailment.label if entailment else "neither")


def needed_labels(store: Store, wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Which label the rows of a trainer's stages must have, of those stages whose rows have their own."""
    needed: dict[str, str] = {}
    for kind, names in wanted.items():
        stages = [name for name in names if name != CORPUS_STAGE and name in store.stages()]
        check_labels(store, kind, stages, f"{kind}s:", 'labels = "kind"')
        needed |= {name: NEEDED[kind] for name in stages if has_row_labels(store, name)}
    return needed


def usable_rows(store: Store, name: str, label: str = "", conditions: Sequence[Condition] = ()) -> np.ndarray:
    """Which rows of a stage have a text that a trainer may take; bool (N,)."""
    usable = []
    for index in range(len(store.parts)):  # a part's texts are dropped before the next is read
        there = store.read_part(name, index, ["text"])["text"].is_valid().to_numpy()
        labels = row_labels(store, name, index) if label else None
        if labels is not None:
            there &= pc.equal(labels, label).to_numpy()
        usable.append(there & meets(store, name, conditions, [index]))
    return np.concatenate(usable)


def counted_labels(store: Store, name: str) -> Counter[str]:
    """How many changed rows of a stage have which label of their own; empty where they have none."""
    found: Counter[str] = Counter()
    for index in sorted(store.stage(name).parts):
        labels = row_labels(store, name, index)
        if labels is None:
            break
        has_text = store.read_part(name, index, ["text"])["text"].is_valid()
        found.update(labels.filter(has_text).to_pylist())
    return found


def label_of(store: Store, name: str) -> str:
    """The label of a stage: its augmentation's, or the one that all of its rows have, else `neither`."""
    if entailment := entailment_of_stage(store.stage(name).settings):
        return entailment.label
    labels = counted_labels(store, name)
    return next(iter(labels)) if len(labels) == 1 else "neither"
