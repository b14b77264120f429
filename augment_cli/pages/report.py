"""The page of a store: what it holds, what to look at, examples to judge, and where everything comes from."""

import dataclasses
import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from augment_cli.contract.reasons import in_words
from augment_cli.errors import UsageError, require
from augment_cli.errors.visible import visible_line
from augment_cli.pages import drawing, layout
from augment_cli.pages.facts import Notice, StageFacts, facts_of, notices_of, stages_of
from augment_cli.pages.figures import Figures, as_png, figures_of
from augment_cli.reports.choosing import choose_rows
from augment_cli.reports.report import is_read, stats
from augment_cli.reports.soundness import words_for
from augment_cli.runs.again import command_of
from augment_cli.store.files import write_atomically
from augment_cli.store.store import Store

TITLE = "Report of "
LIMIT = 500_000  # bytes of a page, whatever the store
_EXAMPLES = (6, 3, 1)  # in each list of a stage: the first number with which the page stays below the limit
_MOST_CHARACTERS = 320  # of a text
_LENGTH_SAMPLE = 5_000
_LENGTH_BARS = 30  # at most
_BINS = 40


def write_report(
    store: Store, out: Path, seconds: Mapping[str, float] | None = None, pictures: bool = False
) -> dict[str, Any]:
    """Write the page of a store, and with `pictures` its figures beside it as PNG."""
    names = stages_of(store)
    if pictures:
        require("matplotlib")
    if not names:
        raise UsageError(f"{store.path}: no augmentation has been made here yet; run `augment-cli una` first")
    layout.check_place(out, store.path, TITLE)
    stages = [facts_of(store, name, _EXAMPLES[0]) for name in names]
    notices = notices_of(store, stages)
    figures = figures_of(store, stages)

    def page(shown: Sequence[StageFacts]) -> str:
        return render(store, shown, notices, seconds or {}, figures, len(stages) - len(shown))

    text = _fitting(stages, page)
    write_atomically(out, text.encode(), out.absolute().parent)
    return {
        "path": str(out),
        "pictures": [str(path) for path in (as_png(figures, out) if pictures else [])],
        "bytes": len(text.encode()),
        "stages": names,
        "notices": [f"{notice.stage}: {notice.text}" for notice in notices],
    }


def _fitting(stages: Sequence[StageFacts], page: Callable[[Sequence[StageFacts]], str]) -> str:
    """The page below its limit: with fewer examples, without any, at last without some of the stages."""
    for count in (*_EXAMPLES, 0):
        shown = [
            dataclasses.replace(one, examples={key: some[:count] for key, some in one.examples.items()})
            for one in stages
        ]
        text = page(shown)
        if len(text.encode()) <= LIMIT:
            break
    while len(shown) > 1 and len(text.encode()) > LIMIT:  # hundreds of stages
        shown = shown[: len(shown) // 2]
        text = page(shown)
    return text


def render(
    store: Store,
    stages: Sequence[StageFacts],
    notices: Sequence[Notice],
    seconds: Mapping[str, float],
    figures: Figures,
    left_out: int = 0,
) -> str:
    """The page's text; it says how many further stages it leaves out."""
    has_rejects = store.has("rejects")
    values = {
        "headline": _headline(store, stages),
        "notices": notices,
        "stages": stages,
        "commands": {
            one.name: shlex.join(["augment-cli", *words_for(store, one.name)])
            if is_read(store.stage(one.name))
            else command_of(store, one.name)
            for one in stages
        },
        "bars": {one.name: _bar(one) for one in stages},
        "picture": _picture(stages, figures.cosines),
        "strips": _strips(stages, figures.cosines),
        "cosines": {name: np.quantile(values, [0.5, 0.05, 0.95]) for name, values in figures.cosines.items()},
        "cosines_by": figures.cosines_by,
        "map": figures.map,
        "lengths": _lengths(store),
        "rejects": stats(store, "rejects").get("reasons", {}) if has_rejects else {},
        "rejected": store.stage("rejects").rows if has_rejects else 0,
        "corpus_digest": store.stage("corpus").digest[:12],
        "store": str(store.path),
        "libraries": ", ".join(_libraries(store, stages)),
        # Where a notice leads: the heading there, and what it says.
        "places": {one.name: (f"stage-{n}", f"Examples of {one.name}") for n, one in enumerate(stages, 1)}
        | {"rejects": ("input", "The sentences")},
        "seconds": seconds,
        "left_out": left_out,
    }
    return layout.render(
        layout.template("report.html"),
        f"{TITLE}{store.path.name}",
        values,
        filters={
            "visible": lambda value: layout.line(value, 2 * _MOST_CHARACTERS),
            "marked": lambda one: layout.marked(one.original, one.text, one.edits, _MOST_CHARACTERS),
            "percent": lambda share: "–" if share is None or share != share else f"{100 * share:.1f} %",
            "in_words": in_words,
        },
        script="".join(map(layout.template, ("reading.js", "report.js", "map.js"))),
    )


def _strips(stages: Sequence[StageFacts], cosines: Mapping[str, np.ndarray]) -> Markup | None:
    """Each stage's cosines, those of the same label together."""
    known = [one for one in sorted(stages, key=lambda one: one.label) if one.name in cosines]
    series = [(f"{one.name} ({one.label})", cosines[one.name]) for one in known]
    says = "; ".join(f"{name}: median {np.median(values):.2f}" for name, values in series)
    return drawing.strips(series, 0.0, 1.0, says) if series else None


def _libraries(store: Store, stages: Sequence[StageFacts]) -> list[str]:
    """The libraries that the stages were made with, each version once."""
    made_with = [store.stage(one.name).settings["libraries"] for one in stages]
    return sorted({f"{name} {version}" for versions in made_with for name, version in versions.items()})


def _headline(store: Store, stages: Sequence[StageFacts]) -> str:
    labels = Counter(one.label for one in stages)
    names = {"same": "positive", "other": "negative", "neither": "neither"}
    kinds = [f"{labels[label]} {name}" for label, name in names.items() if labels[label]]
    return f"{store.rows:,} sentences and stages made from them: {', '.join(kinds)}."


def _bar(one: StageFacts) -> Markup:
    most = list(one.reasons.items())[:4]
    shares = [(visible_line(in_words(name)), count / max(one.rows, 1)) for name, count in most]
    says = "; ".join(f"{name} {100 * share:.1f} %" for name, share in shares) or "every row is changed"
    return drawing.stacked_bar(shares, f"why rows are unchanged: {says}")


def _picture(stages: Sequence[StageFacts], cosines: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    """Positives against negatives by their cosine to the anchor; None without scores."""
    found = {
        name: [cosines[one.name] for one in stages if one.label == label and one.name in cosines]
        for name, label in (("positives", "same"), ("negatives", "other"))
    }
    series = [(name, np.concatenate(values)) for name, values in found.items() if values]
    if not series:
        return None
    says = "; ".join(f"{name}: median {np.median(values):.2f}" for name, values in series)
    overlap = None
    if len(series) == 2:
        overlap = drawing.overlap_of(series[0][1], series[1][1], 0.0, 1.0, _BINS)
        says += f"; {100 * overlap:.0f} % lie under both"
    return {
        "svg": drawing.histogram(series, 0.0, 1.0, _BINS, says),
        "says": says,
        "names": [name for name, _ in series],
        "overlap": overlap,
    }


def _lengths(store: Store) -> dict[str, Any]:
    rows = choose_rows(store, "corpus", _LENGTH_SAMPLE)
    words = np.array([len(row["text"].split()) for row in rows])
    high = float(max(np.quantile(words, 0.99), 10))
    low, middle, most = (int(value) for value in np.quantile(words, [0.05, 0.5, 0.95]))
    width = math.ceil(high / _LENGTH_BARS)  # whole words, so that each bar stands for equally many lengths
    bars = math.ceil(high / width)
    says = f"median {middle} words, nine of ten between {low} and {most}"
    return {
        "svg": drawing.histogram([("sentences", words)], 0.0, float(bars * width), bars, says),
        "says": says,
    }
