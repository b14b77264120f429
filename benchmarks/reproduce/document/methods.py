"""Every row in a table, its difference to its baseline and to no training, and the other evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document import wording
from benchmarks.reproduce.document.scores import NO_TRAINING, TITLES, any_score, cell, signed
from benchmarks.reproduce.entries import Profile, Row
from benchmarks.reproduce.grid import Grid

_NOISE_ELSEWHERE = 0.8  # points, the seed noise of BERT-base runs where a paper gives none (METHODS of UNA)


def section(rows: Sequence[Row], scores: Scores, seedless: frozenset[str]) -> list[str]:
    """The table of the methods."""
    lines = [
        wording.METHODS,
        "| row | baseline | seeds | STS-B dev | STS average | Δ baseline | Δ no training | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    titles = {row.name: row.title for row in rows}
    notes: list[str] = []
    for row in rows:
        if not comparisons.values_of(scores, row.name, "dev"):
            continue
        said = "; ".join(text for text in (row.note, _what_training_did(scores, row.name)) if text)
        mark = f" [{len(notes) + 1}]" if said else ""
        notes += [said] if said else []
        cost = list(comparisons.values_of(scores, row.name, "cpu").values())
        cells = [
            row.title + mark,
            titles.get(row.baseline, ""),
            str(len(comparisons.values_of(scores, row.name, "dev"))),
            cell(scores, row.name, "dev"),
            cell(scores, row.name, "average"),
            _change(scores, row.name, row.baseline, seedless),
            _change(scores, row.name, NO_TRAINING, seedless).split(" ±")[0],
            f"{sum(cost) / len(cost):.1f}" if cost else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    lines += [f"[{number}] {note}.  " for number, note in enumerate(notes, 1)]
    return [*lines, ""]


def _what_training_did(scores: Scores, row: str) -> str:
    """What the scores of the best checkpoint hide, in words; empty where there is nothing."""
    lasts = list(comparisons.values_of(scores, row, "last").values())
    shares = list(comparisons.values_of(scores, row, "discriminator_accuracy").values())
    seeds = len(comparisons.values_of(scores, row, "dev"))
    of = "" if seeds == 1 else f" of {len(lasts)} of {seeds} seeds"
    words = (
        [f"the best checkpoint{of} is the start: training ended at {mean(lasts):.2f} on STS-B dev"]
        if lasts
        else []
    )
    if shares:
        words.append(f"its discriminator names what was done to {mean(shares):.0f} % of the last logged rows")
    return "; ".join(words)


def _change(scores: Scores, row: str, other: str, seedless: frozenset[str]) -> str:
    if not other or row == other:
        return ""
    change = comparisons.difference(scores, row, other, "average", seedless)
    if change is None:
        return ""
    fewer = change.seeds < len(comparisons.values_of(scores, row, "average"))
    seeds = f" ({change.seeds} seed{'s' * (change.seeds > 1)})" if fewer else ""
    return signed(change.mean, change.sd) + seeds


def other_evaluations(grid: Grid, profile: Profile, rows: Sequence[Row], scores: Scores) -> list[str]:
    """The averages of what is scored beside STS, of the rows that have them."""
    names = [name for name in grid.evaluations if name != "sts"]
    of = [row for row in rows if any(comparisons.values_of(scores, row.name, name) for name in names)]
    if not of:
        return []
    tasks = []
    for name in names:
        scored = [task for task in grid.tasks(name, profile) if any_score(scores, task)]
        absent = [task for task in grid.tasks(name, profile) if task not in scored]
        lacking = f"; not in the data folder: {', '.join(absent)}" if absent and scored else ""
        tasks.append(f"{name}: {', '.join(scored) or 'nothing yet'}{lacking}")
    lines = ["## Beside STS", "", f"In points, first seed ({'. '.join(tasks)}).", ""]
    lines += [f"| row | {' | '.join(TITLES[name] for name in names)} |", "|---" * (len(names) + 1) + "|"]
    for row in of:
        lines.append(f"| {row.title} | {' | '.join(cell(scores, row.name, name) for name in names)} |")
    return [*lines, ""]


def bands(rows: Sequence[Row]) -> list[str]:
    """What the papers' scores and their noise let one expect with the papers' own setting."""
    lines = [wording.BANDS.format(sd=_NOISE_ELSEWHERE)]
    for row in rows:
        if not row.published:
            continue
        item = row.published
        center, sd = item.expected or item.score, item.sd or _NOISE_ELSEWHERE
        measure = "7 STS test sets" if item.measure == "average" else TITLES[item.measure]
        band = f"{center - 2 * sd:.1f} to {center + 2 * sd:.1f}"
        lines.append(f"| {row.title} | {item.paper} | {measure} | {item.model} | {item.score:.2f} | {band} |")
    return [*lines, ""]
