"""One's own labelled texts as tasks: clusters, neighbourhoods and few-shot classification of one file."""

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from augment_cli.errors import BadInputError, UsageError, UserError
from eval.tasks import Table, own_task

KINDS = {"clustering": "clustering", "purity": "purity", "intent": "few-shot"}  # of tasks, by protocol
_ENOUGH = 12  # texts; the ten nearest others are looked at
_MOST_TEXTS = 100_000  # each is compared with each
_MOST_CLASSES = 10_000  # K-means compares each text with each class, and the classes with the clusters
_SHOWN = 60  # characters of a text that is named


def read_labelled(
    file: Path, text_column: str, label_column: str, separator: str | None = None
) -> tuple[list[Table], list[str]]:
    """Read texts with a class each, as `ingest` reads a corpus: csv, tsv, jsonl or Parquet."""
    texts, labels, notes = _read(file, text_column, label_column, separator)
    _check(f"{file}: {len(texts):,} different texts with a class", labels, label_column, notes)
    name = re.sub(r"[^\w+-]+", "-", file.name.partition(".")[0]) or "texts"
    digest = hashlib.sha256("\n".join(map("\t".join, zip(labels, texts, strict=True))).encode()).hexdigest()
    halves = ["train" if learned else "test" for learned in _learned_from(labels)]
    tables = []
    for protocol, kind in KINDS.items():
        splits = halves if protocol == "intent" else ["all"] * len(texts)
        task = own_task(kind, name=f"{name}-{kind}", counts=dict(Counter(splits)))
        task = dataclasses.replace(task, title=f"{name}, {task.title}")
        tables.append(Table(task, {"split": splits, "label": labels, "text": texts}, digest, True))
    return tables, notes


def _check(found: str, labels: list[str], label_column: str, notes: Sequence[str]) -> None:
    """Refuse what no score can be given for."""
    sizes = Counter(labels)
    column = f"column {label_column!r} holds the classes (--label-column names another)"
    if len(labels) < _ENOUGH:
        left = f" ({'; '.join(note.partition(': ')[2] for note in notes)})" if notes else ""
        raise BadInputError(f"{found}{left}; the ten nearest are looked at, so give {_ENOUGH} or more")
    if len(sizes) < 2:
        raise BadInputError(f"{found}, all of {labels[0]!r}; give texts of two classes or more; {column}")
    if len(sizes) > len(labels) / 2:
        raise BadInputError(
            f"{found}, of {len(sizes):,} classes; give two texts a class on average; {column}"
        )
    if len(sizes) > _MOST_CLASSES:
        raise BadInputError(
            f"{found}, of {len(sizes):,} classes; K-means ends with {_MOST_CLASSES:,} at most: join classes, "
            f"or give the texts of some; {column}"
        )


def _read(
    file: Path, text_column: str, label_column: str, separator: str | None
) -> tuple[list[str], list[str], list[str]]:
    """Texts and labels, and what was left out or is unusual."""
    # Loaded here, so that help and tables do not wait for them.
    import polars as pl

    from augment_cli.ingest import IngestOptions, ingest
    from augment_cli.ingest.finding import find_files
    from augment_cli.ingest.look import with_encoding
    from augment_cli.store.store import Store

    try:
        options = IngestOptions(text_column=text_column, separator=separator, keep_columns=(label_column,))
    except UsageError as error:
        if "--keep-column" not in str(error):
            raise
        raise UsageError(f"--label-column {label_column}: rename the column; this name is taken") from None
    for path, _ in find_files([file]):
        options = with_encoding(path, options)
    with TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "store")
        try:
            with store.lock():
                report = ingest(store, [file], options)
        except UserError as error:
            if "--keep-column" not in str(error):
                raise
            said = re.sub(
                "--keep-column(, --positive-column or --negative-column)?", "--label-column", str(error)
            )
            raise UsageError(said) from None
        corpus = store.frame("corpus")
    if corpus[label_column].is_null().all():  # as of lines of JSON, which need not have a field
        raise UsageError(
            f"{file}: no text has a {label_column!r}; name the column of the classes with --label-column "
            f"(`augment-cli look {file}` shows which there are)"
        )
    label = pl.col(label_column).str.strip_chars()
    whole = corpus.select("text", label).filter(label != "")
    kept = whole.unique("text", keep="first", maintain_order=True)
    notes = list(report.notes) + [
        f"{file}: {count:,} left out ({reason.replace('_', ' ')})" for reason, count in report.reasons.items()
    ]
    if without := len(corpus) - len(whole):
        notes.append(f"{file}: {without:,} left out (no label)")
    again = whole.join(kept, on="text", how="left", suffix=" first", maintain_order="left")
    other = again.filter(label != pl.col(f"{label_column} first"))
    if repeated := len(whole) - len(kept) - len(other):
        notes.append(f"{file}: {repeated:,} left out (duplicate)")
    if len(other):
        text, second, first = other.row(0)
        notes.append(
            f"{file}: {len(other):,} left out (contradiction: another class for a text that has one, such as "
            f"{second!r} after {first!r} for {text[:_SHOWN]!r}; mend the labels)"
        )
    if len(kept) > _MOST_TEXTS:
        notes.append(
            f"{file}: {len(kept) - _MOST_TEXTS:,} left out ({_MOST_TEXTS:,} drawn at random are scored)"
        )
        drawn = np.random.default_rng(0).choice(len(kept), _MOST_TEXTS, replace=False)
        kept = kept[np.sort(drawn)]
    return kept["text"].to_list(), kept[label_column].to_list(), notes


def _learned_from(labels: Sequence[str]) -> np.ndarray:
    """Which rows few-shot training draws from: half of each class, always the same ones, shape (n,)."""
    order = np.random.default_rng(0).permutation(len(labels))
    chosen = np.zeros(len(labels), dtype=bool)
    seen = Counter[str]()
    for row in order:
        chosen[row] = seen[labels[row]] % 2 == 0
        seen[labels[row]] += 1
    return chosen
