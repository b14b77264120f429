"""The table of benchmarks/results/best.md: our own recipe with one part removed at a time, on two beds."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from benchmarks.reproduce.draws import Measures, differences, draws_of, gain, measured
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import interval

Points = dict[str, dict[str, dict[int, float]]]
WHOLE = "best"  # the row, of the recipe `uda-una`
BESIDE = ("word-table-idf", "simcse-ntxent", "una", "paraphrase-una")
HEADER = """\
| row | seeds | STS-B dev | STS average | the whole recipe is ahead by | CPU s |
|---|---:|---:|---:|---|---:|"""
LEAD_HEADER = """\
| row | STS average | `uda-una` is ahead by | on SICK |
|---|---:|---:|---:|"""


def read_points(path: Path) -> Points:
    """Scores by row, measure and seed, from the file of scores beside a page of evidence."""
    points: Points = defaultdict(lambda: defaultdict(dict))
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            points[line["row"]][line["measure"]][int(line["seed"] or 0)] = float(line["points"])
    return points


def ablation_table(grid: Grid, beds: Sequence[Points]) -> str:
    """The recipe whole, without each of its parts, and what it is compared with."""
    removed = [row.name for row in grid.rows if row.baseline == WHOLE]
    titles = {row.name: row.title for row in grid.rows}
    names = [name for name in (WHOLE, *removed, *BESIDE) if beds[0][name]["average"]]
    return "\n".join([HEADER, *(_line(titles[name], name, beds) for name in names)])


def lead_table(grid: Grid, folder: Path) -> str:
    """How far the recipe is ahead of every other row where each has its own learning rate, as Markdown."""
    # The rows are those of all draws of the first bed, best average first; leads are over the same draws.
    swept = grid.profiles["rates"]
    found = measured(grid, folder, swept, draws_of(grid, swept.name, swept.rows))
    averages = {
        name: mean(rows[name]["average"] for rows in found.values())
        for name in dict.fromkeys(name for rows in found.values() for name in rows)
        if grid.row(name).recipe and all(name in rows for rows in found.values())
    }
    lines = [
        f"| {grid.row(name).title} | {averages[name]:.2f} | {' | '.join(_ahead(found, name))} |"
        for name in sorted(averages, key=lambda name: -averages[name])
    ]
    return "\n".join([LEAD_HEADER, *lines])


def _ahead(found: Measures, name: str) -> list[str]:
    leads = [differences(found, WHOLE, name, measure) for measure in ("average", "sick")]
    return ["–" if name == WHOLE else gain(lead).replace("-", "−") for lead in leads]


def _line(title: str, name: str, beds: Sequence[Points]) -> str:
    row, of_whole = beds[0][name], [points[WHOLE]["average"] for points in beds]
    leads = [_leads(points[name], whole) for points, whole in zip(beds, of_whole, strict=True)]
    lead = "–"
    if name != WHOLE:
        ahead = interval([each for of_bed in leads for each in of_bed])
        lead = f"{ahead.mean:+.2f} ({ahead.low:+.2f} to {ahead.high:+.2f})"
    number = " + ".join(str(len(of_bed)) for of_bed in leads) if row["cpu"] else "–"
    cells = [
        title,
        number,
        _mean(row["dev"].values()),
        _mean(row["average"].values()),
        lead.replace("-", "−"),
    ]
    return f"| {' | '.join(cells)} | {_mean(row['cpu'].values(), 0)} |"


def _leads(row: dict[str, dict[int, float]], whole: dict[int, float]) -> list[float]:
    """How far the whole is ahead with each seed."""
    averages = row["average"]
    if not row["cpu"]:  # not trained, so without seeds
        averages = dict.fromkeys(whole, mean(averages.values())) if averages else {}
    return [whole[seed] - averages[seed] for seed in sorted(averages.keys() & whole.keys())]


def _mean(values: Iterable[float], digits: int = 2) -> str:
    values = list(values)
    return f"{mean(values):.{digits}f}" if values else "–"
