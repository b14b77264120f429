"""Which texts a step encodes.

A row's texts are its *views*: anchor, positive, then for each negative stage one view (hard-negative columns)
or two (the NT-Xent pool, where a negative has a positive of its own, itself under other dropout), then those
of the recipe's additions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from train.additions import make_views
from train.additions.base import Row
from train.data.order import PADDING_ROW
from train.data.padding import with_special
from train.data.reader import Batch
from train.data.texts import CORPUS, SELF, Ids
from train.data.tokens import special_ids
from train.recipe import Recipe

_KEY = 0x706F73  # keeps these draws apart from the others of the same step


class ViewChooser:
    """The views of each row, as a pure function of (recipe, row, step).

    Parameters
    ----------
    recipe : Recipe
        All settings.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's.
    rows : slice
        This rank's rows of the global batch.

    Attributes
    ----------
    columns : tuple of str
        Stages to read, the corpus first.
    once : tuple of str
        Those of them of which every epoch reads the first draw.
    added : list of Views
        What each addition appends, in the recipe's order.
    """

    def __init__(self, recipe: Recipe, tokenizer: Any, rows: slice) -> None:
        self.recipe, self.rows = recipe, rows
        self.before, self.after = special_ids(tokenizer)
        self.added = make_views(recipe)
        stages = [CORPUS, *recipe.positives, *recipe.negatives]
        stages += [stage for views in self.added for stage in views.stages]
        self.columns = tuple(dict.fromkeys(stage for stage in stages if stage != SELF))
        fixed = {stage for views in self.added for stage in views.once}
        self.once = tuple(sorted(fixed - {*recipe.positives, *recipe.negatives}))

    def uses_negatives(self, step: int) -> bool:
        """Whether this is one of the recipe's negative steps (UNA: every alpha-th, from step 0)."""
        return bool(self.recipe.negatives) and step % self.recipe.alpha == 0

    def count(self, step: int) -> tuple[int, int]:
        """Views of a row: without the additions' own, and all."""
        each = 2 if self.recipe.negative_layout == "pool" else 1
        host = 2 + each * len(self.recipe.negatives) * self.uses_negatives(step)
        return host, host + sum(views.count for views in self.added)

    def choose(self, batch: Batch, step: int) -> tuple[list[list[Ids]], np.ndarray]:
        """The views of each row as token ids, cut and with special tokens, and the additions' labels.

        Parameters
        ----------
        batch : Batch
            This rank's rows of the step.
        step : int
            Number of the step in the run, from 0.

        Returns
        -------
        list of list of (numpy.ndarray or None)
            Shape (rows, views); None where there is no text.
        numpy.ndarray
            Shape (rows, labels), int64.
        """
        recipe = self.recipe
        # Drawn for the whole global batch, so that the number of ranks does not matter.
        generator = np.random.default_rng([recipe.seed, step, _KEY])
        choice = generator.integers(len(recipe.positives), size=recipe.batch)[self.rows]
        augmented = (generator.random(recipe.batch) < recipe.proportion)[self.rows]
        total, wide = self.count(step)[1], sum(views.labels for views in self.added)
        grid: list[list[Ids]] = []
        labels = np.zeros((len(batch.row_ids), wide), dtype=np.int64)
        for number, row_id in enumerate(batch.row_ids):
            if row_id == PADDING_ROW:
                grid.append([None] * total)
                continue

            def text(stage: str, number: int = number) -> Ids:
                return self._cut(batch.columns[stage][number])

            name = recipe.positives[choice[number]] if augmented[number] else SELF
            anchor = text(CORPUS)
            positive = None if name == SELF else text(name)
            views = [anchor, anchor if positive is None else positive]
            if self.uses_negatives(step):
                for stage in recipe.negatives:
                    views += [text(stage)] * (2 if recipe.negative_layout == "pool" else 1)
            special = (len(self.before), len(self.after))
            known: list[int] = []
            for added in self.added:
                views, more = added.choose(Row(int(row_id), batch.epoch, views, text, special))
                known += more
            grid.append(views)
            labels[number] = known
        return grid, labels

    def _cut(self, ids: Ids) -> Ids:
        return None if ids is None else with_special(ids, self.before, self.after, self.recipe.max_length)
