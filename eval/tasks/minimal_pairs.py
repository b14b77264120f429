"""Minimal pairs that ship: a sentence, the same in other words, and another meaning in almost its words."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

from eval.tasks.registry import Task
from eval.tasks.table import Table

FILE = Path(__file__).with_name("minimal_pairs.tsv")
KINDS = ("negation", "antonym", "number", "role switch", "entity", "time and order", "quantifier", "modality")


def minimal_pairs_table() -> Table:
    """The rows of the task `minimal-pairs`."""
    # Triples of eight kinds, made for this project: written by a reader of the task alone, who did not know
    # the augmentations, and each read by a second, who mended one in eight. No row comes from a corpus.
    data = FILE.read_bytes()
    rows = list(csv.reader(data.decode("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = {name: list(values) for name, values in zip(rows[0], zip(*rows[1:], strict=True), strict=True)}
    columns["split"] = ["test"] * (len(rows) - 1)
    task = Task(
        name="minimal-pairs",
        title="Minimal pairs",
        protocol="minimal-pairs",
        file=FILE.name,
        columns=("split", *rows[0]),
        counts={"test": len(rows) - 1},
        split="test",
        metric="accuracy",
        text_columns=("sentence", "same", "changed"),
        label_column="kind",
        suites=("minimal-pairs",),
    )
    return Table(task, columns, hashlib.sha256(data).hexdigest(), True)
