"""Words of texts, augmentations of texts without a store, and what holds for every outcome."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Rows
from augment_cli.english.words import Words
from augment_cli.resources.wordnet import WordNet
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


def apply_edits(text: str, edits: list[dict[str, Any]]) -> str:
    for edit in reversed(edits):
        text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
    return text


def assert_sound(table: pa.Table) -> None:
    for row in table.to_pylist():
        if row["text"] is None:
            assert row["reason"] in set(Reason) and row["edits"] == []
        else:
            assert row["reason"] is None and row["text"] != row["original"]
            assert row["text"] == apply_edits(row["original"], row["edits"])
            assert "\n" not in row["text"] or "\n" in row["original"]


def entry_of(wordnet: WordNet, lemma: str, part: int) -> int | None:
    is_entry = pc.and_(pc.equal(wordnet.lemmas, lemma.lower()), pa.array(wordnet.entry_parts == part))
    index = pc.index(is_entry, True).as_py()
    return None if index < 0 else index
