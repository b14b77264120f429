"""The exported model: a folder for `transformers` and for old and new sentence-transformers."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.layout import write_modules
from augment_cli.encoding.pooling import LAYER_MEANS, STORED, needs_all_layers, weights_in
from augment_cli.encoding.static import StaticEncoder, write_folder
from augment_cli.errors import UsageError
from augment_cli.store.files import replace_folder
from train.outputs import distinct_tensors, write_tensors


def check_pooling(pooling: str) -> None:
    """Refuse a pooling that the formats we write cannot name, before any time is spent on training."""
    names = _names(pooling)
    for name in names:
        if name not in STORED and (name not in LAYER_MEANS or len(names) > 1):
            joined = f" joined with {' and '.join(names[1:])}" if len(names) > 1 else ""
            raise UsageError(
                f"pooling {name!r}{joined} cannot be stored in a model folder; choose one of "
                f"{', '.join((*STORED, *LAYER_MEANS))}"
            )


def export(encoder: Encoder, folder: Path, dtype: torch.dtype = torch.float32) -> None:
    """Write the encoder, its tokenizer and its pooling; the head stays behind, as in the papers."""
    # Vectors that were of length 1 stay so (`Normalize`). A model in the same folder is replaced as a whole
    # or not at all. Weights stored in fp16 are loaded as fp32.
    work = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if isinstance(encoder, StaticEncoder):
        write_folder(encoder, work, dtype)
    else:
        _write_transformer(encoder, work, dtype)
    replace_folder(work, folder)


def _write_transformer(encoder: Encoder, work: Path, dtype: torch.dtype) -> None:
    weights = {
        name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in _plain(encoder.model).items()
    }
    write_tensors(weights, work / "model.safetensors", metadata={"format": "pt"})
    config = encoder.model.config.to_dict() | {"architectures": [type(encoder.model).__name__]}
    # What loaders compute in. Halves are a format for the disk: a CPU trains 15 times slower in fp16.
    name = "float32" if dtype == torch.float16 else str(dtype).removeprefix("torch.")
    config |= {"dtype": name, "torch_dtype": name}  # the second is what releases before 4.56 read
    if needs_all_layers(encoder.pooling):
        config |= {"output_hidden_states": True}  # for the module that averages layers
    _write(
        work / "config.json", {key: value for key, value in sorted(config.items()) if not key.startswith("_")}
    )
    encoder.tokenizer.backend_tokenizer.no_truncation()
    encoder.tokenizer.backend_tokenizer.no_padding()
    encoder.tokenizer.save_pretrained(work)
    _write_sentence_transformers_files(encoder, work)


def _plain(model: nn.Module) -> dict[str, Tensor]:
    """Tensors by the names that transformers reads: of a parametrised weight its value, not its parts."""
    values = {
        f"{name}.weight": layer.weight
        for name, layer in model.named_modules()
        if parametrize.is_parametrized(layer, "weight")
    }
    own = {name: one for name, one in distinct_tensors(model).items() if ".parametrizations." not in name}
    return own | values


def _write_sentence_transformers_files(encoder: Encoder, folder: Path) -> None:
    paths = {"Transformer": ""}
    chosen = _names(encoder.pooling)
    if chosen[0] in LAYER_MEANS:
        paths |= {"WeightedLayerPooling": "1_WeightedLayerPooling"}
        _write_layer_weights(encoder, chosen[0], folder / paths["WeightedLayerPooling"])
        chosen = ["mean"]
    if encoder.weights is not None:
        paths |= {"WordWeights": "1_WordWeights"}
        _write_word_weights(encoder, folder / paths["WordWeights"])
    paths |= {"Pooling": "1_Pooling"}
    if to_length_one in encoder.modules:
        paths |= {"Normalize": "2_Normalize"}
    write_modules(folder, paths, encoder.prompts, "2.2.2")
    sizes = {"max_seq_length": encoder.max_length, "do_lower_case": encoder.lower_case}
    _write(folder / "sentence_bert_config.json", sizes)
    modes = [STORED[name][0] for name in chosen]
    pooling: dict[str, Any] = {"word_embedding_dimension": encoder.model.config.hidden_size}
    pooling |= {flag: name in chosen for name, (_, flag) in STORED.items()}
    pooling |= {"pooling_mode": modes[0] if len(modes) == 1 else modes}
    pooling |= {} if encoder.prompts.pooled else {"include_prompt": False}
    (folder / "1_Pooling").mkdir()
    _write(folder / "1_Pooling" / "config.json", pooling)


def _names(pooling: str) -> list[str]:
    """The modes of a pooling without their token weights, which are a module of their own."""
    return [name.rpartition(":")[2] for name in pooling.split("+")]


def _write_layer_weights(encoder: Encoder, mode: str, folder: Path) -> None:
    """The library's module that averages layers, embeddings first; `kind.json` says how we call it."""
    layers = encoder.model.config.num_hidden_layers
    weights = torch.zeros(layers + 1)
    weights[list(LAYER_MEANS[mode])] = 1
    folder.mkdir()
    size = {"word_embedding_dimension": encoder.model.config.hidden_size, "num_hidden_layers": layers}
    _write(folder / "config.json", size | {"layer_start": 0})
    write_tensors({"layer_weights": weights}, folder / "model.safetensors", metadata={"format": "pt"})
    _write(folder / "kind.json", {"kind": mode})


def _write_word_weights(encoder: Encoder, folder: Path) -> None:
    """The library's module that weights tokens before the pooling; it takes no further key: `kind.json`."""
    assert encoder.weights is not None
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(range(len(encoder.tokenizer))))
    weights = dict(zip(tokens, encoder.weights.tolist(), strict=True))
    folder.mkdir()
    _write(folder / "config.json", {"vocab": tokens, "word_weights": weights, "unknown_word_weight": 1.0})
    _write(folder / "kind.json", {"kind": weights_in(encoder.pooling)})


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, default=str) + "\n", encoding="utf-8")
