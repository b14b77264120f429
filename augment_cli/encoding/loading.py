"""Loading an encoder from a model folder: its transformer, tokenizer and the steps after pooling."""

import functools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from augment_cli.encoding.dense import Dense, Step, read_tensors, to_length_one
from augment_cli.encoding.encoder import Encoder, Precision
from augment_cli.encoding.fast.bert import read_bert
from augment_cli.encoding.layout import (
    DEFAULT_POOLING,
    Layout,
    Module,
    is_static,
    read_layout,
    read_static_layout,
)
from augment_cli.encoding.pooling import NEGATIONS, canonical, weights_in
from augment_cli.encoding.static import StaticEncoder, read_table
from augment_cli.encoding.words_apart import TokenCounts, negation_weights
from augment_cli.errors import UsageError
from augment_cli.models.digest import JsonFiles, damaged, model_digest
from augment_cli.neural import fast
from augment_cli.neural.loading import alone, find_folder, load_tokenizer, load_weights

_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


@alone
def load_encoder(
    path_or_name: str | Path,
    *,
    pooling: str | None = None,
    max_length: int | None = None,
    precision: Precision = "fp32",
    allow_download: bool = False,
    device: str = "cpu",
    counts: TokenCounts | None = None,
    prompt_name: str = "",
) -> Encoder:
    """Load an encoder from a folder, or a hub name that is already on this machine.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.load_encoder("data/models/static").encode(["The river flows."]).shape
    (1, 256)
    """
    files = JsonFiles()
    folder, revision = find_folder(str(path_or_name), allow_download, "model", files)
    if precision not in _TYPES:
        raise UsageError(f"precision {precision!r} is unknown; choose fp32 or bf16")
    name = str(path_or_name).rstrip("/").rsplit("/", 1)[-1]
    if is_static(folder, files):
        static = _load_static(folder, files, pooling, max_length, counts)
        static.prompt = static.prompts.text(prompt_name, folder)
        static.model.to(device)
        static.name, static.revision = name, revision
        _try_out(static, folder)
        return static
    layout = read_layout(folder, files)
    config, dtype = files.settings(layout.transformer / "config.json"), _TYPES[precision]
    tokenizer = load_tokenizer(layout.transformer)
    stored = read_bert(layout.transformer, config, dtype) if device == "cpu" else None
    load = functools.partial(load_weights, layout.transformer, "AutoModel", dtype, device)
    model = load() if stored is None else None
    longest = longest_input(SimpleNamespace(**config) if model is None else model.config, tokenizer)
    mode = canonical(pooling or layout.pooling or DEFAULT_POOLING)
    weights = _token_weights(mode, layout, counts, tokenizer)
    chosen = max_length or layout.max_length or longest
    if max_length is not None and (max_length < 1 or max_length > longest):
        raise UsageError(f"--max-length {max_length}: {path_or_name} takes 1 to {longest} tokens")
    encoder = _StoredEncoder(
        model=model,
        tokenizer=tokenizer,
        pooling=mode,
        max_length=min(chosen, longest),
        digest=model_digest(folder, files),
        precision=precision,
        modules=[_load_step(module) for module in layout.modules],
        lower_case=layout.lower_case,
        prompt=layout.prompts.text(prompt_name, folder),
        prompts=layout.prompts,
        name=name,
        revision=revision,
        weights=weights,
    )
    if stored is not None:
        encoder.leave_unread(stored, load)
    _try_out(encoder, folder)
    return encoder


class _StoredEncoder(Encoder):
    """One that encodes with weights as they are stored until something asks for its `model`."""

    def leave_unread(self, stored: Any, load: Callable[[], Any]) -> None:
        """Let `model` be loaded by a function when something asks for it."""
        self._stored, self._load = stored, load
        del self.model

    def __getattr__(self, name: str) -> Any:
        if name != "model":
            raise AttributeError(f"an encoder has no {name}", name=name, obj=self)
        self.model = self._load()
        return self.model

    def _packable(self) -> Any | None:
        is_unread = "model" not in vars(self)
        return self._stored if is_unread and fast.is_on() else super()._packable()


def _try_out(encoder: Encoder, folder: Path) -> None:
    """See that transformer, pooling and the steps after it fit together, with a text of no tokens."""
    try:
        dimension = encoder.dimension
    except (RuntimeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise damaged(f"{folder}: its parts do not fit together ({reason})") from error
    if not dimension:
        raise damaged(f"{folder}: gives vectors without numbers")


def _load_static(
    folder: Path, files: JsonFiles, pooling: str | None, max_length: int | None, counts: TokenCounts | None
) -> StaticEncoder:
    mode = canonical(pooling or "mean")
    if mode.rpartition(":")[2] != "mean":
        raise UsageError(f"pooling {mode!r}: a static encoder has mean alone, or idf:mean, sif:mean")
    if max_length is not None and max_length < 1:
        raise UsageError(f"--max-length {max_length} must be above 0")
    layout = read_static_layout(folder, files)
    table, tokenizer = read_table(layout.transformer)
    return StaticEncoder(
        table,
        tokenizer,
        mode,
        max_length=max_length,
        digest=model_digest(folder, files),
        modules=[_load_step(module) for module in layout.modules],
        prompts=layout.prompts,
        weights=_token_weights(mode, layout, counts, tokenizer),
    )


def _token_weights(mode: str, layout: Layout, counts: TokenCounts | None, tokenizer: Any) -> Tensor | None:
    """The weights a pooling mode asks for: from counts, else those stored with the model."""
    kind = weights_in(mode)
    if not kind:
        return None
    if counts is None and layout.word_weights and kind == weights_in(layout.pooling or ""):
        stored, unknown = layout.word_weights, 1.0
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        return torch.tensor([float(stored.get(token, unknown)) for token in tokens])
    if kind == NEGATIONS:
        return torch.from_numpy(negation_weights(tokenizer))
    if counts is None:
        raise UsageError(
            f"pooling {mode!r} counts tokens of a corpus; name its store (python -m eval --counts STORE), or "
            "a model that was trained with this pooling"
        )
    if len(counts.occurrences) != len(tokenizer):
        raise UsageError(f"counts of {len(counts.occurrences)} tokens do not fit {len(tokenizer)} tokens")
    return torch.from_numpy(counts.weights(kind))


def longest_input(config: Any, tokenizer: Any) -> int:
    """The most tokens a model of a configuration takes, special tokens included."""
    positions = getattr(config, "max_position_embeddings", None) or 512
    # RoBERTa and its kin count positions from the padding id, so two of the table's rows are never reached.
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1
    return int(min(positions, tokenizer.model_max_length))


def _load_step(module: Module) -> Step:
    if module.kind == "Normalize":
        return to_length_one
    if module.kind == "Dense":
        return Dense.read(module.folder, module.settings)
    tensors = {name.rsplit(".", 1)[-1]: tensor for name, tensor in read_tensors(module.folder).items()}
    return lambda x: torch.nn.functional.layer_norm(x, (x.shape[1],), tensors["weight"], tensors["bias"])
