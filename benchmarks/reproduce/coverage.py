"""`coverage.md`: each table and figure of the four papers, and the row, command or reason that answers it.

python -m benchmarks.reproduce.coverage
"""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from augment_cli.errors import UsageError
from benchmarks.reproduce.document.scores import TITLES
from benchmarks.reproduce.entries import Sweep
from benchmarks.reproduce.grid import Grid, load_grid

ITEMS = Path(__file__).with_name("coverage.toml")
PAGES = Path(__file__).parents[1] / "results"
FILES = ("evidence-tables", "evidence-singles")  # one bed; a row is taken from the first that has it
_OPENING = """\
# What of the papers is here

For anyone who looks for a table or a figure of one of the four papers. Numbers are points (fractions × 100),
means over the seeds that a row has, of the rows of [evidence-tables.md](evidence-tables.md) and
[evidence-singles.md](evidence-singles.md), in which all rows have the same learning rate; the paper's number
stands in brackets. A sweep, in code type, has its lowest and highest point on STS-B dev. They start from a
small encoder on 2,560 sentences, the papers from BERT on a million: compare differences, not levels. Drawn
from `benchmarks/reproduce/coverage.toml` by `python -m benchmarks.reproduce.coverage`.
"""
Measured = dict[str, dict[str, float]]  # by row and measure, the mean over seeds


@dataclass(frozen=True)
class Item:
    """A table or figure, or a part of one.

    Attributes
    ----------
    paper : str
        Authors and year.
    what : str
        What it shows.
    rows : tuple of str
        Rows and sweeps of the grid that repeat it.
    measure : str
        What of the rows is shown; of sweeps it is STS-B dev.
    see : str
        Where else it is: a page, a command.
    lacks : str
        What of it is not here, and why or how it could be.
    """

    paper: str
    what: str
    rows: tuple[str, ...] = ()
    measure: str = "average"
    see: str = ""
    lacks: str = ""


def load_items(grid: Grid, path: Path = ITEMS) -> list[Item]:
    """Read the items.

    Raises
    ------
    UsageError
        If one names a row that the grid lacks, or says nothing.
    """
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    items = [Item(**item | {"rows": tuple(item.get("rows", ()))}) for item in table["item"]]
    known = {row.name for row in grid.rows} | {sweep.name for sweep in grid.sweeps}
    for item in items:
        if unknown := [name for name in item.rows if name not in known]:
            raise UsageError(f"{path}: {item.what}: no row or sweep is called {', '.join(unknown)}")
        if not (item.rows or item.see or item.lacks):
            raise UsageError(f"{path}: {item.what}: give rows, `see` or `lacks`")
    return items


def read_measured(pages: Path = PAGES) -> Measured:
    """The means of every row, from the data files beside the documents."""
    found: Measured = {}
    for name in FILES:
        values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        with (pages / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                values[line["row"]][line["measure"]].append(float(line["points"]))
        for row, measures in values.items():
            for measure, points in measures.items():
                found.setdefault(row, {}).setdefault(measure, mean(points))
    return found


def page(grid: Grid, items: list[Item], measured: Measured) -> str:
    """The whole page in Markdown."""
    lines = [_OPENING]
    for paper in dict.fromkeys(item.paper for item in items):
        lines += [f"## {paper}", "", "| what | here | not here |", "|---|---|---|"]
        for item in items:
            if item.paper == paper:
                here = "; ".join([*_rows(grid, item, measured), *filter(None, [item.see])])
                lines.append(f"| {item.what} | {here} | {item.lacks} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _rows(grid: Grid, item: Item, measured: Measured) -> list[str]:
    shown, sweeps = [], {sweep.name: sweep for sweep in grid.sweeps}
    for name in item.rows:
        if name in sweeps:
            shown.append(_sweep(sweeps[name], measured))
            continue
        row, value = grid.row(name), measured.get(name, {}).get(item.measure)
        text = f"{row.title} " + ("not trained" if value is None else f"{value:.1f}")
        if row.published and row.published.measure == item.measure == "average":
            text += f" ({row.published.score:.1f})"
        shown.append(text)
    if item.measure != "average" and shown:
        shown[0] = f"{TITLES[item.measure]}: {shown[0]}"
    return shown


def _sweep(sweep: Sweep, measured: Measured) -> str:
    """How far a sweep's points lie apart, where the best is, and where the paper's."""
    dev = {value: measured.get(sweep.point(value), {}).get("dev") for value in sweep.values}
    known = {value: points for value, points in dev.items() if points is not None}
    if not known:
        return f"`{sweep.name}` not trained"
    best = max(known, key=lambda value: known[value])
    text = f"`{sweep.name}` {min(known.values()):.1f} to {known[best]:.1f}, best at {best}"
    text += f" ({sweep.reference})" if sweep.published or sweep.best is not None else ""
    missing = len(sweep.values) - len(known)
    return text + (f", {missing} values not trained" if missing else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder of the documents")
    options = parser.parse_args()
    grid = load_grid()
    path = options.pages / "coverage.md"
    path.write_text(page(grid, load_items(grid), read_measured(options.pages)), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
