"""The dataset card: README.md at the store's root, with the YAML header that dataset hubs read."""

import html
import json

from augment_cli.errors import UsageError, needed
from augment_cli.errors.visible import visible
from augment_cli.reports.report import short
from augment_cli.reports.soundness import kind_of
from augment_cli.store.files import write_atomically
from augment_cli.store.manifest import Stage
from augment_cli.store.store import Store
from augment_cli.text.language_guess import language_codes
from augment_cli.version import __version__

_MARK = "<!-- written by `augment-cli card`; written anew by the next one -->"
_LOOKED_AT = 1_000  # texts, for their languages
_SIZES = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]


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
