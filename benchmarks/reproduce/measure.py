"""How fast this machine trains a row: some steps of its own recipe on the shipped sample."""

import contextlib
import dataclasses
import io
import tempfile
from pathlib import Path
from typing import Any

from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE, Session
from augment_cli.store.files import sha256_of_json
from benchmarks.reproduce.units import Unit
from train.machine.distributed import Ranks, join
from train.outputs.log import read_log
from train.prepare import Run
from train.recipe import Recipe, Watching
from train.run import train

_STAND_IN = "random-swap"  # takes the place of every stage: what a step costs does not depend on its words
_MOST = 16  # rows of a batch on a CPU, which is as fast with few as with many
_NAMELESS = ("name", "description", "seed", "learning_rate", "steps", "epochs")  # change no speed
# Texts that are only encoded, as rows of training: of two texts each, there and back, which is three times
# as long as there. STS-B dev has 3,000, the seven test sets about 26,000.
DEV_ROWS, SCORED_ROWS = 500, 4_300


class Pace:
    """Rows a second of units, each kind measured once."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def __call__(self, unit: Unit) -> float:
        """Rows that a training of this kind takes in a second on this machine."""
        assert unit.recipe is not None
        recipe = _short(unit.recipe, join().device.type == "cpu")
        settings = {key: value for key, value in recipe.as_json().items() if key not in _NAMELESS}
        kind = sha256_of_json({"start": unit.start, "recipe": settings})
        if kind not in self._known:
            self._known[kind] = _measured(recipe, unit.start)
        return self._known[kind]

    def seconds(self, unit: Unit, rows: int) -> tuple[float, float]:
        """How long training on some rows, and scoring, take."""
        if unit.recipe is None:  # as fast as the fastest so far, since nothing else is known
            return 0.0, SCORED_ROWS / max(self._known.values(), default=1e3)
        recipe = unit.recipe
        steps = recipe.steps or recipe.epochs * -(-rows // recipe.batch)
        dev = DEV_ROWS * (1 + -(-steps // recipe.evaluate_every)) if recipe.evaluate_every else 0
        return (steps * recipe.batch + dev) / self(unit), SCORED_ROWS / self(unit)


def _short(recipe: Recipe, on_cpu: bool) -> Recipe:
    """The same recipe on the stand-in, with two rounds of steps: of UNA's five, one has negatives."""
    additions = {
        name: values | ({"stages": [_STAND_IN]} if "stages" in values else {})
        for name, values in recipe.additions.items()
    }
    batch = min(recipe.batch, _MOST) if on_cpu else recipe.batch
    every = max(3, recipe.alpha)
    return dataclasses.replace(
        recipe,
        positives=recipe.positives if recipe.positives == ("self",) else (_STAND_IN,),
        negatives=tuple(_STAND_IN for _ in recipe.negatives[:1]),
        additions=additions,
        only_changed=(),
        labels="kind",
        batch=batch,
        gradient_cache=0 if batch <= recipe.gradient_cache else recipe.gradient_cache,
        steps=2 * every,
        evaluate_every=0,
        watching=Watching(log_every=every, checkpoint_every=10**9),
    )


def _measured(recipe: Recipe, start: str) -> float:
    with tempfile.TemporaryDirectory() as name:
        store = sample_store(Path(name) / "store", _STAND_IN)
        steps = steps_of(Run(recipe, store, start, Path(name) / "run"))
    return float(steps[-1]["rows_per_second"])  # of the second round, when all is warm


def sample_store(folder: Path, augmentation: str) -> Path:
    """A store of the shipped sample with one augmentation."""
    with Session(folder) as session:
        session.ingest([SAMPLE])
        session.augment(make_run(augmentation), augmentation)
    return folder


def steps_of(run: Run, ranks: Ranks | None = None) -> list[dict[str, Any]]:
    """Train in silence; what the log says of its steps."""
    with contextlib.redirect_stderr(io.StringIO()):
        train(run, ranks or join())
    return [event for event in read_log(run.out / "log.jsonl") if event["event"] == "step"]
