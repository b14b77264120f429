"""What is done, what is missing, what cannot be, and how long the rest takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.reproduce.measure import Pace
from benchmarks.reproduce.results import TRAINING, Result, Results
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import Unit


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
    counts = [
        f"{sum(e.state == state for e in entries)} {state}"
        for state in ("done", "missing", "skipped", "failed")
    ]
    hours = f"about {sum(entry.seconds for entry in entries) / jobs / 3600:.1f} hours"
    if any(entry.missing and not entry.seconds for entry in entries):
        hours = "hours that `make reproduce-plan` measures"
    first = ", and what is made first" if any(e.to_make for e in entries if e.missing) else ""
    lines.append(f"{len(entries)} trainings: {', '.join(counts)}; {hours} to go{first}")
    if waits_for and any(entry.state == "missing" for entry in entries):
        lines.append(f"the missing ones wait for {waits_for}")
    return "\n".join(lines)
