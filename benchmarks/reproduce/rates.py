"""Each method at its own learning rate, chosen on dev pairs that no test set has, by separate trainings."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import mean

import numpy as np

from augment_cli.errors import UsageError
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.results import Results
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import make_units
from eval.tasks.pairs import Pairs, pairs_of
from eval.tasks.table import Table
from train.data.texts import CORPUS

DEV = "stsb-dev"
OWN = f"{DEV}:own"  # Spearman over the dev pairs that are in no test set
TESTS = ("stsb", "sts12", "sts13", "sts14", "sts15", "sts16")


def own_pairs(dev: Pairs, tests: Iterable[Table]) -> np.ndarray:
    """Which dev pairs are in none of the test sets, in either order; bool (n,)."""
    # Two pairs are the same where letters and digits are, since the sets differ in case and spaces.
    seen = {key for table in tests for key in _keys(pairs_of(table))}
    return np.array([key not in seen for key in _keys(dev)])


def _keys(pairs: Pairs) -> list[tuple[str, ...]]:
    def letters(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    return [tuple(sorted(map(letters, both))) for both in zip(pairs.first, pairs.second, strict=True)]


def dev_scores(grid: Grid, profile: Profile, results: Results) -> dict[str, dict[float, list[float]]]:
    """The dev score of each seed, by row and learning rate, of a profile that sweeps them."""
    own = grid.of_profile(profile)
    scores: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    rows = {sweep.name: sweep.row for sweep in own.sweeps}
    for unit in make_units(own, profile, [row for row in own.rows if row.sweep]):
        found = results.find(unit.key, "sts", dict.fromkeys(unit.stages))
        if found is not None and OWN in found.scores:
            scores[rows[unit.row.sweep]][float(unit.row.value)].append(found.scores[OWN])
    return {row: dict(values) for row, values in scores.items()}


def chosen_rates(scores: Mapping[str, Mapping[float, Sequence[float]]], seeds: int) -> dict[str, float]:
    """The learning rate of each row whose points are all there: the highest mean's, the lowest of equals."""
    return {
        row: max(sorted(values), key=lambda rate: mean(values[rate]))
        for row, values in scores.items()
        if all(len(of_seeds) == seeds for of_seeds in values.values())
    }


def skipped_rows(grid: Grid, profile: Profile, stages: Stages) -> dict[str, str]:
    """Rows of which a stage cannot be made on this machine, each with the reason."""
    own = grid.of_profile(profile)
    skipped: dict[str, str] = {}
    for unit in make_units(own, profile, [row for row in own.rows if row.recipe]):
        for stage in unit.stages:
            if stage != CORPUS and not stages.has(stage) and (why := stages.reason(stage)):
                skipped.setdefault(unit.row.name, why)
    return skipped


def at_own_rates(grid: Grid, profile: Profile, results: Results, skipped: Collection[str] = ()) -> Profile:
    """The profile with each row's learning rate as another profile has chosen it."""
    other = grid.profiles[profile.rates_from]
    rates = chosen_rates(dev_scores(grid, other, results), other.sweep_seeds)
    wanted = [row.name for row in grid.of_profile(profile).rows if row.recipe]
    left_out = [name for name in wanted if name in skipped and name not in rates]
    wanted = [name for name in wanted if name not in left_out]
    if missing := [name for name in wanted if name not in rates]:
        raise UsageError(
            f"profile {profile.name}: the learning rate of {', '.join(missing)} is not chosen yet; "
            f"make reproduce PROFILE={other.name}"
        )
    of_row = {name: [*profile.of_row.get(name, ()), f"learning_rate={rates[name]:g}"] for name in wanted}
    return dataclasses.replace(profile, of_row=of_row, left_out=(*profile.left_out, *left_out))
