"""What the papers conclude, one by one, beside what was measured here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Difference, Scores
from benchmarks.reproduce.document import wording
from benchmarks.reproduce.document.scores import TITLES, signed
from benchmarks.reproduce.entries import Claim, Row
from benchmarks.reproduce.grid import Grid

VERDICTS = ("holds", "reversed", "within noise", "noise unknown", "not measured")


@dataclass(frozen=True)
class Judged:
    """A conclusion of a paper and what the results say of it.

    Attributes
    ----------
    claim : Claim
        The conclusion.
    gap : Difference or None
        Measured here; None where it was not.
    least : float
        The least difference that counts, in points; NaN where the noise is unknown.
    verdict : str
        One of `VERDICTS`.
    """

    claim: Claim
    gap: Difference | None
    least: float
    verdict: str


def judged(grid: Grid, rows: Sequence[Row], scores: Scores, seedless: frozenset[str]) -> list[Judged]:
    """Every conclusion: those of the rows' published scores, then the others that the grid names."""
    claims = [
        Claim(
            row.name, row.baseline, item.measure, item.difference,
            note="" if item.model == "BERT-base" else item.model,
        )
        for row in rows
        if (item := row.published) and row.baseline
    ]  # fmt: skip
    claims += grid.claims
    sds = noises(claims, scores, seedless)
    found = []
    for claim in claims:
        sd = sds[claim.measure, claim.better, claim.worse]
        gap = comparisons.difference(scores, claim.better, claim.worse, claim.measure, seedless)
        least = comparisons.threshold(gap, sd) if gap else math.nan
        verdict = comparisons.verdict(gap, sd, claim.published, alike=claim.alike)
        found.append(Judged(claim, gap, least, verdict))
    return found


def noises(
    claims: Sequence[Claim], scores: Scores, seedless: frozenset[str]
) -> dict[tuple[str, str, str], float]:
    """Pooled deviation of the differences by measure and pair; beside a row without seeds it is another."""
    sds: dict[tuple[str, str, str], float] = {}
    for measure in TITLES:
        pairs = [(claim.better, claim.worse) for claim in claims if claim.measure == measure]
        # Beside a row without seeds, all of the other's noise counts.
        single = {pair for pair in pairs if seedless & set(pair)}
        for chosen in (single, set(pairs) - single):
            sd = comparisons.noise(scores, sorted(chosen), measure, seedless)
            sds |= {(measure, *pair): sd for pair in chosen}
    return sds


def counted(found: Sequence[Judged]) -> str:
    """How many conclusions have each verdict, in words."""
    count = Counter(one.verdict for one in found)
    return ", ".join(f"{verdict} {count[verdict]}" for verdict in VERDICTS if count[verdict])


def section(grid: Grid, found: Sequence[Judged]) -> list[str]:
    """The lines of the document's section."""
    titles = {row.name: row.title for row in grid.rows}
    lines = [wording.CONCLUSIONS]
    notes: list[str] = []
    for one in found:
        claim, gap = one.claim, one.gap
        if gap is None:
            continue
        if claim.note and claim.note not in notes:
            notes.append(claim.note)
        mark = f" [{notes.index(claim.note) + 1}]" if claim.note else ""
        stated = "none" if claim.alike else f"{claim.published:+.2f}" if claim.published else "above 0"
        cells = [
            _name(titles, claim) + mark, stated, f"{signed(gap.mean, gap.sd)} ({gap.seeds})",
            f"{one.least:.2f}" if one.least == one.least else "", one.verdict,
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    numbered = [f"[{number}] {note}.  " for number, note in enumerate(notes, 1)]
    lines += ["", *numbered, *([""] if notes else [])]
    absent = [_name(titles, one.claim) for one in found if one.gap is None]
    if absent:
        lines += [f"Not measured yet: {'; '.join(absent)}.", ""]
    return [*lines, f"Of {len(found)} conclusions: {counted(found)}.", ""]


def _name(titles: Mapping[str, str], claim: Claim) -> str:
    measure = "" if claim.measure == "average" else f", {TITLES[claim.measure]}"
    return f"{titles[claim.better]} > {titles[claim.worse]}{measure}"
