"""What turns a sentence: paraphrases and turned sentences of several sets of the data folder, as one task."""

import csv
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from augment_cli.errors import MissingError
from eval.tasks import Table, gunzip, own_task

FILE = Path(__file__).with_name("minimal_pairs.tsv")
KINDS = ("negation", "antonym", "number", "role switch", "entity", "time and order", "quantifier", "modality")


def minimal_pairs_table() -> Table:
    """The rows of the task `minimal-pairs`."""
    # Triples of eight kinds, made for this project: written by a reader of the task alone, who did not know
    # the augmentations, and each read by a second, who mended one in eight. No row comes from a corpus.
    data = FILE.read_bytes()
    rows = list(csv.reader(data.decode("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
    columns["split"] = ["test"] * (len(rows) - 1)
    task = own_task("minimal-pairs", counts={"test": len(rows) - 1})
    return Table(task, columns, hashlib.sha256(data).hexdigest(), True)


SAME, TURNED = "same", "turned"
_MOST = 1_000  # rows of a set, drawn once and for all
_FILES = {
    "semantoneg": "meaning/semantoneg.tsv.gz",
    "refuted": "meaning/refuted.tsv.gz",
    "snli": "nli/snli_dev_test.tsv.gz",
    "sick": "sts/sick.tsv.gz",
    "mrpc": "pairs/mrpc.tsv.gz",
    "quora": "pairs/quora_duplicates.tsv.gz",
    "turkcorpus": "pairs/turkcorpus.tsv.gz",
}
Pair = tuple[str, str, str, str]  # group (empty: a pair by itself), kind, and the two sentences


def meaning_table(data: Path) -> Table:
    """The pairs of all sets; those of a group share their first sentence.

    A set with groups asks which sentence is nearest; the others give paraphrases or turned sentences alone.
    """
    digest, rows = hashlib.sha256(), list[tuple[str, ...]]()
    for name, file in _FILES.items():
        path = data / file
        if not path.is_file():
            raise MissingError(f"meaning: {path} does not exist; run `make data`, or leave out --meaning")
        raw = path.read_bytes()
        digest.update(raw)
        lines = gunzip(raw).decode("utf-8").splitlines()
        records = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        rows += [("test", name, *pair) for pair in _READ[name](records)]
    own = minimal_pairs_table()
    digest.update(own.sha256.encode())
    triples = zip(*(own.columns[name] for name in ("kind", "sentence", "same", "changed")), strict=True)
    for number, (kind, sentence, same, changed) in enumerate(triples):
        for what, other in ((SAME, same), (TURNED, changed)):
            rows.append(("test", f"triples {kind}", str(number), what, sentence, other))
    task = own_task("meaning", counts={"test": len(rows)})
    columns = dict(zip(task.columns, map(list, zip(*rows, strict=True)), strict=True))
    return Table(task, columns, digest.hexdigest(), True)


def _some(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    chosen = np.random.default_rng(0).permutation(len(rows))[:_MOST]
    return [rows[place] for place in sorted(chosen.tolist())]


def _semantoneg(rows: list[dict[str, str]]) -> Iterator[Pair]:
    for number, row in enumerate(rows):
        for column, kind in (("same", SAME), ("turned1", TURNED), ("turned2", TURNED)):
            yield str(number), kind, row["sentence"], row[column]


def _refuted(rows: list[dict[str, str]]) -> Iterator[Pair]:
    for row in _some(rows):
        yield "", TURNED, row["sentence"], row["turned"]


def _snli(rows: list[dict[str, str]]) -> Iterator[Pair]:
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row["premise"], {}).setdefault(row["label"], row["hypothesis"])
    both = [
        {"premise": premise, **by}
        for premise, by in found.items()
        if {"entailment", "contradiction"} <= {*by}
    ]
    for number, row in enumerate(_some(both)):
        yield str(number), SAME, row["premise"], row["entailment"]
        yield str(number), TURNED, row["premise"], row["contradiction"]


def _sick(rows: list[dict[str, str]]) -> Iterator[Pair]:
    for row in rows:
        if row["entailment"] != "NEUTRAL":
            kind = SAME if row["entailment"] == "ENTAILMENT" else TURNED
            yield "", kind, row["sentence1"], row["sentence2"]


def _paraphrases(rows: list[dict[str, str]]) -> Iterator[Pair]:
    for row in _some([row for row in rows if row.get("label", "1") == "1"]):
        yield "", SAME, row["sentence1"], row["sentence2"]


_READ: dict[str, Callable[[list[dict[str, str]]], Iterator[Pair]]] = {
    "semantoneg": _semantoneg,
    "refuted": _refuted,
    "snli": _snli,
    "sick": _sick,
    "mrpc": _paraphrases,
    "quora": _paraphrases,
    "turkcorpus": _paraphrases,
}
