"""BERT for encoding on a CPU: read without transformers, which take seconds to import, and with less work.

Sentences of unlike length go through the layers together as one matrix of tokens, without padding: only
attention takes those of one length at a time, and needs no mask. Query, key and value are one product.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.encoding.pooling import needs_all_layers, pool
from augment_cli.neural import fast
from augment_cli.neural.runtime import has_fast_bf16

_Linear = Callable[[Tensor], Tensor]
_ROWS = 2_048  # of a product, about: the tokens of a batch
# What a configuration may say of these where the layers are the plain ones; all else goes to transformers.
_PLAIN = {
    "model_type": ("bert",),
    "hidden_act": ("gelu",),
    "position_embedding_type": (None, "absolute"),
    **dict.fromkeys(("is_decoder", "add_cross_attention"), (None, False)),
    **dict.fromkeys(("auto_map", "quantization_config"), (None,)),
}
_SIZES = (
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "type_vocab_size",
    "vocab_size",
)


def is_known(model: Any) -> bool:
    """Whether `PackedBert` stands in for a module: transformers' BERT, on a CPU, and speed is wanted."""
    from transformers import BertModel

    if not fast.is_on() or type(model) is not BertModel or model.config.is_decoder:
        return False
    on_cpu = model.get_input_embeddings().weight.device.type == "cpu"
    return on_cpu and fast.has("BERT's layers", model, *_READ)


# What is read here and in training, of the first layer for all.
_READ = """
    embeddings.word_embeddings.weight embeddings.position_embeddings.weight
    embeddings.token_type_embeddings.weight embeddings.LayerNorm embeddings.dropout.p
    LAYER.attention.self.query.weight LAYER.attention.self.key.weight LAYER.attention.self.value.weight
    LAYER.attention.self.num_attention_heads LAYER.attention.self.attention_head_size
    LAYER.attention.self.scaling LAYER.attention.self.dropout.p
    LAYER.attention.output.dense.weight LAYER.attention.output.dropout.p LAYER.attention.output.LayerNorm
    LAYER.intermediate.dense.weight LAYER.intermediate.intermediate_act_fn
    LAYER.output.dense.weight LAYER.output.dropout.p LAYER.output.LayerNorm
""".replace("LAYER", "encoder.layer.0").split()


@dataclass(frozen=True)
class _Layer:
    """One layer's products; the rest is the module's."""

    module: Any
    projection: _Linear
    output: _Linear
    wider: _Linear
    narrower: _Linear


class PackedBert:
    """The weights of a BERT as they are now, arranged for encoding."""

    def __init__(self, model: Any, pooling: str) -> None:
        self._model, self._pooling = model, pooling
        with torch.inference_mode():
            self._layers = [_layer(module) for module in model.encoder.layer]

    def __call__(self, ids: Sequence[Sequence[int]], weights: Tensor | None = None) -> Tensor:
        """Pooled vectors, shape (n, d), float32, of n texts of at least one token each."""
        shapes = [(len(list(group)), length) for length, group in groupby(map(len, ids))]
        sizes = [count * length for count, length in shapes]
        tokens = torch.tensor(list(chain.from_iterable(ids)))
        layers = [self._embed(tokens, shapes)]
        for layer in self._layers:
            states = _run(layer, layers[-1], shapes, sizes)
            layers = [*layers, states] if needs_all_layers(self._pooling) else [states]
        pooled = []
        for number, (count, length) in enumerate(shapes):
            pieces = [states.split(sizes)[number].view(count, length, -1).float() for states in layers]
            own = tokens.split(sizes)[number].view(count, length)
            of_tokens = None if weights is None else weights[own]
            chosen = pieces if needs_all_layers(self._pooling) else pieces[-1]
            pooled.append(pool(chosen, torch.ones_like(own), self._pooling, of_tokens))
        return torch.cat(pooled).float()

    def _embed(self, tokens: Tensor, shapes: Sequence[tuple[int, int]]) -> Tensor:
        """The embedding layer's output, shape (tokens, d)."""
        module = self._model.embeddings
        positions = torch.cat([torch.arange(length).repeat(count) for count, length in shapes])
        table = module.position_embeddings.weight + module.token_type_embeddings.weight[0]
        embedded: Tensor = module.LayerNorm(
            F.embedding(tokens, module.word_embeddings.weight) + F.embedding(positions, table)
        )
        return embedded


def _layer(module: Any) -> _Layer:
    attention = module.attention.self
    parts = (attention.query, attention.key, attention.value)
    weight, bias = (torch.cat([getattr(part, name) for part in parts]) for name in ("weight", "bias"))
    return _Layer(
        module,
        linear(weight, bias),
        *(
            linear(dense.weight, dense.bias)
            for dense in (module.attention.output.dense, module.intermediate.dense, module.output.dense)
        ),
    )


def _run(layer: _Layer, states: Tensor, shapes: Sequence[tuple[int, int]], sizes: list[int]) -> Tensor:
    module = layer.module
    projected = layer.projection(states).split(sizes)
    attended = [
        _attend(piece, shape, module.attention.self) for piece, shape in zip(projected, shapes, strict=True)
    ]
    states = module.attention.output.LayerNorm(layer.output(torch.cat(attended)).add_(states))
    inner = module.intermediate.intermediate_act_fn(layer.wider(states))
    joined: Tensor = module.output.LayerNorm(layer.narrower(inner).add_(states))
    return joined


def _attend(projected: Tensor, shape: tuple[int, int], module: Any) -> Tensor:
    """Self-attention of texts of one length: query, key and value side by side, (n · length, 3d)."""
    count, length = shape
    heads, size = module.num_attention_heads, module.attention_head_size
    query, key, value = projected.view(count, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    attended = F.scaled_dot_product_attention(query, key, value, scale=module.scaling)
    return attended.transpose(1, 2).reshape(count * length, heads * size)


def linear(weight: Tensor, bias: Tensor) -> _Linear:
    """x Wᵀ + b as a function of x, a matrix in the weights' format."""
    weight, bias = weight.detach(), bias.detach()
    fused = fused_linear()
    if weight.dtype in (torch.bfloat16, torch.float32) and fused is not None:
        # In the layout that oneDNN wants for this many rows, once and for all; else every product begins by
        # copying the weights into it.
        arranged = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        return lambda x: fused(x, arranged, bias, "none", [], "")
    return lambda x: F.linear(x, weight, bias)


@functools.cache
def fused_linear() -> Any:
    """oneDNN's product with bias, where this torch has it and the CPU AVX512-BF16 or AMX; None elsewhere."""
    # `torch.nn.functional.linear` first writes the bias into every row of the result, which costs as much
    # as half the product in bf16 at BERT's sizes (its bits are the same), and in fp32 takes MKL, on an AMD
    # up to a quarter slower (sums are rounded in another order).
    names = ("_linear_pointwise", "_reorder_linear_weight")
    if not has_fast_bf16() or not fast.has("linear layers", torch.ops.mkldnn, *names):
        return None
    return torch.ops.mkldnn._linear_pointwise


def read_bert(folder: Path, config: Mapping[str, Any], dtype: torch.dtype) -> Any | None:
    """What `PackedBert` reads of a model; None where transformers should look at the folder."""
    from safetensors import safe_open

    weights, sizes = folder / "model.safetensors", [config.get(name) for name in _SIZES]
    plain = all(config.get(name) in known for name, known in _PLAIN.items())
    if not fast.is_on() or not plain or (folder / "adapter_config.json").exists() or not weights.is_file():
        return None
    if not all(type(size) is int and size > 0 for size in sizes) or type(_eps(config)) is not float:
        return None
    if config["hidden_size"] % config["num_attention_heads"]:
        return None
    shapes = _shapes(*(size for size in sizes if size is not None))
    with safe_open(weights, framework="pt") as file:
        stored = set(file.keys())
        prefix = "" if "embeddings.LayerNorm.weight" in stored else "bert."
        if any(
            prefix + name not in stored or tuple(file.get_slice(prefix + name).get_shape()) != shape
            for name, shape in shapes.items()
        ):
            return None
        tensors = {name: file.get_tensor(prefix + name).to(dtype) for name in shapes}
    return _arranged(tensors, config)


def _eps(config: Mapping[str, Any]) -> Any:
    return config.get("layer_norm_eps", 1e-12)


def _shapes(
    width: int, inner: int, positions: int, heads: int, layers: int, kinds: int, words: int
) -> dict[str, tuple[int, ...]]:
    """The tensors of a BERT by name: of its tables, and of its layers' products and norms."""
    tables = {"word": words, "position": positions, "token_type": kinds}
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{name}_embeddings.weight": (rows, width) for name, rows in tables.items()
    }
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{number}" for number in range(layers)):
        products = {f"attention.self.{name}": (width, width) for name in ("query", "key", "value")}
        products |= {"attention.output.dense": (width, width), "intermediate.dense": (inner, width)}
        for name, shape in (products | {"output.dense": (width, inner)}).items():
            shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    return shapes | {f"{norm}.{part}": (width,) for norm in norms for part in ("weight", "bias")}


class _Part(SimpleNamespace):
    """A module's tensors and parts; of a norm, its function."""

    def __call__(self, x: Tensor) -> Tensor:
        normed: Tensor = F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)
        return normed


def _arranged(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Any:
    """Tensors, and what else a layer knows, under the names that transformers' modules have."""
    model = _Part()
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        part = model
        for step in path:
            part = vars(part).setdefault(step, _Part(eps=_eps(config)))
        setattr(part, last, tensor)
    model.encoder.layer = [vars(model.encoder.layer)[str(n)] for n in range(config["num_hidden_layers"])]
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads
    for layer in model.encoder.layer:
        attention = layer.attention.self
        attention.num_attention_heads, attention.attention_head_size = heads, size
        attention.scaling, layer.intermediate.intermediate_act_fn = size**-0.5, F.gelu
    return model
