"""How far a judge agrees with people: a stage of verdicts beside files of judgements, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from augment_cli import augmentations
from augment_cli.answers.read import judged_by
from augment_cli.augmentations.labels import label_of
from augment_cli.contract.entailment import entailment_of
from augment_cli.errors import UsageError
from augment_cli.reports.verdicts import Judgement, wilson
from augment_cli.store.store import Store

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


def kappa_of(pairs: Iterable[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two readers: how much more often they agree than by chance, 1 where always."""
    # None where there is no pair, or both always say the same one thing.
    counts = Counter(pairs)
    total = sum(counts.values())
    if not total:
        return None
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in counts.items():
        first[one] += count
        second[other] += count
    alike = sum(count for (one, other), count in counts.items() if one == other) / total
    chance = sum(count * second[verdict] for verdict, count in first.items()) / total**2
    return (alike - chance) / (1 - chance) if chance < 1 else None


def _measures(confusion: dict[str, dict[str, int]]) -> dict[str, float | None]:
    pairs = [
        (people, SAME if judge == "same" else DIFFERENT)
        for people, row in confusion.items()
        for judge in JUDGE[:3]
        for _ in range(row[judge])
    ]
    if not pairs:
        return dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "kappa"))
    alike = sum(people == judge for people, judge in pairs)
    low, high = wilson(alike, len(pairs))
    return {
        "accuracy": alike / len(pairs),
        "accuracy_low": low,
        "accuracy_high": high,
        "kappa": kappa_of(pairs),
    }
