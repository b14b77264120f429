"""Where an earlier run stopped, and whether this one may go on from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from train.outputs import checkpoint
from train.recipe import Recipe, renamed
from train.watching.early_stopping import EarlyStopping

# Settings that may differ between a checkpoint and the run that continues it: none changes a number.
FREE = frozenset({"threads", "workers", "log_every", "evaluate_every", "checkpoint_every", "keep"})
FREE |= {"name", "description", "tracker", "whiten", "whiten_dimension", "rank_timeout"}


@dataclass
class Progress:
    """How far a run has come: what a checkpoint holds besides weights and moments."""

    done: int = 0  # optimiser steps made
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    # Dev scores by name so far: `before`, `best`, `last`.
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    finished: bool = False  # whether the run is at its end, by its steps or by its patience


def resume(
    folder: Path, recipe: Recipe, settings: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer
) -> Progress:
    """Load the newest checkpoint into model and optimiser; without one, begin at step 0."""
    saved = checkpoint.checkpoints(folder)
    if not saved:
        return Progress()
    state = checkpoint.read_state(saved[-1])
    # A run with a constant rate until its last phase may be given its length while it runs.
    open_end = recipe.schedule == "warmup-stable-decay"
    free = FREE | ({"steps", "decay_steps"} if open_end else set())
    checkpoint.check_same_run(saved[-1], renamed(state["settings"]), settings, free | {"negative_layout"})
    checkpoint.load(saved[-1], model, optimizer)
    return Progress(state["step"], EarlyStopping.from_json(state["watch"]), state["scores"])
