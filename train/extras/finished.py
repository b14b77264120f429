"""Whether a command has finished before, seen without loading a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from augment_cli.errors import UserError
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import find_folder
from augment_cli.store.files import sha256_of_file
from train.prepare import Run
from train.seeds import show


def known_by(run: Run, model: Path) -> dict[str, Any]:
    """What a summary has of its command: where its model is, the settings, digests of store and encoder."""
    encoder, _ = find_folder(run.encoder, False, "model")
    digests = {"store": sha256_of_file(run.store / "manifest.json"), "encoder": model_digest(encoder)}
    return {"model": str(model), "settings": json.loads(json.dumps(run.recipe.as_json()))} | digests


def is_finished(run: Run, seeds: list[int], say: bool) -> bool:
    """Whether nothing is left to do; it may be said then."""
    try:
        summary = json.loads((run.out / "summary.json").read_bytes())
        model = Path(summary["model"])
        same = (model / "README.md").is_file()
        same = same and summary.items() >= (known_by(run, model) | {"seeds": seeds}).items()
    except (UserError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return False  # if something is wrong, the run itself says so
    if same and say:
        print("finished before: the same settings, data and encoder; another --out trains anew")
        show(summary)
    return same
