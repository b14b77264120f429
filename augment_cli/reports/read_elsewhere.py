"""Whether judgements are of what a store holds now, or of another store or version of the stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from augment_cli.errors import UsageError
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.verdicts import Judgement
from augment_cli.store.store import Store


def read_elsewhere(store: Store, judgements: Iterable[Judgement]) -> dict[str, str]:
    """Why judgements say nothing of a store's stages, by stage; stages with the same rows left out."""
    # Fingerprints that are equal settle it. Where they are not, as after an append, the texts do: a row
    # that reads as it did then was judged, whatever else has changed.
    groups: dict[str, list[Judgement]] = {}
    for one in judgements:
        groups.setdefault(one.stage, []).append(one)
    found = {stage: _why(store, stage, group) for stage, group in groups.items()}
    return {stage: why for stage, why in found.items() if why}


def _why(store: Store, stage: str, group: Sequence[Judgement]) -> str:
    if stage not in store.stages():
        return "there is no such stage" if any(one.fingerprint for one in group) else ""
    others = [one for one in group if not _is_of(store, one)]
    unknown = [one for one in others if one.text is None]
    if unknown:
        return f"{len(unknown)} of {len(group)} rows were read with another fingerprint"
    texts = _texts(store, stage, [one.row_id for one in others]) if others else {}
    changed = sum(texts.get(one.row_id) != (one.original, one.text) for one in others)
    return f"{changed} of {len(group)} rows read otherwise there" if changed else ""


def _is_of(store: Store, one: Judgement) -> bool:
    """Whether what a judgement notes of its store and stage is what they are; pages note the first digits."""
    pairs = (
        (one.store, store.stage("corpus").settings["fingerprint"]),
        (one.fingerprint, store.stage(one.stage).settings["fingerprint"]),
    )
    return all(actual.startswith(noted) for noted, actual in pairs)


def _texts(store: Store, stage: str, rows: Sequence[int]) -> dict[int, tuple[str | None, str | None]]:
    try:
        chosen = choose_rows(store, stage, len(rows), choice=Choice(rows=tuple(rows)))
    except UsageError:  # a row that the store has not: another corpus
        return {}
    return {row["row_id"]: (row.get("original"), row.get("text")) for row in chosen}
