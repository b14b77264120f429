"""Signs that training does harm, said while it happens: nothing to learn, a space that loses its shape."""

from __future__ import annotations

from collections.abc import Callable

from augment_cli.places import as_typed
from train.watching.early_stopping import NOTHING_TO_LEARN
from train.watching.evaluate import FOUND, RATIOS

RANK_FALL = 0.1  # of the starting encoder's effective rank
ANISOTROPY_RISE = 0.05  # mean cosine of two texts
NEIGHBOUR_FALL = 0.05  # of what the starting encoder kept together
FOUND_FALL = 0.02  # of the texts
EARLY = 0.25  # share of the run in which a loss of nearly nothing is early


class HarmWatch:
    """Says each sign once, or again where the run was resumed."""

    def __init__(self, steps: int, warn: Callable[[int, str], None]) -> None:
        self.steps, self.warn = steps, warn
        self.said: set[str] = set()
        self.still = 0  # steps in a row

    def gradient(self, norm: float, step: int) -> None:
        """Take note of a gradient's norm before it is limited."""
        self.still = 0 if norm else self.still + 1
        if self.still == 3:  # the last batch of an epoch may have none
            self._say("gradient", step, "the gradient was exactly zero three times: nothing is learned")

    def loss(self, loss: float, step: int) -> None:
        """Take note of the loss above its least value."""
        if 10 <= step <= max(20, EARLY * self.steps) and loss < NOTHING_TO_LEARN:
            self._say(
                "loss",
                step,
                f"the loss is {loss:.1e} above the least it can be already: positives are told from "
                "negatives without effort, so there is nothing to learn, and what still changes is what the "
                "encoder knew. Take harder positives or negatives (`python -m train adapt`), a higher "
                "temperature, or stop here",
            )

    def scores(self, before: dict[str, float], now: dict[str, float], step: int) -> None:
        """Compare an evaluation with the one before the first step."""
        both = {key: (before[key], now[key]) for key in before.keys() & now.keys()}
        start, rank = both.get("effective_rank", (0.0, 0.0))
        if rank < (1 - RANK_FALL) * start:
            self._say(
                "rank",
                step,
                f"the effective rank fell from {start:.0f} to {rank:.0f}: embeddings are collapsing into "
                "fewer directions. Lower learning_rate, or add agreement with the starting encoder, or "
                "more of it (`python -m train adapt` has it: agreement.weight)",
            )
        start, cosine = both.get("anisotropy", (0.0, 0.0))
        if cosine > start + ANISOTROPY_RISE:
            self._say(
                "anisotropy",
                step,
                f"the mean cosine of two texts rose from {start:.2f} to {cosine:.2f}: all texts move towards "
                "one direction. Lower learning_rate, or add negatives or agreement with the starting encoder",
            )
        start, found = both.get(FOUND, (0.0, 0.0))
        if found < start - FOUND_FALL:
            self._say(
                "found",
                step,
                f"half of its words finds a text less often ({start:.3f} before, {found:.3f} now): texts "
                "that differ in a detail are drawn together. That helps to find subjects, and not to find "
                "the one text that says the same; labels of your own tell: `python -m eval A B --labelled`",
            )
        start, together = both.get("neighbours", (0.0, 0.0))
        if together < (1 - NEIGHBOUR_FALL) * start:
            known = [(name, *both[name]) for name in RATIOS if name in both]
            shown = "; ".join(f"{name} {first:.3f} before, {last:.3f} now" for name, first, last in known)
            self._say(
                "neighbours",
                step,
                "what is near in the corpus stays together less than before (neighbours, the lesser ratio, "
                f"{together / start:.2f}: {shown}): the encoder unlearns what belongs together. Lower "
                "learning_rate, or add what `python -m train adapt` has: masked false negatives, and "
                "agreement with the starting encoder",
            )

    def _say(self, sign: str, step: int, message: str) -> None:
        if sign not in self.said:
            self.said.add(sign)
            self.warn(step, as_typed(message))
