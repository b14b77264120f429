"""The page of a store: what it holds, what to look at, examples to judge, and where everything comes from."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from augment_cli.contract.reasons import Reason, in_words
from augment_cli.errors import MissingError, UsageError
from augment_cli.errors.visible import visible_line
from augment_cli.pages import drawing, layout
from augment_cli.pages.facts import Example, StageFacts, facts_of, stages_of
from augment_cli.reports.behind import words_for
from augment_cli.reports.choosing import choose_rows
from augment_cli.reports.report import is_augmentation, is_read, stats
from augment_cli.reports.signs import NOISE
from augment_cli.runs.again import command_of
from augment_cli.store.files import write_atomically
from augment_cli.store.store import Store
from augment_cli.store.targets import check_target

_TITLE = "Report of "
LIMIT = 500_000  # bytes of a page, whatever the store
_EXAMPLES = (6, 3, 1)  # in each list of a stage: the first number with which the page stays below the limit
_MOST_CHARACTERS = 320  # of a text
_LENGTH_SAMPLE = 5_000
_LENGTH_BARS = 30  # at most
_BINS = 40
_MOST_NOTICES = 5
_MOST_OF_ONE = 2  # of one stage, where others have something to say


@dataclass(frozen=True)
class Notice:
    """A sentence that says where to look, with its number."""

    stage: str
    text: str
    weight: float


def write_report(
    store: Store,
    out: Path,
    progress: Callable[[str], None] = lambda stage: None,
    seconds: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Write the page of a store.

    Parameters
    ----------
    store : Store
    out : Path
        The file; a page that was written there before is written anew.
    progress : callable
        Called with each stage before it is looked at.
    seconds : mapping of str to float, optional
        How long each stage took, where that is known: a store keeps no times.

    Returns
    -------
    dict
        path, bytes, stages, and notices (the sentences that say where to look).

    Raises
    ------
    UsageError
        If the store has no augmentation yet, or `out` must not be replaced.
    MissingError
        If the folder of `out` does not exist.
    """
    names = stages_of(store)
    if not names:
        raise UsageError(f"{store.path}: no augmentation has been made here yet; run `augment-cli una` first")
    check_place(out, store.path)
    stages = []
    for name in names:
        progress(name)
        stages.append(facts_of(store, name, _EXAMPLES[0]))
    notices = notices_of(store, stages)
    text = _fitting(store, stages, notices, seconds or {})
    write_atomically(out, text.encode(), out.absolute().parent)
    return {
        "path": str(out),
        "bytes": len(text.encode()),
        "stages": names,
        "notices": [f"{notice.stage}: {notice.text}" for notice in notices],
    }


def _fitting(
    store: Store, stages: Sequence[StageFacts], notices: Sequence[Notice], seconds: Mapping[str, float]
) -> str:
    """The page below its limit: with fewer examples, without any, at last without some of the stages."""
    text = ""
    for count in (*_EXAMPLES, 0):
        shown = [
            dataclasses.replace(one, examples={key: some[:count] for key, some in one.examples.items()})
            for one in stages
        ]
        text = render(store, shown, notices, seconds)
        if len(text.encode()) <= LIMIT:
            return text
    while len(shown) > 1 and len(text.encode()) > LIMIT:  # hundreds of stages
        shown = shown[: len(shown) // 2]
        text = render(store, shown, notices, seconds, len(stages) - len(shown))
    return text


def check_place(out: Path, store: Path) -> None:
    """See that a page can be written, and replaces at most an earlier page of a store.

    Raises
    ------
    UsageError
        If `out` lies in the store, is no regular file, or is a file that something else wrote.
    MissingError
        If its folder does not exist.
    """
    if out.is_dir():
        raise UsageError(f"{out}: is a folder; name a file, such as {out / 'report.html'}")
    check_target(out, store, _is_page)
    if not out.absolute().parent.is_dir():
        raise MissingError(f"{out}: the folder {out.absolute().parent} does not exist; make it first")


def _is_page(beginning: bytes) -> bool:
    """Whether a file that begins so is a page of a store: what `page.html` puts before the style."""
    return beginning.startswith(b"<!doctype html>") and all(
        mark in beginning for mark in (b'<meta name="generator" content="augment-cli ', _TITLE.encode())
    )


_FEWEST = 30  # changed rows, from which on a share of them says something
_EASY = 0.3  # cosine: the nearest of 63 random sentences is at 0.28, by MiniLM


def notices_of(store: Store, stages: Sequence[StageFacts]) -> list[Notice]:
    """At most five sentences on what stands out, the weightiest first."""
    unfinished = (
        "is not complete, or a part of it is gone: not on this page; `augment-cli status` says what is there"
    )
    found = [
        Notice(name, unfinished, 4.0)
        for name in store.stages()
        if is_augmentation(store.stage(name)) and not store.has(name)
    ]
    for one in stages:
        for sign, share in one.stage_signs.items():
            found.append(Notice(one.name, f"{100 * share:.1f} % {sign}", 3 + share))
        for sign, count in one.signs.items() if one.sampled >= _FEWEST else ():
            share = count / one.sampled
            if share > 0.5 or one.augmentation in NOISE:  # what it is made for; or else all of it is broken
                text = f"{100 * share:.1f} % {sign}; see whether it is meant to be so"
                found.append(Notice(one.name, text, 0.5))
            elif share >= 0.005:
                found.append(Notice(one.name, f"{100 * share:.1f} % {sign}", 2 + share))
        if one.judged and one.labels.get("same"):
            text = (
                f"the judge calls {one.labels['same']:,} of {one.changed:,} texts of {one.judged} the same "
                "as their originals: false negatives"
            )
            found.append(Notice(one.name, text, 3.5))
        found += _of_change(one)
        if one.counted >= _FEWEST and one.copies / one.counted >= 0.005:
            share = one.copies / one.counted
            found.append(Notice(one.name, f"{100 * share:.1f} % are another row's sentence", 2 + share))
        if one.asked and one.realised is not None and abs(one.realised - one.asked) > 0.1 * one.asked:
            text = f"asked for {100 * one.asked:.0f} % of the tokens, replaced {100 * one.realised:.0f} %"
            found.append(Notice(one.name, text, 1.5))
        found += _of_cosines(one)
    rejected = store.stage("rejects").rows if store.has("rejects") else 0
    if rejected:
        share = rejected / (rejected + store.rows)
        why = _counted(stats(store, "rejects").get("reasons", {}))
        text = f"{100 * share:.1f} % of the lines were set aside ({rejected:,}: {why})"
        found.append(Notice("rejects", text, 1 + share))
    found.sort(key=lambda notice: -notice.weight)
    heard: Counter[str] = Counter()
    first, further = list[Notice](), list[Notice]()
    for notice in found:
        (first if heard[notice.stage] < _MOST_OF_ONE else further).append(notice)
        heard[notice.stage] += 1
    return (first + further)[:_MOST_NOTICES]


def _counted(reasons: Mapping[str, int]) -> str:
    """Reasons with their counts, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in ordered)


def _of_change(one: StageFacts) -> list[Notice]:
    """That few rows are changed, of those that the stage was run on."""
    others = {reason: count for reason, count in one.reasons.items() if reason != Reason.BEYOND_LIMIT}
    share = one.changed / max(one.changed + sum(others.values()), 1)
    if share >= 0.25:
        return []
    why = f"; most others: {in_words(next(iter(others)))}" if others else ""
    return [Notice(one.name, f"changes {100 * share:.1f} % of the rows that it was run on{why}", 1.0)]


def _of_cosines(one: StageFacts) -> list[Notice]:
    if len(one.cosines) < _FEWEST:
        return []
    if one.is_negative:
        median = float(np.median(one.cosines))
        if median < _EASY:
            text = f"easy negatives: median cosine {median:.2f} to their originals, as of any other sentence"
            return [Notice(one.name, text, 2.5)]
        share = float((one.cosines > 0.9).mean())
        return [Notice(one.name, f"{100 * share:.1f} % are nearer than 0.9 to their originals", 2 + share)][
            : share >= 0.05
        ]
    if not one.is_positive:
        return []
    share = float((one.cosines < 0.6).mean())
    return [Notice(one.name, f"{100 * share:.1f} % are farther than 0.6 from their originals", 2 + share)][
        : share >= 0.05
    ]


def render(
    store: Store,
    stages: Sequence[StageFacts],
    notices: Sequence[Notice],
    seconds: Mapping[str, float],
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
        "picture": _picture(stages),
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
        f"{_TITLE}{store.path.name}",
        values,
        filters={"visible": _shown, "marked": marked, "percent": _percent, "in_words": in_words},
        script=layout.template("report.js"),
    )


def marked(example: Example) -> tuple[Markup, Markup]:
    """Original and result, what went struck out and what came underlined; cut where they are long."""
    before, after, position = [], [], 0
    for edit in example.edits:
        kept = example.original[position : edit["start"]]
        removed, new = example.original[edit["start"] : edit["end"]], edit["replacement"]
        before += [escape(_shown(kept)), Markup("<del>{}</del>").format(_shown(removed)) if removed else ""]
        after += [escape(_shown(kept)), Markup("<ins>{}</ins>").format(_shown(new)) if new else ""]
        position = edit["end"]
        if position > _MOST_CHARACTERS:
            break
    rest = example.original[position:][:_MOST_CHARACTERS]
    cut = "…" if len(example.original) - position > _MOST_CHARACTERS else ""
    before.append(escape(_shown(rest) + cut))
    if example.edits:
        after.append(escape(_shown(rest) + cut))
    else:
        long = len(example.text) > _MOST_CHARACTERS
        after = [escape(_shown(example.text[:_MOST_CHARACTERS]) + ("…" if long else ""))]
    return Markup("").join(before), Markup("").join(after)


def _shown(value: object) -> str:
    """Text of a corpus within a line; escaping is the template's."""
    text = visible_line(value)
    return text if len(text) <= 2 * _MOST_CHARACTERS else text[: 2 * _MOST_CHARACTERS] + "…"


def _libraries(store: Store, stages: Sequence[StageFacts]) -> list[str]:
    """The libraries that the stages were made with, each version once."""
    made_with = [store.stage(one.name).settings["libraries"] for one in stages]
    return sorted({f"{name} {version}" for versions in made_with for name, version in versions.items()})


def _percent(share: float | None) -> str:
    return "–" if share is None or share != share else f"{100 * share:.1f} %"


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


def _picture(stages: Sequence[StageFacts]) -> dict[str, Any] | None:
    """Positives against negatives by their cosine to the anchor; None without scores."""
    positive = [one.cosines for one in stages if one.is_positive and len(one.cosines)]
    negative = [one.cosines for one in stages if one.is_negative and len(one.cosines)]
    series = [
        (name, np.concatenate(values))
        for name, values in (("positives", positive), ("negatives", negative))
        if values
    ]
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
