"""Training a row once more from nothing and comparing with what is recorded, which stays as it is."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from augment_cli.errors import MissingError
from benchmarks.reproduce.plan import Entry
from benchmarks.reproduce.results import SCORED
from benchmarks.reproduce.units import Unit

# Where a single seed is recorded: two standard deviations between seeds of BERT-base runs, in points.
_WITHOUT_SEEDS = 1.6
_ROUNDING = 0.05  # points, of bf16 on another processor


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
    if same(before.scores, scores):
        return True, f"{said}identical in all digits"
    how = ""
    if before.made.get("encoder") == unit.encoder:
        how = (
            f"differs by {abs(value - once):.4f} on average though it starts from the same encoder: another "
            "processor or library rounds otherwise, or settings or data are others; "
        )
    return inside, f"{said}{how}{'within' if inside else 'OUTSIDE'} {where}"


def same(recorded: dict[str, Any], again: dict[str, Any]) -> bool:
    """Whether all scores agree in every digit; how long they took is no score."""
    one, other = ({key: v for key, v in scores.items() if key != "seconds"} for scores in (recorded, again))
    return one == other


def announced(entries: Sequence[Entry], seeds: Sequence[int], stages: Any, bed: str = "") -> str:
    """What a repetition makes first, what it trains, and about how long that takes, as recorded."""
    chosen = recorded_of(entries, seeds)
    read = dict.fromkeys(name for entry in chosen for name in entry.unit.stages)
    first = [
        *([f"the bed {bed}"] if bed else []),
        *(f"the stage {name}" for name in read if not stages.has(name)),
    ]
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
