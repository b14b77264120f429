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

from dataclasses import dataclass
from importlib import metadata

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


def _with_exact(tokens: Tokens, texts: pa.Array, rows: list[int]) -> list[Tokens]:
    """Tokens in pieces, those of some rows NLTK's own."""
    pieces, done = [], 0
    for row in rows:
        pieces += [_of_rows(tokens, done, row), tokens_of_rows([exact_tokens(texts[row].as_py())])]
        done = row + 1
    return [*pieces, _of_rows(tokens, done, len(texts))]


def _of_rows(tokens: Tokens, first: int, last: int) -> Tokens:
    offsets = tokens.row_offsets[first : last + 1]
    here = slice(offsets[0], offsets[-1])
    return Tokens(tokens.terms[here], offsets - offsets[0], tokens.starts[here], tokens.ends[here])


def _joined(pieces: list[Tokens]) -> Tokens:
    pieces = [tokens_of_rows([]), *pieces]
    return Tokens(
        pa.concat_arrays([piece.terms for piece in pieces]),
        _offsets(np.concatenate([np.diff(piece.row_offsets) for piece in pieces])),
        np.concatenate([piece.starts for piece in pieces]),
        np.concatenate([piece.ends for piece in pieces]),
    )


def _tokenize_chunk(texts: pa.StringArray, table: ch.CharacterTable) -> list[Tokens]:
    row_list = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    raw = b"\n%b\n" % pc.binary_join(row_list, "\n")[0].as_buffer().to_pybytes()
    letters, foreign = _characters(raw, table)
    newlines = np.flatnonzero(np.frombuffer(letters, np.uint8) == ch.NEWLINE)
    if len(newlines) != len(texts) + 1:
        # A line feed inside a row: NLTK's patterns treat one at the end in their own way.
        broken = pc.match_substring(texts, "\n")
        pieces = _tokenize_chunk(pc.if_else(broken, "", texts), table)
        rows = np.flatnonzero(broken.to_numpy(zero_copy_only=False)).tolist()
        return _with_exact(_joined(pieces), texts, rows)
    rewriting = rewrite(letters, newlines)
    visible = ~rewriting.spaces
    starts = np.flatnonzero(rewriting.gaps[:-1] & visible)
    ends = np.flatnonzero(rewriting.gaps[1:] & visible) + 1
    row_offsets = np.searchsorted(starts, newlines)
    row_starts = np.repeat(newlines[:-1] + 1, np.diff(row_offsets))
    data, offsets = (
        _term_bytes(raw, foreign, rewriting),
        _offsets(_term_lengths(starts, ends, foreign, rewriting)),
    )
    if offsets[-1] != len(data):
        raise AssertionError(f"{len(data)} bytes of terms where {offsets[-1]} are due")
    tokens = Tokens(
        pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(data)),
        row_offsets,
        (starts - row_starts).astype(np.int32),
        (ends - row_starts).astype(np.int32),
    )
    odd_positions = np.concatenate([foreign.odd_positions, *rewriting.odd_positions])
    odd = np.unique(np.searchsorted(newlines, odd_positions) - 1).tolist()
    return _with_exact(tokens, texts, odd) if odd else [tokens]


def _offsets(lengths: np.ndarray) -> np.ndarray:
    """(n,) lengths to (n+1,) offsets, int64, starting at 0."""
    return np.append(0, np.cumsum(lengths, dtype=np.int64))


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
        return _joined([piece for chunk in _chunks(texts) for piece in _tokenize_chunk(chunk, self._table)])
