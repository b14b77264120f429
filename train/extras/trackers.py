"""Trackers: what the log says also goes to Trackio or Weights & Biases, which share their calls."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from augment_cli.errors import needed


class Tracker:
    """One run of a tracking library, on this machine alone: nothing is sent anywhere."""

    def __init__(self, name: str, folder: Path, settings: dict[str, Any]) -> None:
        with needed(name, otherwise="--set tracker=none"):
            self._library = importlib.import_module(name)
        place = folder.absolute()
        offline = {"mode": "offline", "dir": str(folder)} if name == "wandb" else {}
        run_name = f"{place.parent.name}/{place.name}"
        self._library.init(project="augment-cli", name=run_name, config=settings, **offline)

    def write(self, event: str, step: int, values: dict[str, Any]) -> None:
        """The numbers of an event."""
        numbers = {
            f"{event}/{key}": value for key, value in values.items() if isinstance(value, (int, float))
        }
        if numbers:
            self._library.log(numbers, step=step)

    def close(self) -> None:
        """End the run."""
        self._library.finish()
