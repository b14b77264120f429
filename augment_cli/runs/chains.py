"""An augmentation on the texts of another stage: `negation --of antonym`.

What a chain's rows say follows from what both steps do. Two turns of one predicate restore it (`open`,
`closed`, `not closed`); a turn beside another that does not undo it is still one; where nobody can tell, the
row is labelled *neither*, and no trainer takes it. The edits are those of the original sentence: both steps
in one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.augmentations.labels import entailment_of_stage, row_labels
from augment_cli.contract.entailment import LABEL_COLUMN, entailment_of
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.errors import UsageError
from augment_cli.runs.chain_labels import Edit, composed, of_two_turns, turns_of
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.tables import edited, schema_of
from augment_cli.store.store import Store
from augment_cli.text.edit_list import EditList
from augment_cli.text.spans import apply_edits


def check(store: Store, run: AugmentationRun) -> None:
    """Refuse a chain on what has no texts, or of an augmentation that runs a model."""
    of = run.of or ""
    if "model" in run.needs:
        raise UsageError(f"--of {of}: {run.name} runs a model, which reads the corpus alone; leave --of out")
    if not store.has(of) or "edits" not in store.read_rows(of, 0, []).schema.names:
        made = [
            name for name in store.stages() if store.stage(name).settings["stage"] in augmentations.names()
        ]
        raise UsageError(
            f"--of {of}: {store.path} has no finished augmentation of this name; make it first, or name one "
            f"of those that are there: {', '.join(made) or 'none'}"
        )


def chained(store: Store, index: int, run: AugmentationRun) -> Iterator[pa.Table]:
    """The rows of a part, one row group after another."""
    alone, of = dataclasses.replace(run, of=None), run.of or ""
    turns, second = (
        turns_of(store, of, run.augmentation),
        entailment_of(run.augmentation, dataclasses.asdict(run.parameters)),
    )
    labels = _labels_of(store, of, index)
    groups = store.iterate_part(of, index, ["text", "edits"])
    first_row = 0
    for corpus, made in zip(store.iterate_part("corpus", index, ["row_id", "text"]), groups, strict=True):
        count = len(corpus)
        texts = made["text"].combine_chunks()
        is_there = texts.is_valid().to_numpy(zero_copy_only=False)
        middle = pc.fill_null(texts, "")
        row_ids = corpus["row_id"].to_numpy()
        result = augment_texts(middle, store, alone, row_ids)
        is_made = result["text"].is_valid().to_numpy(zero_copy_only=False) & is_there
        own = result["label"].to_pylist() if "label" in result.schema.names else [None] * count
        edits, said_of = EditList(), np.full(count, None, object)
        before, after = made["edits"].to_pylist(), result["edits"].to_pylist()
        originals, between = corpus["text"].to_pylist(), middle.to_pylist()
        for row in np.flatnonzero(is_made).tolist():
            steps = _as_edits(before[row]), _as_edits(after[row])
            for start, end, text in joined(between[row], *steps):
                edits.replace(np.array([row]), np.array([start]), np.array([end]), [text], np.zeros(1, int))
            label = composed(labels[first_row + row], own[row] or second.label)
            if label == "both":
                label = of_two_turns(originals[row], between[row], *steps, turns)
            said_of[row] = label
        first_row += count
        reasons = np.where(is_there, result["reason"].to_numpy(zero_copy_only=False), Reason.NOT_MADE)
        columns = {field.name: result[field.name].combine_chunks() for field in run.augmentation.columns} | {
            LABEL_COLUMN.name: pa.array(said_of, pa.string())
        }
        rows = Rows(
            row_ids, corpus["text"].combine_chunks(), run.code_points(corpus["text"].combine_chunks())
        )
        outcome = Outcome(edits.edits(), reasons, columns)
        table = edited(rows, outcome, apply_edits(rows.code_points, outcome.edits))
        yield table.cast(schema_of(run.augmentation, is_chain=True))


def joined(between: str, first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """Two steps of edits as one: the second's places are in the text that the first gave, `between`."""
    # Each of the first with its place in that text, and how far places behind it have moved.
    placed, shift = [], 0
    for start, end, text in first:
        placed.append((start + shift, start + shift + len(text), start, end))
        shift += len(text) - (end - start)
    found: list[Edit] = []
    one, two = 0, 0
    shift = 0
    while one < len(placed) or two < len(second):
        # The next stretch of that text that any edit touches, and all that overlap or touch it.
        begins = [placed[one][0]] if one < len(placed) else []
        begins += [second[two][0]] if two < len(second) else []
        low = high = min(begins)
        ones, twos = one, two
        while True:
            if one < len(placed) and placed[one][0] <= high:
                high, one = max(high, placed[one][1]), one + 1
            elif two < len(second) and second[two][0] <= high:
                high, two = max(high, second[two][1]), two + 1
            else:
                break
        start = low - shift
        shift += sum((stop - begin) - (end - first_) for begin, stop, first_, end in placed[ones:one])
        found.append((start, high - shift, _applied(between, low, high, second[twos:two])))
    return found


def _applied(text: str, low: int, high: int, edits: Sequence[Edit]) -> str:
    pieces, place = [], low
    for start, end, new in edits:
        pieces += [text[place:start], new]
        place = end
    return "".join([*pieces, text[place:high]])


def _as_edits(column: list[dict[str, Any]]) -> list[Edit]:
    return [(edit["start"], edit["end"], edit["replacement"]) for edit in column]


def _labels_of(store: Store, of: str, index: int) -> list[str]:
    labels = row_labels(store, of, index)
    if labels is not None:
        return labels.to_pylist()
    entailment = entailment_of_stage(store.stage(of).settings)
    return [entailment.label if entailment else "neither"] * store.parts[index][1]
