"""The primary comparisons as a table: interval over seeds, Holm's correction, noise of the test sets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.reproduce.comparisons import Scores, values_of
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import LEVEL, Interval, bootstrap, holm, interval, p_shown, verdict

SIGNIFICANT = 1 - LEVEL  # of an adjusted p-value
_DEV = "stsb-dev"  # by which checkpoints are chosen, so no test set


@dataclass(frozen=True)
class Finding:
    """A primary comparison and what was found."""

    primary: Primary  # the comparison
    difference: Interval | None  # none where the rows have no seed in common yet
    adjusted: float  # holm's p-value over all primary comparisons, including those not measured yet
    # bootstrap interval of the difference in points; None where no similarities were kept
    test_sets: tuple[float, float] | None = None

    @property
    def verdict(self) -> str:
        """In words."""
        if self.difference is None:
            return "not measured"
        return verdict(self.difference, self.adjusted, self.primary.published)


def findings(
    grid: Grid, scores: Scores, similarities: Path | None = None, kept: Path | None = None
) -> list[Finding]:
    """Every primary comparison of the grid, in its order."""
    measured: list[tuple[Primary, list[int], Interval | None]] = []
    for one in grid.primary:
        first, second = (values_of(scores, row, "average") for row in (one.better, one.worse))
        seeds = sorted(first.keys() & second.keys())
        difference = interval([first[seed] - second[seed] for seed in seeds]) if seeds else None
        measured.append((one, seeds, difference))
    sets = _intervals(measured, similarities, kept)
    adjusted = holm([math.nan if difference is None else difference.p for _, _, difference in measured])
    return [
        Finding(one, difference, p, of_tests)
        for (one, _, difference), p, of_tests in zip(measured, adjusted, sets, strict=True)
    ]


def _intervals(
    measured: Sequence[tuple[Primary, list[int], Interval | None]],
    similarities: Path | None,
    kept: Path | None,
) -> list[tuple[float, float] | None]:
    """The bootstrap of each comparison, computed or from the file."""
    known = json.loads(kept.read_text("utf-8")) if kept is not None and kept.exists() else {}
    intervals: list[tuple[float, float] | None] = []
    for one, seeds, _ in measured:
        name = f"{one.better} - {one.worse}"
        found = _test_sets(one, seeds, similarities)
        if found is not None:
            known[name] = {"seeds": seeds, "points": [round(end, 4) for end in found]}
        elif known.get(name, {}).get("seeds") == seeds and seeds:
            found = tuple(known[name]["points"])
        intervals.append(found)
    if kept is not None and known:
        text = json.dumps(known, indent=1, sort_keys=True) + "\n"
        if not kept.exists() or kept.read_text("utf-8") != text:
            kept.write_text(text, encoding="utf-8")
    return intervals


def _test_sets(one: Primary, seeds: Sequence[int], folder: Path | None) -> tuple[float, float] | None:
    if folder is None or not seeds:
        return None
    kept: list[list[Mapping[str, np.ndarray]]] = []
    for row in (one.better, one.worse):
        files = [sorted(folder.glob(f"{row}-{seed}-*.npz")) for seed in seeds]
        if not all(len(paths) == 1 for paths in files):
            return None
        kept.append([dict(np.load(paths[0])) for paths in files])
    # The pairs of STS-B dev chose the checkpoint.
    names = [key.removesuffix("-gold") for key in kept[0][0] if key.endswith("-gold")]
    tests = [name for name in names if name != _DEV]
    better, worse = ([{name: one[f"{name}-similarity"] for name in tests} for one in row] for row in kept)
    return bootstrap(better, worse, {name: kept[0][0][f"{name}-gold"] for name in tests})


def table(all_findings: Sequence[Finding], grid: Grid) -> list[str]:
    """The lines of the document's section."""
    lines = [
        "| question | better | than | paper | here, 95 % interval over seeds | seeds | p, Holm "
        "| 95 % over test sentences | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in all_findings:
        value = one.difference
        here = "–" if value is None else f"{value.mean:+.2f}"
        if value is not None and not math.isnan(value.low):
            here += f" ({value.low:+.2f} to {value.high:+.2f})"
        cells = [*_compared(one, grid), here, str(0 if value is None else value.seeds), p_shown(one.adjusted)]
        lines.append(f"| {' | '.join([*cells, _over_tests(one), one.verdict])} |")
    lines += ["", "What is the same on both sides:", ""]
    alike: dict[str, list[str]] = {}
    for one in all_findings:
        note = f" Paper: {one.primary.note}." if one.primary.note else ""
        told = f"{one.primary.control[0].upper()}{one.primary.control[1:]}.{note}"
        alike.setdefault(told, []).append(" – ".join(_titles(one, grid)))
    lines += [f"- {'; '.join(pairs)}: {told}" for told, pairs in alike.items()]
    return lines


def _compared(one: Finding, grid: Grid) -> list[str]:
    """The cells that say what is compared, and what the paper found."""
    return [one.primary.question, *_titles(one, grid), f"{one.primary.published:+.2f}"]


def _titles(one: Finding, grid: Grid) -> list[str]:
    return [grid.row(name).title for name in (one.primary.better, one.primary.worse)]


def _over_tests(one: Finding) -> str:
    return "–" if one.test_sets is None else "{:+.2f} to {:+.2f}".format(*one.test_sets)
