"""BERT's layers for training on a CPU, for speed alone; the switch is `augment_cli.neural.fast`.

Slices of unlike length go through the layers together, one matrix of tokens, so that they share every product
but attention's; query, key and value are one product; dropout, residual and the conversions between number
formats read each array as seldom as possible. The weights are those of the transformers module, which
evaluation, checkpoints and export go on using.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding.fast.bert import fused_linear
from train.data.padding import Slice

_LEVELS = 2**16


def keep_mask(like: Tensor, p: float) -> Tensor | None:
    """What dropout multiplies a tensor with: 0 with probability p, else 1 / (1 − p)."""
    # The rate is rounded to a multiple of 1/65,536; four numbers share a 64-bit draw of torch's default
    # generator.
    dropped = round(p * _LEVELS)
    if not dropped:
        return None
    if dropped == _LEVELS:
        return torch.zeros_like(like)
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = draws.view(torch.int16)[: like.numel()].view(like.shape)
    # Written as numbers at once: a comparison's own result would have to be converted, at twice the cost.
    keep = torch.ge(bits, dropped - _LEVELS // 2, out=torch.empty(like.shape, dtype=like.dtype))
    return keep.mul_(_LEVELS / (_LEVELS - dropped))


class BitDropout(nn.Dropout):
    """`torch.nn.Dropout` with the draws of `keep_mask`."""

    def forward(self, input: Tensor) -> Tensor:
        """Zero each number with probability p and scale the others by 1 / (1 − p), in training only."""
        keep = keep_mask(input, self.p) if self.training else None
        return input if keep is None else input * keep


def use_bit_dropout(model: nn.Module) -> None:
    """Replace a model's dropout layers; the names of its weights stay."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, BitDropout(child.p))


def encode(encoder: Any, slices: Sequence[Slice], first_only: bool = False) -> list[list[Tensor]]:
    """Token vectors of some slices after each layer."""
    # For each slice the embedding layer's output, then each layer's, (n, length, d), the last one's (n, 1, d)
    # with `first_only`: nobody reads more than each text's first token then, as with the pooling `cls`, and
    # five sixths of that layer's products are not made. Under autocast the products alone are in its format.
    low = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None
    with torch.autocast("cpu", enabled=False):
        layers = [_embed(encoder.embeddings, slices)]
        masks = [_added(item.mask, layers[0].dtype) for item in slices]
        modules = encoder.encoder.layer
        for number, layer in enumerate(modules, start=1):
            compute = _layer_of_firsts if first_only and number == len(modules) else _layer
            layers.append(compute(layer, layers[-1], slices, masks, low or layers[0].dtype))
    tokens, texts = _sizes(slices), [len(item.ids) for item in slices]
    pieces = [states.split(tokens) for states in layers[:-1]]
    pieces.append(layers[-1].split(texts if first_only else tokens))
    return [
        [piece[number].view(len(item.ids), -1, piece[number].shape[-1]) for piece in pieces]
        for number, item in enumerate(slices)
    ]


def _sizes(slices: Sequence[Slice]) -> list[int]:
    """How many tokens each slice has, padding included."""
    return [item.ids.numel() for item in slices]


def _embed(module: Any, slices: Sequence[Slice]) -> Tensor:
    """Embedding layer: shape (tokens, d), slice after slice."""
    widths = [item.ids.shape[1] for item in slices]
    ids = torch.cat([item.ids.reshape(-1) for item in slices])
    positions = torch.cat([torch.arange(item.ids.shape[1]).repeat(len(item.ids)) for item in slices])
    table = module.position_embeddings.weight[: max(widths)] + module.token_type_embeddings.weight[0]
    words = module.word_embeddings
    states = module.LayerNorm(
        F.embedding(ids, words.weight, words.padding_idx) + F.embedding(positions, table)
    )
    keep = keep_mask(states, _rate(module))
    return states if keep is None else states * keep


def _layer(
    layer: Any, states: Tensor, slices: Sequence[Slice], masks: list[Tensor | None], low: torch.dtype
) -> Tensor:
    """One layer on states of shape (tokens, d), with the products in format `low`."""
    attention = layer.attention.self
    projected = _project(states.to(low), attention.query, attention.key, attention.value)
    attended = []
    for own, item, mask in zip(projected.split(_sizes(slices)), slices, masks, strict=True):
        query, key, value = _by_head(own, len(item.ids), 3, attention)
        attended.append(_attend(query, key, value, mask, attention))
    return _feed_forward(layer, torch.cat(attended), states, low)


def _layer_of_firsts(
    layer: Any, states: Tensor, slices: Sequence[Slice], masks: list[Tensor | None], low: torch.dtype
) -> Tensor:
    """`_layer` for the first token of each text alone: states of shape (tokens, d) to (texts, d)."""
    attention, sizes, texts = layer.attention.self, _sizes(slices), [len(item.ids) for item in slices]
    firsts = torch.cat(
        [own.view(*item.ids.shape, -1)[:, 0] for own, item in zip(states.split(sizes), slices, strict=True)]
    )
    asking = _project(firsts.to(low), attention.query).split(texts)
    projected = _project(states.to(low), attention.key, attention.value).split(sizes)
    attended = []
    for first, own, item, mask in zip(asking, projected, slices, masks, strict=True):
        (query,) = _by_head(first, len(item.ids), 1, attention)
        key, value = _by_head(own, len(item.ids), 2, attention)
        attended.append(_attend(query, key, value, mask, attention))
    return _feed_forward(layer, torch.cat(attended), firsts, low)


def _project(states: Tensor, *parts: Any) -> Tensor:
    """Some linear layers as one product: shape (tokens, d) to (tokens, parts · d)."""
    weight, bias = (torch.cat([getattr(part, name) for part in parts]) for name in ("weight", "bias"))
    return _linear(states, weight, bias)


def _by_head(projected: Tensor, rows: int, parts: int, module: Any) -> Tensor:
    """Split (rows · length, parts · d) into heads: shape (parts, rows · heads, length, size)."""
    heads, size = module.num_attention_heads, module.attention_head_size
    split = projected.view(rows, -1, parts, heads, size).permute(2, 0, 3, 1, 4).contiguous()
    return split.flatten(1, 2)


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, module: Any) -> Tensor:
    """Attention of a slice: (n · heads, asking, size), 2 × (n · heads, length, size) to (n · asking, d)."""
    heads, size, asking, length = module.num_attention_heads, query.shape[-1], query.shape[1], key.shape[1]
    scores = (query @ key.transpose(1, 2)).view(-1, heads, asking, length)
    scores = scores if scores.dtype == torch.float64 else scores.float()
    scores = scores * module.scaling if mask is None else torch.add(mask, scores, alpha=module.scaling)
    weights = scores.softmax(-1)
    keep = keep_mask(weights, _rate(module))
    weights = (weights if keep is None else weights * keep).to(value.dtype)
    attended = (weights.flatten(0, 1) @ value).view(-1, heads, asking, size)
    return attended.transpose(1, 2).reshape(-1, heads * size)


def _feed_forward(layer: Any, attended: Tensor, states: Tensor, low: torch.dtype) -> Tensor:
    """What follows attention in a layer, on states of shape (tokens, d)."""
    states = _join(layer.attention.output, attended, states)
    wider = layer.intermediate
    inner = _linear(states.to(low), wider.dense.weight, wider.dense.bias)
    return _join(layer.output, wider.intermediate_act_fn(inner), states)


def _added(mask: Tensor, dtype: torch.dtype) -> Tensor | None:
    """What is added to attention's scores, shape (n, 1, 1, length): 0, and the least number for padding."""
    if mask.all():
        return None
    added = torch.zeros(mask.shape, dtype=dtype).masked_fill_(mask == 0, torch.finfo(dtype).min)
    return added[:, None, None]


def _join(module: Any, inner: Tensor, states: Tensor) -> Tensor:
    """A linear layer, dropout, residual and layer norm: BERT's `output` modules."""
    change = _linear(inner, module.dense.weight, module.dense.bias)
    keep = keep_mask(states, _rate(module))
    joined = states + change if keep is None else _AddKept.apply(states, change, keep)
    return module.LayerNorm(joined)


def _rate(module: Any) -> float:
    return module.dropout.p if module.training else 0.0


class _AddKept(torch.autograd.Function):
    """states + change · keep, where the change may be in a lower format."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, change: Tensor, keep: Tensor) -> Tensor:
        ctx.save_for_backward(keep)
        ctx.low = change.dtype
        return torch.addcmul(states, change.to(states.dtype), keep)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        (keep,) = ctx.saved_tensors
        return gradient, (gradient * keep).to(ctx.low), None


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x Wᵀ + b in the format of x."""
    if x.dtype in (torch.bfloat16, torch.float32) and fused_linear() is not None:
        return _FusedLinear.apply(x, weight.to(x.dtype), bias.to(x.dtype))
    return F.linear(x, weight.to(x.dtype), bias.to(x.dtype))


class _FusedLinear(torch.autograd.Function):
    """`torch.nn.functional.linear` for matrices in bf16 or fp32, by oneDNN."""

    # In fp32 torch itself takes MKL, on an AMD up to a quarter slower than oneDNN for all products but that
    # of the weights' gradient; in bf16 it takes oneDNN for all of them.

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return fused_linear()(x, weight, bias, "none", [], "")

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        if gradient.dtype == torch.float32:
            down = fused_linear()(gradient, weight.T, None, "none", [], "")
        else:
            down = gradient @ weight
        return down, gradient.T @ x, gradient.sum(0)
