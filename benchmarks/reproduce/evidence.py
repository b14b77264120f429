"""The document: what helps, by how much and how sure, from the results alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.reproduce import comparisons
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.document import (
    conclusions,
    curves,
    forest,
    methods,
    neighbours,
    opening,
    primary,
    sweeps,
    together,
    wording,
)
from benchmarks.reproduce.document.primary import Finding
from benchmarks.reproduce.document.scores import scored_tasks, scores_of, write_csv
from benchmarks.reproduce.document.together import Together
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.plan import Entry, make_plan
from benchmarks.reproduce.published import like_for_like
from benchmarks.reproduce.results import Results
from benchmarks.reproduce.units import make_units

MAIN = "bed"  # the profile whose document has no name in its file's
PAPER = "paper"  # the profile with the papers' own setting, in whose document the expected bands stand


@dataclass(frozen=True)
class Drawn:
    """Files beside the document that it names; empty where there is nothing to draw."""

    scores: str  # every measure of every seed as CSV
    forest: str = ""  # picture of the primary comparisons
    sweeps: tuple[str, ...] = ()  # pictures of the sweeps
    neighbours: str = ""  # picture of how pure and how near neighbourhoods are


def planned_scores(
    grid: Grid, profile: Profile, results: Results, stages: Any
) -> tuple[Sequence[Entry], Scores]:
    """What a profile plans, and every score it has, those of seeds that are not planned among them."""
    every = sorted(set(profile.seeds))
    units = make_units(grid, profile, grid.rows)
    known = {unit.key for unit in units}
    # Every seed there is counts, though sweeps are planned with the first alone.
    extra = [row for row in grid.rows if row.has_seed]
    more = [unit for unit in make_units(grid, profile, extra, every) if unit.key not in known]
    entries = make_plan(units, results, stages, profile)
    return entries, scores_of(grid, profile, [*entries, *make_plan(more, results, stages, profile)])


def write_evidence(
    grid: Grid,
    profile: Profile,
    results: Results,
    stages: Any,
    pages: Path,
    other: Scores | None = None,
    again: Sequence[Finding] = (),
) -> Path:
    """Write the document (`evidence.md`, or `evidence-NAME.md`), its pictures and its data file."""
    # `other` has the scores of the profile that it is read together with, `again` the primary comparisons
    # of the one that repeats it.
    entries, scores = planned_scores(grid, profile, results, stages)
    grid = like_for_like(grid, profile, scores)
    stem = stem_of(profile)
    pages.mkdir(parents=True, exist_ok=True)
    write_csv(grid, scores, pages / f"{stem}.csv")
    found = _findings(grid, profile, results, stages, scores)
    near = pages / f"{stem}-neighbours.png"
    drawn = Drawn(
        f"{stem}.csv",
        f"{stem}.png" if forest.draw_forest(found, grid, pages / f"{stem}.png") else "",
        (f"{stem}-sweeps.png",) if curves.draw_sweeps(grid, scores, pages / f"{stem}-sweeps.png") else (),
        near.name if neighbours.draw_neighbours(grid.rows, scores, near) else "",
    )
    path = pages / f"{stem}.md"
    both = together.findings(grid, other or {}, scores) if found else []
    path.write_text(document(grid, profile, entries, scores, found, drawn, both, again), encoding="utf-8")
    return path


def stem_of(profile: Profile) -> str:
    """How the files of a profile's document begin."""
    return "evidence" if profile.name == MAIN else f"evidence-{profile.name}"


def _findings(grid: Grid, profile: Profile, results: Results, stages: Any, scores: Scores) -> list[Finding]:
    """The primary comparisons, where the profile has them; bootstrap intervals are kept with the results."""
    if not profile.other_seeds or not grid.primary:
        return []
    kept = results.path.with_suffix(".intervals.json")
    return primary.findings(grid, scores, stages.folder.parent / "similarities", kept)


def document(
    grid: Grid,
    profile: Profile,
    entries: Sequence[Entry],
    scores: Scores,
    findings: Sequence[Finding],
    drawn: Drawn,
    both: Sequence[Together] = (),
    again: Sequence[Finding] = (),
) -> str:
    """The whole document in Markdown."""
    rows = [row for row in grid.rows if not row.sweep and row.name not in profile.unlisted]
    seedless = frozenset(row.name for row in grid.rows if not row.has_seed)
    judged = conclusions.judged(grid, rows, scores, seedless, findings)
    lines = [
        wording.OPENING.format(about=profile.about, warning=_warning(profile, scores)),
        *opening.lines(grid, rows, scores, findings, judged, both, again),
        *_primary(findings, grid, drawn),
        *together.section(grid, both),
        *conclusions.section(grid, judged, bool(findings)),
        *_origin(grid, profile, entries, scores, drawn),
        *_state(profile, entries),
        *methods.section(rows, scores, seedless),
        *methods.other_evaluations(grid, profile, rows, scores),
        *([wording.NEIGHBOURS.format(picture=drawn.neighbours)] if drawn.neighbours else []),
        *sweeps.section(grid, scores, drawn.sweeps),
        *(methods.bands(rows) if profile.name == PAPER else []),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _warning(profile: Profile, scores: Scores) -> str:
    """The profile's warning as a paragraph, with the rows' averages; empty without one."""
    averages = {row: comparisons.values_of(scores, row, "average") for row in scores}
    known = {row: f"{mean(values.values()):.2f}" for row, values in averages.items() if values}
    return f"\n{profile.warning.format_map(_Averages(known))}\n" if profile.warning else ""


class _Averages(dict[str, str]):
    """Averages by row; a row that has not been scored is a dash."""

    def __missing__(self, row: str) -> str:
        return "–"


def _primary(findings: Sequence[Finding], grid: Grid, drawn: Drawn) -> list[str]:
    if not findings:
        return []
    picture = [f"![Primary comparisons]({drawn.forest})", ""] if drawn.forest else []
    return [wording.PRIMARY, *primary.table(findings, grid), "", *picture]


def _origin(
    grid: Grid, profile: Profile, entries: Iterable[Entry], scores: Scores, drawn: Drawn
) -> list[str]:
    bed = grid.beds.get(profile.name)
    named = _named(profile)
    made = f" (`make bed{named}`: {bed.about}; digest `{bed.digest[:12]}…`)" if bed else ""
    tests = scored_tasks(grid, profile, scores, "sts")
    text = wording.ORIGIN.format(
        named=named,
        seed=profile.seeds[0],
        scores=drawn.scores,
        corpus=_sentences(profile),
        files=", ".join(profile.corpus),
        encoder=profile.encoder,
        made=made,
        where=f" (on {bed.machine}; others round differently)" if bed else "",
        settings=" ".join(profile.set),
        others=_others(grid, profile),
        stages=_stages(grid, profile, entries),
        precision=profile.score_precision,
        tests=", ".join(tests) or "none yet",
    )
    seen = [bed.seen] if bed else []
    return [text, *(line for remark in (*seen, *profile.remarks) for line in (remark, ""))]


def _others(grid: Grid, profile: Profile) -> str:
    """The rows that are trained otherwise than the rest, beside what makes them what they are."""
    groups: dict[str, list[str]] = {}
    titles = {row.name: row.title for row in grid.rows if not row.sweep}
    for name, settings in profile.of_row.items():
        if name in titles:
            groups.setdefault(" ".join(settings), []).append(titles[name])
    return "".join(f" {'; '.join(names)}: `{settings}`." for settings, names in groups.items())


def _stages(grid: Grid, profile: Profile, entries: Iterable[Entry]) -> str:
    """The command of each stage that is not an augmentation with its defaults."""
    shown = [entry.unit for entry in entries if entry.results and not entry.unit.row.sweep]
    read = {name for unit in shown for name in unit.stages}
    own = {name: words for name, words in profile.stages.items() if name in read}
    commands = {
        name: " ".join(words[-1])
        for name, words in grid.stages.items()
        if name in read and len(words[-1]) > 1 and name not in profile.stages
    }
    names: dict[str, list[str]] = {}
    for name, words in (own | commands).items():
        names.setdefault(words, []).append(name)
    return "".join(f" Stage {', '.join(of)}: `{words}`." for words, of in names.items())


def _sentences(profile: Profile) -> str:
    """Which sentences of its files a profile takes, in words."""
    # Such a choice rejects most lines, which the command takes for a fault unless it is told.
    options = " ".join([*profile.ingest, "--max-rejects 1"])
    chosen = f" that `augment-cli ingest {options}` takes" if profile.ingest else ""
    return (f"the first {profile.rows:,} sentences" if profile.rows else "all sentences") + chosen


def _state(profile: Profile, entries: Sequence[Entry]) -> list[str]:
    """How much is done, what cannot be done here, and the command for the rest, points of sweeps included."""
    listed = [
        entry for entry in entries if not entry.unit.row.sweep and entry.unit.row.name not in profile.unlisted
    ]
    done = sum(entry.state == "done" for entry in listed)
    scored = sum(set(entry.unit.common) <= entry.results.keys() for entry in listed) - done
    lines = [
        f"Of {len(listed)} rows, each counted once a seed, {done} are done, {scored} lack an evaluation "
        f"beside STS, {len(listed) - done - scored} are not done.",
        "",
    ]
    reasons: dict[str, dict[str, str]] = {}
    for entry in entries:
        row = entry.unit.row
        if entry.reason:
            reasons.setdefault(f"{entry.state}: {entry.reason}", {})[row.name] = row.title
        elif entry.state == "missing":
            waits = f", waiting for {profile.waits_for}" if profile.waits_for else ""
            reasons.setdefault(f"missing{waits}", {})[row.name] = ""
    not_done = [
        f"- {text}{': ' if any(rows.values()) else ''}{'; '.join(filter(None, rows.values()))}: "
        f"`{_command(profile, [*rows], fetches=' lacks ' in text)}`"
        for text, rows in reasons.items()
    ]
    return [*lines, "Not done:", "", *not_done, ""] if not_done else lines


def _named(profile: Profile) -> str:
    """What `make` takes to choose a profile."""
    return f" PROFILE={profile.name}"


def _command(profile: Profile, rows: Sequence[str], *, fetches: bool) -> str:
    more = " REPRODUCE_ARGS=--allow-download" if fetches else ""
    return f"make reproduce{_named(profile)} ROW={','.join(rows)}{more}"
