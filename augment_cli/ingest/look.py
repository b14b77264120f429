"""A file looked at before it is read: how it is written, what is in it, and which command reads it."""

import codecs
import dataclasses
import itertools
import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.contract.reasons import Reason, in_words
from augment_cli.ingest import checks
from augment_cli.ingest.finding import Dialect, dialect_of, find_files, table_in, text_of_head
from augment_cli.ingest.options import IngestOptions
from augment_cli.ingest.readers import read_file, read_records
from augment_cli.ingest.streams import CorpusFile, read_head
from augment_cli.languages import shares_of_languages
from augment_cli.store.refusals import options_again
from augment_cli.text.untouched import notes_on_writing

_SHOWN = 60  # characters of an example
_USUAL_NAMES = ("text", "sentence", "title", "question", "query", "anchor", "content", "body")
_EAST_ASIAN = ("gb18030", "shift_jis", "euc_kr", "cp1251")  # the first that decodes all


def look_at(file: str | Path, options: IngestOptions, count: int) -> dict[str, Any]:
    """What `augment_cli.look` returns."""
    (path, source), *others = find_files([file])
    asked, options = options.text_column, _with_columns(path, with_encoding(path, options))
    columns = _columns(list(itertools.islice(read_records(path, options), count)))
    if columns and not asked:
        options = dataclasses.replace(options, text_column=_text_column(columns))
    texts, reasons, lines, is_whole = _texts(path, options, count)
    if options.quoting and Reason.UNCLOSED_QUOTE in reasons:  # then " is a character like any other
        return look_at(file, dataclasses.replace(options, quoting=False), count)
    if not options.separator and Reason.FIELD_COUNT in reasons and len(columns) == 1:  # commas of its texts
        return look_at(file, dataclasses.replace(options, separator="\t"), count)
    dialect = dialect_of(path, options)
    rows, repeats = len(texts) + sum(reasons.values()), len(texts) - len(set(texts))
    languages = shares_of_languages(texts)
    notes = [
        f"{source}: {path.size:,} bytes, {_written(dialect)}",
        f"{rows:,} rows looked at{'' if is_whole else ' (there are more)'}, {len(texts):,} would be kept",
    ]
    if rows == 1 and (within := [one["name"] for one in columns if ".0." in one["name"]]):
        notes.append(
            f"one object with a list of others ({within[0]} …): write the list alone to read all of them"
        )
    if others:
        notes.append(f"the first of {len(others) + 1:,} files")
    if texts:
        least, half, most = np.percentile([len(text) for text in texts], [0, 50, 100]).astype(int).tolist()
        notes.append(f"characters: {least:,} to {most:,}, half of the texts have up to {half:,}")
        notes.append("language: " + ", ".join(f"{name} {share:.0%}" for name, share in languages.items()))
        notes += notes_on_writing(texts)
        if not columns:
            notes.append(f"example: {texts[0][:_SHOWN]}")
    if repeats:
        notes.append(f"repeated: {repeats:,} (--deduplicate leaves them out)")
    notes += [
        f"set aside: {number:,} {reason} ({in_words(reason)}), first in line {lines[reason]:,}"
        for reason, number in reasons.items()
    ]
    return {
        "file": str(path),
        "kind": dialect.kind,
        "encoding": dialect.encoding,
        "separator": dialect.separator if dialect.kind == "csv" else None,
        "rows": rows,
        "kept": len(texts),
        "rejects": dict(reasons),
        "repeated": repeats,
        "languages": languages,
        "text_column": options.text_column,
        "columns": columns,
        "notes": notes,
        "command": shlex.join(_command(file, options, dialect, sum(reasons.values()) / max(rows, 1))),
    }


def with_encoding(path: CorpusFile, options: IngestOptions) -> IngestOptions:
    """The options with the likely encoding of a file that is not UTF-8."""
    head = read_head(path)
    if options.encoding != "utf-8" or text_of_head(head, options)[1] != "utf-8" or head.startswith(b"PAR1"):
        return options
    zeros = [head[at::2].count(0) / max(len(head), 1) for at in (0, 1)]
    if max(zeros) > 0.2:
        return dataclasses.replace(options, encoding="utf-16-be" if zeros[0] > zeros[1] else "utf-16-le")
    if _decodes(head, "utf-8"):
        return options
    is_latin = 4 * sum(byte >= 0x80 for byte in head) < len(head)
    likely = "cp1252" if is_latin else next((one for one in _EAST_ASIAN if _decodes(head, one)), "latin-1")
    return dataclasses.replace(options, encoding=likely)


def _decodes(head: bytes, encoding: str) -> bool:
    try:  # its last character may be cut
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeError:
        return False
    return True


def _with_columns(path: CorpusFile, options: IngestOptions) -> IngestOptions:
    """Of what is called plain text and is a table, the first column, so that it is read as one."""
    if options.text_column or options.format or dialect_of(path, options).kind != "text":
        return options
    names = table_in(text_of_head(read_head(path), options)[0])
    return dataclasses.replace(options, text_column=names[0]) if names else options


def _columns(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            values = found.setdefault(name, [])
            if value is not None and value != "":
                values.append(
                    value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
                )
    return [
        {
            "name": name,
            "filled": len(values),
            "distinct": len(set(values)),
            "characters": int(np.median([len(value) for value in values])) if values else 0,
            "words": float(np.mean([len(value.split()) for value in values])) if values else 0.0,
            "example": (values or [""])[0][:_SHOWN],
        }
        for name, values in found.items()
    ]


def _text_column(columns: Sequence[dict[str, Any]]) -> str:
    """The column that most likely holds the text: by its name, else the one with the longest texts."""
    names = [column["name"] for column in columns if column["words"] > 1]
    usual = [name for one in _USUAL_NAMES for name in names if name.lower().split(".")[-1] == one]
    return str(usual[0] if usual else max(columns, key=lambda column: column["words"])["name"])


def _texts(
    path: CorpusFile, options: IngestOptions, count: int
) -> tuple[list[str], Counter[str], dict[str, int], bool]:
    """What would be kept, reasons for the rest with the first line of each, and whether that is all."""
    texts: list[str] = []
    reasons: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for raw_lines in read_file(path, "", options):
        joined, _ = checks.without_line_breaks(raw_lines.texts)
        raw_lines = dataclasses.replace(raw_lines, texts=joined)
        room = count - len(texts) - reasons.total()
        found = checks.reasons_to_reject(raw_lines, options.max_characters)[:room]
        texts += checks.select_texts(raw_lines, np.flatnonzero(found == "")).to_pylist()
        for at in np.flatnonzero(found != "").tolist():
            reasons[str(found[at])] += 1
            lines.setdefault(str(found[at]), int(raw_lines.lines[at]))
        if len(found) < len(raw_lines.lines):
            return texts, reasons, lines, False
    return texts, reasons, lines, True


def _written(dialect: Dialect) -> str:
    """How a file is written, for people."""
    kinds = {"text": "lines of text", "jsonl": "a JSON object a line", "json": "JSON", "parquet": "Parquet"}
    encoding = "" if dialect.kind == "parquet" else dialect.encoding
    return "; ".join(filter(None, [kinds.get(dialect.kind, "a table"), encoding, dialect.words]))


def _command(file: str | Path, options: IngestOptions, dialect: Dialect, rejected: float) -> list[str]:
    """The command that reads it, as words."""
    given = vars(options) | {"separator": "tab" if options.separator == "\t" else options.separator}
    if dialect.kind == "text" or options.text_column == "text":
        given["text_column"] = None
    names = ("text_column", "format", "separator", "encoding", "quoting")
    words = options_again({"parameters": given}, IngestOptions(), names)
    words += ["--max-rejects", f"{min(rejected + 0.005, 1):.2f}"] if rejected > 0.01 else []
    return ["augment-cli", "ingest", "--corpus", str(file), *words, "--store", "store"]
