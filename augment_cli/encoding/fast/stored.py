"""A BERT read from its files for encoding alone: transformers' modules take seconds to import."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.neural import fast

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
