"""Where an earlier run stopped, and whether this one may go on from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from train.outputs import checkpoint
from train.recipe import Recipe
from train.watching.watch import Watch

# Settings that may differ between a checkpoint and the run that continues it: none changes a number.
FREE = frozenset(
    {
        "threads",
        "workers",
        "log_every",
        "evaluate_every",
        "checkpoint_every",
        "keep",
        "name",
        "description",
        "tracker",
    }
    | {"whiten", "whiten_dimension"}
)


@dataclass
class Progress:
    """How far a run has come: what a checkpoint holds besides weights and moments.

    Attributes
    ----------
    done : int
        Optimiser steps made.
    watch : Watch
        Best score so far and what followed it.
    scores : dict of str to dict of str to float
        Dev scores so far: `before`, `best`, `last`, each a name-to-number table.
    finished : bool
        Whether the run is at its end, by its steps or by its patience.
    """

    done: int = 0
    watch: Watch = field(default_factory=Watch)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    finished: bool = False


def resume(
    folder: Path, recipe: Recipe, settings: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer
) -> Progress:
    """Load the newest checkpoint into model and optimiser; without one, begin at step 0.

    Parameters
    ----------
    folder : Path
        The run's folder of checkpoints.
    recipe : Recipe
        The run's.
    settings : dict of str to Any
        What the checkpoint must agree on, as JSON values.
    model : torch.nn.Module
        Gets the weights.
    optimizer : torch.optim.Optimizer
        Gets the moments.

    Raises
    ------
    BadInputError
        If the checkpoint is damaged.
    MixError
        If it was made with other settings or data.
    """
    saved = checkpoint.checkpoints(folder)
    if not saved:
        return Progress()
    state = checkpoint.read_state(saved[-1])
    # A run with a constant rate until its last phase may be given its length while it runs.
    open_end = recipe.schedule == "warmup-stable-decay"
    free = FREE | ({"steps", "decay_steps"} if open_end else set())
    checkpoint.check_same_run(saved[-1], state["settings"], settings, free)
    checkpoint.load(saved[-1], model, optimizer)
    return Progress(state["step"], Watch.from_json(state["watch"]), state["scores"])
