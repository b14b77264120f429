"""Reports about a store as plain data: `status`, `stats`, and the dataset card (README.md at its root)."""

import html
import json
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
from augment_cli.errors import BadInputError, UsageError, needed
from augment_cli.errors.visible import visible
from augment_cli.languages import language_codes
from augment_cli.reports.choosing import quantiles
from augment_cli.reports.soundness import behind, kind_of, why_not_reused, words_for
from augment_cli.store.files import write_atomically
from augment_cli.store.journal import pieces_in
from augment_cli.store.manifest import Stage, is_stage_name
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store
from augment_cli.version import __version__

_MARK = "<!-- written by `augment-cli card`; written anew by the next one -->"
_LOOKED_AT = 1_000  # texts, for their languages
_SIZES = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]


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


def write_card(store: Store, title: str, license_name: str, language: str) -> str:
    """Write the card and return its text. The caller holds the store's lock."""
    path = store.path / "README.md"
    if path.exists() and _MARK not in path.read_text("utf-8", "replace"):
        raise UsageError(
            f"{path}: was not written by `augment-cli card`; move it away to have a card written"
        )
    text = visible(card_of(store, title, license_name, language))
    write_atomically(path, text.encode(), store.work / "parts")
    return text


def card_of(store: Store, title: str, license_name: str, language: str) -> str:
    """The card's text: a configuration for each stage that a reader wants, and what it was made with."""
    # What the toolkit works with (TF-IDF, parses, rejects, the trainer's caches) is named, but is not a
    # configuration: a cache's name has a slash, which `datasets` refuses.
    finished = [store.stage(name) for name in store.stages() if store.has(name) and store.stage(name).rows]
    stages = [stage for stage in finished if "/" not in stage.name and kind_of(stage).is_for_readers(stage)]
    if not stages:
        raise UsageError(f"{store.path}: has no finished stage to describe; run `augment-cli una` first")
    with needed("huggingface_hub"):
        from huggingface_hub import DatasetCardData
    texts = store.read_part("corpus", min(store.stage("corpus").parts), ["text"])["text"]
    data = DatasetCardData(
        pretty_name=title,
        license=license_name,
        language=[language] if language else language_codes(texts.slice(0, _LOOKED_AT).to_pylist()) or None,
        task_categories=["sentence-similarity"],
        tags=["contrastive-learning", "data-augmentation"],
        size_categories=[_size(store.rows)],
        configs=[
            {"config_name": stage.name, "data_files": f"{stage.name}/*.parquet"}
            | ({"default": True} if stage.name == "corpus" else {})
            for stage in stages
        ],
    )
    others = sorted({stage.name.split("/")[0] for stage in finished} - {stage.name for stage in stages})
    folders = f"The folders {', '.join(f'`{name}`' for name in others)} are what these were made with.\n\n"
    rows = [
        f"| `{stage.name}` | {_plain(kind_of(stage).describe(stage))} | {stage.rows:,} | {_settings(stage)} |"
        for stage in stages
    ]
    table = "\n".join(rows)
    return f"""\
---
{data.to_yaml()}
---
{_MARK}
# {_plain(title)}

Made by augment-cli {__version__}. Stages are joined by `row_id`; `text` is null where an augmentation \
changed nothing, and `reason` says why. `edits` are replacements on the original, in Unicode code points, \
half-open.

| stage | what | rows | settings |
|---|---|---:|---|
{table}

{folders if others else ""}```python
import datasets
datasets.load_dataset("path/of/this/folder", {json.dumps(stages[-1].name)})
```
"""


def _settings(stage: Stage) -> str:
    values = stage.settings["parameters"] | {"seed": stage.settings["seed"]}
    return _plain(", ".join(f"{key}={short(value)}" for key, value in values.items() if value is not None))


def _plain(text: str) -> str:
    """What stands in a line, or a cell of a table, and is nothing but text."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def _size(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "n>1M")
