"""What paraphrasing and back-translation share: plan, check, and turn new sentences into edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Batch, Outcome
from augment_cli.neural.batches import plan_batches
from augment_cli.neural.changes import edits_of
from augment_cli.neural.runtime import MemoryGuard


@dataclass(frozen=True)
class Rewritten:
    """What became of one sentence: a new text or the reason why not, and the stage's own columns."""

    text: str | None
    reason: str | None
    columns: Mapping[str, Any] = field(default_factory=dict)


class Rewriter:
    """A `PreparedModel` made of two functions.

    Parameters
    ----------
    lengths : callable
        Texts to tokens each, int64 (n,).
    rewrite : callable
        [(row_id, text), …], none of them blank, to what became of each.
    columns : sequence of pyarrow.Field
        Own columns; null or false for blank rows.
    batch_tokens : int
    rows : int
        The model is run on the first rows only; 0 for all.
    set_device : callable
        Called with the device to run on, before the first batch.
    """

    def __init__(
        self,
        lengths: Callable[[Sequence[str]], np.ndarray],
        rewrite: Callable[[list[tuple[int, str]]], list[Rewritten]],
        columns: Sequence[pa.Field],
        batch_tokens: int,
        rows: int,
        set_device: Callable[[str], None],
    ) -> None:
        self._lengths, self._rewrite = lengths, rewrite
        self._columns, self._batch_tokens, self._rows = columns, batch_tokens, rows
        self.use_device = set_device
        self._guard = MemoryGuard()

    @property
    def splits(self) -> int:
        """How often memory ran out and a batch was cut in halves."""
        return self._guard.splits

    def plan(self, texts: pa.StringArray) -> list[np.ndarray]:
        """Rows of similar length together; pure in the texts."""
        return plan_batches(np.maximum(self._lengths(texts.to_pylist()), 1), self._batch_tokens)

    def __call__(self, batch: Batch) -> Outcome:
        texts = batch.texts.to_pylist()
        beyond = batch.row_ids >= (self._rows or np.inf)
        todo = [number for number, text in enumerate(texts) if text.strip() and not beyond[number]]
        items = [(int(batch.row_ids[number]), texts[number]) for number in todo]
        done = dict(zip(todo, self._guard.run(self._rewrite, items) if items else [], strict=True))
        results = [
            done.get(number) or Rewritten(None, Reason.BEYOND_LIMIT if beyond[number] else Reason.NO_TOKEN)
            for number in range(len(texts))
        ]
        columns = {
            column.name: pa.array(
                [result.columns.get(column.name, None if column.nullable else False) for result in results],
                column.type,
            )
            for column in self._columns
        }
        edits = edits_of(texts, [result.text for result in results])
        return Outcome(edits, np.array([result.reason for result in results], object), columns)
