"""How a training ended, in one line: against its start, by how much, why it stopped, what to do next."""

from __future__ import annotations

import math

from augment_cli.places import as_typed
from train.recipe import Recipe
from train.watching.early_stopping import NOTHING_TO_LEARN, EarlyStopping

Scores = dict[str, dict[str, float]]
LOOK = "look at it with `python -m train nearest`, score it with `python -m eval`"


def is_beyond_noise(gain: tuple[float, float, float]) -> bool:
    """Whether the 95 % interval of a gain, its last two numbers, lies above zero."""
    return gain[1] > 0


def verdict(
    scores: Scores,
    stopping: EarlyStopping,
    done: int,
    steps: int,
    recipe: Recipe,
    gain: tuple[float, float, float] | None = None,
    untrained: str = "",
) -> tuple[str, str]:
    """The outcome (better, same, worse than the start, unknown) and its line; `gain`: of a `DevTest`."""
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
    if gain and not is_beyond_noise(gain):
        return "same", (
            f"same: what step {stopping.best_step:,} gained is within noise ({interval}{name} "
            f"{before:.4f} before): best/ is the starting encoder; {why}; next: {change}"
        )
    if step := stopping.best_step:
        best = scores["best"][name]
        longer = f"the last evaluation was the best: --set steps={2 * steps} and another --out may gain more"
        following = change if stopping.collapsed else longer if step == done == steps else look
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
