"""One digest for a model folder, so that a cached embedding can be tied to what made it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from augment_cli.errors import MissingError

# What decides an embedding: weights, configuration, tokenizer. Cards, logs and optimizer states do not.
_PATTERNS = (
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_*_config.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "*.model",
)


def model_digest(folder: Path) -> str:
    """SHA-256 over the sorted (name, SHA-256) pairs of a model's weights, config and tokenizer files.

    Parameters
    ----------
    folder
        A model folder; the numbered sub-folders of a sentence-transformers model count too.

    Returns
    -------
    str
        64 hexadecimal digits, the same wherever the folder lies.

    Raises
    ------
    MissingError
        If the folder holds none of these files.
    """
    folders = [
        folder,
        *sorted(child for child in folder.iterdir() if child.is_dir() and child.name[:1].isdigit()),
    ]
    files = sorted({path for part in folders for pattern in _PATTERNS for path in part.glob(pattern)})
    if not files:
        raise MissingError(f"{folder} holds no model: no weights, config or tokenizer file")
    total = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in files):
        with path.open("rb") as file:
            total.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
