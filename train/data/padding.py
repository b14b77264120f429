"""Token ids to padded tensors: sorted by length and cut into slices, so that little is spent on padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Slice:
    """Sequences of like length, padded to the longest of them.

    Attributes
    ----------
    places : Tensor
        Where they stand in the batch, shape (n,), int64.
    ids : Tensor
        Token ids, shape (n, length), int64.
    mask : Tensor
        1 for a token, 0 for padding, shape (n, length), int64.
    """

    places: Tensor
    ids: Tensor
    mask: Tensor

    def to(self, device: torch.device) -> Slice:
        """The same on another device."""
        return Slice(self.places.to(device), self.ids.to(device), self.mask.to(device))


def with_special(ids: np.ndarray, before: list[int], after: list[int], max_length: int) -> np.ndarray:
    """A text's ids, cut, with the special tokens around them, as tokenizers truncate.

    Parameters
    ----------
    ids : numpy.ndarray
        Token ids without special tokens, shape (length,).
    before, after : list of int
        Special tokens before and after.
    max_length : int
        Most tokens of the result, special tokens included.

    Returns
    -------
    numpy.ndarray
        Shape (at most max_length,), int64.
    """
    room = max(0, max_length - len(before) - len(after))
    if not before and not after:
        return ids[:room].astype(np.int64)
    return np.concatenate([before, ids[:room], after]).astype(np.int64)


def length_sorted_slices(sequences: Sequence[np.ndarray], slices: int, pad: int) -> list[Slice]:
    """Sort by length, cut into `slices` groups where it saves most, pad each to its own longest.

    Which sequences share a slice changes nothing but the padding: every embedding goes back to its place
    in the batch before they meet in the loss.

    Parameters
    ----------
    sequences : sequence of numpy.ndarray
        Token ids, shape (length,) each.
    slices : int
        Most slices to cut into.
    pad : int
        Id of the padding token.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    order = np.argsort(-lengths, kind="stable")
    result = []
    for places in np.split(order, _cuts(lengths[order], slices)):
        width = int(lengths[places].max())
        ids = np.full((len(places), width), pad, dtype=np.int64)
        mask = np.arange(width) < lengths[places][:, None]
        ids[mask] = np.concatenate([sequences[place] for place in places])
        result.append(
            Slice(
                torch.from_numpy(places.copy()),
                torch.from_numpy(ids),
                torch.from_numpy(mask.astype(np.int64)),
            )
        )
    return result


def _cuts(lengths: np.ndarray, slices: int) -> np.ndarray:
    """Where to cut falling lengths into at most `slices` groups, so that padding them costs least."""
    width, counts = np.unique(-lengths, return_counts=True)
    before = np.concatenate([[0], counts.cumsum()])  # texts longer than the k-th width
    sizes = before - before[:-1, None]  # of a group of the widths from i up to j, shape (k, k + 1)
    cost = np.where(sizes > 0, sizes * -width[:, None], np.inf)
    best, last = cost[0], []  # cost of the widths before j in the groups so far, and where the last begins
    for _ in range(min(slices, len(width)) - 1):
        total = best[:-1, None] + cost
        last.append(total.argmin(axis=0))
        best = total.min(axis=0)
    cuts = [len(width)]
    for begins in reversed(last):
        cuts.append(int(begins[cuts[-1]]))
    return before[cuts[:0:-1]]
