"""Reports about a store as plain dictionaries: `status` and `stats`."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.answers.read import READ_STAGE
from augment_cli.contract.augmentation import entailment_of, meaning_of
from augment_cli.contract.reasons import Reason
from augment_cli.errors import BadInputError, UsageError
from augment_cli.reports.choosing import quantiles
from augment_cli.reports.soundness import behind, kind_of, why_not_reused, words_for
from augment_cli.store.journal import pieces_in
from augment_cli.store.manifest import Stage, is_stage_name
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store


def is_read(stage: Stage) -> bool:
    """Whether a stage was read from a model's answers."""
    return bool(stage.settings["stage"] == READ_STAGE)


def is_augmentation(stage: Stage) -> bool:
    """Whether a stage was made by an augmentation, or read from a model's answers like one."""
    return is_read(stage) or stage.settings["stage"] in augmentations.names()


def status(store: Store, corpus: Sequence[str | Path] | None = None) -> list[dict[str, Any]]:
    """One entry a stage: parts done, rows, share of changed rows, size, what made it."""
    # `differs`: the first setting that the same command would now make otherwise, or None; with `corpus`, the
    # input files are compared too. `behind`: what is lacking since files were appended, or None.
    in_work = rows_in_work(store)
    entries = []
    for name in store.stages():
        entry = _status_of(store.stage(name)) | {"differs": why_not_reused(store, name, corpus)}
        entry["behind"] = behind(store, name)
        entry["options"] = _options_of(store, name)
        entries.append(entry | {"rows_in_work": in_work.pop(name, 0)})
    return entries + [_begun(store, name, rows) for name, rows in in_work.items()]


def rows_in_work(store: Store) -> dict[str, int]:
    """Rows that an interrupted run left in journals, by stage; the same command resumes from them."""
    if not store.work.is_dir():
        return {}
    folders = {folder.name: folder for folder in sorted(store.work.iterdir()) if folder.is_dir()}
    rows = {
        name: sum(_rows_of(path) for path in pieces_in(folder))
        for name, folder in folders.items()
        if is_stage_name(name) and name != "parts" and not store.has(name)
    }
    return {name: count for name, count in rows.items() if count}


def _rows_of(path: Path) -> int:
    try:
        return describe(path)[0]
    except (BadInputError, OSError):  # damaged, or just joined to a part
        return 0


def _options_of(store: Store, name: str) -> str:
    """The options other than the defaults that an augmentation was made with: without them it is refused."""
    if not is_augmentation(store.stage(name)):
        return ""
    words = words_for(store, name)[1:]
    # What says which stage it is, and what the plain command takes over from a stage that was begun.
    for option in ("--draws", "--name", "--parts-of-speech"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    return shlex.join(words)


def _as_ranges(numbers: Collection[int]) -> str:
    """Part numbers as `--parts` takes them, such as 0-9,12."""
    ordered = sorted(numbers)
    first = [number for number in ordered if number - 1 not in numbers]
    last = [number for number in ordered if number + 1 not in numbers]
    pairs = zip(first, last, strict=True)
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in pairs)


def _begun(store: Store, name: str, rows: int) -> dict[str, Any]:
    """The entry of a stage of which no part is finished, so that the manifest does not know it."""
    settings: dict[str, Any] = {"stage": name, "parameters": {}, "seed": None, "fingerprint": None}
    nothing = {"differs": None, "behind": None, "options": ""}
    return _status_of(Stage(settings, len(store.parts), {}, name=name)) | nothing | {"rows_in_work": rows}


def _status_of(stage: Stage) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "stage": stage.name,
        "made_by": stage.settings["stage"],
        "parts": len(stage.parts),
        "expected_parts": stage.expected_parts,
        "complete": stage.is_complete,
        "missing_parts": _as_ranges(set(range(stage.expected_parts)) - stage.parts.keys()),
        "rows": stage.rows,
        "changed": None,
        "rows_asked": stage.rows,
        "bytes": stage.bytes,
        **{key: stage.settings[key] for key in ("parameters", "seed", "fingerprint")},
    }
    if is_augmentation(stage):
        parts = _statistics_of(stage)
        entry["changed"] = sum(part["changed"] for part in parts)
        entry["rows_asked"] -= _sum_counts(parts, "reasons").get(Reason.BEYOND_LIMIT, 0)
    return entry


def _statistics_of(stage: Stage) -> list[dict[str, Any]]:
    """What the manifest says of each part beyond its size."""
    for index, part in stage.parts.items():
        values = part.statistics
        lacks = [key for key in ("changed", "edits", "reasons", "sums") if values.get(key) is None]
        if is_augmentation(stage) and (lacks or not 0 <= values["changed"] <= part.rows):
            wrong = (
                f"lacks its statistics {', '.join(lacks)}" if lacks else "counts more changed rows than rows"
            )
            raise BadInputError(
                f"stage {stage.name!r}, part {index}: the manifest {wrong}; restore it from a copy, or "
                f"remove the stage with `augment-cli remove {stage.name}`"
            )
    return [part.statistics for part in stage.parts.values()]


def stats(store: Store, name: str) -> dict[str, Any]:
    """What a stage holds, summed over its parts."""
    # Shares of an augmentation are of the rows that it was run on: without those beyond `paraphrase --rows`.
    stage = store.stage(name)
    entry = _status_of(stage)
    parts = _statistics_of(stage)
    if not is_augmentation(stage):
        keys = sorted({key for part in parts for key, value in part.items() if isinstance(value, int)})
        # A count of rows never takes the name of a count of parts.
        named = {key: f"{key}_rows" if key in entry else key for key in keys}
        entry |= {named[key]: sum(part.get(key) or 0 for part in parts) for key in keys}
        if any("reasons" in part for part in parts):
            entry["reasons"] = _sum_counts(parts, "reasons")
        if kind_of(stage).has_numbers:
            entry |= quantiles(store, name)
        return entry
    edits, sums = sum(part["edits"] for part in parts), _sum_counts(parts, "sums")
    entry["changed_share"] = entry["changed"] / max(entry["rows_asked"], 1)
    entry["reasons"] = _sum_counts(parts, "reasons")
    entry |= {"edits": edits, "edits_per_changed_row": edits / max(entry["changed"], 1), **sums}
    if "replaced" in sums and "tokens" in sums:
        entry["replaced_share"] = sums["replaced"] / max(sums["tokens"], 1)
        entry["beta"] = stage.settings["parameters"].get("beta")
    return entry


def _sum_counts(parts: list[dict[str, Any]], key: str) -> dict[str, int]:
    counter: Counter[str] = Counter()
    for part in parts:
        counter.update(part.get(key, {}))
    return dict(sorted(counter.items()))


def short(value: Any) -> Any:
    """A SHA-256, also inside of a mapping, by its first twelve digits; the manifest has them whole."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    is_digest = isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value)
    return f"{value[:12]}…" if is_digest else value


def what_is(name: str) -> dict[str, Any]:
    """An augmentation: what it makes, with which label, what it needs, and where it comes from."""
    try:
        descriptor = augmentations.get(name)
    except UsageError as error:
        unknown = dict.fromkeys(("kind", "meaning", "label", "label_reason", "paper"), "")
        return {"name": name, "needs": [], "summary": str(error)} | unknown
    entailment = entailment_of(descriptor)
    return {
        "name": name,
        "kind": descriptor.kind,
        "meaning": meaning_of(descriptor),
        "label": entailment.label,
        "label_reason": entailment.reason,
        "needs": sorted(descriptor.needs),
        "summary": augmentations.summary(name),
        "paper": descriptor.paper,
    }
