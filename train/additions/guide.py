"""GISTEmbed's mask: what a guide calls more alike than a row's own pair is no negative of that row."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from augment_cli.errors import BadInputError
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VectorStage
from train.additions.base import Addition, GlobalBatch, Host, Row, Views
from train.data.texts import CORPUS, SELF, Ids
from train.data.tokens import stage_draws
from train.recipe import Recipe


def too_alike(anchors: Tensor, positives: Tensor, real: Tensor, margin: float) -> Tensor:
    """Which views of other rows a guide calls more alike than a row's own anchor and positive.

    Parameters
    ----------
    anchors, positives : Tensor
        The guide's vectors of each row's two views, shape (B, d) each, of length 1; zeros where there is
        none.
    real : Tensor
        Which rows hold a sentence, shape (B,), bool.
    margin : float
        Subtracted from the similarity of the row's own pair: more than 0 leaves out more.

    Returns
    -------
    Tensor
        Shape (2B, 2B), bool, the anchors first, then the positives. Entry (u, v), u of row i and v of row j,
        is true where cos(u, v) > cos(anchor i, positive i) − margin and i ≠ j, both rows being real.

    Notes
    -----
    Source: Solatorio 2024 (GISTEmbed), whose mask has no margin.
    """
    views = torch.cat([anchors, positives])
    own = (anchors * positives).sum(dim=1).repeat(2)
    row = torch.arange(len(anchors), device=anchors.device).repeat(2)
    meet = real.repeat(2)
    others = (row[:, None] != row) & meet[:, None] & meet
    return (views @ views.T > (own - margin)[:, None]) & others


class GuideVectors:
    """A guide's vectors of the corpus and of the positives, read by row groups of which the last used stay.

    Parameters
    ----------
    store : Store
        Where the vectors' stages are.
    positives : sequence of str
        The recipe's.
    name : str
        Of the set of vectors; empty for the one without a name.
    groups : int
        Row groups kept of each stage.

    Raises
    ------
    UsageError
        If a stage has no vectors.
    MixError
        If vectors are of an earlier version of a stage, or of different encoders.
    """

    def __init__(self, store: Store, positives: tuple[str, ...], name: str, groups: int) -> None:
        self.parts = store.parts
        self.first_rows = np.array([first for first, _ in store.parts])
        self.corpus = VectorStage.open(store, CORPUS, name or None)
        draws = {stage: [stage] if stage == SELF else stage_draws(store, stage) for stage in positives}
        self.positives = [
            [
                self.corpus if draw == SELF else VectorStage.open(store, draw, name or None)
                for draw in draws[stage]
            ]
            for stage in positives
        ]
        for stage in (stage for every in self.positives for stage in every):
            self.corpus.check_comparable(stage)
        self.groups = groups * (1 + sum(map(len, self.positives)))
        self.kept: OrderedDict[tuple[str, int, int], tuple[np.ndarray, np.ndarray]] = OrderedDict()

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages of vectors."""
        every = [self.corpus, *(stage for draws in self.positives for stage in draws)]
        return tuple(dict.fromkeys(stage.stage for stage in every))

    def pair(self, row_id: int, positive: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of a row's anchor and positive, shape (d,) each, float64, of length 1.

        Parameters
        ----------
        row_id : int
            The row.
        positive : int
            Which of the recipe's positives it has; −1 where that is the anchor again.
        epoch : int
            Decides which draw of the positive's stage was read.
        """
        anchor = self._vector(self.corpus, row_id)
        if positive < 0:
            return anchor, anchor
        draws = self.positives[positive]
        return anchor, self._vector(draws[epoch % len(draws)], row_id)

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
                f"{stage.store.path / stage.stage}: the guide has no vector of row {row_id}; remove the "
                "stage and embed all rows (`augment-cli embed` without --rows)"
            )
        vector = vectors[place].astype(np.float64)
        return vector / (np.linalg.norm(vector) or 1.0)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[guide]``.

    Attributes
    ----------
    vectors : str
        Which set of the store's vectors is the guide's, as `augment-cli embed --name` called it; empty for
        the set without a name (stages `vectors`, `vectors-STAGE`).
    margin : float
        Pairs more alike than the row's own pair less this are no negatives. With the anchor as its own
        positive, whose similarity is 1, nothing is left out unless this is above 0.
    """

    vectors: str = ""
    margin: float = 0.0


class _Which(Views):
    """Labels that say which vectors are a row's: row id, number of its positive, epoch."""

    labels = 3

    def __init__(self, recipe: Recipe) -> None:
        self.positives = recipe.positives

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        anchor, positive = row.views[:2]
        assert anchor is not None and positive is not None
        which = -1
        if not np.array_equal(anchor, positive):
            for number, stage in enumerate(self.positives):
                text = None if stage == SELF else row.text(stage)
                if text is not None and np.array_equal(text, positive):
                    which = number
                    break
        return row.views, [row.row_id, which, row.epoch]


class Guide(Addition):
    """In-batch pairs that a guide's cached vectors call too alike are no negatives.

    It holds for anchors and positives of different rows. A recipe's own hard negatives stay negatives, and so
    do further ones such as a queue's.

    Source: Solatorio 2024 (GISTEmbed).
    """

    settings_class = Settings

    def __init__(self, settings: Settings, host: Host) -> None:
        super().__init__(settings, host)
        self.positives, self.window = host.recipe.positives, host.recipe.window
        self.vectors: GuideVectors | None = None

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if "discriminator" in recipe.additions:
            return "does not go with [discriminator], which chooses other positives; leave out one of the two"
        return "" if 0 <= settings.margin <= 2 else "margin must lie between 0 and 2"

    @classmethod
    def views(cls, settings: Settings, recipe: Recipe) -> Views:
        return _Which(recipe)

    def open(self, store: Store) -> tuple[str, ...]:
        self.vectors = GuideVectors(store, self.positives, self.settings.vectors, 2 * self.window)
        return self.vectors.stages

    def alike(self, batch: GlobalBatch) -> Tensor:
        assert self.vectors is not None
        anchors = np.zeros((len(batch.texts), self.vectors.corpus.dimension))
        positives = np.zeros_like(anchors)
        labels, real = batch.labels.tolist(), batch.real.tolist()
        for place, (row, is_real) in enumerate(zip(labels, real, strict=True)):
            if is_real:
                anchors[place], positives[place] = self.vectors.pair(*row)
        device = batch.texts.device
        return too_alike(
            torch.from_numpy(anchors).to(device),
            torch.from_numpy(positives).to(device),
            batch.real,
            self.settings.margin,
        )
