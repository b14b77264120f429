"""`coverage.md`: each table and figure of the four papers, and the row, command or reason that answers it.

python -m benchmarks.reproduce.coverage
"""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

from scipy.stats import pearsonr

from augment_cli.errors import UsageError
from benchmarks.reproduce import draws, nli_labels
from benchmarks.reproduce.document.scores import NO_TRAINING, TITLES, scores_of
from benchmarks.reproduce.draws import FIRST
from benchmarks.reproduce.entries import Sweep
from benchmarks.reproduce.grid import Grid, load_grid
from benchmarks.reproduce.plan import Entry
from benchmarks.reproduce.results import TRAINING, Result, Results
from benchmarks.reproduce.units import Unit, make_units
from benchmarks.result_lines import read_lines

RESULTS = Path(__file__).with_name("results")
SINGLES = "augcse-single-positive"  # the sweep of single augmentations
NEGATIVES = "augcse-single-negative"
# What `further` measures of a row, and what makes points of it.
MORE = {"clustering": 1, "intent": 1, "purity": 1, "purity:distance_10": 1}
MORE |= {f"geometry-nli:alignment_A_{hypotheses}": 100 for hypotheses in "EC"}
STARTED = "last"  # a measure of rows that ended below the start, which came out
OF_POINTS = {"dev": 1, "average": 1}  # and of the points of its sweeps
ITEMS = Path(__file__).with_name("coverage.toml")
PAGES = Path(__file__).parents[1] / "results"
FILES = ("evidence-tables", "evidence-singles")  # one bed; a row is taken from the first that has it
_OPENING = """\
# What of the papers is here

For anyone who looks for a table or a figure of one of the four papers. Numbers are points (fractions ×
100), and the paper's stands in brackets as it is printed there: its STS is the mean of seven sets, ours of
five, without STS16 and SICK-R. Plain ones are of rows at their own learning rate, means over the
[draws](tuned.md); beside STS they are of one draw. *Slanted* ones are older, means over seeds of rows that
all have one rate, of [evidence-tables.md](evidence-tables.md) and
[evidence-singles.md](evidence-singles.md). Compare plain with plain, and slanted with slanted: where not all
rows have a plain one, each shows both that it has. Sweeps, in code type, are of one seed, and have their
lowest and highest point on STS-B dev. *The start* is said of a number where training took dev down, so that
the encoder it began with came out: the number is that encoder's, not an effect. All start from a small
encoder on 2,560 sentences, the papers from BERT on a million: compare differences, not levels. Drawn from
`benchmarks/reproduce/coverage.toml` by `python -m benchmarks.reproduce.coverage`.
"""
_LABELS = """\
## Trained on NLI's labels

AugCSE's tables 2 and 14, with what is here of SNLI and ANLI, each way at its own learning rate
(`python -m benchmarks.reproduce.nli_labels --data DIR`): STS-B dev, three seeds, 95 %. The papers train on a
hundred times as many pairs. SNLI's premises are captions, and some pairs of STS-B dev are captions of the
same images.
"""
_SINGLES = """\
## Each augmentation alone

AugCSE's figure 6, after 80 steps of 32 on sentences that the augmentation changes, all at the learning rate
of SimCSE with AugCSE's loss and head (3e-4), one seed: STS-B dev at the last step, and the mean of CR, SST-2
(its sentences alone) and MRPC, which the paper takes over seven sets. Its numbers stand in brackets.
"""
FURTHER = "further"  # the profile of what else is measured of tuned rows
LAST = "singles-last"  # that of single augmentations with their transfer
Measured = dict[str, dict[str, float]]  # by row and measure, the mean over seeds


@dataclass(frozen=True)
class Item:
    """A table or figure, or a part of one."""

    paper: str  # authors and year
    what: str  # what it shows
    rows: tuple[str, ...] = ()  # rows and sweeps of the grid that repeat it
    measure: str = "average"  # what of the rows is shown; of sweeps it is STS-B dev
    # what the paper prints there, by row, in place of what the grid says of the row
    paper_points: Mapping[str, float] = field(default_factory=dict)
    # where else it is: a page, a command; `{discriminator}` and the like stand for what was measured
    see: str = ""
    lacks: str = ""  # what of it is not here, and why or how it could be


def load_items(grid: Grid, path: Path = ITEMS) -> list[Item]:
    """Read the items."""
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    items = [Item(**item | {"rows": tuple(item.get("rows", ()))}) for item in table["item"]]
    known = {row.name for row in grid.rows} | {sweep.name for sweep in grid.sweeps}
    for item in items:
        if unknown := [name for name in item.rows if name not in known]:
            raise UsageError(f"{path}: {item.what}: no row or sweep is called {', '.join(unknown)}")
        if odd := [name for name in item.paper_points if name not in item.rows]:
            raise UsageError(f"{path}: {item.what}: `paper_points` of rows it lacks: {', '.join(odd)}")
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


def read_tuned(grid: Grid, results: Path = RESULTS) -> Measured:
    """The means of the rows at their own learning rate: the draws' averages, and what `further` has."""
    # Points of a sweep are in `further` alone, so theirs are of one draw.
    swept = grid.profiles[FIRST]
    found = draws.measured(grid, results, swept, draws.draws_of(grid, FIRST, swept.rows))
    averages: dict[str, list[float]] = defaultdict(list)
    for rows in found.values():
        for row, measures in rows.items():
            averages[row].append(measures["average"])
    tuned = {row: {"average": mean(values)} for row, values in averages.items()}
    for row, measures in _measures(grid, results, FURTHER).items():
        scales = MORE | OF_POINTS if grid.row(row).sweep else MORE
        more = {key: scale * measures[key] for key, scale in scales.items() if key in measures}
        tuned.setdefault(row, {}).update(more)
    return tuned


def _measures(grid: Grid, results: Path, name: str) -> Measured:
    """The measures of the one seed of each row of a profile."""
    entries = [Entry(unit, own, ()) for unit, own in _results(grid, results, name)]
    scores = scores_of(grid, grid.profiles[name], entries)
    return {row: next(iter(seeds.values())) for row, seeds in scores.items()}


def _results(grid: Grid, results: Path, name: str) -> Iterator[tuple[Unit, dict[str, Result]]]:
    """What there is of each training of a profile, by evaluation."""
    profile, known = grid.profiles[name], Results(results / f"{name}.jsonl")
    own = grid.of_profile(profile)
    for unit in make_units(own, profile, own.rows):
        data = dict.fromkeys(unit.stages)
        found = {name: known.find(unit.key, name, data) for name in unit.evaluations}
        yield unit, {name: result for name, result in found.items() if result}


def singles_table(grid: Grid, measured: Measured, transfers: Mapping[str, Sequence[float]]) -> str:
    """Each augmentation alone, as the positive and as the negative, as Markdown."""
    sweeps = [next(sweep for sweep in grid.sweeps if sweep.name == name) for name in (SINGLES, NEGATIVES)]
    rows = [
        "| augmentation | positive: STS-B dev | transfer | negative: STS-B dev | transfer |",
        "|---|---:|---:|---:|---:|",
    ]
    for row, title in {NO_TRAINING: "no training", "simcse-symmetric": "none: SimCSE, symmetric"}.items():
        cells = [_cell(measured, row, measure) for measure in ("dev", "transfer")]
        rows.append(f"| {title} | {' | '.join(cells)} |  |  |")
    for number, value in enumerate(sweeps[0].values):
        cells = []
        for side, sweep in enumerate(sweeps):
            printed = {"dev": sweep.published[number], "transfer": transfers[value][side]}
            cells += [_cell(measured, sweep.point(value), key, paper) for key, paper in printed.items()]
        rows.append(f"| {value} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(measured: Measured, row: str, measure: str, paper: float = nan) -> str:
    """A row's number and the paper's, as far as there are any."""
    points = measured.get(row, {}).get(measure)
    return ("–" if points is None else f"{points:.1f}") + (f" ({paper:g})" if isfinite(paper) else "")


def sayings(grid: Grid, results: Path = RESULTS, pages: Path = PAGES) -> dict[str, str]:
    """What takes the place of `{discriminator}` and the like."""
    curves = [
        found[TRAINING].scores["discriminator_curve"]
        for unit, found in _results(grid, results, FURTHER)
        if unit.row.name == "augcse" and TRAINING in found
    ]
    course = f"{', '.join(f'{100 * share:.0f}' for share in curves[0])} %" if curves else "not trained"
    last = _measures(grid, results, LAST)
    return {
        "discriminator": course,
        "similarity": _with_similarity(last, "dev", pages),
        "similarity_transfer": _with_similarity(last, "transfer", pages),
        "labels": "[below](#trained-on-nlis-labels)" if nli_labels.RESULTS.is_file() else "not trained",
        "singles": "[with transfer](#each-augmentation-alone)" if last else "transfer not trained",
    }


def _with_similarity(measured: Measured, measure: str, pages: Path) -> str:
    """How a measure of the single positives goes with the cosine of what each augmentation makes."""
    cosines = {
        cells[1].strip("`"): float(cells[10])
        for line in (pages / "augmentations.md").read_text(encoding="utf-8").splitlines()
        if len(cells := [cell.strip() for cell in line.split("|")]) == 13
        and cells[10].startswith(("0.", "1."))
    }
    own = {name: measured.get(f"{SINGLES}-{name}", {}).get(measure) for name in cosines}
    both = [(cosines[name], points) for name, points in own.items() if points is not None]
    if len(both) < 4:  # of fewer there is no interval
        return "not measured"
    found = pearsonr(*zip(*both, strict=True))
    low, high = found.confidence_interval()
    return f"{found.statistic:+.2f} ({low:+.2f} to {high:+.2f}) over {len(both)} augmentations"


def page(
    grid: Grid,
    items: list[Item],
    measured: Measured,
    tuned: Measured | None = None,
    said: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The whole page in Markdown: older means, those of tuned rows, and what is said in an item's words."""
    lines = [_OPENING]
    for paper in dict.fromkeys(item.paper for item in items):
        lines += [f"## {paper}", "", "| what | here | not here |", "|---|---|---|"]
        for item in items:
            if item.paper == paper:
                own = _rows(grid, item, measured, tuned or {})
                here = "; ".join([*own, *filter(None, [item.see.format_map(said)])])
                lines.append(f"| {item.what} | {here} | {item.lacks} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _rows(grid: Grid, item: Item, measured: Measured, tuned: Measured) -> list[str]:
    """Each row with its numbers and the paper's, each sweep with its range."""
    sweeps = {sweep.name: sweep for sweep in grid.sweeps}
    known = [name for name in item.rows if name not in sweeps and _has(item.measure, name, measured, tuned)]
    both = any(item.measure not in tuned.get(name, {}) for name in known)
    shown = []
    for name in item.rows:
        if name in sweeps:
            shown.append(_sweep(sweeps[name], measured, tuned))
            continue
        row, numbers = grid.row(name), []
        old = measured.get(name, {})
        if item.measure in tuned.get(name, {}):
            numbers.append(f"{tuned[name][item.measure]:.1f}")
        if item.measure in old and (both or not numbers):
            numbers.append(f"*{old[item.measure]:.1f}*" + (", the start" if STARTED in old else ""))
        text = f"{row.title} {' '.join(numbers) or 'not trained'}"
        published = row.published.score if row.published and row.published.measure == item.measure else None
        paper = item.paper_points.get(name, published)
        shown.append(text + (f" ({paper:g})" if paper is not None else ""))
    if item.measure in TITLES and item.measure != "average" and shown:
        shown[0] = f"{TITLES[item.measure]}: {shown[0]}"
    return shown


def _has(measure: str, row: str, *found: Measured) -> bool:
    return any(measure in one.get(row, {}) for one in found)


def _sweep(sweep: Sweep, measured: Measured, tuned: Measured) -> str:
    """How far a sweep's points lie apart, where the best is, and where the paper's."""
    points = {value: sweep.point(value) for value in sweep.values}
    old = not any("dev" in tuned.get(point, {}) for point in points.values())
    own = {value: (measured if old else tuned).get(point, {}) for value, point in points.items()}
    known = {value: measures["dev"] for value, measures in own.items() if "dev" in measures}
    if not known:
        return f"`{sweep.name}` not trained"
    mark, best = "*" if old else "", max(known, key=lambda value: known[value])
    text = f"`{sweep.name}` {mark}{min(known.values()):.1f} to {known[best]:.1f}{mark}, best at {best}"
    text += f" ({sweep.reference})" if sweep.published or sweep.best is not None else ""
    averages = [] if old else [measures["average"] for measures in own.values() if "average" in measures]
    text += f", STS {min(averages):.1f} to {max(averages):.1f}" if averages else ""
    started, missing = sum(STARTED in own[value] for value in known), len(sweep.values) - len(known)
    text += f", {started} of {len(known)} the start" if started else ""
    return text + (f", {missing} values not trained" if missing else "")


def whole_page(grid: Grid, pages: Path = PAGES) -> str:
    """The page from all that is recorded."""
    said = sayings(grid, pages=pages)
    drawn = page(grid, load_items(grid), read_measured(pages), read_tuned(grid), said)
    if labels := read_lines(nli_labels.RESULTS):
        drawn += f"\n{_LABELS}\n{nli_labels.table(labels)}\n"
    if last := _measures(grid, RESULTS, LAST):
        transfers = tomllib.loads(ITEMS.read_text(encoding="utf-8"))["transfer_alone"]
        drawn += f"\n{_SINGLES}\n{singles_table(grid, last, transfers)}\n"
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder of the documents")
    options = parser.parse_args()
    grid = load_grid()
    path = options.pages / "coverage.md"
    path.write_text(whole_page(grid, options.pages), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
