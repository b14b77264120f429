"""Sentences as token ids: one flat array and offsets, made once and kept in the work folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from transformers import AutoTokenizer

CHUNK = 20_000  # sentences tokenised at a time


class Rows(NamedTuple):
    """Token ids of many texts: row i is ``ids[offsets[i]:offsets[i + 1]]``, ends of sentence included."""

    ids: np.ndarray  # uint16
    offsets: np.ndarray  # int64, one more than rows

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> np.ndarray:
        """Ids of one text."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each row."""
        return np.diff(self.offsets)


def encode(texts: Iterable[str], tokenizer_folder: Path) -> Rows:
    """Tokenise `texts` with the tokenizer of a folder."""
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    pieces: list[np.ndarray] = []
    lengths: list[int] = []
    for chunk in _chunks(texts):
        for ids in tokenizer(chunk, add_special_tokens=True)["input_ids"]:
            pieces.append(np.array(ids, dtype=np.uint16))
            lengths.append(len(ids))
    flat = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint16)
    return Rows(flat, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))


def select(rows: Rows, numbers: Iterable[int]) -> Rows:
    """Some of the rows, in the order given."""
    chosen = [rows.row(number) for number in numbers]
    flat = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.uint16)
    return Rows(flat, np.cumsum([0, *map(len, chosen)], dtype=np.int64))


def save(rows: dict[str, Rows], path: Path) -> None:
    """Write named rows to one file, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for name, row in rows.items():
        arrays[f"{name}_ids"], arrays[f"{name}_offsets"] = row
    temporary = path.with_name(path.name + ".tmp.npz")
    np.savez(temporary, **arrays)
    temporary.replace(path)


def load(path: Path) -> dict[str, Rows]:
    """Read what `save` wrote."""
    with np.load(path) as arrays:
        names = [name.removesuffix("_ids") for name in arrays.files if name.endswith("_ids")]
        return {name: Rows(arrays[f"{name}_ids"], arrays[f"{name}_offsets"]) for name in names}


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    for text in texts:
        chunk.append(text)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
