"""What the additions share that compare a batch with a teacher's cached vectors."""

from collections import OrderedDict
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.errors import BadInputError
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VectorStage
from train.additions import find
from train.additions.base import Addition, Host, Row, Views
from train.data import CORPUS, SELF, Ids
from train.data.tokens import stage_draws
from train.recipe import Recipe

_LEAST_SPREAD = 0.05  # of a batch whose texts are all alike
_WIDE = 0.8  # spread of general sentences' vectors from which on temperatures are as they are set


def vectors_setting(whose: str, default: str = "") -> Any:
    """The setting `vectors`: which set of the store's vectors an addition reads."""
    return setting(default, f"the set of vectors {whose}, by its `embed --name`; empty: that without a name")


def spread(vectors: Tensor, real: Tensor) -> Tensor:
    """Mean of 1 − cos(t_j, t_k) over each two of the `real` rows, shape (B,), bool; a number, 0.05 to 2.

    Where all cosines of an encoder are high, a small distance is much to it (E5: 0.2; MiniLM: 0.9).
    """
    count, total = real.sum(), F.normalize(vectors, dim=-1)[real].sum(dim=0)
    cosine = (total @ total - count) / (count * (count - 1)).clamp(min=1)
    return (1 - cosine).clamp(min=_LEAST_SPREAD)


def width(vectors: Tensor, real: Tensor) -> float:
    """What an encoder's temperatures are multiplied by, above 0 to 1, by the spread of its vectors, (B, d).

    Where all cosines are high, a softmax at the usual temperature hardly tells them apart.
    """
    return (spread(vectors, real) / _WIDE).clamp(max=1).item()


def vector_regression(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """L_i = (1 − cos(u_i, t_i)) / s, at least 0, of the same texts, shape (B, d) each; shape (B,).

    s is the spread of the teacher's vectors of the `real` rows, shape (B,), bool.

    Source: Reimers & Gurevych 2020 (Making monolingual sentence embeddings multilingual), whose mean squared
    error this is for vectors of length 1, halved; without s.
    """
    cosines = (F.normalize(student, dim=-1) * F.normalize(teacher, dim=-1)).sum(dim=-1)
    return (1 - cosines) / spread(teacher, real)


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


class PairLabels(Views):
    """Labels that say which cached vectors are a row's: row id, number of its column, epoch."""

    # From 0; −1 stands for the anchor again, and for a text equal to it where the two are not told apart.
    labels = 3

    def __init__(self, columns: tuple[str, ...], tells_equal: bool = False) -> None:
        self.columns, self.tells_equal = columns, tells_equal

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        anchor, positive = row.views[0], row.views[:2][-1]  # one view where anchors alone are encoded
        which = -1
        if anchor is not None and positive is not None:
            for number, stage in enumerate(self.columns):
                text = None if stage == SELF else row.text(stage)
                if text is not None and np.array_equal(text, positive):
                    which = number if self.tells_equal or not np.array_equal(anchor, positive) else -1
                    break
        return row.views, [row.row_id, which, row.epoch]


class TeacherAddition(Addition):
    """An addition that reads a teacher's vectors of each row's anchor and of its positive.

    Its settings have a field `vectors`, made by `vectors_setting`.
    """

    tells_equal = False  # whether a positive that is equal to its anchor is one

    def __init__(self, settings: Any, host: Host) -> None:
        super().__init__(settings, host)
        self.columns, self.window = self.columns_of(host.recipe), host.recipe.window
        self.vectors: CachedVectors | None = None

    @classmethod
    def columns_of(cls, recipe: Recipe) -> tuple[str, ...]:
        """What has vectors beside the anchors: the positives."""
        return recipe.positives

    @classmethod
    def check(cls, settings: Any, recipe: Recipe) -> str:
        others = (name for name in recipe.additions if find(name).chooses_positives)
        said = "does not go with [{}], which chooses other positives; leave out one of the two"
        return next(map(said.format, others), "")

    @classmethod
    def views(cls, settings: Any, recipe: Recipe) -> Views:
        return PairLabels(cls.columns_of(recipe), cls.tells_equal)

    def on_train_begin(self, store: Store) -> tuple[str, ...]:
        self.vectors = CachedVectors(store, self.columns, self.settings.vectors, 2 * self.window)
        return self.vectors.stages

    def vectors_of(self, labels: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of the anchors and of the column that the labels name, shape (B, e) each, of length 1.

        Zeros where `there`, shape (B,), is false.
        """
        assert self.vectors is not None
        return self.vectors.pairs(labels, there)
