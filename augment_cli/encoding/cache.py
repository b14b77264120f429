"""Embeddings on disk, keyed by everything that decides them, so that nothing is encoded twice."""

import hashlib
import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from augment_cli.errors import BadInputError
from augment_cli.store.files import write_atomically

# What reading a damaged or forged .npz ends in.
DAMAGED_ARCHIVE = (
    OSError,
    ValueError,
    EOFError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
Key = dict[str, str | int | None]


class EmbeddingCache:
    """A folder of embeddings of one (model digest, pooling, longest input, precision)."""

    def __init__(self, root: Path, key: Key, dimension: int) -> None:
        stamp = json.dumps(key, sort_keys=True)
        self.folder = root / hashlib.sha256(stamp.encode()).hexdigest()[:32]
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "key.json").exists():
            write_atomically(self.folder / "key.json", stamp.encode(), self.folder)
        self._dimension = dimension

    def load(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The stored vector of each text, None where there is none."""
        rows: dict[bytes, np.ndarray] = {}
        for path in sorted(self.folder.glob("*.npz")):
            rows |= self._read(path)
        return [rows.get(_text_digest(text)) for text in texts]

    def store(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Add vectors as one new file that is either complete or not there."""
        if not len(texts):
            return
        digests = np.frombuffer(b"".join(map(_text_digest, texts)), np.uint8).reshape(-1, 32)
        name = hashlib.sha256(digests.tobytes()).hexdigest()[:32] + ".npz"
        temporary = self.folder / f".{name}.{os.getpid()}"
        with temporary.open("wb") as file:
            np.savez(file, digests=digests, vectors=np.asarray(vectors, dtype=np.float32))
        temporary.replace(self.folder / name)

    def _read(self, path: Path) -> dict[bytes, np.ndarray]:
        try:
            # The archive carries a CRC of each array, which reading checks.
            with np.load(path, allow_pickle=False) as arrays:
                digests, vectors = arrays["digests"], arrays["vectors"]
            if digests.dtype != np.uint8 or digests.shape != (len(vectors), 32) or vectors.ndim != 2:
                raise ValueError("arrays of the wrong shape")
            if vectors.shape[1] != self._dimension:
                raise ValueError(
                    f"vectors of {vectors.shape[1]} numbers, the encoder's have {self._dimension}"
                )
        except (KeyError, *DAMAGED_ARCHIVE) as error:
            raise BadInputError(
                f"{path} is damaged ({error}); delete it, its sentences are encoded again"
            ) from error
        return {digest.tobytes(): vector for digest, vector in zip(digests, vectors, strict=True)}


def _text_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
