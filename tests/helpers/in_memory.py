"""Words of texts, and augmentations of texts without a store."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.english.words.words import Words
from augment_cli.runs.run import make_run
from augment_cli.runs.tables import as_table
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints


def words_of(texts: Sequence[str]) -> Words:
    return Words.of(CodePoints.of(pa.array(texts, pa.string())))


def augment(
    name: str, texts: Sequence[str], seed: int = 42, parses: ParseRows | None = None, **parameters: Any
) -> pa.Table:
    """The table of a stage over some texts, with the row_ids 0, 1, ….; `parses` are those of the texts."""
    run = make_run(name, seed=seed, **parameters)
    column = pa.array(texts, pa.string())
    rows = Rows(np.arange(len(texts)), column, CodePoints.of(column), None, parses)
    prepared = run.augmentation.prepare(run.parameters, Resources(run.seed, run.draw))
    return as_table(run.augmentation, rows, prepared(rows))
