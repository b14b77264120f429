"""Retrieval sets in BEIR's layout: a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.errors.visible import is_unicode, visible_line
from eval.tasks import Table, own_task

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"
# The two splits of the table; the result's is the qrels' file, `test`.
_MOST_GRADE = 1_000_000
_SHOWN = 200  # characters of a line that is wrong
DOCUMENT_ROWS, QUERY_ROWS = "corpus", "queries"


@dataclass(frozen=True)
class RetrievalTable(Table):
    """Documents and queries as rows of one table (columns split, id, text), and which belong together."""

    # for each query that is judged, by its id: the ids of judged documents with their grade, 0 for not
    # relevant
    relevance: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what is out of the ordinary in the files


def read_beir(folder: Path) -> RetrievalTable:
    """Read a retrieval set."""
    paths = [folder / name for name in (CORPUS, QUERIES, QRELS)]
    if missing := [path for path in paths if not path.is_file()]:
        raise MissingError(
            f"{missing[0]} does not exist; a folder in BEIR's layout holds {CORPUS}, {QUERIES} and {QRELS}"
        )
    notes: list[str] = []
    relevance = _read_qrels(paths[2], notes)
    documents = _read_texts(paths[0], notes, titles=True)
    every_query = _read_texts(paths[1], notes, titles=False)
    if unknown := [query for query in relevance if query not in every_query]:
        raise BadInputError(
            f"{paths[2]}: query {unknown[0]!r} is not in {QUERIES} ({len(unknown):,} such queries); "
            "take the three files from one release"
        )
    queries = {query: text for query, text in every_query.items() if query in relevance}
    if absent := sum(name not in documents for judged in relevance.values() for name in judged):
        notes.append(f"{absent:,} judged documents are not in {CORPUS}; relevant ones count as not found")
    if without := sum(max(judged.values()) < 1 for judged in relevance.values()):
        notes.append(f"{without:,} queries have no relevant document and score 0")
    name = visible_line(folder.resolve().name)
    counts = {DOCUMENT_ROWS: len(documents), QUERY_ROWS: len(queries)}
    columns = {
        "split": [DOCUMENT_ROWS] * len(documents) + [QUERY_ROWS] * len(queries),
        "id": [*documents, *queries],
        "text": [*documents.values(), *queries.values()],
    }
    called = re.sub(r"[^\w.+-]+", "-", name)
    task = own_task("retrieval", name=called, title=name, counts=counts, file=str(folder))
    return RetrievalTable(task, columns, _digest(paths), False, relevance, tuple(notes))


def read_beir_folders(folders: Sequence[Path], taken: Sequence[str]) -> list[RetrievalTable]:
    """Read several sets, whose names must differ from each other and from those of other tasks."""
    tables: list[RetrievalTable] = []
    names = set(taken)
    for folder in folders:
        table = read_beir(folder)
        if table.task.name in names:
            raise UsageError(
                f"{folder}: there is another task {table.task.name!r}; give the folder another name"
            )
        names.add(table.task.name)
        tables.append(table)
    return tables


def _digest(paths: Sequence[Path]) -> str:
    """SHA-256 over the digests of the files, so that none can run into the next."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their number from 1; cut at line feeds alone, as JSON lines are."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path} is not UTF-8 ({error}); convert it, or fetch it again") from error


def _read_texts(path: Path, notes: list[str], *, titles: bool) -> dict[str, str]:
    """Texts by id, in the file's order."""
    texts: dict[str, str] = {}
    numbers = 0
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:  # numbers of too many digits, lists too deep
            raise BadInputError(f"{where}: not valid JSON ({error}); correct the line") from error
        wanted = ("_id", "text", "title") if titles else ("_id", "text")
        values = entry if isinstance(entry, dict) else {}
        parts: list[Any] = [values.get(key, "" if key == "title" else None) for key in wanted]
        if type(parts[0]) is int:
            parts[0], numbers = str(parts[0]), numbers + 1
        if not all(isinstance(part, str) and is_unicode(part) for part in parts):
            raise BadInputError(
                f'{where}: should be an object with the strings "_id" and "text"; correct the line'
            )
        identifier, text, *title = parts
        if identifier in texts:
            raise BadInputError(f"{where}: the id {identifier!r} comes a second time; remove one of the two")
        texts[identifier] = " ".join([*title, text]).strip() if titles else text
    if not texts:
        raise BadInputError(f"{path} has no line; fetch it again")
    if numbers:
        notes.append(f"{numbers:,} ids in {path.name} are numbers, taken as text")
    return texts


def _read_qrels(path: Path, notes: list[str]) -> dict[str, dict[str, int]]:
    relevance: dict[str, dict[str, int]] = {}
    repeated = 0
    for number, line in _lines(path):
        fields = line.split("\t")
        if number == 1 and fields[-1].strip() == "score":
            continue
        try:
            query, document, grade = fields
            judged = relevance.setdefault(query, {})
            repeated += document in judged
            if judged.setdefault(document, int(grade)) != int(grade):
                raise BadInputError(
                    f"{path}, line {number}: query {query!r} and document {document!r} come a second time, "
                    "with another grade; remove one of the two"
                )
            if abs(judged[document]) > _MOST_GRADE:
                raise ValueError
        except ValueError as error:
            raise BadInputError(
                f"{path}, line {number}: should be query id, document id and a whole number of at most "
                f"{_MOST_GRADE:,}, separated by tabs, not {line[:_SHOWN]!r}; correct the line"
            ) from error
    if not relevance:
        raise BadInputError(f"{path} has no judgement; fetch it again")
    if repeated:
        notes.append(f"{repeated:,} judgements are repeated, and count once")
    return relevance
