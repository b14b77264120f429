"""ESimCSE's word repetition: some sub-words of the positive come twice, so that length tells nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from train.additions.base import Addition, Row, Views, row_generator
from train.data.texts import Ids
from train.recipe import Recipe

_KEY = 0x726570  # keeps these draws apart from others of the same row
_MOST = 10  # the code's bound on the number of repetitions, whatever the length


@dataclass(frozen=True)
class Settings:
    """Keys of ``[repetition]``.

    Attributes
    ----------
    rate : float
        Of the sequence that may be repeated: 0.32 for BERT, 0.30 for RoBERTa-base.
    count : str
        How many sub-words are repeated in a sequence of N, special tokens counted. `code`: uniformly 0 to
        min(10, ⌊rate · N⌋) − 1, which is what the published scores come from. `paper`: uniformly 0 to
        max(2, ⌊rate · N⌋), both included.
    redraw : bool
        Draw anew in each epoch; the code draws once, in preprocessing.
    """

    rate: float = 0.32
    count: str = "code"
    redraw: bool = False


def repeat(
    ids: np.ndarray, settings: Settings, special: tuple[int, int], draws: np.random.Generator
) -> np.ndarray:
    """Double some sub-words in place.

    Parameters
    ----------
    ids : numpy.ndarray
        Token ids with special tokens, already cut, shape (N,). The result may be longer than the cut.
    settings : Settings
        The recipe's table.
    special : tuple of (int, int)
        Numbers of special tokens before and after the text; these are never doubled.
    draws : numpy.random.Generator
        Where the draws come from.

    Returns
    -------
    numpy.ndarray
        Shape (N + k,), int64.
    """
    ordinary = len(ids) - sum(special)
    count = min(int(draws.integers(_most(len(ids), settings) + 1)), ordinary)
    times = np.ones(len(ids), dtype=np.int64)
    times[special[0] + draws.choice(ordinary, count, replace=False) if count else []] = 2
    return np.repeat(ids, times)


def _most(length: int, settings: Settings) -> int:
    """The largest number of repetitions in a sequence of `length` tokens."""
    share = int(settings.rate * length)
    return max(0, min(_MOST, share) - 1) if settings.count == "code" else max(2, share)


class _Repeated(Views):
    changes_positive = True

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings, self.seed = settings, seed

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        anchor, positive, *more = row.views
        assert positive is not None
        draws = row_generator(_KEY, self.seed, row, self.settings.redraw)
        return [anchor, repeat(positive, self.settings, row.special, draws), *more], []

    def longest(self, length: int) -> int:
        return length + _most(length, self.settings)


class Repetition(Addition):
    """The positive with some of its sub-words doubled.

    Source: Wu et al. 2022 (ESimCSE); `Settings.count` says where paper and code differ.
    """

    settings_class = Settings
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"count": ("code", "paper")}

    @classmethod
    def views(cls, settings: Settings, recipe: Recipe) -> Views:
        return _Repeated(settings, recipe.seed)

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        return "" if 0 < settings.rate <= 1 else f"rate = {settings.rate} must lie between 0 and 1"
