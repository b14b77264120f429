"""What the papers conclude, one by one, beside what was measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document import wording
from benchmarks.reproduce.document.primary import Finding
from benchmarks.reproduce.document.scores import TITLES
from benchmarks.reproduce.entries import Claim, Row
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import CONCLUSIONS, FEWEST_SEEDS, Interval, conclusion


@dataclass(frozen=True)
class Judged:
    """A conclusion of a paper and what the results say of it."""

    claim: Claim  # the conclusion
    gap: Interval | None  # measured here; None where it was not
    verdict: str  # one of `CONCLUSIONS`


def judged(
    grid: Grid, rows: Sequence[Row], scores: Scores, seedless: frozenset[str], findings: Sequence[Finding]
) -> list[Judged]:
    """Every conclusion: those of the rows' published scores, then the others that the grid names."""
    # One that is a primary comparison, on the same measure, has the verdict it has there.
    names = {row.name for row in grid.rows}  # a profile may leave out a row's baseline
    claims = [
        Claim(
            row.name,
            item.of or row.baseline,
            item.measure,
            item.difference,
            note="; ".join(filter(None, ("" if item.model == "BERT-base" else item.model, item.sets))),
        )
        for row in rows
        if (item := row.published) and (item.of or row.baseline) in names
    ]
    claims += grid.claims
    primary = {(one.primary.better, one.primary.worse): one for one in findings}
    found = []
    for claim in claims:
        gap = comparisons.difference(scores, claim.better, claim.worse, claim.measure, seedless)
        said = conclusion(gap, claim.published)
        if gap is not None and _is_start(scores, claim.better):
            said = "start not beaten"
        one = primary.get((claim.better, claim.worse))
        if one is not None and claim.measure == "average" and one.verdict in CONCLUSIONS:
            said = one.verdict
        found.append(Judged(claim, gap, said))
    return found


def _is_start(scores: Scores, row: str) -> bool:
    """Whether training made the encoder worse with every seed, so that the row is the starting encoder."""
    ends = comparisons.values_of(scores, row, "last")  # where the start is the best checkpoint
    return bool(ends) and ends.keys() == comparisons.values_of(scores, row, "dev").keys()


def counted(found: Sequence[Judged]) -> str:
    """How many conclusions have each verdict, in words."""
    count = Counter(one.verdict for one in found)
    return "; ".join(f"{verdict} {count[verdict]}" for verdict in CONCLUSIONS if count[verdict])


def section(grid: Grid, found: Sequence[Judged], has_primary: bool) -> list[str]:
    """The lines of the document's section; `has_primary` where the primary comparisons stand above it."""
    titles = {row.name: row.title for row in grid.rows}
    above = " A primary comparison has the verdict it has above." if has_primary else ""
    lines = [wording.CONCLUSIONS.format(fewest=FEWEST_SEEDS, primary=above)]
    notes: list[str] = []
    for one in found:
        claim, gap = one.claim, one.gap
        if gap is None:
            continue
        if claim.note and claim.note not in notes:
            notes.append(claim.note)
        mark = f" [{notes.index(claim.note) + 1}]" if claim.note else ""
        stated = f"{claim.published:+.2f}" if claim.published else "above 0"
        cells = [_name(titles, claim) + mark, stated, _with_interval(gap), one.verdict]
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


def _with_interval(gap: Interval) -> str:
    ends = f"{gap.low:+.2f} to {gap.high:+.2f}; " if gap.seeds >= FEWEST_SEEDS else ""
    return f"{gap.mean:+.2f} ({ends}{gap.seeds})"
