"""Readers of the public originals: bytes in, rows of the data folder's layout out.

Every reader takes the contents of its files as text, in the order in which sources.toml names them, and
yields one dictionary a row; fixed values such as the split are added by the caller. A file of another form
is a ValueError or a KeyError, which the caller turns into a message that names the file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator

Row = dict[str, str]
Reader = Callable[..., Iterator[Row]]


def decode(raw: bytes) -> str:
    """UTF-8 where it is valid (a mark at its start dropped), else Latin-1, which several originals are in."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Lines without their ends; only line feeds end a line, with or without a carriage return."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def one_line(value: str) -> str:
    """A field as the layout wants it: tabs and line breaks replaced by a space, no space at either end."""
    return value.replace("\t", " ").replace("\r", " ").replace("\n", " ").strip()


def _side_by_side(first: str, second: str) -> Iterator[tuple[str, str]]:
    left, right = split_lines(first), split_lines(second)
    if len(left) != len(right):
        raise ValueError(f"{len(left)} lines beside {len(right)}")
    return zip(left, right, strict=True)


def table(
    columns: str, separator: str = "\t", *, header: bool = False, more: bool = False, blanks: bool = False
) -> Reader:
    """A reader of lines with these columns, of which nobody needs `_`; quotes are plain text."""
    # Where `more` columns may follow, they are left out, and so are blank lines where there may be `blanks`.
    names = columns.split()

    def read(text: str) -> Iterator[Row]:
        for line in split_lines(text)[int(header) :]:
            if line.strip() or not blanks:
                fields = line.split(separator)
                row = dict(zip(names, fields[: len(names)] if more else fields, strict=True))
                row.pop("_", None)
                yield row

    return read


def pairs_with_gold(sentences: str, gold: str) -> Iterator[Row]:
    """SemEval STS: two sentences a line (more columns are sources), gold beside; blank means no gold."""
    for line, score in _side_by_side(sentences, gold):
        if score.strip():
            first, second = line.split("\t")[:2]
            yield {"score": score.strip(), "sentence1": first, "sentence2": second}


def quoted_pairs(text: str) -> Iterator[Row]:
    """Quoted CSV without header: two sentences and a score."""
    for first, second, score in csv.reader(io.StringIO(text, newline="")):
        yield {"score": score, "sentence1": first, "sentence2": second}


def lines(text: str) -> Iterator[Row]:
    """One sentence a line, the class given by the file; blank lines dropped."""
    for line in split_lines(text):
        if line.strip():
            yield {"text": line}


def questions(text: str) -> Iterator[Row]:
    """TREC: COARSE:fine question."""
    for line in split_lines(text):
        label, question = line.split(" ", 1)
        coarse, _ = label.split(":", 1)
        yield {"label": coarse, "fine_label": label, "text": question}


def label_then_text(text: str) -> Iterator[Row]:
    """A label, a space, the sentence."""
    for line in split_lines(text):
        label, sentence = line.split(" ", 1)
        yield {"label": label, "text": sentence}


def text_then_label(text: str) -> Iterator[Row]:
    """The sentence, a tab, a label."""
    for line in split_lines(text):
        sentence, label = line.rsplit("\t", 1)
        yield {"label": label.strip(), "text": sentence}


def text_beside_label(text: str, labels: str) -> Iterator[Row]:
    """Sentences in one file, their classes in another, line by line."""
    for sentence, label in _side_by_side(text, labels):
        yield {"label": label.strip(), "text": sentence}


def categories(text: str) -> Iterator[Row]:
    """Quoted CSV with the header text,category."""
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield {"label": row["category"], "text": row["text"]}


def clustered_json(text: str) -> Iterator[Row]:
    """One JSON object a line with `text` and `cluster`."""
    for line in split_lines(text):
        if line.strip():
            entry = json.loads(line)
            yield {"label": str(entry["cluster"]), "text": entry["text"]}


READERS: dict[str, Reader] = {
    reader.__name__: reader
    for reader in (
        pairs_with_gold,
        quoted_pairs,
        lines,
        questions,
        label_then_text,
        text_then_label,
        text_beside_label,
        categories,
        clustered_json,
    )
} | {
    "sts_benchmark": table("genre subtask year _ score sentence1 sentence2", more=True),
    "sick": table("pair_id sentence1 sentence2 score entailment", header=True, more=True),
    "double_bar_pairs": table("id sentence1 sentence2 score", "||", blanks=True),  # CNSD-STS-B
    "paraphrases": table("label id1 id2 sentence1 sentence2", header=True),  # MRPC
    "acceptability": table("source label _ text"),  # CoLA
}
