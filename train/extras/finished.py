"""Whether a command has finished before, seen before torch is loaded; and what a finished one prints."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from augment_cli.encoding.layout import is_static
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import find_folder
from augment_cli.store.files import read_small_file, sha256_of_file
from train.outputs.folder import CHECKPOINTS
from train.recipe import Recipe


def known_by(recipe: Recipe, store: Path, encoder: str, model: str) -> dict[str, Any]:
    """What a summary has of its command: where its model is, the settings, digests of store and encoder."""
    start, _ = find_folder(encoder, False, "model")
    digests = {"store": sha256_of_file(store / "manifest.json"), "encoder": model_digest(start)}
    return {"model": model, "settings": json.loads(json.dumps(recipe.as_json()))} | digests


def is_finished(recipe: Recipe, store: Path, encoder: str, out: Path, seeds: list[int], say: bool) -> bool:
    """Whether nothing is left to do; it may be said then."""
    try:
        summary = json.loads(read_small_file(out / "summary.json"))
        outs = [out / f"seed-{seed}" if len(seeds) > 1 else out for seed in seeds]
        ends = [f"{CHECKPOINTS}/step-{step:07d}/state.json" for step in summary["steps"]]
        kept = [Path(summary["model"]) / "README.md", *map(Path.joinpath, outs, ends)]
        known = known_by(recipe, store, encoder, summary["model"]) | {"seeds": seeds}
        same = all(file.is_file() for file in kept) and summary.items() >= known.items()
        if same and say:
            print("finished before: the same settings, data and encoder; another --out trains anew")
            show(summary)
    except Exception:  # whatever is wrong, the run itself says so
        return False
    return same


def show(summary: dict[str, Any]) -> None:
    """Print the scores of all seeds, and what to do next."""
    print(f"{'score':<28} {'mean':>8} {'sd':>8}   over seeds {', '.join(map(str, summary['seeds']))}")
    for name, values in summary["scores"].items():
        mean, deviation = mean_and_deviation(values)
        print(f"{name:<28} {mean:>8.4f} {deviation:>8}")
    print(next_lines(Path(summary["model"])))


def next_lines(model: Path) -> str:
    """Where the model is, and the lines that publish it and that convert it."""
    name, hub = shlex.quote(str(model)), shlex.quote(f"YOUR-NAME/{model.absolute().parent.name}")
    convert = "none, as a static encoder has no layers to convert: a text is looked up in its table"
    if not is_static(model):  # sentence-transformers has no ONNX form of StaticEmbedding
        convert = f"SentenceTransformer({str(model)!r}, backend='onnx').save_pretrained({f'{model}-onnx'!r})"
    return "\n".join([f"model: {model}", f"publish: hf upload {hub} {name} .", f"ONNX: {convert}"])


def mean_and_deviation(values: list[float]) -> tuple[float, str]:
    """Mean, and sample standard deviation as text."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, "–"
    return mean, f"{(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5:.4f}"
