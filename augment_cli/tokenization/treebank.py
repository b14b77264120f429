"""NLTK's word tokens at array speed, with offsets into the original text.

`TreebankTokenizer` gives the terms of ``nltk.word_tokenize(text.lower(), preserve_line=True)``. A batch
of sentences becomes one array of characters; `augment_cli.tokenization.rules` finds the places where
NLTK would put spaces, and the terms are cut straight out of the UTF-8 bytes.

Rows the rules do not cover go through NLTK itself and are put back in their place, so no class of
sentence is known to differ. They are the rows with

- a line feed inside, or an ASCII control character that is not white space;
- a letter whose lower case is longer in UTF-8 (U+023A, U+023E), or U+03A3 and U+0130 in one row;
- more than 64 closing marks and spaces after the last period.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.tokenization import rules as ch
from augment_cli.tokenization.rules import Rewriting, rewrite
from augment_cli.tokenization.tokens import Tokens, exact_tokens, tokens_of_rows

CHUNK_ROWS = 8192
CHUNK_BYTES = 2 << 20

# Bytes that UTF-8 never uses, for what takes more room lower-cased or rewritten than in the text.
_OPENING_BYTE, _CLOSING_BYTE, _DOTTED_I_BYTE = 0xFE, 0xFF, 0xFD


class _Piece(NamedTuple):
    """Tokens of some rows: terms as bytes and byte lengths."""

    data: bytes
    lengths: np.ndarray  # (N,) int32
    starts: np.ndarray  # (N,) int32
    ends: np.ndarray  # (N,) int32
    counts: np.ndarray  # (n,) int64 tokens per row


_NO_TOKENS = _Piece(b"", *(np.zeros(0, kind) for kind in (np.int32, np.int32, np.int32, np.int64)))


@dataclass
class _Foreign:
    """The m characters of a batch outside ASCII, in order."""

    positions: np.ndarray  # (m,) int64 code points
    kinds: np.ndarray  # (m,) uint8
    codes: np.ndarray  # (m,) uint32
    lowered: np.ndarray  # (m,) uint32
    odd_positions: np.ndarray  # where the row must be left to NLTK

    def byte_positions(self, positions: np.ndarray) -> np.ndarray:
        """Byte position in UTF-8 of code point positions."""
        extra = np.concatenate([[0], np.cumsum(ch.utf8_size(self.codes) - 1)])
        shifted: np.ndarray = positions + extra[np.searchsorted(self.positions, positions)]
        return shifted


def _characters(raw: bytes, table: ch.CharacterTable) -> tuple[bytes, _Foreign]:
    """One kind per character of UTF-8 text, and the characters outside ASCII."""
    if raw.isascii():
        nothing = np.zeros(0, np.int64)
        return raw.translate(ch.ASCII_KINDS), _Foreign(nothing, nothing, nothing, nothing, nothing)
    text = raw.decode()
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    narrow = codes.astype(np.uint8)
    positions = np.flatnonzero(codes > 127)
    foreign_codes = codes[positions]
    kinds, lowered = table.look_up(foreign_codes)
    narrow[positions] = ord(" ")
    letters = bytearray(narrow.tobytes().translate(ch.ASCII_KINDS))
    view = np.frombuffer(letters, np.uint8)
    view[positions] = kinds
    odd = _lower_sigmas(text, positions, foreign_codes, lowered)
    return bytes(letters), _Foreign(positions, kinds, foreign_codes, lowered, odd)


def _lower_sigmas(text: str, positions: np.ndarray, codes: np.ndarray, lowered: np.ndarray) -> np.ndarray:
    """Set the lower case of each capital sigma, which depends on its place in the word."""
    # Returns the positions of those in rows whose lower case is longer than they are.
    odd = []
    for index in np.flatnonzero(codes == ch.CAPITAL_SIGMA).tolist():
        position = int(positions[index])
        start = text.rfind("\n", 0, position) + 1
        row = text[start : text.index("\n", position)]
        if len(row.lower()) == len(row):
            lowered[index] = ord(row.lower()[position - start])
        else:
            odd.append(position)
    return np.array(odd, np.int64)


def _term_bytes(raw: bytes, foreign: _Foreign, rewriting: Rewriting) -> bytes:
    """The UTF-8 bytes of all terms, one after the other."""
    patched = bytearray(raw)
    view = np.frombuffer(patched, np.uint8)
    changed = np.flatnonzero(foreign.lowered != foreign.codes)
    if len(changed):
        places = foreign.byte_positions(foreign.positions[changed])
        sizes = ch.utf8_size(foreign.codes[changed])
        lowered = foreign.lowered[changed]
        lowered_sizes = ch.utf8_size(lowered)
        for offset in range(4):
            # What lower-casing leaves free is filled with spaces, which go out below.
            view[places[sizes > offset] + offset] = ord(" ")
        for size in range(1, 5):
            chosen = lowered_sizes == size
            encoded = lowered[chosen].astype("<u4").tobytes().decode("utf-32-le").encode()
            table = np.frombuffer(encoded, np.uint8).reshape(-1, size)
            for offset in range(size):
                view[places[chosen] + offset] = table[:, offset]
    dotted = foreign.positions[foreign.codes == ch.DOTTED_CAPITAL_I]
    if len(dotted):
        places = foreign.byte_positions(dotted)
        view[places] = _DOTTED_I_BYTE
        view[places + 1] = ord(" ")
    view[foreign.byte_positions(rewriting.opening_quotes)] = _OPENING_BYTE
    view[foreign.byte_positions(rewriting.closing_quotes)] = _CLOSING_BYTE
    pairs = foreign.byte_positions(rewriting.opening_pairs)
    view[pairs] = view[pairs + 1] = ord("`")
    data = bytes(patched).translate(ch.ASCII_LOWER, ch.ASCII_SPACES)
    data = data.replace(bytes([_OPENING_BYTE]), b"``").replace(bytes([_CLOSING_BYTE]), b"''")
    return data.replace(bytes([_DOTTED_I_BYTE]), "i\u0307".encode()) if len(dotted) else data


def _term_lengths(
    starts: np.ndarray, ends: np.ndarray, foreign: _Foreign, rewriting: Rewriting
) -> np.ndarray:
    """Bytes of each term (N,), int32."""
    lengths = (ends - starts).astype(np.int32)
    for quotes in (rewriting.opening_quotes, rewriting.closing_quotes):
        lengths[np.searchsorted(starts, quotes)] += 1
    visible = foreign.kinds != ch.SPACE
    extra = ch.utf8_size(foreign.lowered[visible]) - 1
    extra[foreign.codes[visible] == ch.DOTTED_CAPITAL_I] += 1
    np.add.at(lengths, np.searchsorted(starts, foreign.positions[visible], "right") - 1, extra)
    return lengths


def _insert_exact(piece: _Piece, texts: pa.Array, rows: list[int]) -> list[_Piece]:
    """Replace the tokens of some rows by NLTK's own."""
    token_offsets = _offsets(piece.counts)
    byte_offsets = _offsets(piece.lengths)
    pieces = []
    done = 0
    for row in [*rows, len(texts)]:
        tokens = slice(token_offsets[done], token_offsets[row])
        pieces.append(
            _Piece(
                piece.data[byte_offsets[tokens.start] : byte_offsets[tokens.stop]],
                piece.lengths[tokens],
                piece.starts[tokens],
                piece.ends[tokens],
                piece.counts[done:row],
            )
        )
        if row < len(texts):
            pieces.append(_exact_piece(texts[row].as_py()))
        done = row + 1
    return pieces


def _exact_piece(text: str) -> _Piece:
    tokens = tokens_of_rows([exact_tokens(text)])
    terms = [term.encode() for term in tokens.terms.to_pylist()]
    lengths = np.array([len(term) for term in terms], np.int32)
    return _Piece(b"".join(terms), lengths, tokens.starts, tokens.ends, np.diff(tokens.row_offsets))


def _tokenize_chunk(texts: pa.StringArray, table: ch.CharacterTable) -> list[_Piece]:
    row_list = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    raw = b"\n%b\n" % pc.binary_join(row_list, "\n")[0].as_buffer().to_pybytes()
    letters, foreign = _characters(raw, table)
    newlines = np.flatnonzero(np.frombuffer(letters, np.uint8) == ch.NEWLINE)
    if len(newlines) != len(texts) + 1:
        # A line feed inside a row: NLTK's patterns treat one at the end in their own way.
        broken = pc.match_substring(texts, "\n")
        pieces = _tokenize_chunk(pc.if_else(broken, "", texts), table)
        rows = np.flatnonzero(broken.to_numpy(zero_copy_only=False)).tolist()
        return _insert_exact(_joined(pieces), texts, rows)
    rewriting = rewrite(letters, newlines)
    visible = ~rewriting.spaces
    starts = np.flatnonzero(rewriting.gaps[:-1] & visible)
    ends = np.flatnonzero(rewriting.gaps[1:] & visible) + 1
    counts = np.diff(np.searchsorted(starts, newlines))
    row_starts = np.repeat(newlines[:-1] + 1, counts)
    piece = _Piece(
        _term_bytes(raw, foreign, rewriting),
        _term_lengths(starts, ends, foreign, rewriting),
        (starts - row_starts).astype(np.int32),
        (ends - row_starts).astype(np.int32),
        counts,
    )
    odd_positions = np.concatenate([foreign.odd_positions, *rewriting.odd_positions])
    odd = np.unique(np.searchsorted(newlines, odd_positions) - 1).tolist()
    return _insert_exact(piece, texts, odd) if odd else [piece]


def _offsets(lengths: np.ndarray) -> np.ndarray:
    """(n,) lengths to (n+1,) offsets, int64, starting at 0."""
    return np.append(0, np.cumsum(lengths, dtype=np.int64))


def _joined(pieces: list[_Piece]) -> _Piece:
    data, *arrays = zip(_NO_TOKENS, *pieces, strict=True)
    return _Piece(b"".join(data), *map(np.concatenate, arrays))


def _chunks(texts: pa.Array) -> list[pa.StringArray]:
    """Slices of at most CHUNK_ROWS rows and, unless one row is longer, CHUNK_BYTES bytes."""
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        texts = texts.cast(pa.large_string())  # the string view has no kernels
    sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    ends = np.cumsum(sizes, dtype=np.int64)
    slices = []
    start = 0
    while start < len(texts):
        used = int(ends[start] - sizes[start])
        stop = int(np.searchsorted(ends, used + CHUNK_BYTES, "right"))
        stop = min(max(stop, start + 1), start + CHUNK_ROWS)
        slices.append(texts.slice(start, stop - start).cast(pa.string()))
        start = stop
    return slices


class TreebankTokenizer:
    """NLTK's tokens for a column of sentences, some hundred thousand sentences a second."""

    name = "treebank"

    def __init__(self) -> None:
        # NLTK decides the odd rows, and the regex package the kinds of characters.
        self.version = f"1-nltk-{metadata.version('nltk')}-regex-{metadata.version('regex')}"
        self._table = ch.CharacterTable()

    def __call__(self, texts: pa.Array) -> Tokens:
        """Tokenise a string column without nulls."""
        if texts.null_count:
            raise ValueError(f"the column has {texts.null_count} nulls; drop them before tokenising")
        pieces = [piece for chunk in _chunks(texts) for piece in _tokenize_chunk(chunk, self._table)]
        joined = _joined(pieces)
        offsets = _offsets(joined.lengths)
        if offsets[-1] != len(joined.data):
            raise AssertionError(f"{len(joined.data)} bytes of terms where {offsets[-1]} are due")
        is_large = len(joined.data) > np.iinfo(np.int32).max
        array_class = pa.LargeStringArray if is_large else pa.StringArray
        buffer = pa.py_buffer(offsets if is_large else offsets.astype(np.int32))
        terms = array_class.from_buffers(len(joined.lengths), buffer, pa.py_buffer(joined.data))
        return Tokens(terms, _offsets(joined.counts), joined.starts, joined.ends)
