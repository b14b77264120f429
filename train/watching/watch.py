"""When to stop: enough evaluations without a better score, a loss that is not finite, a collapse."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from augment_cli.errors import UserError

# A low loss alone is not a collapse (dropout's twins among 64 rows end at 2e-4 nats), nor is a falling
# score: it is both, a loss with nothing left to teach and a score well below its best.
COLLAPSED_LOSS = NOTHING_TO_LEARN = 1e-3  # nats
COLLAPSED_FALL = 0.05  # of the dev score, below its best


class DivergedError(UserError):
    """Training cannot go on: the loss is not finite, or the encoder has collapsed."""

    exit_code = 1


@dataclass
class Watch:
    """Best score so far and what followed it. Part of every checkpoint, so that a resumed run decides alike.

    Attributes
    ----------
    best : float
        Best dev score; -inf before the first evaluation.
    best_step : int
        Its step, 0 being the starting encoder.
    since : int
        Evaluations since then.
    reached : float
        Best dev score after training began, from which a collapse falls. The starting encoder's does not
        count here: training may rightly lose what another objective had taught.
    loss : float
        Running mean of the loss over some ten steps, nats.
    """

    best: float = -math.inf
    best_step: int = 0
    since: int = 0
    loss: float = math.inf
    reached: float = -math.inf

    def score(self, score: float, step: int) -> bool:
        """Take note of a dev score.

        Parameters
        ----------
        score : float
            Higher is better.
        step : int
            Optimiser steps made.

        Returns
        -------
        bool
            Whether it is the best so far.

        Raises
        ------
        DivergedError
            If the loss is near zero while the score has fallen: the encoder solves the task by a shortcut.
        """
        fell = score < self.reached - COLLAPSED_FALL
        if step:
            self.reached = max(self.reached, score)
        if score > self.best:
            self.best, self.best_step, self.since = score, step, 0
            return True
        self.since += 1
        if self.loss < COLLAPSED_LOSS and fell:
            raise DivergedError(
                f"step {step}: collapse. The loss is {self.loss:.2g} while the dev score fell from "
                f"{self.reached:.4f} to {score:.4f}: the encoder tells positives from "
                "negatives by something other than meaning, such as case or length. Look at the texts "
                "with `augment-cli inspect`, lower learning_rate, or raise temperature; the best encoder so "
                "far is kept in best/"
            )
        return False

    def check(self, loss: float, step: int, collapses: bool = True) -> None:
        """Take note of a loss.

        Parameters
        ----------
        loss : float
            Nats.
        step : int
            Number of the step, from 1.
        collapses : bool, optional
            Whether a loss near zero may be a collapse; a regression's is what it aims at.

        Raises
        ------
        DivergedError
            If it is NaN or infinite.
        """
        if not math.isfinite(loss):
            raise DivergedError(
                f"step {step}: the loss is {loss}. Lower learning_rate (halve it), set clip=1.0, or use "
                "precision=fp32, and name a new --out: this folder's last checkpoint, with the old settings, "
                "would come to the same step again"
            )
        if collapses:
            self.loss = loss if math.isinf(self.loss) else 0.9 * self.loss + 0.1 * loss

    def is_patient(self, patience: int) -> bool:
        """Whether to go on, allowing `patience` evaluations without a better score; 0 allows any number."""
        return not patience or self.since < patience

    def as_json(self) -> dict[str, Any]:
        """For the checkpoint; infinities, which JSON lacks, become null."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Watch:
        """Back from a checkpoint; one of an older release has no `reached`, which then was the best."""
        known = {key: item for key, item in value.items() if item is not None}
        if "reached" not in value and "best" in known:
            known["reached"] = known["best"]
        return cls(**known)
