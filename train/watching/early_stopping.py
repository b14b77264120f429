"""When to stop: enough evaluations without a better score, a loss that is not finite, a collapse."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from augment_cli.errors import IncompleteError

# A low loss alone is not a collapse (dropout's twins among 64 rows end at 2e-4 nats), nor is a falling
# score: it is both, a loss with nothing left to teach and a score well below its best.
COLLAPSED_LOSS = NOTHING_TO_LEARN = 1e-3  # nats
COLLAPSED_FALL = 0.05  # of the dev score, below its best


class DivergedError(IncompleteError):
    """Training cannot go on: the loss is not finite, or a new encoder has collapsed."""


@dataclass
class EarlyStopping:
    """Best score so far and what followed it; in every checkpoint, so that a resumed run decides alike."""

    best: float = -math.inf  # best dev score; -inf before the first evaluation
    best_step: int = 0  # its step, 0 being the starting encoder
    since: int = 0  # evaluations since then
    loss: float = math.inf  # running mean over some ten steps of the loss above its least value, nats
    # best dev score after training began, from which a collapse falls. The starting encoder's does not count
    # here: training may rightly lose what another objective had taught
    reached: float = -math.inf
    still: int = 0  # steps whose gradient was exactly zero
    collapsed: int = 0  # the step of the evaluation that saw a collapse; 0: none did

    def score(self, score: float, step: int) -> bool:
        """Take note of a dev score; whether it is the best so far."""
        fell = score < self.reached - COLLAPSED_FALL
        if step:
            self.reached = max(self.reached, score)
        if score > self.best:
            self.best, self.best_step, self.since = score, step, 0
            return True
        self.since += 1
        if self.loss < COLLAPSED_LOSS and fell:
            self.collapsed = step
        return False

    def collapse(self, score: float) -> str:
        """What is said of a collapse that a dev score has shown."""
        return (
            f"collapse. The loss is {self.loss:.2g} above the least it can be, while the dev score fell from "
            f"{self.reached:.4f} to {score:.4f}: the encoder tells positives from negatives by something "
            "other than meaning, such as case or length. Look at the texts with `augment-cli inspect`, lower "
            "learning_rate, take other positives, or raise temperature"
        )

    def check(self, loss: float, step: int, floor: float = 0.0) -> None:
        """Take note of a step's loss; `floor`: near it nothing is left to learn; -inf: none."""
        if not math.isfinite(loss):
            kept = f"; best/ holds the best encoder so far, of step {self.best_step}"
            is_first = "No step was made yet: raise temperature, take another --encoder,"
            remedy = "Lower learning_rate (halve it), set clip=1.0," if step > 1 else is_first
            raise DivergedError(
                f"step {step}: the loss is {loss}. {remedy} or use precision=fp32, and name a new --out: "
                "this folder's last checkpoint, with the old settings, would come to the same step again"
                f"{kept if math.isfinite(self.best) else ''}"
            )
        if math.isfinite(floor):
            excess = loss - floor
            self.loss = excess if math.isinf(self.loss) else 0.9 * self.loss + 0.1 * excess

    def is_patient(self, patience: int) -> bool:
        """Whether to go on, allowing `patience` evaluations without a better score; 0 allows any number."""
        return not self.collapsed and (not patience or self.since < patience)

    def as_json(self) -> dict[str, Any]:
        """For the checkpoint; infinities, which JSON lacks, become null."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> EarlyStopping:
        """Back from a checkpoint; one of an older release has no `reached`, which then was the best."""
        known = {key: item for key, item in value.items() if item is not None}
        if "reached" not in value and "best" in known:
            known["reached"] = known["best"]
        return cls(**known)
