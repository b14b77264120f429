"""The table of docs/best.md: the recipe of our own with one part removed at a time, seed by seed."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import interval

Points = dict[str, dict[str, dict[int, float]]]
WHOLE = "best"
BESIDE = ("word-table-idf", "simcse-ntxent", "una", "paraphrase-una")
HEADER = """\
| row | seeds | STS-B dev | STS average | the whole recipe is ahead by | CPU s |
|---|---:|---:|---:|---|---:|"""


def read_points(path: Path) -> Points:
    """Scores by row, measure and seed, from the file of scores beside a page of evidence."""
    points: Points = defaultdict(lambda: defaultdict(dict))
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            points[line["row"]][line["measure"]][int(line["seed"] or 0)] = float(line["points"])
    return points


def ablation_table(grid: Grid, points: Points) -> str:
    """The recipe whole, without each of its parts, and what it is compared with.

    Parameters
    ----------
    grid : Grid
        Its rows whose baseline is the whole recipe are the ablation.
    points : dict
        Of `read_points`.

    Returns
    -------
    str
        Markdown. The lead is the mean over the seeds that both rows have, with Student's paired 95 %
        interval; a row without seeds is compared with each seed of the whole.
    """
    removed = [row.name for row in grid.rows if row.baseline == WHOLE]
    titles = {row.name: row.title for row in grid.rows}
    names = [name for name in (WHOLE, *removed, *BESIDE) if points[name]["average"]]
    return "\n".join([HEADER, *(_line(titles[name], points[name], points[WHOLE]) for name in names)])


def _line(title: str, row: dict[str, dict[int, float]], whole: dict[str, dict[int, float]]) -> str:
    averages = row["average"]
    seeds = sorted(set(averages) & set(whole["average"])) if row["cpu"] else sorted(whole["average"])
    of_row = averages if row["cpu"] else dict.fromkeys(seeds, mean(averages.values()))
    lead = "–"
    if averages is not whole["average"]:
        ahead = interval([whole["average"][seed] - of_row[seed] for seed in seeds])
        lead = f"{ahead.mean:+.2f}" + (f" ({ahead.low:+.2f} to {ahead.high:+.2f})" if len(seeds) > 1 else "")
    number = str(len(averages)) if row["cpu"] else "–"
    cells = [title, number, *map(_mean, (row["dev"].values(), averages.values())), lead.replace("-", "−")]
    return f"| {' | '.join(cells)} | {_mean(row['cpu'].values(), 0)} |"


def _mean(values: Iterable[float], digits: int = 2) -> str:
    values = list(values)
    return f"{mean(values):.{digits}f}" if values else "–"
