"""Pickled weights to safetensors: the only place where a pickle is read, and then without running code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.claims import check_model
from augment_cli.models.reasons import reason_of
from augment_cli.neural.loading import load_weights, read_config
from augment_cli.store.files import fsync, naming

TARGET = "model.safetensors"


def convert_weights(folder: Path) -> Path:
    """Write a model folder's `pytorch_model*.bin` as `model.safetensors` beside it."""
    # The pickle is read with `torch.load(weights_only=True)`, which takes tensors and plain containers and
    # refuses everything else. Tensors that share memory (tied embeddings) are stored once, as transformers
    # itself stores them, and the result is loaded once to be sure.
    target = folder / TARGET
    if any(folder.glob("*.safetensors")):
        raise UsageError(f"{folder}: has safetensors weights already; nothing to convert")
    files = sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise MissingError(f"{folder}: no pytorch_model*.bin here; give the folder of the downloaded model")
    check_model(folder)
    config = read_config(folder)
    tensors: dict[str, Any] = {}
    for file in files:
        tensors |= _read(file)
    if not tensors:
        raise BadInputError(f"{files[0]}: holds no tensors; fetch the model again")

    from safetensors.torch import save_file

    temporary = target.with_suffix(".tmp")
    # A cache of the hub holds links to files shared between revisions; ours must be a file of its own.
    with naming(temporary):
        save_file(_without_copies(tensors, _tied_names(config)), temporary, metadata={"format": "pt"})
    fsync(temporary)
    temporary.replace(target)
    fsync(folder)
    try:
        _check(folder, config)
    except BadInputError:
        target.unlink()
        raise
    return target


def _read(file: Path) -> dict[str, Any]:
    import torch

    try:
        loaded = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises several kinds: a refused class, a truncated file, no pickle
        raise BadInputError(
            f"{file}: is not a file of tensors alone, so it is not read ({reason_of(error)}); get the model "
            "from its publisher again, or in safetensors"
        ) from error
    values = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else {}
    return {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}


def _tied_names(config: Any) -> set[str]:
    """Names that transformers fills from another tensor when it loads a model of this architecture."""
    import torch
    import transformers

    architecture = getattr(transformers, (config.architectures or [""])[0], None)
    if architecture is None:
        return set()
    with torch.device("meta"):
        model = architecture(config)
    return set(getattr(model, "all_tied_weights_keys", {}))


def _without_copies(tensors: dict[str, Any], tied: set[str]) -> dict[str, Any]:
    """Each tensor once, contiguous: safetensors refuses names that share memory."""
    kept: dict[str, Any] = {}
    places: dict[tuple[int, tuple[int, ...]], str] = {}
    for name in sorted(tensors, key=lambda name: (name in tied, name)):
        tensor = tensors[name]
        place = (tensor.data_ptr(), tuple(tensor.shape))
        if tensor.numel() and place in places and name in tied:
            continue
        places[place] = name
        kept[name] = tensor.clone().contiguous()
    return kept


def _check(folder: Path, config: Any) -> None:
    import torch
    import transformers

    architecture = (config.architectures or [""])[0]
    if hasattr(transformers, architecture):
        load_weights(folder, architecture, torch.float32, "cpu")
