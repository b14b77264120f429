"""What a run leaves behind; here whether its folder can be written, seen before anything is loaded."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.errors import UsageError
from augment_cli.store.files import check_output_folder

if TYPE_CHECKING:
    from torch import Tensor, nn

CHECKPOINTS = "checkpoints"  # in the run's folder
# What a run has there.
_FOLDERS = (CHECKPOINTS, "tensorboard", "last", "best", "whitened")
_FILES = ("log.jsonl", "summary.json", "run.png", "run.html", "adapted.json", "adaptation.html", "map.png")


def check_folder(out: Path) -> None:
    """See that a run can be written to a folder, with the errors of `check_output_folder`."""
    check_output_folder(out, "--out", _FOLDERS, _FILES)


def check_new_folder(out: Path) -> None:
    """See that an encoder or verifier can be written to a folder that is not there yet."""
    check_output_folder(out, "--out")
    if out.exists():
        raise UsageError(f"{out} exists; name a new folder as --out")


def write_tensors(
    tensors: "Mapping[str, Tensor]", path: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file; an error of the disk is one of the operating system, with its number."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(dict(tensors), path, metadata=metadata)
        path.chmod(0o644)  # safetensors makes its files the owner's alone
    except SafetensorError as error:
        if number := re.search(r"os error (\d+)", str(error)):
            code = int(number[1])
            raise OSError(code, os.strerror(code), str(path)) from error
        raise


def distinct_tensors(model: "nn.Module") -> "dict[str, Tensor]":
    """Parameters and buffers by name, each once, as safetensors requires of tensors that share memory."""
    seen: dict[int, str] = {}
    return {
        name: tensor.contiguous()
        for name, tensor in model.state_dict().items()
        if seen.setdefault(tensor.data_ptr(), name) == name or not tensor.numel()
    }
