"""The kind of stage that holds parses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import known_by_name
from augment_cli.store.kinds import StageKind, exact_columns, flat, list_lengths, other_rows, spans_outside
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import PARSES
from augment_cli.store.store import Store
from augment_cli.syntax.parses import PARSES_STAGE


def _today(store: Store, stage: Stage, corpus: Sequence[str | Path] | None) -> dict[str, Any]:
    """By the pipeline where it is shipped or installed; one in the user's folder is not found by its name."""
    source = known_by_name(stage.settings["parameters"]["pipeline"])
    if source is None:
        return {}
    begun = parsing.as_begun(source, stage.settings["parameters"])
    return {"parameters": begun, "resources": {"pipeline": source.digest}}


def _command(store: Store, name: str) -> list[str]:
    named = name.removeprefix(PARSES_STAGE).removeprefix("-")
    return ["parse", *(["--name", named] if named else [])]


def _check(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if problems := exact_columns(table, PARSES) or other_rows(store, index, table):
        return problems
    lengths = list_lengths(table, PARSES.names[1:])
    if lengths is None:
        return ["has lists of different lengths in a row"]
    heads = flat(table, "heads")
    if (heads < 0).any() or (heads >= np.repeat(lengths, lengths)).any():
        return ["has tokens whose head is no token of their row"]
    return spans_outside(table, lengths, store.read_part("corpus", index, ["text"])["text"])


KINDS = (
    StageKind(
        PARSES_STAGE,
        {PARSES_STAGE: PARSES},
        version=lambda: parsing.VERSION,
        today=_today,
        check=_check,
        describe=lambda stage: "tokens of each sentence with lemma, tags, morphology and dependencies",
        is_for_readers=lambda stage: False,
        goes_by_part=lambda settings: True,
        command=_command,
    ),
)
