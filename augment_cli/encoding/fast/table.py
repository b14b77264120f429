"""Sums of a table's rows, whose gradient holds each row once: an embedding bag's sums with less work."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable


def weighted_sums(
    table: Tensor, ids: Tensor, offsets: Tensor, scale: Tensor, by_token: "ByToken | None"
) -> Tensor:
    """Sums of weighted rows: table (V, d), ids and weights (tokens,), offsets (texts,), result (texts, d)."""
    summed: Tensor = _WeightedSums.apply(table, ids, offsets, scale, by_token)
    return summed


@dataclass(frozen=True)
class ByToken:
    """The tokens of some texts, equal ones together: what a gradient's way back to the table goes along.

    It depends on the texts alone, so that a training can have it made ahead of the step.
    """

    tokens: Tensor  # the tokens that occur, ascending, shape (u,), int64
    starts: Tensor  # where each of them begins in `places`, shape (u,), int64
    places: Tensor  # places in the texts, shape (tokens,), int64
    texts: Tensor  # which text each of these places is in, shape (tokens,), int64

    @classmethod
    def of(cls, ids: np.ndarray, lengths: np.ndarray) -> "ByToken":
        """Sort the tokens of texts of some lengths, which follow one another."""
        narrow = np.min_scalar_type(int(ids.max(initial=0)))  # 16 bits are sorted four times as fast as 64
        places = ids.astype(narrow).argsort(kind="stable")
        in_order = ids[places]
        starts = np.flatnonzero(np.diff(in_order, prepend=-1))
        texts = np.repeat(np.arange(len(lengths)), lengths)[places]
        return cls(*map(torch.from_numpy, (in_order[starts], starts, places, texts)))

    def to(self, device: torch.device) -> "ByToken":
        """The same on another device."""
        return ByToken(*(part.to(device) for part in (self.tokens, self.starts, self.places, self.texts)))


class _WeightedSums(torch.autograd.Function):
    """Sums of weighted rows, whose gradient holds each row that was met once.

    torch's own gradient of an embedding bag has a row for each token of the batch, and adding up those of
    equal tokens takes longer than the rest of a training step. The gradient of row v is Σ over the places of
    v of weight · (gradient of that text), which is an embedding bag again: its bags are the tokens, and its
    table the texts' gradients.
    """

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, ids: Tensor, offsets: Tensor, scale: Tensor, by_token: ByToken | None
    ) -> Tensor:
        ctx.save_for_backward(ids, offsets, scale)
        ctx.shape, ctx.by_token = table.shape, by_token
        return F.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        ids, offsets, scale = ctx.saved_tensors
        by = ctx.by_token
        if by is None:
            lengths = np.diff(offsets.cpu().numpy(), append=len(ids))
            by = ByToken.of(ids.cpu().numpy(), lengths).to(gradient.device)
        values = gradient.new_zeros((0, gradient.shape[1]))
        if len(ids):
            values = F.embedding_bag(
                by.texts, gradient.contiguous(), by.starts, mode="sum", per_sample_weights=scale[by.places]
            )
        table_gradient = torch.sparse_coo_tensor(
            by.tokens[None], values, ctx.shape, is_coalesced=True, check_invariants=False
        )
        return table_gradient, None, None, None, None
