"""Cut lines that hold several sentences (`--split-sentences`), with NLTK's Punkt.

Punkt (Kiss and Strunk 2006, "Unsupervised multilingual sentence boundary detection") learns its
abbreviations from text. Here it is given a fixed list instead, so that the result depends on
the line alone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from augment_cli.ingest.checks import RawLines

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

# fmt: off
_ABBREVIATIONS = frozenset({
    "a.m", "adm", "al", "apr", "approx", "assoc", "aug", "ave", "b.c", "bldg", "blvd", "brig", "bros", "ca",
    "capt", "cf", "cmdr", "co", "col", "corp", "dec", "dept", "dr", "e.g", "ed", "eds", "eq", "esp", "est",
    "etc", "ext", "feb", "fig", "figs", "fr", "ft", "gen", "gov", "hon", "hr", "hrs", "i.e", "inc", "jan",
    "jr", "jul", "jun", "lt", "ltd", "maj", "mar", "max", "min", "mr", "mrs", "ms", "mt", "mts", "nat",
    "no", "nos", "nov", "oct", "op", "p", "p.m", "p.s", "pl", "pp", "prof", "pt", "pvt", "rd", "ref", "rep",
    "rev", "sec", "sen", "sep", "sept", "sgt", "sr", "st", "ste", "u.k", "u.n", "u.s", "u.s.a", "univ", "v",
    "viz", "vol", "vols", "vs",
})
# fmt: on


@cache
def _punkt() -> PunktSentenceTokenizer:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, white space around them dropped; a line break always ends one."""
    sentences = [
        sentence.strip() for line in text.splitlines() for sentence in _punkt().tokenize(line.strip())
    ]
    return [sentence for sentence in sentences if sentence] or [text]


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
    )
