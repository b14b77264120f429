"""One's own labelled texts as tasks: clusters, neighbourhoods and few-shot classification of one file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from augment_cli.errors import BadInputError, UsageError, UserError
from augment_cli.ingest import IngestOptions, ingest
from augment_cli.store.store import Store
from eval.tasks.registry import Task
from eval.tasks.table import Table

# What is measured, by protocol: the end of the task's name, its main score, and how its title ends.
_MEASURES = {
    "clustering": ("clustering", "accuracy", "K-means"),
    "purity": ("purity", "purity_10", "purity of the ten nearest"),
    "intent": ("few-shot", "accuracy", "few-shot"),
}
PROTOCOLS = frozenset(_MEASURES)
_ENOUGH = 12  # texts; the ten nearest others are looked at


def read_labelled(
    file: Path, text_column: str, label_column: str, separator: str | None = None
) -> tuple[list[Table], list[str]]:
    """Read texts with a class each, as `ingest` reads a corpus: csv, tsv, jsonl or Parquet."""
    texts, labels, notes = _read(file, text_column, label_column, separator)
    sizes = Counter(labels)
    if len(texts) < _ENOUGH or len(sizes) < 2 or len(sizes) > len(texts) / 2:
        raise BadInputError(
            f"{file}: {len(texts):,} texts in {len(sizes):,} classes; scores need {_ENOUGH} texts, two "
            "classes and two texts a class on average: name the column of the classes with --label-column"
        )
    name = re.sub(r"[^\w+-]+", "-", file.name.partition(".")[0]) or "texts"
    digest = hashlib.sha256("\n".join(map("\t".join, zip(labels, texts, strict=True))).encode()).hexdigest()
    halves = ["train" if learned else "test" for learned in _learned_from(labels)]
    tables = []
    for protocol, (suffix, _, title) in _MEASURES.items():
        splits = halves if protocol == "intent" else ["all"] * len(texts)
        task = labelled_task(f"{name}-{suffix}", f"{name}, {title}", protocol, dict(Counter(splits)))
        tables.append(Table(task, {"split": splits, "label": labels, "text": texts}, digest, True))
    return tables, notes


def labelled_task(name: str, title: str, protocol: str, counts: dict[str, int] | None = None) -> Task:
    """The task of such texts for one of `PROTOCOLS`; `counts` has the rows of each split."""
    return Task(
        name=name,
        title=title,
        protocol=protocol,
        file="",
        columns=("split", "label", "text"),
        counts=counts or {},
        split="test" if protocol == "intent" else "all",
        metric=_MEASURES[protocol][1],
        text_columns=("text",),
        label_column="label",
        suites=("labelled",),
    )


def _read(
    file: Path, text_column: str, label_column: str, separator: str | None
) -> tuple[list[str], list[str], list[str]]:
    """Texts and labels, and what was left out or is unusual."""
    try:
        options = IngestOptions(
            text_column=text_column, separator=separator, keep_columns=(label_column,), deduplicate=True
        )
    except UsageError as error:
        if "--keep-column" not in str(error):
            raise
        raise UsageError(f"--label-column {label_column}: rename the column; this name is taken") from None
    with TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "store")
        try:
            with store.lock():
                report = ingest(store, [file], options)
        except UserError as error:
            if "--keep-column" not in str(error):
                raise
            raise UsageError(
                f"{file}: has no column {label_column!r}; name the column of the classes with --label-column"
            ) from None
        corpus = store.frame("corpus")
    if corpus[label_column].is_null().all():  # as of lines of JSON, which need not have a field
        raise UsageError(
            f"{file}: no text has a {label_column!r}; name the column of the classes with --label-column "
            f"(`augment-cli look {file}` shows which there are)"
        )
    whole = corpus.filter(corpus[label_column].str.strip_chars() != "")
    notes = list(report.notes) + [
        f"{file}: {count:,} left out ({reason.replace('_', ' ')})" for reason, count in report.reasons.items()
    ]
    if without := len(corpus) - len(whole):
        notes.append(f"{file}: {without:,} left out (no label)")
    return whole["text"].to_list(), whole[label_column].to_list(), notes


def _learned_from(labels: Sequence[str]) -> np.ndarray:
    """Which rows few-shot training draws from: half of each class, always the same ones, shape (n,)."""
    order = np.random.default_rng(0).permutation(len(labels))
    chosen = np.zeros(len(labels), dtype=bool)
    seen = Counter[str]()
    for row in order:
        chosen[row] = seen[labels[row]] % 2 == 0
        seen[labels[row]] += 1
    return chosen
