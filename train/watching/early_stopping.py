"""When to stop (no better score, a loss that is not finite, a collapse), and how it ended, in one line."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from augment_cli.errors import IncompleteError
from augment_cli.places import as_typed
from train.recipe import Recipe

# A low loss alone is not a collapse (dropout's twins among 64 rows end at 2e-4 nats), nor is a falling
# score: it is both, a loss with nothing left to teach and a score well below its best.
COLLAPSED_LOSS = NOTHING_TO_LEARN = 1e-3  # nats
COLLAPSED_FALL = 0.05  # of the dev score, below its best
Scores = dict[str, dict[str, float]]
LOOK = "look at it with `python -m train nearest`, score it with `python -m eval`"


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
    def from_json(cls, value: dict[str, Any]) -> "EarlyStopping":
        """Back from a checkpoint; one of an older release has no `reached`, which then was the best."""
        known = {key: item for key, item in value.items() if item is not None}
        if "reached" not in value and "best" in known:
            known["reached"] = known["best"]
        return cls(**known)


def is_beyond_noise(gain: tuple[float, float, float]) -> bool:
    """Whether the 95 % interval of a gain, its last two numbers, lies above zero."""
    return gain[1] > 0


def is_accepted(gain: tuple[float, float, float], allowed: float) -> bool:
    """Whether an encoder with this gain comes out: it may lose `allowed`, or must gain where that is 0."""
    return gain[0] > -allowed if allowed else is_beyond_noise(gain)


def verdict(
    scores: Scores,
    stopping: EarlyStopping,
    done: int,
    steps: int,
    recipe: Recipe,
    gain: tuple[float, float, float] | None = None,
    untrained: str = "",
    allowed: float = 0.0,
) -> tuple[str, str]:
    """The outcome (better, same, worse than the start, unknown) and its line.

    `gain` is that of a `DevTest`; `allowed` is what it may lose, where the words confirm what was taught.
    """
    look = as_typed(LOOK)
    if untrained:
        return "same", f"same: best/ is the starting encoder, and nothing was trained: {untrained}"
    if not done:
        return "unknown", f"nothing was trained (no steps); next: {look}"
    if stopping.still == done:
        nothing = f"same: nothing was learned, as the gradient was exactly zero in all {done:,} steps"
        return "same", f"{nothing}: {_unlearned(stopping, recipe)}; name another --out"
    why = f"stopped at step {done:,} after {stopping.since:,} evaluations without a better score"
    if stopping.collapsed or done >= steps:
        collapse = f"stopped at step {done:,} by a collapse"
        why = collapse if stopping.collapsed else f"all {steps:,} steps were made"
    why += f", {stopping.still:,} of them with a gradient of exactly zero" if stopping.still else ""
    if "before" not in scores:
        return "unknown", f"the starting encoder has no dev score to compare with; {why}; next: {look}"
    name, before = next(iter(scores["before"].items()))
    last = scores.get("last", {}).get(name, math.nan)
    unmoved = f"{last:.4f}" == f"{before:.4f}" and not stopping.collapsed
    rate = f"--set learning_rate={recipe.learning_rate * (10 if unmoved else 0.5):.2g}"
    change = f"the same command with {rate} or other positives, and another --out"
    interval = f"95 %: {gain[1]:+.4f} to {gain[2]:+.4f}; " if gain else ""
    if gain and not is_accepted(gain, allowed):
        return "same", (
            f"same: what step {stopping.best_step:,} gained is within noise ({interval}{name} "
            f"{before:.4f} before): best/ is the starting encoder; {why}; next: {change}"
        )
    if step := stopping.best_step:
        best = scores["best"][name]
        longer = f"the last evaluation was the best: --set steps={2 * steps} and another --out may gain more"
        following = change if stopping.collapsed else longer if step == done == steps else look
        if gain and not is_beyond_noise(gain):
            return "better", (
                "better than the starting encoder, as the texts' words confirm the groups that it was taught "
                f"({interval}{name} {before:.4f} before, {best:.4f} at step {step:,}, and {allowed:g} less "
                f"would do): best/ is the encoder of that step; {why}; next: {look}"
            )
        return "better", (
            f"better than the starting encoder by {gain[0] if gain else best - before:.4f} ({interval}{name} "
            f"{before:.4f} before, {best:.4f} at step {step:,}): best/ is the encoder of that step; {why}; "
            f"next: {following}"
        )
    return (outcome := "same" if unmoved else "worse"), (
        f"{outcome}: training beat the starting encoder in no evaluation ({name} {before:.4f} before, "
        f"{last:.4f} at the end): best/ is the starting encoder; {why}; next: {change}"
    )


def _unlearned(stopping: EarlyStopping, recipe: Recipe) -> str:
    """Why a training may have learned nothing, and what to do next."""
    if recipe.objective == "mlm":
        return f"no word was hidden; raise mask_rate ({recipe.masking.rate:g}), or give longer texts"
    if stopping.loss < NOTHING_TO_LEARN:
        return "no batch held two texts that could be told apart; give more and different ones"
    return f"temperature ({recipe.temperature:g}) is too high, or the start gives all texts the same vector"
