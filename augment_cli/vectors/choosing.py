"""Which of a row's neighbours become its negatives: ranks, limits, margins, sampling. Arrays only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.vectors.search import Neighbours

# Why a neighbour within the range of ranks was not taken, in the order of asking; the first counts.
SKIPPED = (
    "equal_to_positive",
    "above_max_score",
    "below_min_score",
    "within_margin",
    "within_relative_margin",
)


@dataclass(frozen=True)
class Chosen:
    """The negatives of m rows."""

    row_ids: np.ndarray  # −1 where there is none
    scores: np.ndarray
    ranks: np.ndarray
    reasons: np.ndarray  # why there is none
    skipped: dict[str, int]  # how many neighbours were passed over, by reason


def choose(
    neighbours: Neighbours,
    positive_scores: np.ndarray,
    forbidden: np.ndarray,
    limits: MineParameters,
    uniforms: np.ndarray | None = None,
) -> Chosen:
    """Take the negatives of each row from its neighbours."""
    # positive_scores: (m,), NaN where the row has no positive: it gets no negatives
    # forbidden: bool (m, k), which neighbours are positives of the row's sentence
    # uniforms: (m, k), draws: the allowed neighbours with the smallest are taken, without them the nearest
    negatives = limits.negatives
    scores, ids = neighbours.scores, neighbours.row_ids
    rows, count = ids.shape
    ranks = np.broadcast_to(np.arange(count, dtype=np.int32), ids.shape)
    has_positive = ~np.isnan(positive_scores)
    inside = (ids >= 0) & (ranks >= limits.range_min) & (ranks < limits.range_max) & has_positive[:, None]
    positive = np.where(has_positive, positive_scores, 0)[:, None]
    against = {"equal_to_positive": forbidden}
    # At its default a limit is none, whatever a score's rounding.
    if limits.max_score != MineParameters.max_score:
        against["above_max_score"] = scores > limits.max_score
    if limits.min_score != MineParameters.min_score:
        against["below_min_score"] = scores < limits.min_score
    if limits.margin:
        against["within_margin"] = scores > positive - limits.margin
    if limits.relative_margin:
        against["within_relative_margin"] = scores > positive * (1 - limits.relative_margin)
    allowed, skipped = inside.copy(), dict.fromkeys(SKIPPED, 0)
    for reason in SKIPPED:
        if reason in against:
            skipped[reason] = int((allowed & against[reason]).sum())
            allowed &= ~against[reason]
    order_by = np.where(allowed, ranks if uniforms is None else uniforms, np.inf)
    taken = np.argsort(order_by, axis=1, kind="stable")[:, :negatives]
    taken = np.pad(taken, ((0, 0), (0, max(0, negatives - count))))
    is_there = np.arange(negatives) < allowed.sum(axis=1)[:, None]
    # Of several drawn ones the nearest first, whatever their draws.
    taken = np.take_along_axis(
        taken, np.argsort(np.where(is_there, taken, count), axis=1, kind="stable"), axis=1
    )
    reasons = np.full((rows, negatives), Reason.TOO_FEW_CANDIDATES, object)
    reasons[~allowed.any(axis=1)] = Reason.ALL_CANDIDATES_SKIPPED
    reasons[~inside.any(axis=1)] = Reason.NO_CANDIDATE
    reasons[~has_positive] = Reason.NO_POSITIVE
    return Chosen(
        np.where(is_there, np.take_along_axis(ids, taken, 1), -1),
        np.where(is_there, np.take_along_axis(scores, taken, 1), np.nan).astype(np.float32),
        np.where(is_there, taken, -1).astype(np.int32),
        reasons,
        skipped,
    )
