"""Static word vectors (GloVe, word2vec, fastText text files) as an encoder: the oldest baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.encoding.encoder import Precision, Progress
from augment_cli.errors import BadInputError

SUFFIXES = (".vec", ".txt")


@dataclass
class StaticEncoder:
    """Mean of the vectors of a sentence's words; has what the evaluator needs of an encoder.

    Words are split at whitespace and looked up as they are, then in lower case. A sentence of unknown words
    only is a zero vector.

    Attributes
    ----------
    rows : dict of str to int
        Row of each word in `matrix`.
    matrix : numpy.ndarray
        Word vectors, shape (words, d), float32.
    digest : str
        SHA-256 of the file.
    name : str
        What the model is called in results.
    pooling, max_length, precision, revision
        What results say of any encoder.
    """

    rows: dict[str, int]
    matrix: np.ndarray
    digest: str
    name: str
    pooling: str = "static"
    max_length: int | None = None
    precision: Precision = "fp32"
    revision: str | None = None

    def encode(
        self, texts: Sequence[str], *, cache: Path | None = None, progress: Progress | None = None
    ) -> np.ndarray:
        """Vectors of texts.

        Parameters
        ----------
        texts : sequence of str
            n strings.
        cache : pathlib.Path, optional
            Not used: looking words up is quicker.
        progress : callable, optional
            Called with 1 after each text.

        Returns
        -------
        numpy.ndarray
            Shape (n, d), float32.
        """
        vectors = np.zeros((len(texts), self.matrix.shape[1]), dtype=np.float32)
        for number, text in enumerate(texts):
            rows = [self.rows.get(word, self.rows.get(word.lower(), -1)) for word in text.split()]
            known = [row for row in rows if row >= 0]
            if known:
                vectors[number] = self.matrix[known].mean(axis=0)
            if progress:
                progress(1)
        return vectors


def load_static(path: Path) -> StaticEncoder:
    """Read a text file of word vectors: a word and its numbers a line, with or without a line of sizes first.

    Parameters
    ----------
    path : pathlib.Path
        A GloVe, word2vec or fastText file; of a repeated word the first line counts.

    Raises
    ------
    BadInputError
        If a line does not hold a word and as many numbers as the others.
    """
    digest = hashlib.sha256()
    rows: dict[str, int] = {}
    vectors: list[np.ndarray] = []
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            digest.update(raw)
            try:
                # Some files hold words with spaces in them; the numbers are the last fields.
                fields = raw.decode("utf-8").rstrip().split(" ")
                if number == 1 and len(fields) == 2:
                    continue
                width = len(vectors[0]) if vectors else len(fields) - 1
                vector = np.array(fields[-width:], dtype=np.float32)
                if width < 2 or len(fields) <= width:
                    raise ValueError(f"{len(fields)} fields")
            except ValueError as error:
                raise BadInputError(
                    f"{path}, line {number}: not a word and its numbers ({error}); give word vectors"
                ) from error
            word = " ".join(fields[:-width])
            if word not in rows:
                rows[word] = len(vectors)
                vectors.append(vector)
    if not vectors:
        raise BadInputError(f"{path} holds no word vectors; give a word and its numbers on each line")
    return StaticEncoder(rows, np.stack(vectors), digest.hexdigest(), path.stem)
