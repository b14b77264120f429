"""`results.md`: what each method gains, at which rate, and what to doubt; all of it is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

from benchmarks.reproduce import draws
from benchmarks.reproduce.entries import Primary, Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.rates import OWN, dev_scores
from benchmarks.reproduce.results import Results
from benchmarks.reproduce.units import make_units

MOST = 6_000  # bytes
FIRST = "rates"  # the profile whose bed the page is about
GPU = "rates-gpu"  # some of its trainings elsewhere
_TABLE = "word-table-idf"
_OPENING = """\
# What helps, and by how much

For readers who want to know whether a method does anything, before they train with it. All of it is drawn
from the [result files](../reproduce/results) by `python -m benchmarks.reproduce draw --profile rates`.

Each method has the learning rate of five that STS-B dev likes best, without the pairs that a test set has.
Each of {count} draws is {rows:,} other sentences of Wikipedia with another seed. Gains are points of
Spearman's correlation, the mean of STS12 to STS15 and STS-B, with Student's 95 % interval over draws.
*Likely* and *hurts*: it and the bootstrap's leave out zero. UDA, paraphrases, `rephrase`, PI, AA and DN are
positives, UNA's texts negatives. The papers' gains stand beside; they train BERT on a million sentences.

## What each method gains
"""
_LIMITS = """\
## What to doubt

- The start is [a bed](bed.md): MiniLM after masked language modelling, which knows words and has lost its
  sentence geometry. MiniLM had seen SNLI and captions that STS takes pairs from: compare differences alone.
- STS averages: {levels}.
- So many draws cannot bring a sign-flip test below {least}, before Holm's correction: [three readings
  of each gain](tuned.md).
- UNA's terms come from a million sentences, its idf from 100,000. The paper's +3.56 over random words rests
  on a garbled cell.
- Whether a run keeps its end or its start is decided on all of STS-B dev, also on pairs that tests have.
{more}
## Again, and more

```
make reproduce PROFILE=rates DATA=DIR            # then PROFILE=draw-1 to draw-5
make repeat PROFILE=draw-1 ROW=una SEEDS=101 DATA=DIR
```

[Every row, with loss, neighbours, alignment and uniformity, and the other beds](tuned.md);
[table by table, what of the papers is here](coverage.md); [adaptation](adaptation.md); [`best`](best.md);
[`minimal-pairs`](minimal-pairs.md). [Older evidence](evidence.md) has one rate for all, SimCSE's worst.
"""


def write_pages(grid: Grid, folder: Path, pages: Path) -> list[Path]:
    """Write `tuned.md`, and `results.md` once there are enough draws of the first bed; the paths of both."""
    written = [draws.write_draws(grid, folder, pages)]
    swept = grid.profiles[FIRST]
    if len(draws.measured(grid, folder, swept, draws.draws_of(grid, FIRST, swept.rows))) >= draws.FEWEST:
        written.append(pages / "results.md")
        written[-1].write_text(front_page(grid, folder), encoding="utf-8")
    return written


def front_page(grid: Grid, folder: Path) -> str:
    """The page, from a folder of results with at least `draws.FEWEST` draws of the first bed."""
    swept = grid.profiles[FIRST]
    small = draws.draws_of(grid, FIRST, swept.rows)
    found = draws.measured(grid, folder, swept, small)
    others = _elsewhere(grid, folder, small)
    asked = {name for one in grid.registered for name in (one.better, one.worse)}
    every = dev_scores(grid, swept, Results(folder / f"{FIRST}.jsonl"))
    scores = {row: of_row for row, of_row in every.items() if row in asked}
    limits = _LIMITS.format(
        levels=_levels(grid, found),
        least=f"{2 / 2 ** len(found):g}",
        more="".join(f"- {line}\n" for line in (*_edges(scores), *_on_a_gpu(grid, folder), *others)),
    )
    return "\n".join(
        [
            _OPENING.format(count=len(found), rows=swept.rows),
            "| method | than | gain | paper | |",
            "|---|---|---:|---:|---|",
            *(_line(grid, one, draws.differences(found, one.better, one.worse)) for one in grid.registered),
            "",
            "## At which learning rate",
            "",
            "STS-B dev, two trainings each:",
            "",
            *map(_short, draws.rate_table(grid, scores)),
            "",
            limits,
        ]
    )


def _short(text: str) -> str:
    """Titles without what the page's opening says of them."""
    return text.replace(", as the positive", "").replace(" as the positive", "")


def _line(grid: Grid, one: Primary, values: Sequence[float]) -> str:
    titles = [_short(grid.row(name).title) for name in (one.better, one.worse)]
    return (
        f"| {' | '.join([*titles, draws.gain(values), draws.published(grid, one), draws.verdict(values)])} |"
    )


def _levels(grid: Grid, found: draws.Measures) -> str:
    """The averages of what trains nothing, as far as they are there, and of the best row that is trained."""
    averages = {
        name: mean(rows[name]["average"] for rows in found.values() if name in rows)
        for name in dict.fromkeys(name for rows in found.values() for name in rows)
    }
    best = max((name for name in averages if grid.row(name).recipe), key=lambda name: averages[name])
    levels = [
        f"{averages[name]:.1f} ({grid.row(name).title})"
        for name in ("no-training", _TABLE, best)
        if name in averages
    ]
    wins = averages.get(_TABLE, -math.inf) >= averages[best]
    return ", ".join(levels) + (": where that table wins, methods cannot be told apart" if wins else "")


def _edges(scores: Mapping[str, Mapping[float, Sequence[float]]]) -> list[str]:
    """How many methods are best at the highest or lowest rate, and may be better beyond it."""
    best = [max(of_row, key=lambda rate: mean(of_row[rate])) for of_row in scores.values()]
    rates = sorted({rate for of_row in scores.values() for rate in of_row})
    edges = [f"{best.count(edge)} at {edge:g}" for edge in (rates[0], rates[-1]) if edge in best]
    return [f"Best at the edge of the rates, so perhaps better beyond: {', '.join(edges)}."] if edges else []


def _elsewhere(grid: Grid, folder: Path, small: Sequence[Profile]) -> list[str]:
    """A sentence on each further set of draws: which of the gains are likely there, and which hurt."""
    lines = []
    for swept, many in draws.sets_of_draws(grid):
        found = draws.measured(grid, folder, swept, many)
        if many == small or len(found) < draws.FEWEST:
            continue
        of_verdict: dict[str, list[str]] = {"likely": [], "unclear": [], "hurts": []}
        kept: set[str] = set()
        for one in grid.registered:
            if values := draws.differences(found, one.better, one.worse):
                better, worse = (_short(grid.row(name).title) for name in (one.better, one.worse))
                if any(values):
                    gain = f"{better} over {worse} {mean(values):+.2f}"
                    of_verdict[draws.verdict(values)].append(gain)
                else:
                    kept |= {one.better, one.worse}
        said = "; ".join(f"{verdict}: {' / '.join(gains)}" for verdict, gains in of_verdict.items() if gains)
        start = (
            "the same bed at the rates above"
            if swept.name == FIRST
            else grid.beds[swept.name].about.partition(", after")[0]
        )
        said += f"; {len(kept)} gain nothing at any rate and keep the start" if kept else ""
        drawn = f"{many[0].rows:,} sentences, {len(found)} draws, from {start}"
        lines.append(f"{drawn}: {said}. STS averages: {_levels(grid, found)}.")
    return lines


def _on_a_gpu(grid: Grid, folder: Path) -> list[str]:
    """How the trainings of the sweep that a GPU did too came out there."""
    scores: list[dict[tuple[str, int], float]] = []
    for name in (FIRST, GPU):
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
    said = f"{mean(gains):+.2f} points from these, with a standard deviation of {stdev(gains):.2f}"
    return [f"{len(gains)} of these trainings, done on a GPU in fp32, lie {said}."]
