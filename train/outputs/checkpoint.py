"""Checkpoints: atomic, digested, refused by name when damaged or foreign.

```
checkpoints/step-0000500/
  model.safetensors       encoder, heads
  optimizer.safetensors   moments of AdamW
  state.json              step, settings, scores so far, SHA-256 of the two files and of itself
```
A folder of that name is complete: it is written beside and renamed. No random state is stored, because every
draw is a function of (seed, step).
"""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from augment_cli.errors import BadInputError, MixError
from augment_cli.store.files import fsync, refuse_special, replace_folder, sha256_of_file, sha256_of_json
from train.outputs import distinct_tensors, write_tensors

FORMAT = 2
_NAME = re.compile(r"step-(\d{7,})")


def checkpoints(folder: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(
        (path for path in folder.iterdir() if _NAME.fullmatch(path.name)),
        key=lambda path: int(path.name.removeprefix("step-")),
    )


def save(
    folder: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any]
) -> Path:
    """Write a checkpoint, as a whole or not at all."""
    target = folder / f"step-{step:07d}"
    work = folder / f".writing-{step:07d}-{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_tensors(distinct_tensors(model), work / "model.safetensors")
    write_tensors(_optimizer_tensors(model, optimizer), work / "optimizer.safetensors")
    digests = {name: sha256_of_file(work / name) for name in ("model.safetensors", "optimizer.safetensors")}
    content = json.loads(json.dumps({"format": FORMAT, "step": step, "digests": digests} | state))
    content["digest"] = sha256_of_json(content)
    (work / "state.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for name in (*digests, "state.json"):
        fsync(work / name)
    fsync(work)
    replace_folder(work, target)  # an interrupted run may have come to the same step
    fsync(folder)
    return target


def rotate(folder: Path, keep: int) -> None:
    """Delete old checkpoints, and what killed runs left half written."""
    for path in checkpoints(folder)[:-keep]:
        shutil.rmtree(path)
    for pattern in (".writing-*", ".*.replaced"):
        for path in folder.glob(pattern):
            shutil.rmtree(path)


def read_state(path: Path) -> dict[str, Any]:
    """A checkpoint's `state.json`, it and the two other files checked against their digests."""
    advice = "delete this folder to continue from the checkpoint before it"
    try:
        refuse_special(path / "state.json")
        state = json.loads((path / "state.json").read_bytes())
        known = state["format"] == FORMAT and isinstance(state["step"], int)
        digests = dict(state["digests"])
        recorded = state.pop("digest", None)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInputError(f"{path}: no readable state.json ({error!r}); {advice}") from error
    if not known:
        raise BadInputError(f"{path}: a checkpoint of another format or program; {advice}")
    if sha256_of_json(state) != recorded:
        raise BadInputError(f"{path}: state.json is damaged (its SHA-256 is not the recorded one); {advice}")
    for name in ("model.safetensors", "optimizer.safetensors"):
        file = path / name
        if not file.is_file():
            raise BadInputError(f"{file}: is missing; {advice}")
        if sha256_of_file(file) != digests.get(name):
            raise BadInputError(f"{file}: is damaged (its SHA-256 is not the recorded one); {advice}")
    return state


def check_same_run(path: Path, saved: dict[str, Any], now: dict[str, Any], free: frozenset[str]) -> None:
    """Refuse a checkpoint made with other settings."""
    for key in sorted((saved.keys() | now.keys()) - free):
        if saved.get(key) != now.get(key):
            is_setting = key not in ("encoder", "data") and isinstance(saved.get(key), str | int | float)
            value = str(saved.get(key))
            option = f" (--set {key}={value.lower() if value in ('True', 'False') else value})" * is_setting
            raise MixError(
                f"{path}: made with {key} = {saved.get(key)!r}, now {now.get(key)!r}; use the same settings"
                f"{option}, or another --out"
            )


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Put a checkpoint's numbers into a model and its optimiser."""
    try:
        tensors = load_file(path / "model.safetensors")
        moments = load_file(path / "optimizer.safetensors")
    except (OSError, SafetensorError) as error:
        raise BadInputError(
            f"{path}: cannot be read ({error}); delete this folder and resume again"
        ) from error
    own = distinct_tensors(model)
    # Until 1.0.0 with a pooler of random numbers, which nothing used.
    tensors = {name: one for name, one in tensors.items() if name in own or "encoder.pooler." not in name}
    for name in sorted(own.keys() | tensors.keys()):
        if name not in own or name not in tensors or own[name].shape != tensors[name].shape:
            raise BadInputError(
                f"{path}: tensor {name} does not fit this model; it is another model's checkpoint"
            )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])
    for name, parameter in model.named_parameters():
        entries = {
            key.rpartition("|")[2]: value for key, value in moments.items() if key.rpartition("|")[0] == name
        }
        if entries:
            # The count of steps too: the fused optimiser reads it where the parameter lies.
            optimizer.state[parameter] = {key: value.to(parameter.device) for key, value in entries.items()}


def _optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{name}|{key}": value.contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }
