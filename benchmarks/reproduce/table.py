"""The tables behind `benchmarks/results/results.md`, computed from the files of results.

The unit of every interval is the draw: other sentences and another seed.
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import ttest_1samp

from benchmarks import markdown, read_lines
from benchmarks.reproduce.grid import Comparison, Grid, Profile, Row
from benchmarks.reproduce.units import SCORED, TRAINING
from eval.results.tables import published_rows

if TYPE_CHECKING:
    from benchmarks.reproduce.plan import Entry

SETS = ("stsb", "sts12", "sts13", "sts14", "sts15")  # of the average
FEWEST = 3  # draws, of an interval that is worth drawing
LEVEL = 0.95
_SAME = "same-rate-"  # the profile of a draw's controls at the rates of what they control
_SCORES = {
    "stsb-dev:own": ("dev", 100),
    "sickr-train": ("sick", 100),
    "geometry:alignment": ("alignment", 1),
    "geometry": ("uniformity", 1),
}
_OF_TRAINING = ("loss", "neighbours", "best_step")
Measures = dict[str, dict[str, dict[str, float]]]  # by draw, row, measure


def draws(grid: Grid, rows: int) -> list[Profile]:
    """The draws of a number of sentences."""
    return [
        profile
        for profile in grid.profiles.values()
        if profile.rows == rows
        and not (profile.search or profile.name.startswith(_SAME))
        and grid.bed_of(profile)
    ]


def measured(folder: Path, profiles: Iterable[Profile]) -> Measures:
    """What draws have measured, and their controls at one rate."""
    found: Measures = {}
    for profile in profiles:
        rows: dict[str, dict[str, float]] = {}
        for name in (profile.name, f"{_SAME}{profile.name.removeprefix('draw-')}"):
            for line in read_lines(folder / f"{name}.jsonl"):
                rows.setdefault(line["row"], {}).update(_measures(line["evaluation"], line["scores"]))
        if rows:
            found[profile.name] = rows
    return found


def _measures(evaluation: str, scores: Mapping[str, float]) -> dict[str, float]:
    """The measures of a line; Spearman's correlations are in points."""
    if evaluation == TRAINING:
        return {key: scores[key] for key in _OF_TRAINING if scores.get(key) is not None}
    assert evaluation == SCORED
    tests = {task: 100 * scores[task] for task in SETS if task in scores}
    others = {name: scale * scores[key] for key, (name, scale) in _SCORES.items() if key in scores}
    return tests | others | ({"average": mean(tests.values())} if tests else {})


def averages(found: Measures, measure: str = "average") -> dict[str, float]:
    """The mean of each row over the draws that have it measured."""
    of_rows: dict[str, list[float]] = {}
    for rows in found.values():
        for name, measures in rows.items():
            if measure in measures:
                of_rows.setdefault(name, []).append(measures[measure])
    return {name: mean(values) for name, values in of_rows.items()}


def differences(found: Measures, better: str, worse: str, measure: str = "average") -> list[float]:
    """One row minus another, for each draw that has both."""
    return [
        rows[better][measure] - rows[worse][measure]
        for _, rows in sorted(found.items())
        if measure in rows.get(better, {}) and measure in rows.get(worse, {})
    ]


def student(differences: Sequence[float]) -> tuple[float, float, float]:
    """The ends of Student's interval of the mean, and the two-sided p-value of a mean of zero."""
    if not np.ptp(differences):  # draws that agree to the last digit, of which scipy would warn
        return differences[0], differences[0], float(not differences[0])
    found = ttest_1samp(differences, 0)
    low, high = found.confidence_interval(LEVEL)
    return float(low), float(high), float(found.pvalue)


def sign_flip(differences: Sequence[float]) -> float:
    """Exact two-sided p-value of a mean of zero, over all signs that the differences could have had."""
    # With n differences it is at least 2 / 2ⁿ: 0.0625 with five.
    signs = np.array(list(itertools.product((1, -1), repeat=len(differences))))
    means = np.abs(signs @ np.asarray(differences))
    return float((means >= abs(sum(differences)) - 1e-12).mean())


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given; a NaN stays one and still counts as a comparison."""
    # Source: Holm 1979. The smallest of m is multiplied by m, the next by m − 1, and so on; none may be
    # below the one before it, nor above 1.
    m = len(p_values)
    measured = [index for index in range(m) if not math.isnan(p_values[index])]
    adjusted, highest = [math.nan] * m, 0.0
    for rank, index in enumerate(sorted(measured, key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (m - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def verdict(values: Sequence[float], adjusted: float) -> str:
    """Ahead, behind or unclear, by Holm's adjusted p-value over all comparisons of a measure."""
    if len(values) < FEWEST:
        return "too few draws"
    return "unclear" if not adjusted < 1 - LEVEL else "ahead" if mean(values) > 0 else "behind"


def published(grid: Grid, one: Comparison) -> str:
    """The paper's difference over the sets of the average where it prints them; a dash where it has none."""
    # Which sets they are decides much: double negation loses 0.41 over the paper's seven, and gains 1.19
    # over these five.
    value = one.published
    if one.on:
        better, worse = (grid.columns[name] for name in one.on)
        value = mean(better[task] - worse[task] for task in SETS)
    return f"{value:+.2f}" if value else "–"


def beside_best(found: Measures, one: Comparison) -> list[float]:
    """The gains over the control at the one of its rates that these tests like best."""
    controls = {
        name: average
        for name, average in averages(found).items()
        if re.fullmatch(rf"{one.worse}(-\de-\d)?", name)
    }
    return differences(found, one.better, max(controls, key=lambda name: controls[name]))


def comparison_table(grid: Grid, found: Measures) -> list[list[str]]:
    """The planned comparisons, at the rows' own learning rates and at the control's best."""
    asked = [one for one in grid.comparisons if differences(found, one.better, one.worse)]
    own = [differences(found, one.better, one.worse) for one in asked]
    sick = [differences(found, one.better, one.worse, "sick") for one in asked]
    best = [beside_best(found, one) for one in asked]
    kinds = {"": own, "SICK ": sick, "best control ": best}
    table = [["better", "than", "paper", *(f"{kind}{name}" for kind in kinds for name in _TESTS)]]
    for one, *cells in zip(asked, *map(_tests, kinds.values()), strict=True):
        titles = [grid.rows[name].title for name in (one.better, one.worse)]
        table.append([*titles, published(grid, one), *itertools.chain(*cells)])
    return table


_TESTS = ("gain, Student", "p", "Holm", "flips", "verdict")


def _tests(all_gains: Sequence[Sequence[float]]) -> list[list[str]]:
    """The gain of each comparison with every reading of its noise, as `_TESTS` names them."""
    p_values = [student(gains)[2] if len(gains) > 1 else math.nan for gains in all_gains]
    return [
        [gain(gains), f"{p:.3f}", f"{adjusted:.3f}", f"{sign_flip(gains):.3f}", verdict(gains, adjusted)]
        if gains
        else ["–"] * len(_TESTS)
        for gains, p, adjusted in zip(all_gains, p_values, holm(p_values), strict=True)
    ]


def gain(values: Sequence[float]) -> str:
    """The mean, with Student's interval where there are enough draws for one."""
    spread = " ({:+.2f} to {:+.2f})".format(*student(values)[:2]) if len(values) >= FEWEST else ""
    return f"{mean(values):+.2f}{spread}"


def one_rate_table(grid: Grid, found: Measures, profile: Profile) -> list[list[str]]:
    """The comparisons of which one row was trained at the other's learning rate, too."""
    settings = {row: dict(one.split("=", 1) for one in changes) for row, changes in profile.of_row.items()}
    rates = {row: values.get("learning_rate", "") for row, values in settings.items()}
    table = [["better", "than", "rate of both", "gain, Student"]]
    for one in grid.comparisons:
        for row in (one.better, one.worse):
            rate = rates.get(row, "")
            names = [name if name == row else f"{name}-{rate}" for name in (one.better, one.worse)]
            if gains := differences(found, *names):
                titles = [grid.rows[name].title for name in (one.better, one.worse)]
                table.append([*titles, rate, gain(gains)])
    return table


def method_table(grid: Grid, found: Measures) -> list[list[str]]:
    """The means over draws of what each row scores, and of how it trained."""
    kinds = {"average": ".2f", "dev": ".2f", "sick": ".2f", "alignment": ".3f", "uniformity": ".3f"}
    kinds |= {"loss": ".1e", "neighbours": ".3f", "best_step": ".0f"}
    means = {kind: averages(found, kind) for kind in kinds}
    table = [["method", "STS average", "dev", "SICK", *[*kinds][3:]]]
    for name in grid.rows:
        if name in means["average"]:
            cells = [
                format(means[kind][name], form) if name in means[kind] else "" for kind, form in kinds.items()
            ]
            table.append([grid.rows[name].title, *cells])
    return table


_FRESH = "fresh"  # the profile of fifteen draws, each of another seed
_FRESH_SETS = SETS[1:]  # not STS-B, whose pairs are in these, too
_FRESH_PAIRS = (
    ("una", "simcse-ntxent"),
    ("una", "una-random-terms"),
    ("paraphrase", "simcse-ntxent"),
    ("paraphrase-una", "paraphrase"),
)


def fresh(folder: Path) -> Measures:
    """What the fresh draws have measured: the mean of STS12 to STS15, and SICK."""
    found: Measures = {}
    for line in read_lines(folder / f"{_FRESH}.jsonl"):
        measures = _measures(line["evaluation"], line["scores"])
        if line["evaluation"] == SCORED:
            measures["average"] = mean(measures[name] for name in _FRESH_SETS)
        found.setdefault(str(line["seed"]), {}).setdefault(line["row"], {}).update(measures)
    return found


def fresh_table(grid: Grid, found: Measures) -> list[list[str]]:
    """The registered comparisons at each rate, with one correction over all rates and both measures."""
    rates = grid.profiles[_FRESH].search["learning_rate"]
    asked = [(better, worse, rate) for better, worse in _FRESH_PAIRS for rate in rates]
    sides = [
        [
            differences(found, f"{better}@{rate}", f"{worse}@{rate}", measure)
            for measure in ("average", "sick")
        ]
        for better, worse, rate in asked
    ]
    cells = _tests([gains for both in sides for gains in both])
    table = [["better", "than", "rate", *(f"{kind}{name}" for kind in ("STS ", "SICK ") for name in _TESTS)]]
    for place, (better, worse, rate) in enumerate(asked):
        titles = [grid.rows[name].title for name in (better, worse)]
        table.append([*titles, rate, *cells[2 * place], *cells[2 * place + 1]])
    return table


def tables(grid: Grid, folder: Path) -> str:
    """All tables as Markdown, for each size of the draws."""
    shown = []
    if found := fresh(folder):
        shown.append(f"## Fresh draws: {len(found)}")
        shown.append(_markdown(fresh_table(grid, found)))
    for rows in dict.fromkeys(one.rows for one in grid.profiles.values() if grid.bed_of(one)):
        profiles = draws(grid, rows)
        if found := measured(folder, profiles):
            shown.append(f"## {rows:,} sentences, {len(found)} draws")
            shown.append(_markdown(comparison_table(grid, found)))
            shown.append(_markdown(one_rate_table(grid, found, profiles[0])))
            shown.append(_markdown(method_table(grid, found)))
    return "\n\n".join(shown)


def paper_table(profile: Profile, entries: "Iterable[Entry]") -> str:
    """A paper's table as Markdown: each row's mean over its seeds, and its deviation, beside the printed."""
    printed = {row.model: row.cells for row in published_rows(profile.suite) if row.source == profile.source}
    tests = [task for task in profile.tasks if task != "stsb-dev"]
    of_rows: dict[Row, list[dict[str, float]]] = {}
    for entry in entries:
        scored = of_rows.setdefault(entry.unit.row, [])
        scored += [result.scores for name, result in entry.results.items() if name == SCORED]
    table = [["row", "seeds", "dev", *tests, "mean", "sd", "paper"]]
    for row, seeds in of_rows.items():
        there = [name for name in tests if seeds and all(name in scores for scores in seeds)]
        # The paper's over the same sets.
        theirs = printed.get(profile.printed.get(row.name, ""), {})
        paper = f"{mean(theirs[name][0] for name in there or tests):.2f}" if theirs else "–"
        means = [100 * mean(scores[name] for name in there) for scores in seeds if there]
        cells = [
            f"{100 * mean(scores[name] for scores in seeds):.2f}" if seeds and name in seeds[0] else "–"
            for name in ("stsb-dev", *tests)
        ]
        spread = f"{stdev(means):.2f}" if len(means) > 1 else "–"
        table.append(
            [row.title, str(len(seeds)), *cells, f"{mean(means):.2f}" if means else "–", spread, paper]
        )
    return _markdown(table)


def _markdown(table: Sequence[Sequence[str]]) -> str:
    return markdown(table[0], table[1:], "l" * len(table[0]))
