"""Turning sentences into vectors: each distinct sentence once, sorted by length; embeddings kept on disk."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from augment_cli.encoding.cache import EmbeddingCache
from augment_cli.encoding.fast.bert import PackedBert, is_known
from augment_cli.encoding.layout import DEFAULT_POOLING, Prompts
from augment_cli.encoding.pooling import canonical, needs_all_layers, pool
from augment_cli.errors import UsageError
from augment_cli.models.claims import tokenizing
from augment_cli.neural.runtime import batches_by_length, padded

Precision = Literal["fp32", "bf16"]
Progress = Callable[[int], None]  # called with the number of sentences just finished

# Measured on two cores: larger batches fall out of the cache, smaller ones pay per call.
BATCH_TOKENS = 2048
CHUNK = 4096  # sentences tokenised at once
CACHE_SLICE = 32768  # sentences sorted, encoded and stored at once


@dataclass
class Encoder:
    """A transformer with its tokenizer, pooling and the steps after it."""

    model: Any  # a transformers model that returns `last_hidden_state`; any device
    tokenizer: Any  # its fast tokenizer
    pooling: str = DEFAULT_POOLING  # a mode of `augment_cli.encoding.pooling`
    max_length: int | None = 512  # in tokens, special ones included; longer texts are cut, with None none
    digest: str | None = None  # of the model's files; None for a model in training, which is never cached
    precision: Precision = "fp32"  # `bf16`: of weights and activations, not of pooling and what follows
    # steps after pooling, each a function of a tensor (n, d)
    modules: list[Callable[[Tensor], Tensor]] = field(default_factory=list)
    lower_case: bool = False  # whether a text is lower-cased before the tokenizer sees it
    prompt: str = ""  # what is set before every text
    prompts: Prompts = field(default_factory=Prompts)  # what the model's folder names to be set there
    name: str = ""  # what the model is called in results
    revision: str | None = None  # commit of a model from the hub
    weights: Tensor | None = None  # of each token of the vocabulary, for a pooling that asks for them
    _dimensions: dict[int, int] = field(default_factory=dict, init=False, repr=False)  # by number of modules

    def encode(
        self,
        texts: Sequence[str],
        *,
        cache: Path | None = None,
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Vectors of texts, float32 (n, d); equal texts are encoded once and get equal vectors."""
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise UsageError(
                    f"text {number} is a {type(text).__name__}, not a string; give a list of strings"
                )
        if not len(texts):
            return np.zeros((0, self.dimension), dtype=np.float32)
        distinct = list(dict.fromkeys(texts))
        store = EmbeddingCache(cache, self.cache_key(), self.dimension) if cache else None
        known = store.load(distinct) if store else [None] * len(distinct)
        missing = [text for text, vector in zip(distinct, known, strict=True) if vector is None]
        if progress and len(missing) < len(distinct):
            progress(len(distinct) - len(missing))
        if store is None and len(distinct) == len(texts):
            return self._encode_distinct(distinct, batch_tokens, progress)
        vectors = {text: vector for text, vector in zip(distinct, known, strict=True) if vector is not None}
        # In slices where there is a cache, so that an interrupted run loses one slice and no more.
        size = CACHE_SLICE if store else max(1, len(missing))
        for start in range(0, len(missing), size):
            part = missing[start : start + size]
            fresh = self._encode_distinct(part, batch_tokens, progress)
            if store:
                store.store(part, fresh)
            vectors.update(zip(part, fresh, strict=True))
        return np.stack([vectors[text] for text in texts])

    def cache_key(self) -> dict[str, str | int | None]:
        """What decides an embedding besides the text."""
        if self.digest is None:
            raise UsageError(
                "this encoder has no model digest, so its embeddings cannot be cached; drop the cache"
            )
        key: dict[str, str | int | None] = {
            "digest": self.digest,
            "pooling": canonical(self.pooling),
            "max_length": self.max_length,
            "precision": self.precision,
        }
        if self.prompt != self.prompts.text():  # the default one is in the digest of the model
            key["prompt"] = self.prompt
        return key if self.weights is None else key | {"weights": weights_digest(self.weights)}

    @property
    def unpooled(self) -> int:
        """How many tokens at the beginning of each text the pooling leaves out: those of the prompt."""
        if not self.prompt or self.prompts.pooled:
            return 0
        ids = self.tokenizer(self.prompt)["input_ids"]
        return len(ids) - (ids[-1] in self.tokenizer.all_special_ids)

    @property
    def dimension(self) -> int:
        """Length of an embedding."""
        if (count := len(self.modules)) not in self._dimensions:
            self._dimensions[count] = int(self._quickest()([[0]]).shape[1])
        return self._dimensions[count]

    def encode_ids(
        self,
        ids: Sequence[Sequence[int]],
        *,
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Vectors, float32 (n, d), of texts that are token ids already, special tokens included."""
        model = vars(self).get("model")  # one that nothing has asked for yet is not in training
        if model is None:
            return self._encode_sorted(ids, batch_tokens, progress)
        training = model.training
        model.eval()  # dropout would make every call another answer
        try:
            return self._encode_sorted(ids, batch_tokens, progress)
        finally:
            model.train(training)

    def _encode_distinct(
        self, texts: Sequence[str], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        return self.encode_ids(self._token_ids(texts), batch_tokens=batch_tokens, progress=progress)

    def _encode_sorted(
        self, ids: Sequence[Sequence[int]], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        # Longest first: what will not fit in memory fails at once.
        lengths = [len(row) for row in ids]
        forward = self._quickest() if all(lengths) else self._forward
        vectors: np.ndarray | None = None
        for rows in batches_by_length(np.maximum(lengths, 1), batch_tokens):
            pooled = forward([ids[row] for row in rows]).numpy()
            if vectors is None:
                vectors = np.empty((len(ids), pooled.shape[1]), dtype=np.float32)
            vectors[rows] = pooled
            if progress:
                progress(len(rows))
        assert vectors is not None
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        prepared = [self.prompt + (text.lower() if self.lower_case else text) for text in texts]
        ids: list[list[int]] = []
        for start in range(0, len(prepared), CHUNK):
            with tokenizing(self.name or "the encoder"):
                encoded = self.tokenizer(
                    prepared[start : start + CHUNK],
                    truncation=True,
                    max_length=self.max_length,
                    return_attention_mask=False,
                    return_token_type_ids=False,
                )
            ids.extend(encoded["input_ids"])
        return ids

    def _quickest(self) -> Callable[[Sequence[Sequence[int]]], Tensor]:
        """What encodes a batch without empty rows: BERT's layers without padding, or else the model."""
        if self.unpooled or (readable := self._packable()) is None:
            return self._forward
        packed = PackedBert(readable, self.pooling)

        def forward(ids: Sequence[Sequence[int]]) -> Tensor:
            with torch.inference_mode():
                return self._after_pooling(packed(ids, self.weights))

        return forward

    def _packable(self) -> Any | None:
        """What `PackedBert` can read in the model's place; None where it knows no such model."""
        return self.model if is_known(self.model) else None

    def _after_pooling(self, vectors: Tensor) -> Tensor:
        for module in self.modules:
            vectors = module(vectors)
        return vectors.float()

    def _forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """Pooled vectors of one batch of token ids, on the CPU in fp32; a row without tokens gets zeros."""
        device = next(self.model.parameters()).device
        tokens, mask = padded(ids, self.tokenizer.pad_token_id or 0, device)
        # Without padding no mask is needed, and attention takes its quicker path. A row without any token
        # attends to one padding token, lest the softmax divide by zero; pooling then gives zeros.
        is_first = (torch.arange(mask.shape[1], device=device) == 0).long()
        seen = None if mask.all() else torch.maximum(mask, is_first)
        with torch.inference_mode():
            output = self.model(
                input_ids=tokens, attention_mask=seen, output_hidden_states=needs_all_layers(self.pooling)
            )
            layers = output.hidden_states if needs_all_layers(self.pooling) else output.last_hidden_state
            layers = layers.float() if isinstance(layers, Tensor) else [layer.float() for layer in layers]
            weights = None if self.weights is None else self.weights.to(device)[tokens]
            pooled = pool(layers, mask, self.pooling, weights, self.unpooled)
            return self._after_pooling(pooled.float().cpu())


def weights_digest(weights: Tensor) -> str:
    """SHA-256 of token weights, shape (V,)."""
    return hashlib.sha256(weights.float().cpu().numpy().tobytes()).hexdigest()
