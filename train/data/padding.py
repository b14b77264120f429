"""Token ids to tensors: sorted by length, cut into slices and padded, or in a bag as they are."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augment_cli.encoding.fast.table import ByToken
from augment_cli.text.spans import ranges
from train.data import Ids, Texts


@dataclass(frozen=True)
class Slice:
    """Sequences of like length, padded to the longest of them."""

    places: Tensor  # where they stand in the batch, shape (n,), int64
    ids: Tensor  # token ids, shape (n, length), int64
    mask: Tensor  # 1 for a token, 0 for padding, shape (n, length), int64

    def anchors(self, views: int) -> "Slice":
        """The texts that come first of `views` in their rows, their places counted in rows."""
        chosen = torch.nonzero(self.places % views == 0).squeeze(1)
        width = int(self.mask[chosen].sum(1).max()) if len(chosen) else 0
        return Slice(self.places[chosen] // views, self.ids[chosen, :width], self.mask[chosen, :width])

    def bagged(self) -> "Bag":
        """The same texts without their padding."""
        return Bag(self.places, self.ids[self.mask.bool()], self.mask.sum(1))


@dataclass(frozen=True)
class Bag:
    """Texts one after the other, for a table that looks up tokens: nothing is padded."""

    places: Tensor  # where they stand in the batch, shape (n,), int64
    ids: Tensor  # token ids of all of them, shape (tokens,), int64
    lengths: Tensor  # tokens of each, shape (n,), int64
    by_token: ByToken | None = None  # the tokens in their order, where that is known already

    def anchors(self, views: int) -> "Bag":
        """The texts that come first of `views` in their rows, their places counted in rows."""
        chosen = self.places % views == 0
        ids = self.ids[chosen.repeat_interleave(self.lengths)]
        return Bag(self.places[chosen] // views, ids, self.lengths[chosen])

    def bagged(self) -> "Bag":
        """The same."""
        return self


Piece = Slice | Bag  # of a batch


def moved(batch: Any, device: torch.device) -> Any:
    """The same batch, lists and dataclasses of tensors, on another device."""
    if isinstance(batch, list):
        return [moved(item, device) for item in batch]
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        return dataclasses.replace(batch, **{key: moved(value, device) for key, value in vars(batch).items()})
    return batch.to(device) if isinstance(batch, Tensor) else batch


def with_special(texts: Sequence[Ids], before: list[int], after: list[int], max_length: int) -> Texts:
    """Texts, cut, with the special tokens around them, as tokenizers truncate."""
    texts = Texts.of(texts)
    kept = np.minimum(texts.lengths, max(0, max_length - len(before) - len(after)))
    lengths = kept + (len(before) + len(after)) * texts.present
    values = np.empty(int(lengths.sum()), dtype=texts.values.dtype)
    ends = lengths.cumsum()
    starts = ends - lengths
    values[ranges(starts + len(before), kept)] = texts.values[ranges(texts.starts, kept)]
    for place, token in enumerate(before):
        values[starts[texts.present] + place] = token
    for place, token in enumerate(after):
        values[ends[texts.present] - len(after) + place] = token
    return Texts(values, lengths, texts.present)


def length_sorted_slices(texts: Sequence[Ids], slices: int, pad: int) -> list[Slice]:
    """Sort by length, cut into `slices` groups where it saves most, pad each to its own longest."""
    # Which texts share a slice changes nothing but the padding: every embedding goes back to its place in the
    # batch before they meet in the loss.
    texts = Texts.of(texts)
    known = np.flatnonzero(texts.present)
    if not len(known):
        return []
    order = known[np.argsort(-texts.lengths[known], kind="stable")]
    result = []
    for places in np.split(order, _cuts(texts.lengths[order], slices)):
        lengths = texts.lengths[places]
        width = int(lengths.max())
        ids = np.full((len(places), width), pad, dtype=np.int64)
        mask = np.arange(width) < lengths[:, None]
        ids[mask] = texts.take(places).values
        result.append(Slice(*map(torch.from_numpy, (places.copy(), ids, mask.astype(np.int64)))))
    return result


def in_a_bag(texts: Sequence[Ids]) -> list[Bag]:
    """All texts in their order, unpadded."""
    texts = Texts.of(texts)
    places = np.flatnonzero(texts.present)
    if not len(places):
        return []
    ids, lengths = texts.values.astype(np.int64), texts.lengths[places]
    by_token = ByToken.of(ids, lengths)
    return [Bag(torch.from_numpy(places), torch.from_numpy(ids), torch.from_numpy(lengths), by_token)]


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
