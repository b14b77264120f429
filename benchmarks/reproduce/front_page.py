"""`results.md`: what each method gains, at which rate, and what to doubt; all of it is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median, stdev

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
_Scores = Mapping[str, Mapping[float, Sequence[float]]]  # dev of each training, by row and learning rate
DEV_PAIRS = 391  # of STS-B dev that are in no test set
_CALLED = {
    ", as the positive": "",
    " as the positive": "",
    ", head rate × 16": "",
    "UNA, pool": "UNA",
    "MODALS, interpolation": "MODALS",
    "recipe of our own": "`uda-una`",
}
_OPENING = """\
# What helps, and by how much

For those who choose a method. Drawn from the [result files](../reproduce/results) by
`python -m benchmarks.reproduce draw --profile rates`.

Each method has the learning rate of five that STS-B dev likes best, without the pairs that a test set has.
Each of {count} draws{of} is {rows:,} other short sentences of Wikipedia with another seed, for 80 steps of
32. Gains are points of Spearman's correlation, the mean of STS12 to STS15 and STS-B, with Student's 95 %
interval over draws. *Likely* and *hurts*: it and the bootstrap's leave out zero. SICK: the mean gain on its
training pairs. UDA, paraphrases, `rephrase`, PI, AA and DN are positives, UNA's texts negatives.

## What each method gains
"""
_LIMITS = """\
## What to doubt

- The start is [a bed](bed.md), MiniLM{ceiling} after masked language modelling: a gain is how much of its
  lost geometry comes back. MiniLM had seen SNLI and captions that STS takes pairs from.
- STS averages: {levels}.
- Nothing here is corrected: of {asked} comparisons one looks likely or harmful by chance, and with {count}
  draws none can pass Holm's correction ([all readings](tuned.md)).
- Intervals take rates and bed as given. Rates rest on {pairs} pairs and two trainings, which disagree for
  {unsure} of {methods} methods{edges}.
- `uda-una` and SimCSE, symmetric ([`best`](best.md)), differ from others as whole recipes: loss, head,
  pooling, texts. On such a bed `uda-una` had 24 trials, VaSCL's Δ a sweep.
- Many rows are their own positive: paraphrases change 22 %, DN 36 %, `rephrase` 45 %, PI 52 %.
- The last loss is near {loss:.0e}: the task itself is learned at once.
- A run gives the start back unless STS-B dev, all of it, gained beyond noise.
- UNA's terms come from a million sentences. The papers' gains mix models, test sets and baselines; +3.56
  rests on a garbled cell.
{more}
## Again, and more

```
make reproduce PROFILE=rates DATA=DIR  # 8 hours on a core; then draw-1 to draw-5, one hour each
make repeat PROFILE=draw-1 ROW=una SEEDS=101 DATA=DIR
```

[The text it takes, and other processors](bed.md#the-text). [Every row, with loss, neighbours, alignment and
uniformity](tuned.md); [the papers, table by table](coverage.md); [adaptation](adaptation.md);
[`minimal-pairs`](minimal-pairs.md); [older evidence](evidence.md), with one rate for all.
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
        ceiling=_ceiling(grid, folder),
        levels=_levels(grid, found) + _below_table(found, scores),
        asked=len(grid.registered),
        count=len(found),
        pairs=DEV_PAIRS,
        unsure=sum(_disagree(of_row) for of_row in scores.values()),
        methods=len(scores),
        edges=_edges(scores),
        loss=median(own["loss"] for rows in found.values() for own in rows.values() if "loss" in own),
        more="".join(f"- {line}\n" for line in (*_on_a_gpu(grid, folder), *others)),
    )
    page = [
        _OPENING.format(
            count=len(found),
            of=f" ({len(small)} are registered)" if len(found) < len(small) else "",
            rows=swept.rows,
        ),
        "| method | than | gain | SICK | paper | |",
        "|---|---|---:|---:|---:|---|",
        *(_line(grid, one, found) for one in grid.registered),
        "",
        "## At which learning rate",
        "",
        "STS-B dev, two trainings each:",
        "",
        *draws.rate_table(grid, scores),
        "",
        limits,
    ]
    return _short("\n".join(page))


def _short(text: str) -> str:
    """Titles without what the page's opening says of them."""
    for title, called in _CALLED.items():
        text = text.replace(title, called)
    return text


def _line(grid: Grid, one: Primary, found: draws.Measures) -> str:
    values = draws.differences(found, one.better, one.worse)
    titles = [grid.row(name).title for name in (one.better, one.worse)]
    shown = [draws.gain(values), draws.sick(found, one), draws.published(grid, one), draws.verdict(values)]
    return f"| {' | '.join([*titles, *shown])} |"


def _ceiling(grid: Grid, folder: Path) -> str:
    """The average of the encoder that the bed was made from, where it was scored."""
    profile = grid.profiles["tables"]
    own = grid.of_profile(profile)
    (unit,) = make_units(own, profile, [own.row("ceiling")])
    found = Results(folder / f"{profile.name}.jsonl").find(unit.key, "sts", {})
    return f" ({100 * mean(found.scores[task] for task in draws.SETS):.1f})" if found else ""


def _levels(grid: Grid, found: draws.Measures) -> str:
    """The averages of what trains nothing, as far as they are there, and of the best row that is trained."""
    averages = _averages(found)
    best = max((name for name in averages if grid.row(name).recipe), key=lambda name: averages[name])
    shown = [name for name in ("no-training", _TABLE, best) if name in averages]
    return ", ".join(f"{averages[name]:.1f} ({grid.row(name).title})" for name in shown)


def _table_wins(grid: Grid, found: draws.Measures) -> bool:
    """Whether a table that is not trained is ahead of all that is, so that methods cannot be told apart."""
    averages = _averages(found)
    table = averages.pop(_TABLE, -math.inf)
    return all(table > average for name, average in averages.items() if grid.row(name).recipe)


def _averages(found: draws.Measures) -> dict[str, float]:
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    return {name: mean(rows[name]["average"] for rows in found.values() if name in rows) for name in names}


def _below_table(found: draws.Measures, scores: _Scores) -> str:
    """How many methods a table that is not trained is ahead of on the dev pairs that choose the rates."""
    known = [rows[_TABLE]["dev"] for rows in found.values() if "dev" in rows.get(_TABLE, {})]
    best = [100 * max(map(mean, of_row.values())) for of_row in scores.values()]
    ahead = sum(one < known[0] for one in best) if known else 0
    return f". On dev that table is ahead of {ahead} of {len(best)} methods" if ahead else ""


def _disagree(of_row: Mapping[float, Sequence[float]]) -> bool:
    """Whether two trainings of a method prefer different rates."""
    first, second = (max(of_row, key=lambda rate: of_row[rate][seed]) for seed in (0, 1))
    return first != second


def _edges(scores: _Scores) -> str:
    """How many methods are best at the highest or lowest rate, and may be better beyond it."""
    best = [max(of_row, key=lambda rate: mean(of_row[rate])) for of_row in scores.values()]
    rates = sorted({rate for of_row in scores.values() for rate in of_row})
    edges = [
        f"{best.count(edge)} are best at the edge, {edge:g}"
        for edge in rates[:: len(rates) - 1]
        if edge in best
    ]
    return f"; {', '.join(edges)}" if edges else ""


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
                better, worse = (grid.row(name).title for name in (one.better, one.worse))
                if any(values):
                    gain = f"{better} over {worse} {mean(values):+.2f}"
                    of_verdict[draws.verdict(values)].append(gain)
                else:
                    kept |= {one.better, one.worse}
        said = [
            f"{name}: {' / '.join(gains)}"
            for name, gains in of_verdict.items()
            if gains and name != "unclear"
        ]
        said += [] if said else ["nothing is clear"]
        said += [f"{len(kept)} methods give the start back"] if kept else []
        said += ["with [a remark](tuned.md)"] if many[0].remarks else []
        own = swept.name == FIRST
        start = (
            "the same bed at the rates above" if own else grid.beds[swept.name].about.partition(", after")[0]
        )
        drawn = f"{many[0].rows:,} sentences, {len(found)} draws, from {start}"
        said += ["an untrained word table is ahead of all"] if _table_wins(grid, found) else []
        lines.append(f"{drawn}: {'; '.join(said)}.")
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
    said = f"{mean(gains):+.2f} points from these (standard deviation {stdev(gains):.2f})"
    return [f"{len(gains)} of these trainings, on a GPU in fp32, lie {said}."]
