"""Cached sentence vectors of the rows of a batch, as `augment-cli embed` left them in the store."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import torch
from torch import Tensor

from augment_cli.errors import BadInputError
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VectorStage
from train.data.texts import CORPUS, SELF
from train.data.tokens import stage_draws


class CachedVectors:
    """Vectors of the corpus and of other columns, read by row groups of which the last used stay."""

    # columns: a recipe's positives, or its negatives; `self` for the corpus again. groups: row groups kept of
    # each stage of vectors.

    def __init__(self, store: Store, columns: tuple[str, ...], name: str, groups: int) -> None:
        self.parts = store.parts
        self.first_rows = np.array([first for first, _ in store.parts])
        self.corpus = VectorStage.open(store, CORPUS, name or None)
        draws = [[CORPUS] if stage == SELF else stage_draws(store, stage) for stage in columns]
        self.columns = [[VectorStage.open(store, draw, name or None) for draw in each] for each in draws]
        for stage in (stage for every in self.columns for stage in every):
            self.corpus.check_comparable(stage)
        self.groups = groups * (1 + sum(map(len, self.columns)))
        self.kept: OrderedDict[tuple[str, int, int], tuple[np.ndarray, np.ndarray]] = OrderedDict()

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages of vectors."""
        every = [self.corpus, *(stage for draws in self.columns for stage in draws)]
        return tuple(dict.fromkeys(stage.stage for stage in every))

    def pair(self, row_id: int, column: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of a row's anchor and of another column, shape (d,) each, float64, of length 1."""
        anchor = self._vector(self.corpus, row_id)
        if column < 0:
            return anchor, anchor
        draws = self.columns[column]
        return anchor, self._vector(draws[epoch % len(draws)], row_id)

    def pairs(self, labels: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors of a batch's anchors and of the column each row has."""
        # labels: row id, column and epoch of each row, (B, 3); real: which rows hold a sentence, (B,).
        # Returns (B, d) each, float64, of length 1; zeros in rows that hold none.
        anchors = np.zeros((len(labels), self.corpus.dimension))
        others = np.zeros_like(anchors)
        for place, (row, is_real) in enumerate(zip(labels.tolist(), real.tolist(), strict=True)):
            if is_real:
                anchors[place], others[place] = self.pair(*row)
        return torch.from_numpy(anchors).to(labels.device), torch.from_numpy(others).to(labels.device)

    def _vector(self, stage: VectorStage, row_id: int) -> np.ndarray:
        part = int(np.searchsorted(self.first_rows, row_id, side="right")) - 1
        group, place = divmod(row_id - int(self.first_rows[part]), ROW_GROUP_ROWS)
        key = (stage.stage, part, group)
        if key not in self.kept:
            self.kept[key] = stage.read(part, [group])
            if len(self.kept) > self.groups:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        vectors, present = self.kept[key]
        if not present[place]:
            raise BadInputError(
                f"{stage.store.path / stage.stage}: has no vector of row {row_id}; remove the "
                "stage and embed all rows (`augment-cli embed` without --rows)"
            )
        vector = vectors[place].astype(np.float64)
        return vector / (np.linalg.norm(vector) or 1.0)
