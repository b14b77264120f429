"""The kinds of stages that there are: each room declares its own in `kinds.py`, and no list names them."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

import pyarrow as pa

from augment_cli.store.kinds import StageKind
from augment_cli.store.manifest import Stage
from augment_cli.store.promises import exact_columns, other_rows, wrong_ids
from augment_cli.store.store import Store

_TOKEN_IDS = pa.schema(
    [pa.field("row_id", pa.int64(), nullable=False), pa.field("ids", pa.list_(pa.int32()))]
)


def _check_tokens(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    return exact_columns(table, _TOKEN_IDS) or other_rows(store, index, table) or wrong_ids(table["ids"])


# Token ids, a cache of the trainer's, which is a package beside this one.
_TOKENS = StageKind("tokens", {"tokens": _TOKEN_IDS}, check=_check_tokens, goes_by_part=lambda settings: True)


@cache
def all_kinds() -> dict[str, StageKind]:
    """Every kind that there is, by its maker."""
    rooms = sorted(file.parent.name for file in Path(__file__).parents[1].glob("*/kinds.py"))
    modules = [importlib.import_module(f"augment_cli.{room}.kinds") for room in rooms]
    declared = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    return {kind.maker: kind for kind in (*declared, _TOKENS)}


def kind_of(stage: Stage) -> StageKind:
    """The kind of a stage; one of which nothing is known where something else made it."""
    maker = stage.settings["stage"]
    return all_kinds().get(maker) or StageKind(maker)
