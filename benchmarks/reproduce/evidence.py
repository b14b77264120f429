"""The document: tables, sweeps, and which of the papers' conclusions hold, from the results alone."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.reproduce import comparisons, curves, primary, wording
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.grid import Claim, Grid, Profile, Row, Sweep
from benchmarks.reproduce.plan import Entry, make_plan
from benchmarks.reproduce.results import TRAINING, Results
from benchmarks.reproduce.units import make_unit, make_units

DEV = "stsb-dev"
NO_TRAINING = "no-training"  # the row of the starting encoder
_NOISE_ELSEWHERE = 0.8  # points, the seed noise of BERT-base runs where a paper gives none (METHODS of UNA)
_TITLES = {
    "dev": "STS-B dev",
    "average": "STS average",
    "transfer": "transfer average",
    "clustering": "clustering average",
}


def write_evidence(grid: Grid, profile: Profile, results: Results, stages: Any, docs: Path) -> Path:
    """Write `evidence.md` (with the profile's name in it for all but `cpu`) and its pictures."""
    every = sorted(set(profile.seeds))
    units = make_units(grid, profile, grid.rows)
    known = {unit.key for unit in units}
    # Sweeps count with every seed there is, though they are planned with the first alone.
    extra = [row for row in grid.rows if row.sweep and row.has_seed]
    units += [unit for unit in make_units(grid, profile, extra, every) if unit.key not in known]
    entries = make_plan(units, results, stages, profile)
    scores = scores_of(grid, profile, entries)
    stem = "evidence" if profile.name == "cpu" else f"evidence-{profile.name}"
    docs.mkdir(parents=True, exist_ok=True)
    pictures = []
    if curves.draw_sweeps(grid, scores, docs / f"{stem}-sweeps.png"):
        pictures.append(f"{stem}-sweeps.png")
    path = docs / f"{stem}.md"
    similarities = stages.folder.parent / "similarities" if profile.other_seeds else None
    text = document(grid, profile, entries, scores, pictures, similarities)
    path.write_text(text, encoding="utf-8")
    return path


def scores_of(grid: Grid, profile: Profile, entries: Iterable[Entry]) -> Scores:
    """Measures in points of each row and seed; sweeps' points that are a row's own have them too."""
    by_key: dict[str, dict[str, float]] = {}
    named: dict[str, tuple[str, int]] = {}
    for entry in entries:
        by_key[entry.unit.key] = _measures(entry)
        named[entry.unit.key] = (entry.unit.row.name, entry.unit.seed)
    scores: Scores = {}
    for key, (row, seed) in named.items():
        if by_key[key]:
            scores.setdefault(row, {})[seed] = by_key[key]
    for sweep in grid.sweeps:  # the default's point was trained as the row
        if sweep.default is not None and sweep.row in scores:
            scores.setdefault(sweep.point(sweep.default), scores[sweep.row])
    return scores


def _measures(entry: Entry) -> dict[str, float]:
    measures: dict[str, float] = {}
    for name, result in entry.results.items():
        values = {key: v for key, v in result.scores.items() if isinstance(v, (int, float)) and v == v}
        if name == TRAINING:
            if "seconds_per_1000_rows" in values:
                measures["seconds"] = values["seconds_per_1000_rows"]
            rows = values.get("steps", 0) * entry.unit.recipe.batch if entry.unit.recipe else 0
            if rows and "cpu_seconds" in values:
                measures["cpu"] = 1000 * values["cpu_seconds"] / rows
            continue
        values.pop("seconds", None)
        measures |= {key: 100 * value for key, value in values.items()}
        tests = [100 * value for key, value in values.items() if key != DEV]
        if tests:
            measures["average" if name == "sts" else name] = mean(tests)
        if DEV in values:
            measures["dev"] = 100 * values[DEV]
    return measures


def document(
    grid: Grid,
    profile: Profile,
    entries: Sequence[Entry],
    scores: Scores,
    pictures: Sequence[str] = (),
    similarities: Path | None = None,
) -> str:
    """The whole document in Markdown; `similarities` is a folder for the bootstrap of the test sets."""
    rows = [row for row in grid.rows if not row.sweep and row.name not in profile.unlisted]
    seedless = frozenset(row.name for row in grid.rows if not row.has_seed)
    wanted = "" if profile.name == "cpu" else f" PROFILE={profile.name}"
    corpus = f"the first {profile.rows:,} sentences" if profile.rows else "all sentences"
    lines = [
        wording.HEAD.format(
            about=profile.about,
            warning=_warning(profile, scores),
            wanted=wanted,
            corpus=corpus,
            files=", ".join(profile.corpus),
            encoder=profile.encoder,
            settings=" ".join(profile.set),
            precision=profile.score_precision,
            stages="".join(f" Stage {name}: `{command}`." for name, command in profile.stages.items()),
        ),
        *_state([entry for entry in entries if entry.unit.row.name not in profile.unlisted]),
        *_primary(grid, profile, scores, similarities),
        *_methods(rows, scores, seedless, with_untrained=bool(profile.other_seeds)),
        *_settings(grid, profile, rows),
        *_tests(grid, profile, rows, scores),
        *_conclusions(grid, rows, scores, seedless),
        *_sweeps(grid, scores, seedless, pictures),
        *_bands(rows),
        *_seeds(grid, profile, rows, scores),
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


def _primary(grid: Grid, profile: Profile, scores: Scores, similarities: Path | None) -> list[str]:
    if not profile.other_seeds or not grid.primary:
        return []
    notes = [f"- {one.question} {one.control}{f'; {one.note}' if one.note else ''}." for one in grid.primary]
    findings = primary.findings(grid, scores, similarities)
    return [wording.PRIMARY, *primary.table(findings, grid), "", "What is held fixed:", "", *notes, ""]


def _state(entries: Sequence[Entry]) -> list[str]:
    planned = [entry for entry in entries if not entry.unit.row.sweep]
    scored = sum(set(entry.unit.common) <= entry.results.keys() for entry in planned)
    done = sum(entry.state == "done" for entry in planned)
    lines = [
        f"Of {len(planned)} trainings of the rows {scored} are done and scored on STS, {done} on all that is "
        "planned.",
        "",
    ]
    missing: dict[str, list[str]] = {}
    for entry in planned:
        if entry.state != "done":
            todo = "" if TRAINING in entry.missing else f" ({', '.join(entry.missing)})"
            text = f"{entry.state}: {entry.reason}" if entry.reason else f"seed {entry.unit.seed}{todo}"
            missing.setdefault(entry.unit.row.title, []).append(text)
    alike: dict[str, list[str]] = {}
    for title, texts in missing.items():
        alike.setdefault(", ".join(dict.fromkeys(texts)), []).append(title)
    if alike:
        lines += ["Not done:", "", *(f"- {text}: {'; '.join(titles)}" for text, titles in alike.items()), ""]
    return lines


def _methods(
    rows: Sequence[Row], scores: Scores, seedless: frozenset[str], *, with_untrained: bool
) -> list[str]:
    lines = [wording.METHODS, *(wording.METHODS_TABLE_UNTRAINED if with_untrained else wording.METHODS_TABLE)]
    titles = {row.name: row.title for row in rows}
    notes: list[str] = []
    for row in rows:
        if row.name not in scores:
            continue
        change = row.baseline and comparisons.difference(scores, row.name, row.baseline, "average", seedless)
        untrained = comparisons.difference(scores, row.name, NO_TRAINING, "average", seedless)
        is_trained = row.name != NO_TRAINING
        to_untrained = _signed(untrained.mean, untrained.sd) if untrained and is_trained else ""
        published = row.published
        claimed = ""
        if published:
            marks = [m for m in (_TITLES[published.measure] if published.measure != "average" else "",
                                 published.model if published.model != "BERT-base" else "") if m]  # fmt: skip
            claimed = f"{published.difference:+.2f}" + (f" ({', '.join(marks)})" if marks else "")
        cells = [
            row.title + (f" [{len(notes) + 1}]" if row.note else ""), titles.get(row.baseline, ""),
            str(len(comparisons.values_of(scores, row.name, "dev"))),
            *(_cell(scores, row.name, measure) for measure in ("dev", "stsb", "average")),
            _signed(change.mean, change.sd) if change else "",
            *([to_untrained] if with_untrained else []), claimed,
            _cell(scores, row.name, "seconds", deviation=False),
            _cell(scores, row.name, "cpu", deviation=False),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
        if row.note:
            notes.append(row.note)
    lines.append("")
    lines += [f"[{number}] {note}.  " for number, note in enumerate(notes, 1)]
    return [*lines, ""]


def _settings(grid: Grid, profile: Profile, rows: Sequence[Row]) -> list[str]:
    lines = ["### Settings", "", "Stages that are no augmentation with its defaults:", ""]
    used = {stage for row in rows if row.recipe for stage in make_unit(grid, profile, row, 0, "").stages}
    lines += [
        f"- {name}: {', then '.join(f'`augment-cli {shlex.join(words)}`' for words in commands)}"
        for name, commands in grid.stages.items()
        if name in used
    ]
    lines += ["", "Recipes, and what is changed beside the settings of all rows:", ""]
    lines += ["| row | recipe | changed |", "|---|---|---|"]
    for row in rows:
        if row.recipe:
            of_profile = profile.of_row.get(row.name, ())
            changes = " ".join([*(row.scaled if profile.scaled else ()), *row.set, *of_profile])
            lines.append(f"| {row.title} | `{row.recipe}` | {changes and f'`{changes}`'} |")
    return [*lines, ""]


def _tests(grid: Grid, profile: Profile, rows: Sequence[Row], scores: Scores) -> list[str]:
    lines = []
    for name in grid.evaluations:
        wanted = grid.tasks(name, profile)
        tasks = [
            task
            for task in wanted
            if any(task in measures for seeds in scores.values() for measures in seeds.values())
        ]
        absent = [task for task in wanted if task not in tasks]
        of = [row for row in rows if any(comparisons.values_of(scores, row.name, task) for task in tasks)]
        lines += [f"## {name.upper() if name == 'sts' else name.capitalize()}, each test set", ""]
        if not of:
            lines += ["Nothing is scored yet.", ""]
            continue
        if absent:
            lines += [f"Not in the data folder: {', '.join(absent)}.", ""]
        average = "average" if name == "sts" else name
        lines += [f"| row | {' | '.join(tasks)} | average |", "|---" * (len(tasks) + 2) + "|"]
        for row in of:
            cells = [_cell(scores, row.name, task) for task in (*tasks, average)]
            lines.append(f"| {row.title} | {' | '.join(cells)} |")
        if name == "sts":
            lines += ["", "The average leaves STS-B dev out, by which the checkpoints were chosen."]
        lines.append("")
    return lines


def _conclusions(grid: Grid, rows: Sequence[Row], scores: Scores, seedless: frozenset[str]) -> list[str]:
    titles = {row.name: row.title for row in grid.rows}
    claims = [
        Claim(
            row.name,
            row.baseline,
            item.measure,
            item.difference,
            note="" if item.model == "BERT-base" else item.model,
        )
        for row in rows
        if (item := row.published) and row.baseline
    ]
    claims += grid.claims
    sds: dict[tuple[str, str, str], float] = {}
    for measure in _TITLES:
        pairs = [(claim.better, claim.worse) for claim in claims if claim.measure == measure]
        # Beside a row without seeds, all of the other's noise counts.
        single = {pair for pair in pairs if seedless & set(pair)}
        for chosen in (single, set(pairs) - single):
            sd = comparisons.noise(scores, sorted(chosen), measure, seedless)
            sds |= {(measure, *pair): sd for pair in chosen}
    known = dict.fromkeys(
        f"{_TITLES[measure]} {sd:.2f}" + (" beside a row without seeds" if seedless & set(pair) else "")
        for (measure, *pair), sd in sorted(sds.items())
        if sd == sd
    )
    lines = [wording.CONCLUSIONS.format(noise=", ".join(known) or "none has two seeds yet")]
    count = dict.fromkeys(("holds", "reversed", "within noise", "noise unknown", "not measured"), 0)
    notes: list[str] = []
    for claim in claims:
        if claim.note and claim.note not in notes:
            notes.append(claim.note)
        mark = f" [{notes.index(claim.note) + 1}]" if claim.note else ""
        sd = sds[claim.measure, claim.better, claim.worse]
        gap = comparisons.difference(scores, claim.better, claim.worse, claim.measure, seedless)
        said = comparisons.verdict(gap, sd, claim.published, alike=claim.alike)
        count[said] += 1
        least = comparisons.threshold(gap, sd) if gap else math.nan
        stated = "none" if claim.alike else f"{claim.published:+.2f}" if claim.published else "above 0"
        cells = [
            titles[claim.better], titles[claim.worse], _TITLES[claim.measure], stated + mark,
            _signed(gap.mean, gap.sd) if gap else "", str(gap.seeds) if gap else "",
            f"{least:.2f}" if least == least else "", said,
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    summary = ", ".join(f"{number} {said}" for said, number in count.items() if number)
    lines += [
        "",
        *(f"[{number}] {note}.  " for number, note in enumerate(notes, 1)),
        *([""] if notes else []),
    ]
    return [*lines, f"Of {len(claims)} conclusions: {summary}.", ""]


def _sweeps(grid: Grid, scores: Scores, seedless: frozenset[str], pictures: Sequence[str]) -> list[str]:
    pairs = [(row.name, row.baseline) for row in grid.rows if row.baseline and row.baseline not in seedless]
    pairs += [
        (sweep.point(value), sweep.point(sweep.reference))
        for sweep in grid.sweeps
        for value in sweep.values
        if value != sweep.reference
    ]
    sd = comparisons.noise(scores, pairs, "dev")
    lines = [wording.SWEEPS.format(noise=f"{sd:.2f}" if sd == sd else "not known yet")]
    lines += [f"![Sweeps]({picture})" for picture in pictures] + ([""] if pictures else [])
    for sweep in grid.sweeps:
        note = f" {sweep.note[0].upper()}{sweep.note[1:]}." if sweep.note else ""
        lines += [f"**{sweep.title}.**{note}", "", *_sweep(sweep, scores, sd), ""]
    return lines


def _sweep(sweep: Sweep, scores: Scores, sd: float) -> list[str]:
    points = comparisons.shared(scores, [sweep.point(value) for value in sweep.values])
    if not points:
        return ["Not measured yet."]
    best = sweep.reference
    lines = [
        f"| value | seeds | STS-B dev | STS average | Δ dev to {best} |"
        + (f" paper's STS-B dev | paper's Δ to {best} |" if sweep.published else "")
        + " verdict |"
    ]
    lines += ["|---" * (8 if sweep.published else 6) + "|"]
    for number, value in enumerate(sweep.values):
        name = sweep.point(value)
        if name not in points:
            continue
        lower = max(sweep.published) - sweep.published[number] if sweep.published else 0.0
        gap = comparisons.difference(points, sweep.point(best), name, "dev") if value != best else None
        cells = [str(value), str(len(points[name])), *(_cell(points, name, m) for m in ("dev", "average"))]
        cells += [_signed(-gap.mean, gap.sd) if gap else ""]
        if sweep.published:
            cells += [f"{sweep.published[number]:.2f}", f"{-lower:.2f}" if gap else ""]
        said = comparisons.verdict(gap, sd, lower) if gap else ""
        if not sweep.published and sweep.best is None and said in ("holds", "reversed"):
            said = "differs"  # nobody claimed anything
        lines.append(f"| {' | '.join([*cells, said])} |")
    absent = [str(value) for value in sweep.values if sweep.point(value) not in points]
    return [*lines, *(["", f"Missing: {', '.join(absent)}."] if absent else [])]


def _bands(rows: Sequence[Row]) -> list[str]:
    lines = [wording.BANDS.format(sd=_NOISE_ELSEWHERE)]
    for row in rows:
        if not row.published:
            continue
        item = row.published
        center, sd = item.expected or item.score, item.sd or _NOISE_ELSEWHERE
        measure = "7 STS test sets" if item.measure == "average" else _TITLES[item.measure]
        band = f"{center - 2 * sd:.1f} to {center + 2 * sd:.1f}"
        lines.append(f"| {row.title} | {item.paper} | {measure} | {item.model} | {item.score:.2f} | {band} |")
    return [*lines, ""]


def _seeds(grid: Grid, profile: Profile, rows: Sequence[Row], scores: Scores) -> list[str]:
    tasks = grid.tasks("sts", profile)
    lines = ["## STS, each seed", "", f"| row | seed | {' | '.join(tasks)} | average |"]
    lines += ["|---" * (len(tasks) + 3) + "|"]
    for row in rows:
        for seed, measures in sorted(scores.get(row.name, {}).items()):
            cells = [f"{measures[task]:.2f}" if task in measures else "" for task in (*tasks, "average")]
            lines.append(f"| {row.title} | {seed if row.has_seed else ''} | {' | '.join(cells)} |")
    return [*lines, ""]


def _cell(scores: Scores, row: str, measure: str, *, deviation: bool = True) -> str:
    values = list(comparisons.values_of(scores, row, measure).values())
    if not values:
        return ""
    center, sd = comparisons.spread(values)
    return f"{center:.2f}" + (f" ± {sd:.2f}" if deviation and sd == sd else "")


def _signed(center: float, sd: float) -> str:
    return f"{center:+.2f}" + (f" ± {sd:.2f}" if sd == sd else "")
