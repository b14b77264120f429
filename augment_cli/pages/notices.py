"""The sentences under "Look here": what stands out in a store, the weightiest first."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from augment_cli.contract.reasons import Reason, in_words
from augment_cli.pages.facts import StageFacts
from augment_cli.reports.choosing import is_noise
from augment_cli.reports.comparison import HARDER
from augment_cli.reports.report import is_augmentation, stats
from augment_cli.store.store import Store

_MOST_NOTICES = 5
_MOST_OF_ONE = 2  # of one stage, where others have something to say, as with one sign of several stages
_FEWEST = 30  # changed rows, from which on a share of them says something
# What harms most comes first; signs weigh from 2 to 6, by the share of rows that show them.
_WEIGHTS = {"unfinished": 8.0, "false negatives": 7.0, "easy": 6.5, "hardly changed": 5.0}
_MEANT = 0.5  # weight of what a stage may be made for
_EASY = 0.3  # cosine: the nearest of 63 random sentences is at 0.28, by MiniLM


@dataclass(frozen=True)
class Notice:
    """A sentence that says where to look, with its number."""

    stage: str
    text: str
    weight: float
    advice: str = ""  # what it means, and what to do


def notices_of(store: Store, stages: Sequence[StageFacts]) -> list[Notice]:
    """At most five sentences on what stands out, the weightiest first."""
    unfinished = (
        "is not complete, or a part of it is gone: not on this page; `augment-cli status` says what is there"
    )
    found = [
        Notice(name, unfinished, _WEIGHTS["unfinished"])
        for name in store.stages()
        if is_augmentation(store.stage(name)) and not store.has(name)
    ]
    for one in stages:
        found += _of_stage(one)
    rejected = store.stage("rejects").rows if store.has("rejects") else 0
    if rejected:
        share = rejected / (rejected + store.rows)
        why = _counted(stats(store, "rejects").get("reasons", {}))
        text = f"{100 * share:.1f} % of the lines were set aside ({rejected:,}: {why})"
        found.append(Notice("rejects", text, 1 + share))
    found.sort(key=lambda notice: -notice.weight)
    heard: Counter[str] = Counter()
    said = set[str]()
    first, further = list[Notice](), list[Notice]()
    for notice in found:
        sign = notice.text.partition(" % ")[2]
        (first if heard[notice.stage] < _MOST_OF_ONE and sign not in said else further).append(notice)
        heard[notice.stage] += 1
        said.update([sign] if sign else [])
    return (first + further)[:_MOST_NOTICES]


def _of_stage(one: StageFacts) -> list[Notice]:
    """What stands out in one stage; where its texts are meant to be noisy, that does not come first."""
    found = [
        Notice(
            one.name,
            f"{100 * sign.share:.1f} % {sign.words}",
            3 + 3 * sign.rows,
            sign.advice.replace("STAGE", one.name),
        )
        for sign in one.stage_signs
    ]
    for sign, count in one.signs.items() if one.sampled >= _FEWEST else ():
        share = count / one.sampled
        if share > 0.5 or is_noise(one.augmentation):  # what it is made for; or else all of it is broken
            text = f"{100 * share:.1f} % {sign}; see whether it is meant to be so"
            found.append(Notice(one.name, text, _MEANT))
        elif share >= 0.005:
            found.append(Notice(one.name, f"{100 * share:.1f} % {sign}", 2 + share))
    if one.judged and one.labels.get("same"):
        text = (
            f"the judge calls {one.labels['same']:,} of {one.changed:,} texts of {one.judged} the same "
            "as their originals: false negatives"
        )
        found.append(Notice(one.name, text, _WEIGHTS["false negatives"]))
    found += _of_change(one)
    if one.counted >= _FEWEST and one.copies / one.counted >= 0.005:
        share = one.copies / one.counted
        found.append(Notice(one.name, f"{100 * share:.1f} % are another row's sentence", 2 + share))
    if one.asked and one.realised is not None and abs(one.realised - one.asked) > 0.1 * one.asked:
        text = f"asked for {100 * one.asked:.0f} % of the tokens, replaced {100 * one.realised:.0f} %"
        weight = _WEIGHTS["hardly changed"] if one.realised < 0.5 * one.asked else 1.5
        found.append(Notice(one.name, text, weight))
    found += _of_cosines(one)
    if is_noise(one.augmentation):
        return [dataclasses.replace(notice, weight=min(notice.weight, _MEANT)) for notice in found]
    return found


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
    return [
        Notice(
            one.name,
            f"changes {100 * share:.1f} % of the rows that it was run on{why}",
            _WEIGHTS["hardly changed"],
        )
    ]


def _of_cosines(one: StageFacts) -> list[Notice]:
    if not len(one.cosines):
        found = one.difficulty
        if found is None or found.is_hard:
            return []
        return [Notice(one.name, f"easy negatives, {found.words}", _WEIGHTS["easy"], HARDER)]
    if len(one.cosines) < _FEWEST:
        return []
    if one.is_negative:
        median = float(np.median(one.cosines))
        if median < _EASY:
            text = f"easy negatives: median cosine {median:.2f} to their originals, as of any other sentence"
            return [Notice(one.name, text, _WEIGHTS["easy"], HARDER)]
        share, what = float((one.cosines > 0.9).mean()), "nearer than 0.9 to"
    elif one.is_positive:
        share, what = float((one.cosines < 0.6).mean()), "farther than 0.6 from"
    else:
        return []
    text = f"{100 * share:.1f} % are {what} their originals"
    return [Notice(one.name, text, 2 + share)] if share >= 0.05 else []
