"""Choosing among several candidates: the one that differs most while it still means the same."""

import itertools
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from augment_cli.models.claims import tokenizing
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights
from augment_cli.neural.runtime import dtype_of, inference


class SentenceEncoder:
    """Sentence vectors by mean pooling, as all-MiniLM-L6-v2 and its kin make them; always in fp32."""

    def __init__(self, folder: ModelFolder, device: str, threads: int) -> None:
        self._folder, self.device, self._threads = folder, device, threads

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        path = self._folder.path
        return load_tokenizer(path), load_weights(path, "AutoModel", dtype_of("fp32"), self.device)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 (n, d)."""
        import torch

        tokenizer, model = self._parts
        limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512))
        with tokenizing(self._folder.path):
            inputs = tokenizer(
                list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt"
            ).to(self.device)
        with inference(self._threads):
            states = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
            vectors = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
            return torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()


def difference(one: str, other: str) -> float:
    """How different two sentences are worded: 1 − Dice coefficient of their words and word pairs, 0 to 1."""
    first, second = _pieces(one), _pieces(other)
    if not first and not second:
        return 0.0
    return 1.0 - 2.0 * len(first & second) / (len(first) + len(second))


def _pieces(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {(word,) for word in words} | set(itertools.pairwise(words))


def most_different(
    original: str, candidates: Sequence[str], cosines: Sequence[float], minimum: float
) -> int | None:
    """Position of the candidate most differently worded among those whose cosine is at least `minimum`."""
    # Of equally different ones the first is taken. None if no candidate means the same.
    close = [number for number, cosine in enumerate(cosines) if cosine >= minimum]
    if not close:
        return None
    return max(close, key=lambda number: (difference(original, candidates[number]), -number))
