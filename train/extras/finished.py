"""Whether a command has finished before, seen without loading a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import find_folder
from augment_cli.store.files import sha256_of_file
from augment_cli.store.named_files import read_small_file
from train.prepare import Run
from train.run import CHECKPOINTS
from train.seeds import show


def known_by(run: Run, model: str) -> dict[str, Any]:
    """What a summary has of its command: where its model is, the settings, digests of store and encoder."""
    encoder, _ = find_folder(run.encoder, False, "model")
    digests = {"store": sha256_of_file(run.store / "manifest.json"), "encoder": model_digest(encoder)}
    return {"model": model, "settings": json.loads(json.dumps(run.recipe.as_json()))} | digests


def is_finished(run: Run, seeds: list[int], say: bool) -> bool:
    """Whether nothing is left to do; it may be said then."""
    try:
        summary = json.loads(read_small_file(run.out / "summary.json"))
        outs = [run.out / f"seed-{seed}" if len(seeds) > 1 else run.out for seed in seeds]
        ends = [f"{CHECKPOINTS}/step-{step:07d}/state.json" for step in summary["steps"]]
        kept = [Path(summary["model"]) / "README.md", *map(Path.joinpath, outs, ends)]
        known = known_by(run, summary["model"]) | {"seeds": seeds}
        same = all(file.is_file() for file in kept) and summary.items() >= known.items()
        if same and say:
            print("finished before: the same settings, data and encoder; another --out trains anew")
            show(summary)
    except Exception:  # whatever is wrong, the run itself says so
        return False
    return same
