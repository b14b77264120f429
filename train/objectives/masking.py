"""Masked language modelling: which tokens are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from train.data.padding import Slice, length_sorted_slices, with_special
from train.data.texts import Ids

_KEY = 0x6D6C6D  # keeps these draws apart from the others of the same step


@dataclass(frozen=True)
class MaskedSlice:
    """A slice with hidden tokens.

    Attributes
    ----------
    inputs : Slice
        The slice the encoder sees.
    hidden : Tensor
        Where tokens were hidden, as indices into the flattened (n · length) positions, shape (m,).
    targets : Tensor
        The original ids there, shape (m,).
    """

    inputs: Slice
    hidden: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> MaskedSlice:
        """The same on another device."""
        return MaskedSlice(self.inputs.to(device), self.hidden.to(device), self.targets.to(device))


@dataclass(frozen=True)
class Masking:
    """Which tokens are hidden, as a pure function of (seed, step, row).

    Parameters
    ----------
    rate : float
        Share of a text's tokens that are predicted; of these 80 % are replaced by the mask token, 10 % by
        a random token, 10 % stay (Devlin et al. 2019, section 3.1).
    seed : int
        The run's.
    max_length : int
        Longest text, special tokens included.
    mask, pad : int
        Ids of the mask token and of padding.
    ordinary : numpy.ndarray
        Ids a random replacement may be: all but the special ones. Shape (k,), integers.
    before, after : list of int
        Special tokens before and after a text.
    """

    rate: float
    seed: int
    max_length: int
    mask: int
    pad: int
    ordinary: np.ndarray
    before: list[int]
    after: list[int]

    def hide(
        self, texts: Sequence[Ids], step: int, rows: slice, batch: int, slices: int
    ) -> list[MaskedSlice]:
        """Hide tokens of this rank's texts.

        The draws of a step cover the whole global batch and a rank uses its own rows of them, so that the
        choice does not depend on the number of ranks.

        Parameters
        ----------
        texts : sequence of (numpy.ndarray or None)
            Token ids without special tokens; an empty array for padding, and no None.
        step : int
            Number of the step in the run.
        rows : slice
            Which rows of the global batch these are.
        batch : int
            B.
        slices : int
            See `train.data.padding.length_sorted_slices`.
        """
        generator = np.random.default_rng([self.seed, step, _KEY])
        shape = (batch, self.max_length)
        chosen = (generator.random(shape) < self.rate)[rows]
        kind = generator.random(shape)[rows]
        random = self.ordinary[generator.integers(len(self.ordinary), size=shape)][rows]
        inputs, targets = [], []
        originals = with_special(texts, self.before, self.after, self.max_length)
        for row, original in enumerate(originals):
            assert original is not None
            first, last = len(self.before), len(original) - len(self.after)
            hidden = np.zeros(len(original), dtype=bool)
            hidden[first:last] = chosen[row, first:last]
            n = len(original)
            seen = np.where(
                kind[row, :n] < 0.8, self.mask, np.where(kind[row, :n] < 0.9, random[row, :n], original)
            )
            inputs.append(np.where(hidden, seen, original))
            targets.append(np.where(hidden, original, -1))
        result = []
        for item in length_sorted_slices(inputs, slices, self.pad):
            padded = np.full(item.ids.shape, -1, dtype=np.int64)
            for row, place in enumerate(item.places.tolist()):
                padded[row, : len(targets[place])] = targets[place]
            flat = padded.reshape(-1)
            where = np.flatnonzero(flat >= 0)
            result.append(MaskedSlice(item, torch.from_numpy(where), torch.from_numpy(flat[where])))
        return result
