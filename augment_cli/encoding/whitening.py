"""Whitening of embeddings (Su et al. 2021): a baseline, and a step that can be stored with a model."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.errors import BadInputError, UsageError


@dataclass(frozen=True)
class Whitening:
    """x̃ = (x − μ) W with W = U Λ^(−1/2), from the covariance U Λ Uᵀ of the vectors it was fitted on."""

    mean: np.ndarray  # μ, shape (d,), float64
    kernel: np.ndarray  # W, shape (d, k), columns by falling variance

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Whiten vectors (n, d) into (n, k), float32."""
        return ((np.asarray(vectors, dtype=np.float64) - self.mean) @ self.kernel).astype(np.float32)


def fit(vectors: np.ndarray, dimension: int | None = None, weights: np.ndarray | None = None) -> Whitening:
    """Fit on vectors (n, d), which for the published baseline are the evaluated sentences themselves."""
    # weights: share of each vector in mean and covariance, (n,). With the probabilities of words for their
    # vectors it is Zipfian whitening (Yokoi et al. 2024).
    if len(vectors) < 2:
        raise UsageError(f"whitening needs at least two sentences, not {len(vectors)}")
    data = np.asarray(vectors, dtype=np.float64)
    mean = np.average(data, axis=0, weights=weights)
    covariance = np.cov(data - mean, rowvar=False, bias=True, aweights=weights)
    variance, directions = np.linalg.eigh(covariance)
    variance, directions = variance[::-1], directions[:, ::-1]
    kept = variance > max(variance[0], 0) * max(data.shape) * np.finfo(np.float32).eps
    if not kept.any():
        raise UsageError("whitening needs embeddings that differ; these are all equal")
    kernel = (directions / np.sqrt(np.where(kept, variance, 1)))[:, kept]
    return Whitening(mean, kernel[:, :dimension])


def store(whitening: Whitening, source: Path, target: Path) -> None:
    """Copy a sentence-transformers folder and add the whitening as its last step."""
    # It is written as a Dense module without activation, W as weight and −μW as bias, which
    # sentence-transformers and this evaluator both read.
    from safetensors.numpy import save_file

    if not (source / "modules.json").is_file():
        raise BadInputError(f"{source} has no modules.json; save it with sentence-transformers first")
    if target.exists():
        raise UsageError(f"{target} exists; name a new folder")
    shutil.copytree(source, target)
    modules = json.loads((target / "modules.json").read_text("utf-8"))
    number = len(modules)
    name = f"{number}_Dense"
    is_old = modules[0]["type"].rsplit(".", 1)[0].endswith("models")
    kind = f"sentence_transformers.{'models' if is_old else 'base.modules.dense'}.Dense"
    modules.append({"idx": number, "name": str(number), "path": name, "type": kind})
    folder = target / name
    folder.mkdir()
    weight = np.ascontiguousarray(whitening.kernel.T, dtype=np.float32)
    bias = (-whitening.mean @ whitening.kernel).astype(np.float32)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "model.safetensors")
    config = {
        "in_features": weight.shape[1],
        "out_features": weight.shape[0],
        "bias": True,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    (target / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", "utf-8")
