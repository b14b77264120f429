"""What is done, missing or cannot be, how long the rest takes here; a row trained once more and compared."""

import contextlib
import dataclasses
import io
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from augment_cli.errors import MissingError
from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE, Session
from augment_cli.store.files import sha256_of_json
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import SCORED, TRAINING, Result, Results, Unit
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
# Where a single seed is recorded: two standard deviations between seeds of BERT-base runs, in points.
_WITHOUT_SEEDS = 1.6
_ROUNDING = 0.05  # points, of bf16 on another processor


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


@dataclass(frozen=True)
class Entry:
    """A unit's state."""

    unit: Unit
    results: dict[str, Result]  # by evaluation
    missing: tuple[str, ...]  # evaluations still to do; empty for one that failed or is skipped too
    reason: str = ""  # why nothing can be done about it, or why it failed; empty where all is well
    to_make: tuple[str, ...] = ()  # stages that are made before it
    seconds: float = 0.0  # estimate for the rest

    @property
    def state(self) -> str:
        """`done`, `missing`, `skipped` or `failed`."""
        if failure(self.results):
            return "failed"
        return "skipped" if self.reason else "missing" if self.missing else "done"


def failure(results: dict[str, Result]) -> str:
    """Why a training failed; empty where it did not."""
    return str(results[TRAINING].scores.get("failed", "")) if TRAINING in results else ""


def make_plan(
    units: Sequence[Unit], results: Results, stages: Stages, pace: Pace | None = None
) -> list[Entry]:
    """Compare what should be with what is finished, in the order of the units."""
    entries = [_entry(unit, results, stages) for unit in units]
    rows = stages.rows() if pace and any(entry.state == "missing" for entry in entries) else 0
    estimate = _estimator(entries, pace, rows)
    return [
        dataclasses.replace(entry, seconds=estimate(entry)) if entry.state == "missing" else entry
        for entry in entries
    ]


def _entry(unit: Unit, results: Results, stages: Stages) -> Entry:
    data = stages.digests(unit.stages)
    found = {name: results.find(unit.key, name, data) for name in unit.evaluations}
    finished = {name: result for name, result in found.items() if result is not None}
    missing = tuple(name for name in unit.evaluations if name not in finished)
    if why := failure(finished):
        return Entry(unit, finished, (), why)
    if not missing:
        return Entry(unit, finished, ())
    to_make = tuple(name for name in unit.stages if not stages.has(name))
    reasons = [why for name in to_make if (why := stages.reason(name))]
    return Entry(unit, finished, () if reasons else missing, "; ".join(reasons), to_make)


def _estimator(entries: Sequence[Entry], pace: Pace | None, rows: int) -> Callable[[Entry], float]:
    """Seconds an entry still takes: as with the row's other seeds, else as measured, else as others took."""
    took: dict[tuple[str, str], list[float]] = {}
    for entry in entries:
        for name, result in entry.results.items():
            if "seconds" in result.scores:
                for row in (entry.unit.row.name, ""):  # the row's own, and those of any
                    took.setdefault((row, name), []).append(result.scores["seconds"])

    def estimate(entry: Entry) -> float:
        total = 0.0
        for name in entry.missing:
            if known := took.get((entry.unit.row.name, name)):
                total += median(known)
            elif pace:
                total += pace.seconds(entry.unit, rows)[name != TRAINING]
            else:
                total += median(took.get(("", name), [0.0]))
        return total

    return estimate


def show(entries: Sequence[Entry], jobs: int = 1, waits_for: str = "") -> str:
    """The plan for people: a line a row, then the sum, and what the missing ones wait for."""
    lines = []
    rows = dict.fromkeys(entry.unit.row.name for entry in entries)
    for name in rows:
        own = [entry for entry in entries if entry.unit.row.name == name]
        done = [str(entry.unit.seed) for entry in own if entry.state == "done"]
        open_ = [
            f"{entry.unit.seed} ({', '.join(entry.missing)})" for entry in own if entry.state == "missing"
        ]
        words = [f"done {', '.join(done)}"] if done else []
        if open_:
            minutes = sum(e.seconds for e in own) / 60
            words.append(f"missing {', '.join(open_)}{f', {minutes:.0f} min' if minutes else ''}")
        if make := dict.fromkeys(stage for entry in own if entry.missing for stage in entry.to_make):
            words.append(f"first makes {', '.join(make)}")
        words += list(dict.fromkeys(f"{e.state}: {e.reason}" for e in own if e.reason))
        lines.append(f"{name:<26} {'; '.join(words)}")
    states = Counter(entry.state for entry in entries)
    counts = [f"{states[state]} {state}" for state in ("done", "missing", "skipped", "failed")]
    hours = f"about {sum(entry.seconds for entry in entries) / jobs / 3600:.1f} hours"
    if any(entry.missing and not entry.seconds for entry in entries):
        hours = "hours that `make reproduce-plan` measures"
    first = ", and what is made first" if any(e.to_make for e in entries if e.missing) else ""
    lines.append(f"{len(entries)} trainings: {', '.join(counts)}; {hours} to go{first}")
    if waits_for and any(entry.state == "missing" for entry in entries):
        lines.append(f"the missing ones wait for {waits_for}")
    return "\n".join(lines)


def repeat(
    entries: Sequence[Entry],
    seeds: Sequence[int],
    jobs: Callable[[Sequence[Any]], Iterator[Any]],
    work_folder: Path,
) -> Iterator[tuple[bool, str]]:
    """Train and score the recorded ones of some units anew."""
    from benchmarks.reproduce import work

    chosen = recorded_of(entries, seeds)
    recorded = [entry for entry in entries if SCORED in entry.results]
    shutil.rmtree(work_folder, ignore_errors=True)
    for job in jobs([(entry.unit, entry.unit.evaluations) for entry in chosen]):
        again = dataclasses.replace(job, runs=work_folder, results=work_folder / "results.jsonl", keep=False)
        work_folder.mkdir(parents=True, exist_ok=True)
        yield compared(job.unit, recorded, work.do(again)[SCORED])


def compared(unit: Unit, recorded: Iterable[Entry], scores: dict[str, Any]) -> tuple[bool, str]:
    """Whether a unit's new scores lie within the interval of what is recorded of its row, and a line."""
    own = {one.unit.seed: one.results[SCORED] for one in recorded if one.unit.row.name == unit.row.name}
    of_row = {seed: average(result.scores) for seed, result in own.items()}
    value, once, before = average(scores), of_row[unit.seed], own[unit.seed]
    low, high = bounds([*of_row.values()], has_seed=unit.recipe is not None)
    inside = low <= value <= high
    where = f"{low:.2f} to {high:.2f} ({len(of_row)} seeds recorded)"
    if unit.recipe and len(of_row) == 1:
        where = f"±{_WITHOUT_SEEDS}, which two seeds of one row may differ by (one seed recorded)"
    said = f"{unit.row.name} {unit.seed}: recorded {once:.2f}, again {value:.2f}, "
    if before.scores | {"seconds": 0} == scores | {"seconds": 0}:  # how long they took is no score
        return True, f"{said}identical in all digits"
    how = ""
    if before.made.get("encoder") == unit.encoder:
        how = (
            f"differs by {abs(value - once):.4f} on average though it starts from the same encoder: another "
            "processor or library rounds otherwise, or settings or data are others; "
        )
    return inside, f"{said}{how}{'within' if inside else 'OUTSIDE'} {where}"


def announced(entries: Sequence[Entry], seeds: Sequence[int], stages: Any, bed: str = "") -> str:
    """What a repetition makes first, what it trains, and about how long that takes, as recorded."""
    chosen = recorded_of(entries, seeds)
    read = dict.fromkeys(name for entry in chosen for name in entry.unit.stages)
    first = [f"the bed {bed}"] if bed else []
    first += [f"the stage {name}" for name in read if not stages.has(name)]
    results = [result for entry in chosen for result in entry.results.values()]
    minutes = max(sum(result.scores.get("seconds", 0.0) for result in results) / 60, 1)
    names = ", ".join(f"{entry.unit.row.name} {entry.unit.seed}" for entry in chosen)
    made = f"makes {', '.join(first)} first, then " if first else ""
    more = ", and what is made first" if first else ""
    if bed:  # the recorded seconds are of what follows
        more = ", and up to an hour for the bed, which another kind of processor makes otherwise"
    return f"{made}trains and scores {names} anew: about {minutes:.0f} min where it was recorded{more}"


def recorded_of(entries: Sequence[Entry], seeds: Sequence[int]) -> list[Entry]:
    """The entries that can be repeated."""
    chosen = [entry for entry in entries if SCORED in entry.results and entry.unit.seed in seeds]
    if not chosen:
        raise MissingError("nothing is recorded of these rows and seeds; `make reproduce` trains them")
    return chosen


def average(scores: dict[str, Any]) -> float:
    """The average of the STS test sets in points; of dev where there are none."""
    from benchmarks.reproduce.work import DEV, TESTS

    return 100 * mean([value for name, value in scores.items() if name in TESTS] or [scores[DEV]])


def bounds(values: Sequence[float], *, has_seed: bool = True) -> tuple[float, float]:
    """Where one more training of a row should end: two deviations about the mean of the recorded seeds."""
    # The interval of the mean would be narrower than what a single seed does. A row that draws nothing
    # comes out the same but for rounding.
    reach = 2 * stdev(values) if len(values) > 1 else _WITHOUT_SEEDS
    reach = reach if has_seed else _ROUNDING
    # What is printed and recorded is rounded.
    return mean(values) - reach - 0.005, mean(values) + reach + 0.005
