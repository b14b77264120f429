"""Cut lines that hold several sentences (`--split-sentences`), with NLTK's Punkt.

Punkt (Kiss and Strunk 2006, "Unsupervised multilingual sentence boundary detection") learns its
abbreviations from text. Here it is given a fixed list instead, so that the result depends on
the line alone. It knows `.`, `!` and `?`; the marks of other scripts always end a sentence.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import regex

from augment_cli.ingest.checks import RawLines

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

# fmt: off
_ABBREVIATIONS = frozenset({
    "a.m", "adm", "al", "apr", "approx", "assoc", "aug", "ave", "b.c", "bldg", "blvd", "brig", "bros", "ca",
    "capt", "cf", "cmdr", "co", "col", "corp", "dec", "dept", "dr", "e.g", "ed", "eds", "eq", "esp", "est",
    "etc", "ext", "feb", "fig", "figs", "fr", "ft", "gen", "gov", "hon", "hr", "hrs", "i.e", "inc", "jan",
    "jr", "jul", "jun", "lt", "ltd", "maj", "mar", "max", "messrs", "min", "mr", "mrs", "ms", "mt", "mts",
    "nat", "no", "nos", "nov", "oct", "op", "p", "p.m", "p.s", "pl", "pp", "prof", "pt", "pvt", "rd", "ref",
    "rep", "rev", "sec", "sen", "sep", "sept", "sgt", "sr", "st", "ste", "u.k", "u.n", "u.s", "u.s.a",
    "univ", "v", "viz", "vol", "vols", "vs",
})
# Words that begin a sentence where they have a capital behind an abbreviation.
_STARTERS = (  # none that is a name, such as So
    "after", "also", "although", "and", "as", "before", "but", "for", "from", "he", "his", "however", "if",
    "in", "it", "its", "our", "she", "since", "some", "that", "the", "their", "then", "there", "these",
    "they", "this", "those", "today", "we", "what", "when", "where", "while", "why", "with", "your",
)
# fmt: on
VERSION = 2  # 1 was recorded nowhere
_LETTERS = re.compile(r"[a-z]{1,2}(\.[a-z]{1,2})+")  # Ph.D., D.C., z.B.
# What Unicode calls the end of a sentence in any script, and the quotation marks and brackets behind it.
_PIECE = regex.compile(
    r"[^\p{STerm}--[.!?\uff0e]]*(?:[\p{STerm}--[.!?\uff0e]]+[\p{Pe}\p{Pf}\"'\ufe0f]*|\Z)", regex.V1
)
# Scripts that have spaces between sentences at most.
_WITHOUT_MARKS = regex.compile(r"[\p{Thai}\p{Lao}]")


class _Abbreviations(frozenset[str]):
    """The list, and whatever is single letters between full stops."""

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or (isinstance(word, str) and _LETTERS.fullmatch(word) is not None)


@cache
def _punkt() -> "PunktSentenceTokenizer":
    from nltk.tokenize import punkt

    parameters = punkt.PunktParameters()
    parameters.abbrev_types = _Abbreviations(_ABBREVIATIONS)
    parameters.ortho_context.update(dict.fromkeys(_STARTERS, punkt._ORTHO_MID_LC))
    return punkt.PunktSentenceTokenizer(parameters)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, white space around them dropped; a line break always ends one."""
    sentences = [
        sentence.strip()
        for line in text.splitlines()
        for piece in _PIECE.findall(line.strip())
        for sentence in _punkt().tokenize(piece.strip())
    ]
    return [sentence for sentence in sentences if sentence] or [text]


def marks_no_sentences(texts: pa.Array) -> bool:
    """Whether most of some texts is in a script in which nothing says where a sentence ends."""
    some = b" ".join(texts[:1_000].to_pylist()).decode(errors="ignore")
    return 2 * len(_WITHOUT_MARKS.findall(some)) > len(some)


def split_raw_lines(raw_lines: RawLines) -> RawLines:
    """The same with one row a sentence; rows that cannot be read stay as they are, to be rejected."""
    bad = {position for position, _ in raw_lines.reasons}
    pieces: list[bytes] = []
    origins: list[int] = []
    for position, data in enumerate(raw_lines.texts.to_pylist()):
        try:
            parts = [data] if position in bad else [part.encode() for part in split_sentences(data.decode())]
        except UnicodeDecodeError:
            parts = [data]
        pieces += parts
        origins += [position] * len(parts)
    rows = np.array(origins, np.int64)
    first = dict(zip(reversed(origins), reversed(range(len(origins))), strict=True))
    return RawLines(
        raw_lines.source,
        raw_lines.lines[rows],
        pa.array(pieces, pa.large_binary()),
        raw_lines.raw.take(pa.array(rows)),
        None if raw_lines.ids is None else raw_lines.ids.take(pa.array(rows)),
        [(first[position], reason) for position, reason in raw_lines.reasons],
        {name: column.take(pa.array(rows)) for name, column in raw_lines.more.items()},
        raw_lines.is_json,
    )
