"""Offline augmentation for contrastive sentence embeddings: plain text in, Parquet out.

>>> import augment_cli
>>> store = augment_cli.run("una", "store", corpus="sentences.txt")   # whatever is missing is made before it
>>> store.frame("una").columns                                        # polars; store.read("una") is Arrow
['row_id', 'text', 'reason', 'edits', 'replaced', 'tokens']
>>> table = augment_cli.augment(["The river flows."], "una", store=store, radius="1%")
>>> sorted(augment_cli.run_recipe("augcse-4-no-models", "store").missing)
[]
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

from augment_cli.version import __version__

if TYPE_CHECKING:  # for type checkers and editors; at run time each is loaded when it is first asked for
    from augment_cli.api import adapt as adapt
    from augment_cli.api import augment as augment
    from augment_cli.api import card as card
    from augment_cli.api import combine as combine
    from augment_cli.api import embed as embed
    from augment_cli.api import evaluate as evaluate
    from augment_cli.api import fetch as fetch
    from augment_cli.api import fit as fit
    from augment_cli.api import generate as generate
    from augment_cli.api import ingest_corpus as ingest_corpus
    from augment_cli.api import inspect as inspect
    from augment_cli.api import judge as judge
    from augment_cli.api import list_augmentations as list_augmentations
    from augment_cli.api import list_recipes as list_recipes
    from augment_cli.api import llm_paraphrase as llm_paraphrase
    from augment_cli.api import look as look
    from augment_cli.api import mine as mine
    from augment_cli.api import open_store as open_store
    from augment_cli.api import pack_table as pack_table
    from augment_cli.api import parse as parse
    from augment_cli.api import publish as publish
    from augment_cli.api import read_answers as read_answers
    from augment_cli.api import remove as remove
    from augment_cli.api import report as report
    from augment_cli.api import run as run
    from augment_cli.api import run_recipe as run_recipe
    from augment_cli.api import score as score
    from augment_cli.api import stats as stats
    from augment_cli.api import status as status
    from augment_cli.api import verify as verify
    from augment_cli.api.stores import Store as Store
    from augment_cli.encoding.loading import load_encoder as load_encoder
    from augment_cli.encoding.lookup import Lookup as Lookup
    from augment_cli.resources.sample import SAMPLE as SAMPLE

if "ipykernel" in sys.modules:  # libraries that draw bars say it of a missing widget, and we draw our own
    warnings.filterwarnings("ignore", message="IProgress not found")

_ELSEWHERE = {
    "Lookup": "augment_cli.encoding.lookup",
    "SAMPLE": "augment_cli.resources.sample",
    "Store": "augment_cli.api.stores",
    "load_encoder": "augment_cli.encoding.loading",
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
