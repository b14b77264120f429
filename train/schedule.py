"""The learning rate as a pure function of the step."""

from __future__ import annotations

from train.recipe import Recipe


def rate_at(step: int, steps: int, recipe: Recipe) -> float:
    """Learning rate of optimiser step `step` (from 0) of `steps`.

    `linear` falls to 0 after the warm-up, reaching it one step after the last, as SimCSE's scripts do;
    `constant` stays; `warmup-stable-decay` stays and falls to 0 in the last `decay_steps` steps, so that the
    length of a run can be decided while it runs.
    """
    rate = recipe.learning_rate
    if step < recipe.warmup_steps:
        return rate * (step + 1) / recipe.warmup_steps
    if recipe.schedule == "linear":
        return rate * (steps - step) / max(1, steps - recipe.warmup_steps)
    if recipe.schedule == "warmup-stable-decay":
        return rate * min(1.0, (steps - step) / max(1, recipe.decay_steps))
    return rate
