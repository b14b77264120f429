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
from benchmarks.reproduce.entries import Primary
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.paired import holm, interval, sign_flip
from benchmarks.reproduce.rates import dev_scores
from benchmarks.reproduce.results import Results
from benchmarks.reproduce.units import make_units

MOST = 6_000  # bytes
_TABLE = "word-table-idf"
_Scores = Mapping[str, Mapping[float, Sequence[float]]]  # dev of each training, by row and learning rate
_Again = list[tuple[draws.OneRate, list[float]]]  # each beside its control's best rate, too
_NO_RATES: Mapping[str, str] = MappingProxyType({})
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
    "all-MiniLM-L6-v2": "MiniLM",
}
_OPENING = """\
# What helps, and by how much

Each method has the best learning rate of five by the {pairs} STS-B dev pairs that no test set has. Each
of {count} draws{of} is {rows:,} other short sentences of Wikipedia with another seed, for 80 steps of 32
(VaSCL: 64). Gains are points of Spearman's correlation over STS12 to STS15 and STS-B, with Student's 95 %
interval over draws. *Likely*: it and the bootstrap's are above zero; *hurts*: below; a star: not so beside
the control's best tried rate. SICK: the gain on its training pairs, bold where clear. SimCSE has the loss
NT-Xent, InfoNCE that loss, *symmetric* AugCSE's loss and head, without texts. UNA's texts are negatives,
those of UDA, paraphrases, `rephrase`, PI, AA and DN positives.

## What each method gains
"""
_LIMITS = """\
## What to doubt

- The start is [a bed](bed.md), MiniLM{ceiling} after masked language modelling: a gain may only mend what
  that broke. MiniLM had seen SNLI and captions of STS.
- STS averages: {levels}.
{larger}{rates}- Rates rest on two trainings, which disagree for {unsure} of {methods} methods{edges}.
  Older choices saw all of dev, with 1,117 of 12,737 test pairs: `uda-una` (24 trials), VaSCL's Δ, the bed.
- Unclear is not zero: half the intervals are wider than ±{half:.1f}, and ignore rates, bed and test pairs.
  Of {asked} comparisons one is clear by chance. Holm's correction leaves {holm}.
- No positive stands beside random edits{changed}. UNA's terms come from a million. `uda-una` pools by idf.
- The last loss is near {loss:.0e}{unlearned}: nothing left to learn{unlearning}.
- The papers' gains mix models and baselines, without STS16 and SICK, with which DN's is -0.41. +3.56 reads a
  garbled cell.
{elsewhere}
## Again

```
make reproduce PROFILE=rates DATA=DIR  # 8 h; draw-1 to -5, 1 h each
make repeat PROFILE=draw-1 ROW=una SEEDS=101 DATA=DIR
```

[Result files](../reproduce/results); [text, processors](bed.md#the-text); [every row](tuned.md);
[papers' tables](coverage.md); [`best`](best.md); [older](evidence.md).
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
    again = _beside_best(grid, folder, found)
    beside = {one.primary: draws.verdict(values) for one, values in again}
    limits = _LIMITS.format(
        ceiling=_ceiling(grid, folder),
        levels=_levels(grid, found) + _below_table(found, scores),
        larger=_larger(grid, folder),
        asked=len(grid.registered),
        count=len(found),
        rates=_rates(grid, found, scores, again),
        half=median(_half(one) for one in gains if one),
        holm=_holm(grid, gains),
        unsure=sum(_disagree(of_row) for of_row in scores.values()),
        methods=len(scores),
        edges=_edges(scores),
        loss=median(own["loss"] for rows in found.values() for own in rows.values() if "loss" in own),
        unlearned=_unlearned(grid, found),
        unlearning=_unlearning(found),
        changed=_changed(folder),
        elsewhere=_elsewhere(grid, folder),
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


def _line(grid: Grid, one: Primary, found: draws.Measures, beside: Mapping[Primary, str]) -> str:
    """A row of the table; its verdict has a star where `beside` the control's best rate it is another."""
    values = draws.differences(found, one.better, one.worse)
    verdict = draws.verdict(values)
    titles = [grid.row(name).title for name in (one.better, one.worse)]
    star = "*" if beside.get(one, verdict) != verdict else ""
    shown = [draws.gain(values), draws.sick(found, one), draws.published(grid, one), verdict + star]
    return f"| {' | '.join([*titles, *shown])} |"


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


def _holm(grid: Grid, gains: Sequence[Sequence[float]]) -> str:
    """Which comparisons pass Holm's correction, by either test."""
    said = []
    for called, test in (("by sign flips", sign_flip), ("by Student's t", lambda one: interval(one).p)):
        adjusted = holm([test(one) if len(one) >= draws.FEWEST else math.nan for one in gains])
        passed = [one.better for one, p in zip(grid.registered, adjusted, strict=True) if p < 0.05]
        said.append(f"{called} {', '.join(grid.row(name).title for name in passed) or 'none'}")
    return ", ".join(said)


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


def _rates(grid: Grid, found: draws.Measures, scores: _Scores, again: _Again) -> str:
    """What is left of the verdicts beside other rates of the controls, and what dev is worth."""
    lines = []
    if again:
        every = [draws.verdict(draws.differences(found, one.better, one.worse)) for one in grid.registered]
        lines.append(
            f"{len(again)} of {len(every) - every.count('unclear')} clear results compare two rates. Beside "
            f"the control's best tried rate: {_clear(grid, again)}{_otherwise(grid, again)}."
        )
    averages = _averages(found)
    dev = {name: max(map(mean, of_row.values())) for name, of_row in scores.items()}
    drop = {
        name: 100 * dev[name] - mean(rows[name]["dev"] for rows in found.values())
        for name in dev
        if all("dev" in rows.get(name, {}) for rows in found.values())
    }
    if drop:
        worst = max(drop, key=lambda name: drop[name])
        names = [name for name in dev if name in averages]
        rank = spearmanr([dev[name] for name in names], [averages[name] for name in names]).statistic
        lines.append(
            f"Dev ranks methods unlike the tests (correlation {rank:.2f}): "
            f"{grid.row(worst).title}'s {100 * dev[worst]:.1f} is {drop[worst]:.1f} less in the draws."
        )
    return "".join(f"- {line}\n" for line in lines)


def _beside_best(grid: Grid, folder: Path, found: draws.Measures) -> _Again:
    """The clear comparisons of two rates again, beside the rate of the control that these tests like best."""
    both = draws.with_controls(grid, folder, found)
    averages, again = _averages(both), []
    for one in draws.at_one_rate(grid, folder, both):
        better, worse = one.primary.better, one.primary.worse
        if not one.own or draws.verdict(draws.differences(found, better, worse)) == "unclear":
            continue
        controls = [name for name in averages if re.fullmatch(rf"{worse}(-\de-\d)?", name)]
        best = max(controls, key=lambda name: averages[name])
        again.append((one, draws.differences(both, better, best)))
    return again


def _by_verdict(
    grid: Grid, compared: Sequence[tuple[Primary, Sequence[float]]], rates: Mapping[str, str] = _NO_RATES
) -> str:
    """The gains of the better rows that have enough draws, with their rates, behind what they are called."""
    said: dict[str, list[str]] = {"likely": [], "unclear": [], "hurts": []}
    for one, values in compared:
        if len(values) >= draws.FEWEST:
            at = f" ({rates[one.better]})" if one.better in rates else ""
            said[draws.verdict(values)].append(f"{grid.row(one.better).title} {mean(values):+.2f}{at}")
    return "; ".join(f"{verdict} {', '.join(gains)}" for verdict, gains in said.items() if gains)


def _clear(grid: Grid, again: _Again) -> str:
    """What is clear of comparisons, and between what the others lie."""
    unclear = [mean(values) for _, values in again if draws.verdict(values) == "unclear"]
    others = f"; unclear the others, {min(unclear):+.2f} to {max(unclear):+.2f}" if unclear else ""
    clear = [(one.primary, values) for one, values in again if draws.verdict(values) != "unclear"]
    return f"{_by_verdict(grid, clear)}{others}"


def _otherwise(grid: Grid, again: _Again) -> str:
    """The comparisons at one rate whose verdict is another than beside the control's best."""
    said = [
        f"{grid.row(one.primary.better).title} {mean(one.gains):+.2f} ({draws.verdict(one.gains)})"
        for one, values in again
        if draws.verdict(one.gains) != draws.verdict(values)
    ]
    return f"; at one rate {', '.join(said)}" if said else ""


def _averages(found: draws.Measures) -> dict[str, float]:
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    return {name: mean(rows[name]["average"] for rows in found.values() if name in rows) for name in names}


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
        f"{best.count(edge)} are best at the edge, {edge:g}"
        for edge in rates[:: len(rates) - 1]
        if edge in best
    ]
    return f"; {', '.join(edges)}" if edges else ""


def _changed(folder: Path) -> str:
    """How many sentences the positives change that leave most as they are."""
    share_of = shares(folder)
    called = {"paraphrase": "paraphrases", "dn": "DN", "rephrase": "`rephrase`", "pi": "PI"}
    said = [f"{title} {share_of[stage]:.0f} %" for stage, title in called.items() if stage in share_of]
    return f" (texts changed: {', '.join(said)})" if said else ""


def _larger(grid: Grid, folder: Path) -> str:
    """What is left of the gains with more sentences on the first bed."""
    for swept, many in draws.sets_of_draws(grid):
        found = draws.measured(grid, folder, swept, many)
        if swept.name != draws.FIRST or many[0].rows == swept.rows or len(found) < draws.FEWEST:
            continue
        averages, rates = _averages(found), draws.own_rates(grid, folder)
        groups: dict[str, list[tuple[Primary, list[float]]]] = {}
        for one in grid.registered:
            average, rate = averages.get(one.worse, math.nan), rates.get(one.worse, "")
            control = f"beside {grid.row(one.worse).title} ({average:.1f}, {rate})"
            groups.setdefault(control, []).append((one, draws.differences(found, one.better, one.worse)))
        same: dict[str, list[tuple[Primary, list[float]]]] = {}
        for one, rate, values, _ in draws.at_one_rate(grid, folder, draws.with_controls(grid, folder, found)):
            same.setdefault(f"at {rate}", []).append((one, values))
            rates.pop(one.better, None)  # the lines at one rate say it
        said = [
            f"{group} {told}" for group, gains in groups.items() if (told := _by_verdict(grid, gains, rates))
        ]
        said += [f"{group} {told}" for group, gains in same.items() if (told := _by_verdict(grid, gains))]
        steps = [own["best_step"] for rows in found.values() for own in rows.values() if "best_step" in own]
        chosen = f", {min(steps):.0f} to {max(steps):.0f} steps (by all of dev)" if steps else ""
        return (
            f"- **With {many[0].rows:,} sentences**, {len(found)} draws, rates of "
            f"{swept.rows:,}{chosen}: {'; '.join(said)}.\n"
        )
    return ""


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
    return f"- Other beds tell methods apart badly{table}: {'; '.join(beds)}.\n" if beds else ""
