"""Offline augmentation for contrastive sentence embeddings: plain text in, Parquet out.

>>> import augment_cli
>>> store = augment_cli.open_store("store")            # what `make augment` left
>>> store.read("una")                                  # Arrow; store.frame("una") is polars
>>> augment_cli.run_recipe("augcse-4-no-models", "store").stages_made
>>> augment_cli.augment(["The river flows."], "una", store=store, radius="1%")
"""

from __future__ import annotations

import importlib
from typing import Any

from augment_cli.version import __version__

# Loaded on first use, so that `augment-cli --help` need not wait for them.
_LAZY = {
    "Store": "augment_cli.store.store",
    "augment": "augment_cli.api",
    "embed": "augment_cli.api",
    "fetch": "augment_cli.remote.fetch",
    "fit": "augment_cli.api",
    "ingest_corpus": "augment_cli.api",
    "mine": "augment_cli.api",
    "open_store": "augment_cli.api",
    "pack_table": "augment_cli.api",
    "parse": "augment_cli.api",
    "publish": "augment_cli.remote.publish",
    "run": "augment_cli.api",
    "run_recipe": "augment_cli.recipe",
    "score": "augment_cli.api",
}

__all__ = [
    "Store",
    "__version__",
    "augment",
    "embed",
    "fetch",
    "fit",
    "ingest_corpus",
    "mine",
    "open_store",
    "pack_table",
    "parse",
    "publish",
    "run",
    "run_recipe",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
