"""`tuned.md`: every method at its own learning rate, on other sentences each time; the draw is the unit."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from benchmarks.reproduce import changed
from benchmarks.reproduce.entries import Primary, Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import holm, interval, p_shown, resampled, sign_flip
from benchmarks.reproduce.published import difference
from benchmarks.reproduce.rates import OWN, at_own_rates, chosen_rates, dev_scores
from benchmarks.reproduce.results import TRAINING, Results
from benchmarks.reproduce.units import make_units

SETS = ("stsb", "sts12", "sts13", "sts14", "sts15")  # of the average, as far as the data folder has them
FIRST = "rates"  # the profile that chooses the rates of the first bed
SAME = "same-rate"  # draws of controls at the rates of what they control
_GPU = "rates-gpu"  # some of its trainings elsewhere
FEWEST = 3  # draws, of an interval that is worth drawing
_OPENING = """\
# Every method at its own learning rate

For anyone who asks what augmentations are worth beside a tuned baseline. Each method has the learning rate of
five that STS-B dev likes best, over two trainings on the first bed and one on the others, without the dev
pairs that a test set has. Each draw is other sentences with another seed, one training of every method, and
intervals are over draws. Points of Spearman's correlation over STS12 to STS15 and STS-B. Comparisons, rates,
seeds and sentences were registered in `benchmarks/reproduce/grid.toml` before the first training; the two
with SimCSE, symmetric, and the draws of other beds later, when `rates` was partly done, and before any draw.
Then, too, a larger plan stood in the grid for 47 minutes (seven draws on a GPU, five rows with texts beside
AugCSE's loss and head, rates of their own for 20,000 sentences) and was taken back for want of a GPU, with
nothing of it trained. The rows with 20,000 sentences were registered again before their own first training,
when the draws had been seen: the three that are likely ahead of SimCSE, NT-Xent, then, when those had been
seen, `uda-una`, whose average over the draws is the highest. Dev had named AugCSE, which the draws have
behind. Last of all, when everything else had been seen, came EDA's random swap as the positive, what any
edit is worth; it was registered before its own trainings.
`make reproduce PROFILE=rates`, then `draw-1` to `draw-5` and `large-1` to `large-3`, repeats the first bed;
`rates-upper` and `upper-1` to `upper-3` (on a GPU), `rates-small` and `small-1` to `small-3` the others.
Each draw's scores, set by set, are in [`tuned.csv`](tuned.csv).

*Alignment* is the mean ‖x − y‖² of unit vectors of STS-B test pairs with a gold score above 4,
*uniformity* ln mean exp(−2‖x − y‖²) over its sentences (lower is better, both). *Last loss* is that of the
last step. *Neighbours* is how much of what was near before training still is, by the trainer's own measure,
which warns of unlearning below 0.95: on the first bed every trained row lies below.
"""
_NOTE = """\
Draws done: {done} of {all}. *Likely* and *hurts*: both intervals over draws leave out zero, Student's and the
bootstrap's, which is too narrow for so few. A sign-flip test cannot go below {least} here, before Holm's
correction.
"""
_ONE_RATE = """\
A row at 3e-4 or 5e-4 and a control at 2e-4 differ in more than texts. So one of the two was trained once more
at the rate of the other, on the same sentences with the same seeds, after the draws had been seen
(`make reproduce PROFILE=same-rate-1`, to `same-rate-5`; `same-rate-large-1` to `-3`):
"""
Measures = dict[str, dict[str, dict[str, float]]]  # by draw, row, measure


def draws_of(grid: Grid, swept: str, rows: int) -> list[Profile]:
    """The draws of so many sentences whose rates a profile has chosen."""
    every = grid.profiles.values()
    return [profile for profile in every if (profile.rates_from, profile.rows) == (swept, rows)]


def sets_of_draws(grid: Grid) -> list[tuple[Profile, list[Profile]]]:
    """Each profile that chooses rates and the draws that have them, by size; of beds that are known here."""
    every = (profile for profile in grid.profiles.values() if profile.rates_from)
    pairs = dict.fromkeys((profile.rates_from, profile.rows) for profile in every)
    return [
        (grid.profiles[name], draws_of(grid, name, rows))
        for name, rows in pairs
        if grid.beds[name].digest or Path(grid.profiles[name].encoder).is_dir()
    ]


def measured(grid: Grid, folder: Path, swept: Profile, draws: Sequence[Profile]) -> Measures:
    """What draws whose rates a profile has chosen have measured, by profile and row."""
    found: Measures = {}
    chosen_by = Results(folder / f"{swept.name}.jsonl")
    rates = chosen_rates(dev_scores(grid, swept, chosen_by), swept.sweep_seeds)
    for profile in draws:
        name = profile.name
        trained = {row.name for row in grid.of_profile(profile).rows if row.recipe}
        tuned = at_own_rates(grid, profile, chosen_by, trained - rates.keys())
        if of_rows := _of_profile(grid, tuned, Results(folder / f"{name}.jsonl")):
            found[name] = of_rows
    return found


def _of_profile(grid: Grid, profile: Profile, results: Results) -> dict[str, dict[str, float]]:
    """What a profile's rows have measured."""
    found: dict[str, dict[str, float]] = {}
    own = grid.of_profile(profile)
    for unit in make_units(own, profile, own.rows):
        data = dict.fromkeys(unit.stages)
        if (scored := results.find(unit.key, "sts", data)) is None:
            continue
        scores = {key: value for key, value in scored.scores.items() if isinstance(value, int | float)}
        training = results.find(unit.key, TRAINING, data)
        more = training.scores if training else {}
        of_row = {"average": 100 * mean(scores[task] for task in SETS if task in scores)}
        of_row |= {key: more[key] for key in ("loss", "neighbours", "best_step") if more.get(key) is not None}
        of_row |= {task: 100 * scores[task] for task in SETS if task in scores}
        of_row |= {
            title: scale * scores[key]
            for key, title, scale in (
                (OWN, "dev", 100),
                ("sickr-train", "sick", 100),
                ("sickr-dev", "sick_trial", 100),
                ("geometry:alignment", "alignment", 1),
                ("geometry", "uniformity", 1),
            )
            if key in scores
        }
        found[unit.row.name] = of_row
    return found


class OneRate(NamedTuple):
    """A registered comparison of two rows at one learning rate."""

    primary: Primary
    rate: str
    gains: list[float]  # one for each draw that has both rows
    own: bool  # the rate is the better row's own, not its control's


def own_rates(grid: Grid, folder: Path) -> dict[str, str]:
    """The learning rate of each row of the first bed, such as 3e-4."""
    swept = grid.profiles[FIRST]
    rates = chosen_rates(dev_scores(grid, swept, Results(folder / f"{FIRST}.jsonl")), swept.sweep_seeds)
    return {name: rate_shown(rate) for name, rate in rates.items()}


def rate_shown(rate: float) -> str:
    """A learning rate as pages and the names of rows have it, such as 3e-4."""
    return f"{rate:.0e}".replace("e-0", "e-")


def at_one_rate(grid: Grid, folder: Path, both: Measures) -> list[OneRate]:
    """Registered comparisons of which one row was trained at the other's rate, too, of `with_controls`."""
    shown, compared = own_rates(grid, folder), []
    for one in grid.registered:
        for row in (one.better, one.worse):
            rate = shown.get(row, "")
            names = [name if name == row else f"{name}-{rate}" for name in (one.better, one.worse)]
            if values := differences(both, *names):
                compared.append(OneRate(one, rate, values, own=row == one.better))
    return compared


def with_controls(grid: Grid, folder: Path, found: Measures) -> Measures:
    """What draws of the first bed have measured, and the controls at one rate on the same sentences."""
    # Those of `draw-1` are in the profile `same-rate-1`, those of `large-1` in `same-rate-large-1`.
    both = {draw: {**rows} for draw, rows in found.items()}
    for draw, rows in both.items():
        name = f"{SAME}-{draw.removeprefix('draw-')}"
        if name in grid.profiles:
            rows |= _of_profile(grid, grid.profiles[name], Results(folder / f"{name}.jsonl"))
    return both


def one_rate_table(grid: Grid, compared: Sequence[OneRate]) -> list[str]:
    """The comparisons of `at_one_rate`."""
    lines = [
        "| better | than | rate of both | gain, Student | bootstrap | draws | |",
        "|---|---|---:|---|---|---:|---|",
    ]
    for one, rate, values, _ in compared:
        titles = [grid.row(name).title for name in (one.better, one.worse)]
        spread = "{:+.2f} to {:+.2f}".format(*resampled(values)) if len(values) >= FEWEST else "–"
        cells = [*titles, rate, gain(values), spread, str(len(values)), verdict(values)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def differences(found: Measures, better: str, worse: str, measure: str = "average") -> list[float]:
    """One row minus another, for each draw that has both."""
    return [
        rows[better][measure] - rows[worse][measure]
        for _, rows in sorted(found.items())
        if measure in rows.get(better, {}) and measure in rows.get(worse, {})
    ]


def verdict(values: Sequence[float]) -> str:
    """Likely, unclear or hurts, by both intervals over draws; or that no training beat the start."""
    if len(values) < FEWEST:
        return "too few draws"
    if not any(values):
        return "both end as the start"
    both = (interval(values).low, interval(values).high, *resampled(values))
    return "likely" if min(both) > 0 else "hurts" if max(both) < 0 else "unclear"


def gain(values: Sequence[float]) -> str:
    """The mean with Student's interval, where there are enough draws for one."""
    if not values:
        return "–"
    known = interval(values)
    spread = f" ({known.low:+.2f} to {known.high:+.2f})" if len(values) >= FEWEST else ""
    return f"{known.mean:+.2f}{spread}"


def comparison_table(grid: Grid, found: Measures, names: Collection[str]) -> list[str]:
    """The registered comparisons of these rows: gain with three readings of its noise, and the paper's."""
    asked = [one for one in grid.registered if {one.better, one.worse} <= {*names}]
    all_values = [differences(found, one.better, one.worse) for one in asked]
    flips = [sign_flip(values) if len(values) >= FEWEST else math.nan for values in all_values]
    lines = [
        "| question | better | than | gain, Student | bootstrap | flips | Holm | draws | SICK | paper | |",
        "|---|---|---|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for one, values, p, adjusted in zip(asked, all_values, flips, holm(flips), strict=True):
        spread = "{:+.2f} to {:+.2f}".format(*resampled(values)) if len(values) >= FEWEST else "–"
        titles = [grid.row(name).title for name in (one.better, one.worse)]
        shown = [p_shown(p), p_shown(adjusted), str(len(values)), sick(found, one), published(grid, one)]
        numbers = [gain(values), spread, *shown]
        lines.append(f"| {' | '.join([one.question, *titles, *numbers, verdict(values)])} |")
    return lines


def sick(found: Measures, one: Primary) -> str:
    """The gain on the training pairs of SICK, which are in no average; bold where it is likely or hurts."""
    values = differences(found, one.better, one.worse, "sick")
    if not values:
        return "–"
    marks = "**" if verdict(values) in ("likely", "hurts") else ""
    return f"{marks}{mean(values):+.1f}{marks}"


def published(grid: Grid, one: Primary) -> str:
    """The paper's difference over the sets of the average where it prints them; a dash where it has none."""
    known = difference(grid, one.on, SETS) if one.on else None
    value = one.published if known is None else known
    return f"{value:+.2f}" if value else "–"


def rate_table(grid: Grid, scores: Mapping[str, Mapping[float, Sequence[float]]]) -> list[str]:
    """The dev score of each method at each learning rate, and which is taken."""
    values = sorted({rate for of_row in scores.values() for rate in of_row})
    lines = [f"| method | {' | '.join(map(rate_shown, values))} |", "|---|" + "---:|" * len(values)]
    for row, of_row in scores.items():
        top = max((mean(found) for found in of_row.values()), default=math.nan)
        cells = []
        for rate in values:
            shown = f"{100 * mean(of_row[rate]):.1f}" if of_row.get(rate) else ""
            cells.append(f"**{shown}**" if shown and mean(of_row[rate]) == top else shown)
        lines.append(f"| {grid.row(row).title} | {' | '.join(cells)} |")
    return lines


def method_table(grid: Grid, found: Measures) -> list[str]:
    """The means over draws of what each row scores, and of how it trained."""
    kinds = {"average": ".2f", "sick": ".2f", "sick_trial": ".2f", "alignment": ".3f", "uniformity": ".3f"}
    kinds |= {"loss": ".1e", "neighbours": ".3f"}
    lines = [
        "| method | STS average | SICK train | SICK trial | alignment | uniformity | last loss | neighbours "
        "| draws |",
        "|---|" + "---:|" * (len(kinds) + 1),
    ]
    names = list(dict.fromkeys(name for rows in found.values() for name in rows))
    for name in names:
        own = [rows[name] for rows in found.values() if name in rows]
        cells = []
        for kind, form in kinds.items():
            numbers = [measures[kind] for measures in own if kind in measures]
            cells.append(format(mean(numbers), form) if numbers else "")
        lines.append(f"| {grid.row(name).title} | {' | '.join(cells)} | {len(own)} |")
    return lines


def write_draws(grid: Grid, folder: Path, pages: Path) -> Path:
    """Write the page from the folder of results, of all draws that are done, bed by bed."""
    lines = [_OPENING]
    for swept, many in sets_of_draws(grid):
        lines += _of_draws(grid, folder, swept, many)
    pages.mkdir(parents=True, exist_ok=True)
    path = pages / "tuned.md"
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    _write_csv(grid, folder, path.with_suffix(".csv"))
    return path


def _write_csv(grid: Grid, folder: Path, path: Path) -> None:
    """Write every measure of every row of every draw, a line each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("draw", "row", "measure", "value"))
        for swept, many in sets_of_draws(grid):
            found = measured(grid, folder, swept, many)
            for draw, rows in (with_controls(grid, folder, found) if swept.name == FIRST else found).items():
                for row, measures in rows.items():
                    writer.writerows((draw, row, name, f"{value:.6g}") for name, value in measures.items())


def _of_draws(grid: Grid, folder: Path, swept: Profile, draws: Sequence[Profile]) -> list[str]:
    """The part of the page on draws of one size from one bed, whose rates a profile has chosen."""
    found = measured(grid, folder, swept, draws)
    least = f"{2 / 2 ** len(draws):g}"
    lines = [f"## {draws[0].rows:,} sentences, from {grid.beds[swept.name].about}", ""]
    if found:
        lines += [*comparison_table(grid, found, draws[0].only), ""]
    lines += [
        _NOTE.format(done=len(found), all=len(draws), least=least),
        *(f"{text}\n" for text in draws[0].remarks),
    ]
    if draws[0].rows == swept.rows:  # else the rates are those of the fewer sentences
        scores = dev_scores(grid, swept, Results(folder / f"{swept.name}.jsonl"))
        lines += ["What each learning rate scores on dev:", "", *rate_table(grid, scores), ""]
        if swept.name == FIRST:
            lines += [*_on_a_gpu(grid, folder), "", changed.remark(grid, draws[0], folder), ""]
    if swept.name == FIRST:
        found = with_controls(grid, folder, found)
        if compared := at_one_rate(grid, folder, found):
            lines += [_ONE_RATE, *one_rate_table(grid, compared), ""]
    if found:
        lines += ["What each method scores, and how it trained:", "", *method_table(grid, found), ""]
    return lines


def _on_a_gpu(grid: Grid, folder: Path) -> list[str]:
    """How the trainings of the sweep that a GPU did too came out there."""
    scores: list[dict[tuple[str, int], float]] = []
    for name in (FIRST, _GPU):
        profile = grid.profiles[name]
        own, results = grid.of_profile(profile), Results(folder / f"{name}.jsonl")
        found = {
            (unit.row.name, unit.seed): results.find(unit.key, "sts", dict.fromkeys(unit.stages))
            for unit in make_units(own, profile, own.rows)
        }
        scores.append({key: 100 * result.scores[OWN] for key, result in found.items() if result})
    gains = [scores[1][key] - scores[0][key] for key in scores[1].keys() & scores[0].keys()]
    if len(gains) < 2:
        return []
    said = f"{mean(gains):+.2f} points of dev from these (standard deviation {stdev(gains):.2f})"
    return [f"On a GPU in fp32, {len(gains)} trainings of the sweep lie {said}."]
