"""Changed rows for a person to read, and what was found: counts of good, awkward and wrong with intervals.

A file of judgements has a JSON object in each line, with at least `stage`, `row_id` and `verdict`; what the
page of `augment-cli report` saves is read, too. What `sample` writes also has the texts and what made them,
so that a judgement stays readable without its store, and is known to be stale once the augmentation or one of
its word lists has changed. A verdict counts once, however often it is read: copies of a file, or further
spellings of its path, are no further readers, whom `judge` tells apart.
"""

import contextlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from augment_cli import augmentations
from augment_cli.answers.read import READ_STAGE, judged_by
from augment_cli.augmentations.labels import label_of
from augment_cli.contract.augmentation import Resources, entailment_of
from augment_cli.errors import BadInputError, UsageError, UserError
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.report import is_augmentation
from augment_cli.store.files import read_small_file
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import TermTable
from augment_cli.vectors.texts import rows_by_part

Key = TypeVar("Key")
VERDICTS = ("good", "awkward", "wrong")
_SCORE = 1.959963984540054  # of the normal distribution, for an interval of 95 %
_DIGEST, _DIGEST_LETTERS = re.compile(r"[0-9a-f]{64}"), 12


# What the verdicts say, by the label of what is judged.
MEANINGS = {
    "same": "good says the same and reads well; awkward reads badly; wrong says something else",
    "other": "good says something else and is still like its original; awkward is broken or too unlike it; "
    "wrong still says the same",
    "neither": "good is what the augmentation is for; awkward reads badly; wrong is broken",
}


class Judgement(msgspec.Struct):
    """One row that was, or is to be, read."""

    stage: str  # name of the stage
    row_id: Annotated[int, msgspec.Meta(ge=0)]
    verdict: Literal["good", "awkward", "wrong"] | None  # none where nobody has read it yet
    note: str = ""
    store: str = ""  # fingerprints of the corpus and of the stage; empty where they were not noted
    fingerprint: str = ""
    augmentation: str | None = None  # what made the stage; None means the stage's name
    version: int | None = None  # the augmentation's; None where it was not noted
    resources: dict[str, str] = {}  # first letters of the SHA-256 of the word lists and tables that it read
    original: str | None = None
    text: str | None = None
    judge: str = ""  # who read it, where several did

    @property
    def maker(self) -> str:
        """Name of the augmentation."""
        return self.augmentation or self.stage


class _Saved(msgspec.Struct):
    """What the page of `augment-cli report` saves."""

    judgements: list[Judgement]
    corpus: str = ""


def sample(store: Store, stage: str, count: int, seed: int = 0) -> list[Judgement]:
    """Random changed rows of an augmentation's stage, to be read."""
    record = store.stage(stage)
    if not is_augmentation(record):
        raise UsageError(
            f"{store.path}: {stage!r} is not an augmentation's stage; `augment-cli status` lists all"
        )
    rows = choose_rows(store, stage, count, seed, Choice(only_changed=True))
    if not rows:
        raise UsageError(f"{store.path}: stage {stage!r} has no changed row to read")
    settings = record.settings
    common: dict[str, Any] = {
        "stage": stage,
        "verdict": None,
        "store": store.stage("corpus").settings["fingerprint"],
        "fingerprint": settings["fingerprint"],
        "augmentation": settings["stage"],
        "version": settings["version"],
        "resources": digests_in(settings["parameters"]),
    }
    return [Judgement(**common, **{key: row[key] for key in ("row_id", "original", "text")}) for row in rows]


def write(path: Path, judgements: Sequence[Judgement]) -> None:
    """Write a file of judgements, one JSON object a line."""
    try:
        with path.open("xb") as file:
            for judgement in judgements:
                file.write(msgspec.json.encode(judgement) + b"\n")
    except FileExistsError:
        raise UsageError(f"{path}: is there already; name another file, or move it away") from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path}: {path.parent} is not a folder; make it, or name another file") from None


def read(paths: Iterable[Path]) -> list[Judgement]:
    """Read files of judgements, or all of a folder (`*.jsonl`), each judgement once."""
    # The same row, judge and verdict is the same judgement, and a row that somebody has read is not unread.
    distinct: dict[tuple[Any, ...], Judgement] = {}
    for one in read_all(paths):
        row = (one.stage, one.fingerprint[:_DIGEST_LETTERS], one.row_id, one.original, one.text)
        distinct.setdefault((*row, one.judge, one.verdict), one)
    read_rows = {key[:-2] for key in distinct if key[-1] is not None}
    return [one for key, one in distinct.items() if key[-1] is not None or key[:-2] not in read_rows]


def read_all(paths: Iterable[Path]) -> list[Judgement]:
    """Read files of judgements, or all of a folder, as they stand there."""
    judgements: list[Judgement] = []
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    for path in files:
        try:
            data = read_small_file(path)
        except OSError as error:
            raise BadInputError(
                f"{path}: cannot be read ({error.strerror}); name a file of `augment-cli judge`"
            ) from error
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            judgements += msgspec.json.decode(data, type=_Saved).judgements
            continue
        for number, line in enumerate(data.splitlines(), 1):
            try:
                judgements += [msgspec.json.decode(line, type=Judgement)] if line.strip() else []
            except (msgspec.MsgspecError, RecursionError) as error:
                raise BadInputError(
                    f"{path}, line {number}: {error}; a verdict is one of {', '.join(VERDICTS)}, or null"
                ) from None
    return judgements


def wilson(successes: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    # Source: Wilson 1927 (Probable inference, the law of succession, and statistical inference).
    share, square = successes / count, _SCORE**2 / count
    centre = (share + square / 2) / (1 + square)
    half = _SCORE * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return max(0.0, centre - half), min(1.0, centre + half)


def summary(judgements: Iterable[Judgement]) -> list[dict[str, Any]]:
    """Counts for each stage, in order of first appearance."""
    entries = []
    for (maker, stage), group in _grouped(judgements, lambda one: (one.maker, one.stage)).items():
        counts = {verdict: sum(one.verdict == verdict for one in group) for verdict in VERDICTS}
        number = sum(counts.values())
        # Several readers of a row are one row: the share is their mean, the interval that of the rows.
        rows = len({(one.store, one.row_id) for one in group if one.verdict})
        low, high = wilson(counts["wrong"] * rows / number, rows) if number else (None, None)
        stale = sorted({reason for one in group if (reason := why_stale(one)) is not None})
        entries.append(
            {"stage": stage, "augmentation": maker, "read": number}
            | counts
            | {"unread": len(group) - number, "wrong_low": low, "wrong_high": high}
            | {"stale": "; ".join(stale) or None}
        )
    return entries


def _grouped(judgements: Iterable[Judgement], key: Callable[[Judgement], Key]) -> dict[Key, list[Judgement]]:
    groups = defaultdict[Key, list[Judgement]](list)
    for one in judgements:
        groups[key(one)].append(one)
    return groups


def why_stale(judgement: Judgement) -> str | None:
    """Why a judgement is of something else than what the augmentation now makes, or None."""
    if judgement.maker == READ_STAGE:  # a language model's: its stage says whose
        return None
    if judgement.maker not in augmentations.names():
        return f"there is no augmentation {judgement.maker}"
    if judgement.version is None:
        return "the version that was read is not noted"
    version = augmentations.get(judgement.maker).version
    if version != judgement.version:
        return f"version {judgement.version} was read, now {version}"
    if not judgement.resources:
        return None
    current = _resources_of(judgement.maker)
    changed = sorted(
        name for name, digest in judgement.resources.items() if current.get(name, digest) != digest
    )
    if current.get("rules") and "rules" not in judgement.resources:
        changed.append("rules")  # they had no number then
    return f"changed since: {', '.join(changed)}" if changed else None


def digests_in(parameters: dict[str, Any]) -> dict[str, str]:
    """The first twelve letters of each SHA-256 among resolved parameters, a level down too, and `rules`."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        flat |= value if isinstance(value, dict) else {name: value}
    return {
        name: value[:_DIGEST_LETTERS]
        for name, value in flat.items()
        if isinstance(value, str) and _DIGEST.fullmatch(value)
    } | ({"rules": str(flat["rules"])} if "rules" in flat else {})  # the number of a mode's own rules


def _resources_of(maker: str) -> dict[str, str]:
    """Digests that an augmentation with its defaults would be made with; none where its model is missing."""
    descriptor = augmentations.get(maker)
    # A table of one term, as small as a corpus can be: what is asked for does not depend on the terms.
    terms = TermTable(pa.array(["term"]), np.zeros(1), np.zeros(1), document_frequency=np.ones(1, np.int64))
    try:
        resources = Resources(seed=0, draw=0, terms=terms)
        return digests_in(descriptor.resolve(descriptor.parameters(), resources))
    except UserError:
        return {}


def read_elsewhere(store: Store, judgements: Iterable[Judgement]) -> dict[str, str]:
    """Why judgements say nothing of a store's stages, by stage; stages with the same rows left out."""
    # Equal fingerprints prove it. Where they differ, as after an append, the texts decide: a row that reads
    # as it did then was judged, whatever else has changed.
    groups = _grouped(judgements, lambda one: one.stage)
    return {stage: why for stage, group in groups.items() if (why := _why(store, stage, group))}


def check_rows(store: Store, judgements: Iterable[Judgement]) -> None:
    """Refuse judgements that say they are of a stage of this store, on rows that it does not have."""
    here = [
        one for one in judgements if one.fingerprint and one.stage in store.stages() and _is_of(store, one)
    ]
    for stage, group in _grouped(here, lambda one: one.stage).items():
        texts = _texts(store, stage, [one.row_id for one in group])
        for one in group:
            original, text = texts.get(one.row_id, (None, None))
            if text is None or (one.text is not None and (one.original, one.text) != (original, text)):
                raise BadInputError(
                    f"row {one.row_id} of {stage!r}: is not in {store.path} as the file says that it was "
                    "read there; take that line out, or sample anew with `augment-cli judge`"
                )


def _why(store: Store, stage: str, group: Sequence[Judgement]) -> str:
    if stage not in store.stages():
        return "there is no such stage" if any(one.fingerprint for one in group) else ""
    texts = _texts(store, stage, [one.row_id for one in group])
    own, others = ([one for one in group if _is_of(store, one) == is_own] for is_own in (True, False))
    if missing := sum(texts.get(one.row_id, (None, None))[1] is None for one in own):
        return f"{missing} of {len(group)} rows are not among its changed ones"
    if unknown := sum(one.text is None for one in others):
        return f"{unknown} of {len(group)} rows were read with another fingerprint"
    changed = sum(texts.get(one.row_id) != (one.original, one.text) for one in others)
    return f"{changed} of {len(group)} rows read otherwise there" if changed else ""


def _is_of(store: Store, one: Judgement) -> bool:
    """Whether what a judgement notes of its store and stage is what they are; pages note the first digits."""
    noted = (("corpus", one.store), (one.stage, one.fingerprint))
    return all(store.stage(name).settings["fingerprint"].startswith(some) for name, some in noted)


def _texts(store: Store, stage: str, rows: Sequence[int]) -> dict[int, tuple[str | None, str | None]]:
    """The original and the text of those rows that the store has, by row_id."""
    found: dict[int, tuple[str | None, str | None]] = {}
    wanted = np.unique([row for row in rows if row < store.rows]).astype(np.int64)
    for part, _, places in rows_by_part(store, wanted):
        if part in store.stage(stage).parts:
            originals = store.read_rows("corpus", part, places.tolist(), ["row_id", "text"]).to_pylist()
            texts = store.read_rows(stage, part, places.tolist(), ["text"])["text"].to_pylist()
            pairs = zip(originals, texts, strict=True)
            found |= {row["row_id"]: (row["text"], text) for row, text in pairs}
    return found


SAME, DIFFERENT = PEOPLE = ("same", "different")
JUDGE = ("same", "other", "neither", "none")  # the last: no verdict
# What a person's verdict says of the meaning, by the label of what was read; awkward says nothing of it.
_SAYS = {("same", "good"): SAME, ("same", "wrong"): DIFFERENT}
_SAYS |= {("other", "good"): DIFFERENT, ("other", "wrong"): SAME}


def agreement(store: Store, stage: str, judgements: Iterable[Judgement]) -> dict[str, Any]:
    """Count on which pairs a judge and people say the same."""
    # Source of kappa: Cohen 1960 (A coefficient of agreement for nominal scales).
    of = judged_by(store.stage(stage).settings)
    if of is None:
        raise UsageError(
            f"--compare {stage}: has no verdicts of a judge; `augment-cli generate --template judge --of "
            "STAGE` and `augment-cli read` make such a stage"
        )
    verdicts = _verdicts(store, stage, of)
    confusion = {people: dict.fromkeys(JUDGE, 0) for people in PEOPLE}
    left_out: Counter[str] = Counter(unclear=0, not_in_stage=0)
    for one in judgements:
        says = meaning_said(one, store)
        found = verdicts.get((one.original, one.text))
        if says is None:
            left_out["unclear"] += 1
        elif found is None:
            left_out["not_in_stage"] += 1
        else:
            confusion[says][found] += 1
    entry = {"stage": stage, "of": of, "pairs": sum(sum(row.values()) for row in confusion.values())}
    return entry | {"left_out": dict(left_out), "confusion": confusion} | _measures(confusion)


def _verdicts(store: Store, stage: str, of: str) -> dict[tuple[str | None, str | None], str]:
    """What the judge said of each pair of texts that it was shown."""
    found = {}
    for index in sorted(store.stage(stage).parts):
        columns = [
            store.read_part(name, index, [column])[column].to_pylist()
            for name, column in (("corpus", "text"), (of, "text"), (stage, "label"), (stage, "reason"))
        ]
        for original, text, label, reason in zip(*columns, strict=True):
            if text is not None and reason != "beyond_limit":
                found[original, text] = label or "none"
    return found


def meaning_said(judgement: Judgement, store: Store | None = None) -> str | None:
    """What a person's verdict says of the meaning: `same`, `different`, or None where it says nothing."""
    label = "neither"
    if judgement.maker in augmentations.names():
        label = entailment_of(augmentations.get(judgement.maker)).label
    elif store is not None and judgement.stage in store.stages():
        label = label_of(store, judgement.stage)
    return _SAYS.get((label, judgement.verdict or ""))


def _measures(confusion: dict[str, dict[str, int]]) -> dict[str, float | None]:
    """How often both agree, and Cohen's kappa: how much more often than by chance, 1 where always."""
    # What a judge calls neither is different, too.
    counts = np.array([[row["same"], row["other"] + row["neither"]] for row in confusion.values()])
    total, alike = int(counts.sum()), int(np.trace(counts))
    if not total:
        return dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "kappa"))
    low, high = wilson(alike, total)
    chance = int(counts.sum(0) @ counts.sum(1)) / total**2  # 1 where both always say the same one thing
    kappa = (alike / total - chance) / (1 - chance) if chance < 1 else None
    return {"accuracy": alike / total, "accuracy_low": low, "accuracy_high": high, "kappa": kappa}
