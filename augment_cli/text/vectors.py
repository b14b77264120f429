"""Word vectors that a user supplies: GloVe and word2vec text, or a NumPy array beside a vocabulary."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.store.files import refuse_special

FORMATS = (
    "give GloVe or word2vec text (a word and its numbers a line, .gz too), or an array in FILE.npy with its "
    "words, one a line, in FILE.txt"
)


def read_vectors(path: str, limit: int = 0) -> tuple[pa.StringArray, np.ndarray]:
    """Words and their vectors, float32 (V, d), each of length 1."""
    # `.npy`: an array (V, d), its words in the file of the same name ending in `.txt`. Anything else: a word
    # a line, the numbers after it separated by spaces; a first line of two numbers (word2vec's) is skipped.
    file = Path(path).expanduser()
    try:
        refuse_special(file)
        words, vectors = _read_array(file, limit) if file.suffix == ".npy" else _read_text(file, limit)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise UsageError(f"--vectors {path}: cannot be read ({error}); {FORMATS}") from error
    if not len(words):
        raise UsageError(f"--vectors {path}: has no words; {FORMATS}")
    if not np.isfinite(vectors).all():
        raise UsageError(f"--vectors {path}: has numbers that are not finite; {FORMATS}")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return words, (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)


def _read_array(file: Path, limit: int) -> tuple[pa.StringArray, np.ndarray]:
    try:
        vectors = np.load(file, allow_pickle=False)
    except ValueError as error:
        raise UsageError(f"--vectors {file}: is not a plain NumPy array ({error}); {FORMATS}") from error
    if vectors.dtype.kind not in "fiu":
        raise UsageError(f"--vectors {file}: is an array of {vectors.dtype}, not of real numbers; {FORMATS}")
    refuse_special(file.with_suffix(".txt"))
    words = file.with_suffix(".txt").read_text("utf-8").splitlines()
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise UsageError(
            f"--vectors {file}: an array of shape {vectors.shape} for {len(words)} words in "
            f"{file.with_suffix('.txt').name}; {FORMATS}"
        )
    if limit:
        words, vectors = words[:limit], vectors[:limit]
    with np.errstate(over="ignore"):  # what is too large is infinite then, and refused as that
        return pa.array(words, pa.string()), vectors.astype(np.float32)


def _read_text(file: Path, limit: int) -> tuple[pa.StringArray, np.ndarray]:
    words: list[str] = []
    rows: list[np.ndarray] = []
    open_text = gzip.open if file.suffix == ".gz" else open
    with open_text(file, "rt", encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, _, numbers = line.rstrip().partition(" ")
            if number == 1 and len(line.split()) == 2:
                continue
            try:
                row = np.array(numbers.split(" "), np.float32)
            except ValueError:
                row = np.zeros(0, np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])):
                expected = f"{len(rows[0])} numbers" if rows else "numbers"
                raise UsageError(f"--vectors {file}: line {number} has no word with {expected}; {FORMATS}")
            words.append(word)
            rows.append(row)
            if limit and len(words) == limit:
                break
    return pa.array(words, pa.string()), np.array(rows, np.float32).reshape(len(words), -1 if rows else 0)


@lru_cache(maxsize=2)
def neighbours(path: str, digest: str, limit: int, count: int) -> tuple[pa.StringArray, np.ndarray]:
    """Words and, int32 (V, count), the ones nearest to each by cosine; nearest first; −1 beyond the last."""
    # `digest` stands for the file's content, so that a changed file is read anew.
    words, vectors = read_vectors(path, limit)
    size = min(count, len(words) - 1)
    nearest = np.full((len(words), count), -1, np.int32)
    # Blocks of about 2²⁴ products each keep the memory in bounds.
    step = max(1, (1 << 24) // len(words))
    for start in range(0, len(words) if size else 0, step):
        products = vectors[start : start + step] @ vectors.T
        own = np.arange(len(products))
        products[own, start + own] = -np.inf
        top = np.argpartition(-products, size - 1, axis=1)[:, :size]
        order = np.lexsort((top, -np.take_along_axis(products, top, 1)), axis=1)
        nearest[start : start + step, :size] = np.take_along_axis(top, order, 1)
    return words, nearest
