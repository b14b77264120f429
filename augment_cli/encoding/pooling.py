"""From token vectors to one vector per sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from augment_cli.errors import UsageError

if TYPE_CHECKING:  # names of modes are read where torch is not loaded
    from torch import Tensor

# How model folders name a mode: under one key, and by a flag of its own, which older releases read. In the
# order in which their vectors are concatenated.
STORED = {
    "cls": ("cls", "pooling_mode_cls_token"),
    "max": ("max", "pooling_mode_max_tokens"),
    "mean": ("mean", "pooling_mode_mean_tokens"),
    "mean-sqrt-length": ("mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"),
    "weighted-mean": ("weightedmean", "pooling_mode_weightedmean_tokens"),
    "last-token": ("lasttoken", "pooling_mode_lasttoken"),
}
# Means over tokens of the mean of these layers of `hidden_states`.
LAYER_MEANS = {"first-last": (0, -1), "first-last-1": (1, -1), "static": (0,)}
MODES = ("cls", "mean", "max", *LAYER_MEANS, "weighted-mean", "mean-sqrt-length", "last-token")
# The names used elsewhere for the same thing: sentence-transformers' and SimCSE's.
ALIASES = {
    **{stored: mode for mode, (stored, _) in STORED.items()},
    "cls_before_pooler": "cls",
    "avg": "mean",
    "avg_first_last": "first-last",
    "first_last_avg": "first-last",
}
WEIGHTED = frozenset({"mean", *LAYER_MEANS})  # that token weights make sense of
NEGATIONS = "negations"
WEIGHTS = ("idf", "sif", NEGATIONS)  # of `augment_cli.encoding.words_apart`


def canonical(mode: str) -> str:
    """The one spelling of a pooling mode; several joined by `+` are concatenated."""
    names = []
    for given in mode.split("+"):
        kind, colon, rest = given.rpartition(":")
        name = ALIASES.get(rest, rest)
        if name not in MODES:
            raise UsageError(
                f"unknown pooling {name!r}; choose one of {', '.join(MODES)}, or several joined by +"
            )
        if colon and (kind not in WEIGHTS or name not in WEIGHTED):
            raise UsageError(
                f"unknown pooling {given!r}; token weights are {', '.join(WEIGHTS)}, before one of "
                f"{', '.join(sorted(WEIGHTED))}, such as idf:mean"
            )
        names.append(f"{kind}{colon}{name}")
    if len({weights_in(name) for name in names}) > 1:
        raise UsageError(f"pooling {mode!r} mixes token weights; give all parts the same")
    return "+".join(names)


def weights_in(mode: str) -> str:
    """The kind of token weights that a mode asks for, such as `idf`; empty for none."""
    return mode.split("+")[0].rpartition(":")[0]


def needs_all_layers(mode: str) -> bool:
    """Whether `mode` reads more than the last layer, so that the model must return all of them."""
    return any(name.rpartition(":")[2] in LAYER_MEANS for name in canonical(mode).split("+"))


def pool(
    hidden_states: Sequence[Tensor] | Tensor,
    attention_mask: Tensor,
    mode: str,
    weights: Tensor | None = None,
    left_out: int = 0,
) -> Tensor:
    """Pool token vectors into sentence vectors; differentiable."""
    # hidden_states: the last layer's token vectors, (batch, tokens, d), or those of all layers, the embedding
    # output first. weights: of each token, at least 0, (batch, tokens), for a mode that needs them.
    # A row without a token, or with weights of 0 alone, is a zero vector.
    import torch

    mode = canonical(mode)
    if not weights_in(mode):
        weights = None
    elif weights is None:
        raise UsageError(f"pooling {mode!r} needs the weights of the tokens")
    names = [name.rpartition(":")[2] for name in mode.split("+")]
    place = attention_mask.cumsum(dim=1)  # of each token in its row, from 1
    attention_mask = attention_mask * (place > left_out)
    pooled = [_pool_one(hidden_states, attention_mask, place, name, weights) for name in names]
    return pooled[0] if len(pooled) == 1 else torch.cat(pooled, dim=-1)


def _pool_one(
    hidden_states: Sequence[Tensor] | Tensor,
    attention_mask: Tensor,
    place: Tensor,
    mode: str,
    weights: Tensor | None,
) -> Tensor:
    import torch

    tokens = _token_vectors(hidden_states, mode)
    mask = attention_mask.to(tokens.dtype).unsqueeze(-1)  # (batch, tokens, 1)
    count = mask.sum(dim=1)  # (batch, 1)
    if mode == "cls":
        # Padding on the left moves the first token; argmax finds the first 1 of the mask.
        return _row(tokens, attention_mask.long().argmax(dim=1)) * (count > 0)
    if mode == "last-token":
        positions = torch.arange(attention_mask.shape[1], device=attention_mask.device)
        return _row(tokens, (attention_mask * positions).long().argmax(dim=1)) * (count > 0)
    if mode == "max":
        highest = tokens.masked_fill(mask == 0, float("-inf")).amax(dim=1)
        return torch.where(count > 0, highest, torch.zeros_like(highest))
    if mode == "weighted-mean":
        mask = mask * place.to(mask.dtype).unsqueeze(-1)
        count = mask.sum(dim=1)
    if weights is not None:
        mask = mask * weights.to(tokens.dtype).unsqueeze(-1)
        count = mask.sum(dim=1)
    count = count.clamp(min=1) if weights is None else torch.where(count > 0, count, torch.ones_like(count))
    total = (tokens * mask).sum(dim=1)
    return total / (count.sqrt() if mode == "mean-sqrt-length" else count)


def _token_vectors(hidden_states: Sequence[Tensor] | Tensor, mode: str) -> Tensor:
    if mode not in LAYER_MEANS:
        return hidden_states[-1] if isinstance(hidden_states, Sequence) else hidden_states
    if not isinstance(hidden_states, Sequence) or len(hidden_states) < 2:
        raise UsageError(f"pooling {mode!r} needs all layers: run the model with output_hidden_states=True")
    first, *rest = (hidden_states[layer] for layer in LAYER_MEANS[mode])
    return (first + rest[0]) / 2 if rest else first


def _row(tokens: Tensor, index: Tensor) -> Tensor:
    return tokens.take_along_dim(index[:, None, None], dim=1).squeeze(1)
