"""An encoder's bare word table as an encoder: what a method that trains its layers has to beat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.encoding import whitening
from augment_cli.encoding.encoder import Encoder, Precision, Progress
from augment_cli.encoding.token_weights import TokenCounts
from augment_cli.errors import UsageError

POOLINGS = ("table", "idf:table", "sif:table", "zipf:table", "zipf-idf:table")
_CHUNK = 4096  # texts tokenised at once


@dataclass
class WordTable:
    """Mean of the vectors of a text's tokens, special tokens left out; no position, no layer.

    Weights are a factor of each row of the table, so the vector of a text is the sum of its weighted rows
    over their number, and not over their weights: cosines are the same, and so is what sentence-transformers
    computes from the table as its `StaticEmbedding`.

    Attributes
    ----------
    matrix : numpy.ndarray
        A vector of each token, shape (V, d), float32.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's.
    digest : str
        SHA-256 of the matrix.
    name : str
        What the encoder is called in results.
    pooling : str
        One of `POOLINGS`.
    max_length : int or None
        None, since no text is cut.
    precision : str
        `fp32`.
    revision : str or None
        None.
    """

    matrix: np.ndarray
    tokenizer: Any
    digest: str
    name: str
    pooling: str = "table"
    max_length: int | None = None
    precision: Precision = "fp32"
    revision: str | None = None

    def encode(
        self, texts: Sequence[str], *, cache: Path | None = None, progress: Progress | None = None
    ) -> np.ndarray:
        """Look up the tokens of texts.

        Parameters
        ----------
        texts : sequence of str
            n strings.
        cache : pathlib.Path, optional
            Not used: looking up costs less than reading a cache.
        progress : callable, optional
            Called with the number of texts each time some are finished.

        Returns
        -------
        numpy.ndarray
            Shape (n, d), float32; a text without tokens is a zero vector.
        """
        vectors = np.zeros((len(texts), self.matrix.shape[1]), dtype=np.float32)
        backend = self.tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        for start in range(0, len(texts), _CHUNK):
            part = list(texts[start : start + _CHUNK])
            for row, found in enumerate(backend.encode_batch_fast(part, add_special_tokens=False), start):
                if found.ids:
                    vectors[row] = self.matrix[found.ids].mean(axis=0)
            if progress:
                progress(len(part))
        return vectors

    def save(self, folder: Path) -> None:
        """Write a folder that sentence-transformers loads as a `StaticEmbedding`.

        Parameters
        ----------
        folder : pathlib.Path
            Must not hold such a model yet.
        """
        from safetensors.numpy import save_file

        inner = folder / "0_StaticEmbedding"
        inner.mkdir(parents=True)
        save_file({"embedding.weight": np.ascontiguousarray(self.matrix)}, inner / "model.safetensors")
        self.tokenizer.backend_tokenizer.no_truncation()
        self.tokenizer.backend_tokenizer.no_padding()
        self.tokenizer.backend_tokenizer.save(str(inner / "tokenizer.json"))
        kind = "sentence_transformers.models.StaticEmbedding"  # the name that old and new releases read
        module = {"idx": 0, "name": "0", "path": inner.name, "type": kind}
        (folder / "modules.json").write_text(json.dumps([module], indent=2) + "\n", encoding="utf-8")


def word_table(encoder: Encoder, pooling: str, counts: TokenCounts | None = None) -> WordTable:
    """The word table of an encoder, its rows weighted or whitened.

    Parameters
    ----------
    encoder : Encoder
        Of which the table of input embeddings is taken.
    pooling : str
        `table`: as it is. `idf:table`, `sif:table`: rows times their weight. `zipf:table`: whitened with the
        tokens' probabilities as weights of mean and covariance (Yokoi et al. 2024). `zipf-idf:table`: the
        same, then times idf.
    counts : TokenCounts, optional
        Needed by all but the first.

    Raises
    ------
    UsageError
        If the pooling is unknown, or counts are missing.
    """
    if pooling not in POOLINGS:
        raise UsageError(f"unknown pooling {pooling!r} of a word table; choose one of {', '.join(POOLINGS)}")
    table = encoder.model.get_input_embeddings().weight.detach().float().cpu().numpy()
    kind = pooling.rpartition(":")[0]
    if kind and counts is None:
        raise UsageError(f"pooling {pooling!r} counts tokens of a corpus; name its store (--counts)")
    if counts is not None and kind:
        if len(counts.occurrences) != len(table):
            raise UsageError(f"counts of {len(counts.occurrences)} tokens do not fit {len(table)} words")
        if kind.startswith("zipf"):
            table = whitening.fit(table, weights=counts.probability)(table)
        if not kind.endswith("zipf"):
            table = table * counts.weights(kind.removeprefix("zipf-"))[:, None]
    digest = hashlib.sha256(table.astype(np.float32).tobytes()).hexdigest()
    return WordTable(table.astype(np.float32), encoder.tokenizer, digest, encoder.name, pooling)
