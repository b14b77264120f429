"""Steps after pooling: Dense modules of sentence-transformers, and folders with more of them.

Source: `sentence_transformers.base.modules.dense.Dense`, which has a residual since release 5.7.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.digest import copy_model
from augment_cli.store.files import replace_folder

Step = Callable[[Tensor], Tensor]  # of vectors (n, d)
# A closed table: a model folder names its activation, and may name only these.
_ACTIVATIONS: dict[str, Step] = {
    "Tanh": torch.tanh,
    "ReLU": torch.relu,
    "Sigmoid": torch.sigmoid,
    "GELU": torch.nn.functional.gelu,
    "Softmax": lambda x: torch.softmax(x, dim=1),
    "Identity": lambda x: x,
}
_WRITTEN = {"Softmax": "torch.nn.modules.activation.Softmax", "Identity": "torch.nn.modules.linear.Identity"}


def to_length_one(vectors: Tensor) -> Tensor:
    """Vectors (n, d), each divided by its length: the step `Normalize` of sentence-transformers."""
    return torch.nn.functional.normalize(vectors, p=2, dim=1)


@dataclass(frozen=True)
class Dense:
    """activation(x Wᵀ + b), to which x Rᵀ is added where there is a residual."""

    weight: Tensor  # W, (out, in)
    bias: Tensor | None = None  # b, (out,)
    activation: str = "Identity"
    residual: Tensor | None = None  # R, (out, in)

    def __call__(self, vectors: Tensor) -> Tensor:
        """What comes of vectors (n, in), (n, out)."""
        found = _ACTIVATIONS[self.activation](torch.nn.functional.linear(vectors, self.weight, self.bias))
        return found if self.residual is None else found + vectors @ self.residual.T

    @classmethod
    def read(cls, folder: Path, settings: dict[str, Any]) -> "Dense":
        """One from a module's folder and its settings."""
        tensors = read_tensors(folder)
        for key in ("module_input_name", "module_output_name"):
            if settings.get(key, "sentence_embedding") != "sentence_embedding":
                raise BadInputError(f"{folder}: a Dense module on {settings[key]} is not supported")
        name = str(settings.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
        if name not in _ACTIVATIONS:
            raise BadInputError(
                f"{folder}: activation {name} is not supported; known: {', '.join(_ACTIVATIONS)}"
            )
        if "linear.weight" not in tensors:
            raise BadInputError(f"{folder}: a Dense module without linear.weight; export the model again")
        weight, residual = tensors["linear.weight"], tensors.get("residual.weight")
        if settings.get("use_residual") and residual is None:
            residual = torch.eye(*weight.shape)
        return cls(weight, tensors.get("linear.bias"), name, residual)

    def write(self, folder: Path) -> None:
        """Write it into a new folder, as sentence-transformers does."""
        from safetensors.torch import save_file

        names = ("linear.weight", "linear.bias", "residual.weight")
        tensors = zip(names, (self.weight, self.bias, self.residual), strict=True)
        kept = {name: tensor.contiguous() for name, tensor in tensors if tensor is not None}
        folder.mkdir()
        save_file(kept, folder / "model.safetensors")
        settings = {
            "in_features": self.weight.shape[1],
            "out_features": self.weight.shape[0],
            "bias": self.bias is not None,
            "activation_function": _WRITTEN[self.activation],
        }
        # Earlier releases refuse the key, even where it says what they do.
        settings |= {} if self.residual is None else {"use_residual": True}
        (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """The weights of a module, float32, by the names they were saved under."""
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise MissingError(
            f"{folder} holds no model.safetensors; weights stored as a pickle are not loaded here, "
            "read them once with torch.load(weights_only=True) and write safetensors"
        )
    from safetensors.torch import load_file

    return {name: tensor.float() for name, tensor in load_file(weights).items()}


def with_steps(source: Path, target: Path, steps: Sequence[Step]) -> None:
    """Copy a sentence-transformers folder and add steps: `to_length_one`, or Dense modules."""
    if not (source / "modules.json").is_file():
        raise BadInputError(f"{source} has no modules.json; save it with sentence-transformers first")
    if target.exists():
        raise UsageError(f"{target} exists; name a new folder")
    work = target.with_name(f".{target.name}.steps")
    copy_model(source, work)
    modules = json.loads((work / "modules.json").read_text("utf-8"))
    is_old = modules[0]["type"].rsplit(".", 1)[0].endswith("models")
    for step in steps:
        number, kind = len(modules), "Normalize" if step is to_length_one else "Dense"
        name = f"{number}_{kind}"
        where = "models" if is_old else f"base.modules.{kind.lower()}"
        kind = f"sentence_transformers.{where}.{kind}"
        modules.append({"idx": number, "name": str(number), "path": name, "type": kind})
        if isinstance(step, Dense):
            step.write(work / name)
        else:
            (work / name).mkdir()
    (work / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", "utf-8")
    replace_folder(work, target)
