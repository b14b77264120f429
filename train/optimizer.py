"""The optimiser, its learning rate as a pure function of the step, and the limit on the gradient."""

from __future__ import annotations

import torch

from train.model.model import Model
from train.recipe import Recipe


def make_optimizer(model: Model, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW in one group for the encoder and one for head and additions.

    Each group's `scale` is to be multiplied with the rate of a step (`set_rate`).

    Parameters
    ----------
    model : Model
        What is trained.
    recipe : Recipe
        Rates, betas, weight decay.
    """
    groups = [
        {"params": model.encoder_parameters(), "scale": 1.0},
        {"params": model.head_parameters(), "scale": recipe.head_rate_scale},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
        fused=True,
    )


def rate_at(step: int, steps: int, recipe: Recipe) -> float:
    """Learning rate of optimiser step `step` (from 0) of `steps`.

    `linear` falls to 0 after the warm-up, reaching it one step after the last, as SimCSE's scripts do;
    `constant` stays; `warmup-stable-decay` stays and falls to 0 in the last `decay_steps` steps, so that the
    length of a run can be decided while it runs.

    Parameters
    ----------
    step : int
        Steps made before this one.
    steps : int
        Length of the run.
    recipe : Recipe
        Schedule and largest rate.
    """
    rate = recipe.learning_rate
    if step < recipe.warmup_steps:
        return rate * (step + 1) / recipe.warmup_steps
    if recipe.schedule == "linear":
        return rate * (steps - step) / max(1, steps - recipe.warmup_steps)
    if recipe.schedule == "warmup-stable-decay":
        return rate * min(1.0, (steps - step) / max(1, recipe.decay_steps))
    return rate


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give each group of parameters its learning rate.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        From `make_optimizer`.
    rate : float
        The encoder's; other groups get it times their `scale`.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"]


def clip(model: Model, largest: float) -> float:
    """Scale the gradients down to a largest norm.

    Gradients below the limit are left alone, not multiplied by one.

    Parameters
    ----------
    model : Model
        Its parameters' gradients, all together, have the norm.
    largest : float
        The limit, at least 0; 0 is none.

    Returns
    -------
    float
        The norm before.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.grad is not None]
    total = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters])  # type: ignore[misc]
    norm = float(total)
    if largest and norm > largest:
        torch.nn.utils.clip_grads_with_norm_(parameters, largest, total)
    return norm
