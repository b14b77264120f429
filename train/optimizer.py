"""The optimiser, its learning rate as a pure function of the step, and the limit on the gradient."""

import torch
from torch import Tensor

from augment_cli.encoding.static import StaticTable
from train.components import part
from train.model import Model
from train.recipe import Recipe


def make_optimizer(model: Model, recipe: Recipe) -> torch.optim.AdamW:
    """One group for the encoder and one for head and additions."""
    # `set_learning_rate` multiplies a step's learning rate with each group's `scale`.
    groups = [
        {"params": model.encoder_parameters(), "scale": 1.0},
        {"params": model.head_parameters(), "scale": recipe.head_learning_rate_scale},
    ]
    used, adam = [group for group in groups if group["params"]], recipe.optimizer
    rate, decay = recipe.learning_rate, adam.weight_decay
    is_table = isinstance(model.encoder, StaticTable)
    kind = part("extras.static").Optimizer if is_table else torch.optim.AdamW
    return kind(used, lr=rate, betas=adam.betas, weight_decay=decay, fused=True)


def learning_rate_at(step: int, steps: int, recipe: Recipe) -> float:
    """Learning rate of optimiser step `step` (from 0) of `steps`."""
    # `linear` falls to 0 after the warm-up, reaching it one step after the last, as SimCSE's scripts do;
    # `constant` stays; `warmup-stable-decay` stays and falls to 0 in the last `decay_steps` steps, so that
    # the length of a run can be decided while it runs.
    rate = recipe.learning_rate
    if step < recipe.warmup_steps:
        return rate * (step + 1) / recipe.warmup_steps
    if recipe.schedule == "linear":
        return rate * (steps - step) / max(1, steps - recipe.warmup_steps)
    if recipe.schedule == "warmup-stable-decay":
        return rate * min(1.0, (steps - step) / max(1, recipe.decay_steps))
    return rate


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give each group of parameters its learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"]


def clip(model: Model, largest: float) -> float:
    """Scale the gradients, all together, down to a largest norm; 0 is no limit. Returns the norm before."""
    # Gradients below the limit are left alone, not multiplied by one.
    parameters = [parameter for parameter in model.parameters() if parameter.grad is not None]
    numbers = [_numbers(parameter) for parameter in parameters]
    # Of one tensor, such as a static encoder's table, without the overhead of sorting many by their device.
    single = len(numbers) == 1
    total = torch.linalg.vector_norm(numbers[0]) if single else torch.nn.utils.get_total_norm(numbers)
    norm = float(total)
    if largest and norm > largest:
        sparse = [parameter for parameter in parameters if parameter.grad.is_sparse]  # type: ignore[union-attr]
        dense = [parameter for parameter in parameters if not parameter.grad.is_sparse]  # type: ignore[union-attr]
        torch.nn.utils.clip_grads_with_norm_(dense, largest, total)
        for parameter in sparse:
            _numbers(parameter).mul_(largest / (norm + 1e-6))  # as the function above does
    return norm


def _numbers(parameter: Tensor) -> Tensor:
    """A gradient's numbers: all of them, or those of the rows that a sparse one has, each row once."""
    gradient = parameter.grad
    assert gradient is not None
    if not gradient.is_sparse:
        return gradient
    parameter.grad = each_row_once(gradient)
    return parameter.grad.values()


def each_row_once(gradient: Tensor) -> Tensor:
    """A sparse gradient with its rows in order and each once, as that of a static encoder's table is."""
    # Autograd forgets that it is, and adding up what is not there takes longer than the table's own step.
    if gradient.is_coalesced():
        return gradient
    rows = gradient._indices()[0]
    if (rows[1:] <= rows[:-1]).any():
        return gradient.coalesce()
    return torch.sparse_coo_tensor(
        rows[None], gradient._values(), gradient.shape, is_coalesced=True, check_invariants=False
    )
