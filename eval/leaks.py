"""Leak report: evaluation sentences that occur in the training data."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from augment_cli.errors import BadInputError, MissingError
from augment_cli.store.store import Store
from eval import protocols
from eval.tasks.table import Table

EXAMPLES = 3


@dataclass(frozen=True)
class Leak:
    """What one task shares with the training data."""

    task: str  # the task's name
    sentences: int  # distinct evaluation sentences (of all splits that the protocol reads)
    exact: int  # how many occur in the training data letter for letter
    normalised: int  # how many occur once case, punctuation and spacing are ignored; includes the exact ones
    # the first few, each with its place: row of the corpus, or line of the file
    examples: list[tuple[str, int]]


def normalise(text: str) -> str:
    """Letters and digits only, case folded, words separated by single spaces."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def training_sentences(source: Path, stages: Sequence[str] = ("corpus",)) -> Iterator[tuple[int, str]]:
    """Sentences of a store's stages, or of a text file (plain or gzip, one a line), with their numbers."""
    if source.is_dir():
        store = Store.open(source)
        for stage in stages:
            for index in sorted(store.stage(stage).parts):
                table = store.read_part(stage, index, ["row_id", "text"])
                rows = zip(table["row_id"].to_pylist(), table["text"].to_pylist(), strict=True)
                yield from ((row_id, text) for row_id, text in rows if text is not None)
        return
    if not source.is_file():
        raise MissingError(
            f"{source} does not exist; name a store folder, or a text file with one sentence a line"
        )
    opener = gzip.open if source.suffix == ".gz" else open
    try:
        with opener(source, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInputError(f"{source} is not readable text ({error}); give UTF-8, plain or gzip") from error


def find_leaks(tables: Sequence[Table], training: Iterator[tuple[int, str]]) -> list[Leak]:
    """Look for every distinct evaluation sentence in the training sentences, which are read once."""
    wanted = {
        table.task.name: list(dict.fromkeys(protocols.get(table.task.protocol).sentences(table)))
        for table in tables
    }
    exact_wanted = {text for texts in wanted.values() for text in texts}
    normal = {text: normalise(text) for text in exact_wanted}
    normal_wanted = set(normal.values()) - {""}  # a line of dots cannot leak
    exact: dict[str, int] = {}
    similar: dict[str, int] = {}
    for number, text in training:
        if text in exact_wanted:
            exact.setdefault(text, number)
        key = normalise(text)
        if key in normal_wanted:
            similar.setdefault(key, number)
    leaks = []
    for task, texts in wanted.items():
        places = [(text, exact.get(text, similar.get(normal[text], -1))) for text in texts]
        leaked = [(text, number) for text, number in places if number >= 0]
        same = sum(text in exact for text in texts)
        leaks.append(Leak(task, len(texts), same, len(leaked), leaked[:EXAMPLES]))
    return leaks
