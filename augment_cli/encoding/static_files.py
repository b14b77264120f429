"""Folders of static encoders, read and written: sentence-transformers' `StaticEmbedding` and model2vec's.

What is written is both at once. Both libraries read one folder: `modules.json` names the folder itself as a
`StaticEmbedding`, whose weights may be called `embeddings` as model2vec calls them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augment_cli.encoding.encoder import to_length_one
from augment_cli.encoding.layout import StaticLayout, write_modules
from augment_cli.encoding.static import StaticEncoder, StaticTable
from augment_cli.encoding.words_apart import whole_texts
from augment_cli.errors import BadInputError, MissingError


def read_table(layout: StaticLayout) -> tuple[StaticTable, Any]:
    """The table of a folder, its rows weighted where the folder stores weights, and its tokenizer."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import PreTrainedTokenizerFast

    weights, words = layout.folder / "model.safetensors", layout.folder / "tokenizer.json"
    for path in (weights, words):
        if not path.is_file():
            raise MissingError(f"{path} is missing; fetch or export the model again")
    try:
        tensors = load_file(weights)
    except (OSError, SafetensorError) as error:
        raise BadInputError(f"{weights} cannot be read ({error}); fetch or export the model again") from error
    matrix = tensors.get("embedding.weight", tensors.get("embeddings"))
    if matrix is None or matrix.dim() != 2:
        raise BadInputError(f"{weights} holds no table of embeddings; fetch or export the model again")
    matrix = matrix.float()
    if (mapping := tensors.get("mapping")) is not None:  # model2vec: several tokens share a row
        is_whole = mapping.dim() == 1 and not mapping.is_floating_point() and bool(mapping.numel())
        if not is_whole or not 0 <= int(mapping.min()) <= int(mapping.max()) < len(matrix):
            raise BadInputError(
                f"{weights} maps tokens to rows that its table of {len(matrix):,} has not; fetch or export "
                "the model again"
            )
        matrix = matrix[mapping.long()]
    if (factors := tensors.get("weights")) is not None:
        if factors.shape != matrix.shape[:1]:
            raise BadInputError(
                f"{weights} has weights for {factors.numel():,} tokens and vectors for {len(matrix):,}; "
                "fetch or export the model again"
            )
        matrix = matrix * factors.float()[:, None]
    try:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(words))
    except Exception as error:  # the library raises plain exceptions
        raise BadInputError(f"{words} cannot be read ({error}); fetch or export the model again") from error
    without_special_tokens(tokenizer)
    if (highest := max(tokenizer.get_vocab().values(), default=0)) >= len(matrix):
        raise BadInputError(
            f"{layout.folder}: the tokenizer gives ids up to {highest:,}, and there are {len(matrix):,} "
            "vectors; fetch or export the model again"
        )
    return StaticTable(matrix.contiguous()), tokenizer


def without_special_tokens(tokenizer: Any) -> None:
    """Make a fast tokenizer put nothing before or after a text, cut nothing and pad nothing."""
    from tokenizers.processors import TemplateProcessing

    template = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    whole_texts(tokenizer).post_processor = template


def write_folder(encoder: StaticEncoder, folder: Path, dtype: torch.dtype = torch.float32) -> None:
    """Write an encoder as a folder that sentence-transformers, model2vec and this toolkit load."""
    # Weights of tokens are multiplied into their rows, since not every reader knows them. Vectors that were
    # of length 1 stay so.
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    table = weighted(encoder).to(dtype).contiguous()
    save_file({"embeddings": table}, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors makes its files the owner's alone
    without_special_tokens(encoder.tokenizer)
    encoder.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": table.shape[1],
        "embedding_dtype": str(dtype).removeprefix("torch."),
        "normalize": to_length_one in encoder.modules,
        "max_length": None,  # model2vec would cut texts after 512 tokens
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    paths = {"StaticEmbedding": "."} | ({"Normalize": "1_Normalize"} if config["normalize"] else {})
    write_modules(folder, paths, encoder.prompts, "3.2.0")


def weighted(encoder: StaticEncoder) -> Tensor:
    """The rows of an encoder's table times their weights, shape (V, d), on the CPU."""
    table: Tensor = encoder.model.embedding.weight.detach().cpu()
    return table if encoder.weights is None else table * encoder.weights.cpu().to(table.dtype)[:, None]
