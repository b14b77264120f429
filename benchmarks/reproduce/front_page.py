"""`results.md`: what each method gains, at which rate, and what to doubt; all of it is drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from types import MappingProxyType

from scipy.stats import spearmanr

from benchmarks.reproduce import draws
from benchmarks.reproduce.changed import shares
from benchmarks.reproduce.entries import Primary, Profile
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import holm, interval
from benchmarks.reproduce.rates import dev_scores
from benchmarks.reproduce.results import Results
from benchmarks.reproduce.units import make_units
from benchmarks.result_lines import read_lines

MOST = 6_000  # bytes
_TABLE = "word-table-idf"
_Scores = Mapping[str, Mapping[float, Sequence[float]]]  # dev of each training, by row and learning rate
_Beside = Mapping[Primary, list[float]]  # gains over the control at its best tried rate
_ALONE: Mapping[Primary, list[float]] = MappingProxyType({})  # beside no other rate
DEV_PAIRS = 391  # of STS-B dev that are in no test set
_CALLED = {
    ", as the positive": "",
    " as the positive": "",
    ", head rate × 16": "",
    "UNA, pool": "UNA",
    "UNA, both steps random": "UNA, both random",
    "MODALS, interpolation": "MODALS",
    "recipe of our own": "`uda-una`",
    "SimCSE, NT-Xent": "SimCSE",
    "SimCSE, InfoNCE": "InfoNCE",
    "SimCSE, symmetric": "symmetric",
    "EDA, random swap": "random swap",
    "word table, idf weights": "word table",
    "all-MiniLM-L6-v2": "MiniLM",
}
_OPENING = """\
# What helps, and by how much

Each method has the best learning rate of five by the {pairs} STS-B dev pairs that no test set has. Each
of {count} draws{of} is {rows:,} other short Wikipedia sentences with another seed, for 80 steps of 32
(VaSCL: 64). Gains: points of Spearman's correlation over STS12 to STS15 and STS-B, Student's 95 %
interval over draws. *Likely*: it and the bootstrap's are above zero; *hurts*: below; a star: not so at
the control's best rate by these tests. SICK: the gain on its training pairs, bold where clear. Without
texts: SimCSE (loss NT-Xent), InfoNCE (that loss), *symmetric* (AugCSE's loss and head), MODALS and VaSCL.
UNA's texts are negatives, the others' positives.

## What each method gains
"""
_LIMITS = """\
## What to doubt

- The start is [a bed](bed.md), MiniLM{ceiling} after masked language modelling: gains may only mend
  that. MiniLM had seen SNLI and captions of STS.
- STS averages: {levels}.
{larger}{rates}- The two trainings disagree on the rate of {unsure} of {methods} methods{edges}.
  Older choices saw all of dev, with 1,117 of 12,737 test pairs: `uda-una` (24 trials), VaSCL's Δ, the bed.
- Unclear is not zero: half the intervals are wider than ±{half:.1f}, and ignore rates, bed and test pairs.
  Of {asked}, one is clear by chance; Holm's correction leaves {holm}; by
  sign flips none can pass.
- {changed}UNA's terms come from a million sentences.
- The last loss is near {loss:.0e}{unlearned}: nothing left to learn{unlearning}.
- The papers' gains mix models and baselines, most without STS16 and SICK (DN with: -0.41). The
  row of +3.56 is garbled.
{elsewhere}
## Again

```
make reproduce PROFILE=rates DATA=DIR  # {hours}
make repeat PROFILE=draw-1 ROW=una SEEDS=101 DATA=DIR
```

[Methods](../../docs/reference/methods.md); [result files](../reproduce/results); [text](bed.md#the-text);
[every row](tuned.md); [papers](coverage.md); [`best`](best.md); [older](evidence.md).
"""


def write_pages(grid: Grid, folder: Path, pages: Path) -> list[Path]:
    """Write `tuned.md`, and `results.md` once there are enough draws of the first bed; the paths of both."""
    written = [draws.write_draws(grid, folder, pages)]
    swept = grid.profiles[draws.FIRST]
    small = draws.draws_of(grid, draws.FIRST, swept.rows)
    if len(draws.measured(grid, folder, swept, small)) >= draws.FEWEST:
        written.append(pages / "results.md")
        written[-1].write_text(front_page(grid, folder), encoding="utf-8")
    return written


def front_page(grid: Grid, folder: Path) -> str:
    """The page, from a folder of results with at least `draws.FEWEST` draws of the first bed."""
    swept = grid.profiles[draws.FIRST]
    small = draws.draws_of(grid, draws.FIRST, swept.rows)
    found = draws.measured(grid, folder, swept, small)
    asked = {name for one in grid.registered for name in (one.better, one.worse)}
    every = dev_scores(grid, swept, Results(folder / f"{draws.FIRST}.jsonl"))
    scores = {row: of_row for row, of_row in every.items() if row in asked}
    gains = [draws.differences(found, one.better, one.worse) for one in grid.registered]
    both = draws.with_controls(grid, folder, found)
    beside = _beside_best(grid, both)
    limits = _LIMITS.format(
        ceiling=_ceiling(grid, folder),
        levels=_levels(grid, found) + _below_table(found, scores),
        larger=_larger(grid, folder),
        asked=len(grid.registered),
        count=len(found),
        rates=_against_tuned(grid, folder, both, beside) + _dev(grid, found, scores),
        half=median(_half(one) for one in gains if one),
        holm=_holm(grid, gains, beside),
        unsure=sum(_disagree(of_row) for of_row in scores.values()),
        methods=len(scores),
        edges=_edges(scores),
        loss=median(own["loss"] for rows in found.values() for own in rows.values() if "loss" in own),
        unlearned=_unlearned(grid, found),
        unlearning=_unlearning(found),
        changed=_changed(folder),
        elsewhere=_elsewhere(grid, folder),
        hours=_hours(folder, swept, small),
    )
    page = [
        _OPENING.format(
            count=len(found),
            of=f" ({len(small)} are registered)" if len(found) < len(small) else "",
            rows=swept.rows,
            pairs=DEV_PAIRS,
        ),
        "| method | than | gain | SICK | paper | |",
        "|---|---|---:|---:|---:|---|",
        *(_line(grid, one, found, beside) for one in grid.registered),
        "",
        "## At which learning rate",
        "",
        "STS-B dev, two trainings each:",
        "",
        *draws.rate_table(grid, scores),
        "",
        limits,
    ]
    return _short("\n".join(page))


def _short(text: str) -> str:
    """Titles without what the page's opening says of them."""
    for title, called in _CALLED.items():
        text = text.replace(title, called)
    return text


def _line(grid: Grid, one: Primary, found: draws.Measures, beside: _Beside) -> str:
    """A row of the table."""
    values = draws.differences(found, one.better, one.worse)
    titles = [grid.row(name).title for name in (one.better, one.worse)]
    shown = [draws.gain(values), draws.sick(found, one), draws.published(grid, one)]
    return f"| {' | '.join([*titles, *shown, _starred(one, values, beside)])} |"


def _starred(one: Primary, values: Sequence[float], beside: _Beside) -> str:
    """The verdict of a comparison, with a star where it is another beside the control's best rate."""
    verdict = draws.verdict(values)
    return verdict + ("*" if verdict != draws.verdict(beside.get(one, values)) else "")


def _ceiling(grid: Grid, folder: Path) -> str:
    """The average of the encoder that the bed was made from, where it was scored."""
    profile = grid.profiles["tables"]
    own = grid.of_profile(profile)
    (unit,) = make_units(own, profile, [own.row("ceiling")])
    found = Results(folder / f"{profile.name}.jsonl").find(unit.key, "sts", {})
    return f" ({100 * mean(found.scores[task] for task in draws.SETS):.1f})" if found else ""


def _levels(grid: Grid, found: draws.Measures) -> str:
    """The averages of what trains nothing, as far as they are there, and of the best row that is trained."""
    averages = _averages(found)
    best = max((name for name in averages if grid.row(name).recipe), key=lambda name: averages[name])
    shown = [name for name in ("no-training", _TABLE, best) if name in averages]
    return ", ".join(f"{averages[name]:.1f} ({grid.row(name).title})" for name in shown)


def _half(values: Sequence[float]) -> float:
    known = interval(values)
    return (known.high - known.low) / 2


def _holm(grid: Grid, gains: Sequence[Sequence[float]], beside: _Beside) -> str:
    """Which comparisons pass Holm's correction by Student's t, as they are and at controls' best rates."""
    tuned = [beside.get(one, values) for one, values in zip(grid.registered, gains, strict=True)]
    said = []
    for of_gains in (gains, tuned):
        adjusted = holm([interval(one).p if len(one) >= draws.FEWEST else math.nan for one in of_gains])
        passed = [one.better for one, p in zip(grid.registered, adjusted, strict=True) if p < 0.05]
        said.append(", ".join(grid.row(name).title for name in passed) or "none")
    return f"{said[0]} by Student's t, {said[1]} beside the controls' best"


def _unlearned(grid: Grid, found: draws.Measures) -> str:
    """The rows whose task is not learned at once, with the range of their last losses."""
    losses = {
        name: [rows[name]["loss"] for rows in found.values() if "loss" in rows.get(name, {})]
        for name in dict.fromkeys(name for rows in found.values() for name in rows)
    }
    high = {name: values for name, values in losses.items() if values and mean(values) > 0.01}
    every = [value for values in high.values() for value in values]
    titles = " and ".join(grid.row(name).title for name in high)
    return f" ({min(every):.1f} to {max(every):.1f} of {titles})" if high else ""


def _unlearning(found: draws.Measures) -> str:
    """How much of what was near stays near, of all rows that were trained."""
    shares = [own["neighbours"] for rows in found.values() for own in rows.values() if "neighbours" in own]
    return f"; `neighbours` {min(shares):.1f} to {max(shares):.1f}: unlearning" if shares else ""


def _against_tuned(grid: Grid, folder: Path, both: draws.Measures, beside: _Beside) -> str:
    """What is left of the verdicts beside other rates of the controls, and at one rate."""
    if not beside:
        return ""
    otherwise = [
        f"{grid.row(one.primary.better).title} {mean(one.gains):+.2f} ({verdict})"
        for one in draws.at_one_rate(grid, folder, both)
        if one.own and (verdict := draws.verdict(one.gains)) != draws.verdict(beside[one.primary])
    ]
    return (
        f"- Beside the control's best rate: {_clear(grid, beside)}"
        f"{'; at one rate ' if otherwise else ''}{', '.join(otherwise)}.\n"
    )


def _dev(grid: Grid, found: draws.Measures, scores: _Scores) -> str:
    """What the dev scores that choose the rates say of the tests."""
    dev = {name: max(map(mean, of_row.values())) for name, of_row in scores.items()}
    averages, later = _averages(found), _averages(found, "dev")
    names = [name for name in dev if name in averages and name in later]
    if not names:
        return ""
    chosen, drawn, tests = ([one[name] for name in names] for one in (dev, later, averages))
    drop = {name: 100 * dev[name] - later[name] for name in names}
    worst = max(drop, key=lambda name: drop[name])
    return (
        f"- These dev scores rank methods unlike the tests (correlation "
        f"{spearmanr(chosen, tests).statistic:.2f}; the draws' own {spearmanr(drawn, tests).statistic:.2f}): "
        f"{grid.row(worst).title}'s {100 * dev[worst]:.1f} is {drop[worst]:.1f} less there.\n"
    )


def _beside_best(grid: Grid, both: draws.Measures) -> _Beside:
    """Gains over controls that have several rates, at the one of the control that these tests like best."""
    averages = _averages(both)
    beside: dict[Primary, list[float]] = {}
    for one in grid.registered:
        controls = [name for name in averages if re.fullmatch(rf"{one.worse}(-\de-\d)?", name)]
        if one.better in averages and len(controls) > 1:
            best = max(controls, key=lambda name: averages[name])
            beside[one] = draws.differences(both, one.better, best)
    return beside


def _by_verdict(grid: Grid, compared: Mapping[Primary, Sequence[float]], beside: _Beside = _ALONE) -> str:
    """The gains of the better rows that have enough draws, behind what they are called."""
    said: dict[str, list[str]] = {}
    for one, values in compared.items():
        if len(values) >= draws.FEWEST:
            said.setdefault(_starred(one, values, beside), []).append(
                f"{grid.row(one.better).title} {mean(values):+.2f}"
            )
    return "; ".join(f"{verdict} {', '.join(gains)}" for verdict, gains in said.items())


def _clear(grid: Grid, beside: _Beside) -> str:
    """What is clear of comparisons, and between what the others lie."""
    verdicts = {one: draws.verdict(values) for one, values in beside.items()}
    clear = {one: beside[one] for one, verdict in verdicts.items() if verdict in ("likely", "hurts")}
    unclear = [mean(beside[one]) for one, verdict in verdicts.items() if verdict == "unclear"]
    others = f"; unclear the others, {min(unclear):+.2f} to {max(unclear):+.2f}" if unclear else ""
    return f"{_by_verdict(grid, clear)}{others}"


def _averages(found: draws.Measures, measure: str = "average") -> dict[str, float]:
    """The mean of each row over the draws that have it measured."""
    of_rows: dict[str, list[float]] = {}
    for rows in found.values():
        for name, measures in rows.items():
            if measure in measures:
                of_rows.setdefault(name, []).append(measures[measure])
    return {name: mean(values) for name, values in of_rows.items()}


def _below_table(found: draws.Measures, scores: _Scores) -> str:
    """How many methods a table that is not trained is ahead of on the dev pairs that choose the rates."""
    known = [rows[_TABLE]["dev"] for rows in found.values() if "dev" in rows.get(_TABLE, {})]
    best = [100 * max(map(mean, of_row.values())) for of_row in scores.values()]
    ahead = sum(one < known[0] for one in best) if known else 0
    return f". On dev that table is ahead of {ahead} of {len(best)} methods" if ahead else ""


def _disagree(of_row: Mapping[float, Sequence[float]]) -> bool:
    """Whether two trainings of a method prefer different rates."""
    first, second = (max(of_row, key=lambda rate: of_row[rate][seed]) for seed in (0, 1))
    return first != second


def _edges(scores: _Scores) -> str:
    """How many methods are best at the highest or lowest rate, and may be better beyond it."""
    best = [max(of_row, key=lambda rate: mean(of_row[rate])) for of_row in scores.values()]
    rates = sorted({rate for of_row in scores.values() for rate in of_row})
    edges = [
        f"{best.count(edge)} are best at the edge, {draws.rate_shown(edge)}"
        for edge in rates[:: len(rates) - 1]
        if edge in best
    ]
    return f"; {', '.join(edges)}" if edges else ""


def _changed(folder: Path) -> str:
    """How many sentences the positives change that leave most as they are."""
    share_of = shares(folder)
    called = {"paraphrase": "paraphrases", "dn": "DN", "rephrase": "rephrase", "pi": "PI"}
    said = [f"{title} {share_of[stage]:.0f} %" for stage, title in called.items() if stage in share_of]
    return f"Texts changed: {', '.join(said)}. " if said else ""


def _larger(grid: Grid, folder: Path) -> str:
    """What is left of the gains with more sentences on the first bed."""
    for swept, many in draws.sets_of_draws(grid):
        found = draws.measured(grid, folder, swept, many)
        if swept.name != draws.FIRST or many[0].rows == swept.rows or len(found) < draws.FEWEST:
            continue
        both = draws.with_controls(grid, folder, found)
        averages, beside = _averages(both), _beside_best(grid, both)
        groups: dict[str, dict[Primary, list[float]]] = {}
        for one in grid.registered:
            control = f"beside {grid.row(one.worse).title} ({averages.get(one.worse, math.nan):.1f})"
            groups.setdefault(control, {})[one] = draws.differences(found, one.better, one.worse)
        same: dict[str, dict[Primary, list[float]]] = {}
        for one_rate in draws.at_one_rate(grid, folder, both):
            if one_rate.own:
                same.setdefault(f"at {one_rate.rate}", {})[one_rate.primary] = one_rate.gains
        said = [
            f"{group} {told}" for group, gains in groups.items() if (told := _by_verdict(grid, gains, beside))
        ]
        said += [f"{group} {told}" for group, gains in same.items() if (told := _by_verdict(grid, gains))]
        return (
            f"- **With {many[0].rows:,} sentences** ({len(found)} draws, same rates, best step by all of "
            f"dev): {'; '.join(said)}.\n"
        )
    return ""


def _hours(folder: Path, swept: Profile, small: Sequence[Profile]) -> str:
    """How long the rates and each of their draws took, as recorded, one training at a time."""
    hours = []
    for profile in (swept, *small):
        lines = read_lines(folder / f"{profile.name}.jsonl")
        hours.append(sum(line["scores"].get("seconds") or 0 for line in lines) / 3600)
    return f"{hours[0]:.0f} h; draw-1 to -{len(small)}, {mean(hours[1:]):.1f} h each"


def _elsewhere(grid: Grid, folder: Path) -> str:
    """Which of the gains are likely on further beds, and which hurt."""
    beds, above = [], []
    for swept, many in draws.sets_of_draws(grid):
        found = draws.measured(grid, folder, swept, many)
        if swept.name == draws.FIRST or len(found) < draws.FEWEST:
            continue
        said: dict[str, list[str]] = {}
        for one in grid.registered:
            values = draws.differences(found, one.better, one.worse)
            if draws.verdict(values) in ("likely", "hurts"):
                better, worse = (grid.row(name).title for name in (one.better, one.worse))
                said.setdefault(draws.verdict(values), []).append(
                    f"{better} over {worse} {mean(values):+.2f}"
                )
        start = re.split(",? after ", grid.beds[swept.name].about)[0]
        clear = "; ".join(f"{verdict} {', '.join(gains)}" for verdict, gains in said.items())
        beds.append(f"{start}: {clear or 'nothing is clear'}")
        averages = _averages(found)
        trained = (average for name, average in averages.items() if grid.row(name).recipe)
        above.append(averages.get(_TABLE, 0) > max(trained))
    table = " (the word table is above all)" if beds and all(above) else ""
    return f"- Other beds tell little{table}: {'; '.join(beds)}.\n" if beds else ""
