"""Offline augmentation for contrastive sentence embeddings: plain text in, Parquet out.

>>> import augment_cli
>>> store = augment_cli.run("una", "store", corpus="sentences.txt")   # whatever is missing is made before it
>>> store.frame("una").columns                                        # polars; store.read("una") is Arrow
['row_id', 'text', 'reason', 'edits', 'replaced', 'tokens']
>>> table = augment_cli.augment(["The river flows."], "una", store=store, radius="1%")
>>> sorted(augment_cli.run_recipe("augcse-4-no-models", "store").missing)
[]
"""

# ruff: noqa: F405 (names of the star below, which only type checkers read)

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

from augment_cli.version import __version__

if TYPE_CHECKING:  # for type checkers and editors; at run time each is loaded when it is first asked for
    from augment_cli.api import *  # noqa: F403
    from augment_cli.api.stores import Store as Store
    from augment_cli.encoding.loading import load_encoder as load_encoder
    from augment_cli.encoding.lookup import Lookup as Lookup
    from augment_cli.encoding.verifier import load_verifier as load_verifier
    from augment_cli.resources import SAMPLE as SAMPLE

if "ipykernel" in sys.modules:  # libraries that draw bars say it of a missing widget, and we draw our own
    warnings.filterwarnings("ignore", message="IProgress not found")

_ELSEWHERE = {
    "Lookup": "augment_cli.encoding.lookup",
    "SAMPLE": "augment_cli.resources",
    "Store": "augment_cli.api.stores",
    "load_encoder": "augment_cli.encoding.loading",
    "load_verifier": "augment_cli.encoding.verifier",
}

__all__ = [
    "SAMPLE",
    "Lookup",
    "Store",
    "__version__",
    "adapt",
    "augment",
    "card",
    "combine",
    "embed",
    "evaluate",
    "fetch",
    "fit",
    "generate",
    "ingest_corpus",
    "inspect",
    "judge",
    "list_augmentations",
    "list_recipes",
    "llm_paraphrase",
    "load_encoder",
    "load_verifier",
    "look",
    "mine",
    "open_store",
    "pack_table",
    "parse",
    "publish",
    "read_answers",
    "remove",
    "report",
    "run",
    "run_recipe",
    "score",
    "stats",
    "status",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        from augment_cli.errors import did_you_mean

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{did_you_mean(name, __all__)}")
    value = getattr(importlib.import_module(_ELSEWHERE.get(name, "augment_cli.api")), name)
    if name in _ELSEWHERE:
        return value
    from augment_cli.errors.python_words import speaking_python

    globals()[name] = spoken = speaking_python(value)
    return spoken


def __dir__() -> list[str]:
    return __all__
