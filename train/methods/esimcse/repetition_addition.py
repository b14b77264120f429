"""ESimCSE's word repetition: some sub-words of the positive come twice, so that length tells nothing."""

from dataclasses import dataclass

import numpy as np

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import Addition, Row, Views
from train.data import Ids

_KEY = 0x726570  # keeps these draws apart from others of the same row
_MOST = 10  # the code's bound on the number of repetitions, whatever the length


@dataclass(frozen=True)
class Settings:
    """Keys of ``[repetition]``."""

    rate: float = setting(
        0.32, "of the sequence that may be repeated: 0.32 for BERT, 0.30 for RoBERTa-base", above=0, maximum=1
    )
    count: str = setting(
        "code",
        "how many sub-words are repeated in a sequence of N, special tokens counted. `code`: "
        "uniformly 0 to min(10, ⌊rate · N⌋) − 1, which is what the published scores come from. "
        "`paper`: uniformly 0 to max(2, ⌊rate · N⌋), both included",
        choices=("code", "paper"),
    )
    redraw: bool = setting(False, "draw anew in each epoch; the code draws once, in preprocessing")


def repeat(
    ids: np.ndarray, settings: Settings, special: tuple[int, int], draws: np.random.Generator
) -> np.ndarray:
    """Double some sub-words of ids (N,), which are cut; never special tokens. Shape (N + k,), int64."""
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

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        anchor, positive, *more = row.views
        assert positive is not None
        draws = self.draws(_KEY, row, self.settings.redraw)
        return [anchor, repeat(positive, self.settings, row.special, draws), *more], []

    def longest(self, length: int) -> int:
        return length + _most(length, self.settings)


class Repetition(Addition):
    """The positive with some of its sub-words doubled.

    Source: Wu et al. 2022 (ESimCSE); `Settings.count` says where paper and code differ.
    """

    settings_class, views_class = Settings, _Repeated
