"""What a page says of a store, as plain values, and the sentences under "Look here"."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.answers.read import judged_by
from augment_cli.augmentations.labels import counted_labels, label_of
from augment_cli.contract.reasons import Reason, in_words
from augment_cli.errors import UsageError
from augment_cli.pages.layout import word_edits
from augment_cli.parsing.stage import count_clauses
from augment_cli.reports.choosing import SHORTEST, Choice, amount_of_change, choose_rows, is_noise, signs_of
from augment_cli.reports.choosing import kind_of as kind_of_sign
from augment_cli.reports.comparison import HARDER, Difficulty, Nearness, is_negative, nearness_of
from augment_cli.reports.report import is_augmentation, is_read, stats
from augment_cli.reports.soundness import kind_of
from augment_cli.reports.stage_signs import StageSign, clauses_lost, made_of_titles, signs_of_stage
from augment_cli.store.conditions import column_of, numbers_of
from augment_cli.store.store import Store

SAMPLED_ROWS = 2_000
COUNTED_ROWS = 1_000_000  # texts that are compared with each other; those of the first parts
_PARSED_ROWS = 100
_COMPARED_ROWS = 500  # word by word, of a stage that has no edits
_MOST_REPLACED = 10
_MOST_NOTICES = 5
_MOST_OF_ONE = 2  # of one stage, where others have something to say, as with one sign of several stages
_FEWEST = 30  # changed rows, from which on a share of them says something
# What harms most comes first; signs weigh from 2 to 6, by the share of rows that show them.
_WEIGHTS = {"unfinished": 8.0, "false negatives": 7.0, "easy": 6.5, "hardly changed": 5.0}
_MEANT = 0.5  # weight of what a stage may be made for
_EASY = 0.3  # cosine: the nearest of 63 random sentences is at 0.28, by MiniLM


@dataclass(frozen=True)
class Example:
    """A row to look at."""

    row_id: int
    original: str
    text: str
    edits: tuple[dict[str, Any], ...] = ()  # start, end, replacement; empty where the stage has none
    why: str = ""  # why it is shown among the suspicious, with its numbers; else empty
    cosine: float = float("nan")  # to the original; NaN where it is not known


@dataclass(frozen=True)
class StageFacts:
    """What a page says of one augmentation."""

    name: str
    augmentation: str
    label: str  # same, other or neither
    summary: str
    version: int  # of the augmentation, when the stage was made
    rows: int
    changed: int
    reasons: dict[str, int]  # of unchanged rows
    asked: float | None  # share of replaced tokens, where it was asked for
    realised: float | None
    sampled: int  # changed rows of the sample that the next ones are of
    length_ratio: float  # median of words of the result over words of the original
    signs: dict[str, int]  # rows of the sample by what looks wrong with them
    replaced: list[tuple[str, str, int]]  # what stood there, what stands there now, how often; of the sample
    cosines: np.ndarray  # to the original, of every scored row (n,); empty without scores
    counted: int  # changed rows that the next two are of
    distinct: int  # different results; results that are another row's sentence
    copies: int
    # `random`, `most changed` and `suspicious`
    examples: dict[str, list[Example]] = field(default_factory=dict)
    fingerprint: str = ""  # its first twelve digits
    stage_signs: tuple[StageSign, ...] = ()  # what looks wrong with the sample as a whole
    labels: dict[str, int] = field(default_factory=dict)  # of changed rows, where each has a label of its own
    # the stage whose texts a judge labelled, where they are not meant to say the same; else empty
    judged: str = ""
    nearness: Nearness | None = None  # to the originals, where the shipped static encoder can tell it
    difficulty: Difficulty | None = None  # of negatives, by that encoder

    @property
    def changed_share(self) -> float:
        """Of the rows that it was run on."""
        return self.changed / max(self.rows - self.reasons.get(Reason.BEYOND_LIMIT, 0), 1)


def stages_of(store: Store) -> list[str]:
    """The finished augmentations with rows, in the order in which they were made."""
    names = [name for name in store.stages() if store.has(name) and is_augmentation(store.stage(name))]
    return [name for name in names if store.stage(name).rows]


def _asked(beta: float | str | None) -> float | None:
    """The share of tokens that was asked for: β, or the middle of its range."""
    return None if beta is None else float(np.mean([float(end) for end in str(beta).split(":")]))


def facts_of(store: Store, name: str, examples: int = 6) -> StageFacts:
    """Look at one augmentation."""
    numbers = stats(store, name)
    record, maker = store.stage(name), numbers["made_by"]
    labels = dict(counted_labels(store, name).most_common())
    judged = judged_by(record.settings) or ""
    if judged and label_of(store, judged) == "same":
        judged = ""
    sample = choose_rows(store, name, SAMPLED_ROWS)
    unchanged = [row["original"] for row in sample if row["text"] is None]
    sample = [row for row in sample if row["text"] is not None]
    cosines = _cosines(store, name)
    rows = [_example(row, cosines) for row in sample]
    label = label_of(store, name)
    words = [len(row.text.split()) / max(len(row.original.split()), 1) for row in rows]
    signs = Counter(kind_of_sign(sign) for row in rows for sign in signs_of(row.original, row.text))
    counted, distinct, copies = _repeats(store, name)
    nearness = nearness_of([(row.original, row.text) for row in rows])
    telling = _telling(rows)
    same = choose_rows(store, name, examples, choice=Choice(where="label == same")) if judged else []
    return StageFacts(
        name=name,
        augmentation=maker,
        label=label,
        summary=kind_of(record).describe(record) if is_read(record) else augmentations.summary(maker),
        version=store.stage(name).settings["version"],
        rows=numbers["rows"],
        changed=numbers["changed"],
        reasons=dict(Counter(numbers["reasons"]).most_common()),
        asked=_asked(numbers.get("beta")),
        realised=numbers.get("replaced_share"),
        sampled=len(rows),
        length_ratio=float(np.median(words)) if words else float("nan"),
        signs=dict(signs.most_common()),
        replaced=_replaced(rows),
        cosines=np.array([value for value in cosines.values() if value == value]),
        counted=counted,
        distinct=distinct,
        copies=copies,
        examples={
            "random": telling[:: max(len(telling) // examples, 1)][:examples],
            "most changed": sorted(
                telling, key=lambda row: amount_of_change(row.original, row.text, row.edits), reverse=True
            )[:examples],
            "suspicious": _suspicious(rows, label == "other", examples),
            "called the same by the judge": [_example(row, {}) for row in same],
        },
        fingerprint=numbers["fingerprint"][:12],
        stage_signs=_stage_signs(
            store,
            rows,
            unchanged,
            keeps_clauses=label == "same" and not is_noise(maker),
            reads_parses="parses" in record.settings.get("inputs", {}),
        ),
        labels=labels,
        judged=judged,
        nearness=nearness,
        difficulty=nearness.difficulty if nearness and is_negative(store, name) else None,
    )


def _stage_signs(
    store: Store, rows: Sequence[Example], unchanged: Sequence[str], keeps_clauses: bool, reads_parses: bool
) -> tuple[StageSign, ...]:
    """Signs of the sample as a whole; clauses of some rows are counted where results have to keep them."""
    edited = []
    for n, one in enumerate(rows):
        edits = one.edits or (word_edits(one.original, one.text) if n < _COMPARED_ROWS else ())
        edited.append((one.original, one.text, edits))
    found = signs_of_stage(edited, unchanged)
    if keeps_clauses and rows:
        some = rows[:: max(len(rows) // _PARSED_ROWS, 1)][:_PARSED_ROWS]
        counts = count_clauses(store, [text for row in some for text in (row.original, row.text)])
        if counts is not None and (lost := clauses_lost(counts[::2], counts[1::2])):
            found.append(lost)
    if reads_parses and (titles := made_of_titles([row.original for row in rows])):
        found.append(titles)
    return tuple(found)


def _example(row: dict[str, Any], cosines: dict[int, float]) -> Example:
    edits = tuple(row.get("edits") or ())
    cosine = cosines.get(row["row_id"], float("nan"))
    return Example(row["row_id"], row["original"], row["text"], edits, cosine=cosine)


def _cosines(store: Store, name: str) -> dict[int, float]:
    """Cosine to the original by row_id, where `augment-cli score` has been run."""
    scores = f"scores-{name}"
    if not store.has(scores):
        return {}
    try:
        values = numbers_of(store, name, ["cosine"])["cosine"]
    except UsageError:  # scored without vectors
        return {}
    ids = column_of(store, scores, "row_id").to_pylist()
    return dict(zip(ids, values.tolist(), strict=True))


def _telling(rows: Sequence[Example]) -> list[Example]:
    """Rows of a sentence rather than of a word or two, where the sample has such."""
    lengths = [len(row.original) for row in rows]
    least = min(SHORTEST, float(np.median(lengths))) if rows else 0
    return [row for row, length in zip(rows, lengths, strict=True) if length >= least]


def _suspicious(rows: Sequence[Example], negative: bool, count: int) -> list[Example]:
    """The worst first: signs, and cosines at the wrong end."""
    known = [row.cosine for row in rows if row.cosine == row.cosine]
    edge = float(np.quantile(known, 0.98 if negative else 0.02)) if known else float("nan")
    found = []
    for row in rows:
        reasons = signs_of(row.original, row.text)
        if row.cosine >= edge if negative else row.cosine <= edge:
            end = "as near as few others" if negative else "as far as few others"
            reasons.append(f"cosine {row.cosine:.2f}, {end}")
        if reasons:
            example = dataclasses.replace(row, why="; ".join(reasons))
            distance = 0.0 if row.cosine != row.cosine else row.cosine if negative else -row.cosine
            found.append((len(reasons), distance, example))
    found.sort(key=lambda one: (-one[0], -one[1], one[2].row_id))
    return [example for _, _, example in found[:count]]


def _replaced(rows: Sequence[Example]) -> list[tuple[str, str, int]]:
    pairs = Counter(
        (row.original[edit["start"] : edit["end"]].strip(), edit["replacement"].strip())
        for row in rows
        for edit in row.edits
    )
    return [(before, after, count) for (before, after), count in pairs.most_common(_MOST_REPLACED)]


def _repeats(store: Store, name: str) -> tuple[int, int, int]:
    """Changed rows of the first parts, different results among them, and copies of another sentence."""
    # By hashes of 64 bits, so that a million texts take eight megabytes: two of them share one in three of a
    # hundred million stores.
    results, sentences, rows = [], [], 0
    for index in sorted(store.stage(name).parts):
        texts = store.read_part(name, index, ["text"])["text"]
        results.append(_hashes(pc.drop_null(texts)))
        sentences.append(_hashes(store.read_part("corpus", index, ["text"])["text"]))
        rows += len(texts)
        if rows >= COUNTED_ROWS:
            break
    made = np.concatenate(results)
    copies = np.isin(made, np.concatenate(sentences))
    return len(made), len(np.unique(made)), int(copies.sum())


def _hashes(texts: pa.ChunkedArray) -> np.ndarray:
    """uint64 (n,), equal for equal texts."""
    return polars.Series(texts).hash().to_numpy() if len(texts) else np.zeros(0, np.uint64)


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
    if store.has("rejects") and (rejected := store.stage("rejects").rows):
        share = rejected / (rejected + store.rows)
        reasons = Counter(stats(store, "rejects").get("reasons", {})).most_common()
        why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in reasons)
        text = f"{100 * share:.1f} % of the lines were set aside ({rejected:,}: {why})"
        found.append(Notice("rejects", text, 1 + share))
    found.sort(key=lambda notice: -notice.weight)
    heard, said = Counter[str](), set[str]()
    first, further = list[Notice](), list[Notice]()
    for notice in found:
        sign = notice.text.partition(" % ")[2]
        (first if heard[notice.stage] < _MOST_OF_ONE and sign not in said else further).append(notice)
        heard[notice.stage] += 1
        said.update([sign] if sign else [])
    return (first + further)[:_MOST_NOTICES]


def _of_stage(one: StageFacts) -> list[Notice]:
    """What stands out in one stage; where its texts are meant to be noisy, that does not come first."""
    found = []
    for sign in one.stage_signs:
        text, advice = f"{100 * sign.share:.1f} % {sign.words}", sign.advice.replace("STAGE", one.name)
        found.append(Notice(one.name, text, 3 + 3 * sign.rows, advice))
    for words, count in one.signs.items() if one.sampled >= _FEWEST else ():
        share = count / one.sampled
        if share > 0.5 or is_noise(one.augmentation):  # what it is made for; or else all of it is broken
            text = f"{100 * share:.1f} % {words}; see whether it is meant to be so"
            found.append(Notice(one.name, text, _MEANT))
        elif share >= 0.005:
            found.append(Notice(one.name, f"{100 * share:.1f} % {words}", 2 + share))
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


def _of_change(one: StageFacts) -> list[Notice]:
    """That few rows are changed, of those that the stage was run on."""
    others = {reason: count for reason, count in one.reasons.items() if reason != Reason.BEYOND_LIMIT}
    share = one.changed / max(one.changed + sum(others.values()), 1)
    why = f"; most others: {in_words(next(iter(others)))}" if others else ""
    text = f"changes {100 * share:.1f} % of the rows that it was run on{why}"
    return [Notice(one.name, text, _WEIGHTS["hardly changed"])] if share < 0.25 else []


def _of_cosines(one: StageFacts) -> list[Notice]:
    if not len(one.cosines):
        found = one.difficulty
        if found is None or found.is_hard:
            return []
        return [Notice(one.name, f"easy negatives, {found.words}", _WEIGHTS["easy"], HARDER)]
    if len(one.cosines) < _FEWEST:
        return []
    if one.label == "other":
        median = float(np.median(one.cosines))
        if median < _EASY:
            text = f"easy negatives: median cosine {median:.2f} to their originals, as of any other sentence"
            return [Notice(one.name, text, _WEIGHTS["easy"], HARDER)]
        share, what = float((one.cosines > 0.9).mean()), "nearer than 0.9 to"
    elif one.label == "same":
        share, what = float((one.cosines < 0.6).mean()), "farther than 0.6 from"
    else:
        return []
    text = f"{100 * share:.1f} % are {what} their originals"
    return [Notice(one.name, text, 2 + share)] if share >= 0.05 else []
