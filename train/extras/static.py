"""Static encoders in training: which recipes make sense for them, look-up of a batch, their optimiser."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from augment_cli.encoding.static import StaticTable
from augment_cli.errors import UsageError
from train.additions import anchors_alone, find, make_views
from train.data import CORPUS, SELF
from train.data.padding import Piece
from train.optimizer import each_row_once
from train.recipe import Recipe


def check(recipe: Recipe, name: str) -> None:
    """Refuse what a static encoder cannot learn from, or does not have."""
    where = f"recipe {recipe.name}: {name} is a static encoder, "
    if recipe.objective == "mlm" or recipe.masking.weight:
        raise UsageError(f"{where}which cannot tell hidden tokens; leave masked language modelling out")
    repeats = not recipe.proportion or set(recipe.positives) <= {SELF, CORPUS}
    changed = any(views.changes_positive for views in make_views(recipe))
    if repeats and not changed and not anchors_alone(recipe):
        raise UsageError(
            f"{where}which has no dropout: a sentence and itself get one vector, and there is nothing to "
            "learn from that pair; name a stage with other texts, such as --set positives=synonym"
        )
    for addition in recipe.additions:
        if find(addition).changes_hidden_states():
            raise UsageError(f"{where}which has no layers; leave [{addition}] out, which changes them")
    if recipe.pooling and recipe.pooling.rpartition(":")[2] not in ("mean", "avg"):
        raise UsageError(f"{where}which pools by mean alone; write --set pooling=mean, idf:mean or sif:mean")
    unfit = {"compile": recipe.machine.compile, "weight_decay": recipe.optimizer.weight_decay}
    for key, value in (unfit | {"gradient_cache": recipe.gradient_cache}).items():
        if value:
            raise UsageError(f"{where}for which there is no {key}; leave it out")


def embed(table: StaticTable, items: Sequence[Piece], weights: Tensor | None) -> list[Tensor]:
    """Vectors of some slices' texts, shape (n, d) each, from one look-up."""
    bags = [item.bagged() for item in items]
    if len(bags) == 1:
        (bag,) = bags
        return [table(bag.ids, bag.lengths.cumsum(0) - bag.lengths, weights, bag.by_token)]
    ids, lengths = (torch.cat(parts) for parts in zip(*((bag.ids, bag.lengths) for bag in bags), strict=True))
    return list(table(ids, lengths.cumsum(0) - lengths, weights).split([len(item.places) for item in items]))


class Optimizer(torch.optim.AdamW):
    """AdamW, and row-wise Adagrad for parameters with a sparse gradient: the table of a static encoder."""

    # A row r with gradient g of d numbers adds mean(g²) to its sum s_r and moves by −rate · g / √s_r; rows
    # that a batch does not meet cost nothing, and torch's own optimisers of sparse gradients keep one or two
    # moments a number, whose updates take several times the rest of a step.
    # Source: Duchi et al. 2011 (AdaGrad, the diagonal form), with one sum for each row.

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move the parameters; those with sparse gradients lose theirs."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.grad.is_sparse:
                    self._move_rows(parameter, group["lr"])
                    parameter.grad = None
        left = any(item.grad is not None for group in self.param_groups for item in group["params"])
        return super().step(closure) if left or closure else None

    @torch.no_grad()
    def _move_rows(self, parameter: Tensor, rate: float) -> None:
        assert parameter.grad is not None
        gradient = each_row_once(parameter.grad)
        rows, values = gradient.indices()[0], gradient.values()
        state = self.state[parameter]
        if not state:
            state["sum"] = torch.zeros(len(parameter), dtype=parameter.dtype, device=parameter.device)
        sums = state["sum"][rows] + torch.linalg.vector_norm(values, dim=1).square() / values.shape[1]
        state["sum"][rows] = sums
        values.mul_((sums.sqrt() + 1e-10).reciprocal()[:, None])  # the gradient is not needed any more
        parameter.add_(gradient, alpha=-rate)
