"""Which texts a step encodes.

A row's texts are its *views*: anchor, positive, then for each negative stage one view (hard-negative columns)
or two (the NT-Xent pool, where a negative has a positive of its own, itself under other dropout), then those
of the recipe's additions.
"""

import dataclasses
from typing import Any

import numpy as np

from train import components
from train.additions import anchors_alone, make_views
from train.additions.base import Row
from train.data import CORPUS, SELF, Ids, Texts, text_ids
from train.data.order import PADDING_ROW
from train.data.padding import with_special
from train.data.reader import Batch
from train.data.tokens import special_ids
from train.recipe import Recipe

_KEY = 0x706F73  # keeps these draws apart from the others of the same step


class ViewChooser:
    """The views of each row, as a pure function of (recipe, row, step)."""

    def __init__(self, recipe: Recipe, tokenizer: Any, rows: slice) -> None:
        self.recipe, self.rows = recipe, rows
        self.before, self.after = special_ids(tokenizer)
        self.added = make_views(recipe)
        self.anchors_alone = anchors_alone(recipe)
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
        each = 2 if components.layout(self.recipe.loss) == "pool" else 1
        own = 1 if self.anchors_alone else 2
        host = own + each * len(self.recipe.negatives) * self.uses_negatives(step)
        return host, host + sum(views.count for views in self.added)

    def finish(self, texts: Texts) -> Texts:
        """Token ids from the store as the encoder sees them, cut and with special tokens, numbered."""
        cut = with_special(texts, self.before, self.after, self.recipe.max_length)
        return dataclasses.replace(cut, numbers=text_ids(cut))

    def choose(self, batch: Batch, step: int) -> tuple[Texts, np.ndarray]:
        """The views of each row as token ids, cut and with special tokens, and the additions' labels."""
        # rows · views texts, row by row; labels: (rows, labels), int64.
        recipe = self.recipe
        rows, number = len(batch.row_ids), {stage: place for place, stage in enumerate(self.columns)}
        read = [batch.columns[stage] for stage in self.columns]
        if any(column.numbers is None for column in read):  # the reader has not finished them
            special = (self.before, self.after, recipe.max_length)
            read = [with_special(column, *special) for column in read]
        texts = Texts.joined(read)
        row = np.arange(rows)
        columns = np.array([*(number.get(stage, 0) for stage in recipe.positives), 0])  # the last: the anchor
        positive = columns[self._drawn(step)] * rows + row
        chosen = [row]  # of `texts`: anchor, positive
        if not self.anchors_alone:
            chosen.append(np.where(texts.present[positive], positive, row))
        if self.uses_negatives(step):
            times = 2 if components.layout(recipe.loss) == "pool" else 1
            chosen += [number[stage] * rows + row for stage in recipe.negatives for _ in range(times)]
        views = np.stack(chosen, axis=1)
        if self.added:
            return self._choose_more(batch, texts, views, step)
        return texts.take(views.reshape(-1)), np.zeros((rows, 0), dtype=np.int64)

    def _drawn(self, step: int) -> np.ndarray:
        """Which of the recipe's positives each row has, shape (rows,), int64; −1 for the anchor again."""
        # Drawn for the whole global batch, so that the number of ranks does not matter.
        recipe = self.recipe
        generator = np.random.default_rng([recipe.seed, step, _KEY])
        choice = generator.integers(len(recipe.positives), size=recipe.batch)
        return np.where(generator.random(recipe.batch) < recipe.proportion, choice, -1)[self.rows]

    def _choose_more(
        self, batch: Batch, texts: Texts, views: np.ndarray, step: int
    ) -> tuple[Texts, np.ndarray]:
        """The same with what the additions choose, row by row."""
        rows, number = len(batch.row_ids), {stage: place for place, stage in enumerate(self.columns)}
        special = (len(self.before), len(self.after))
        grid: list[Ids] = []
        labels = np.zeros((rows, sum(added.labels for added in self.added)), dtype=np.int64)
        for place, row_id in enumerate(batch.row_ids):
            if row_id == PADDING_ROW:
                grid += [None] * self.count(step)[1]
                continue

            def text(stage: str, place: int = place) -> Ids:
                return texts[number[stage] * rows + place]

            own, known = [texts[chosen] for chosen in views[place]], list[int]()
            for added in self.added:
                own, more = added.choose(Row(int(row_id), batch.epoch, own, text, special))
                known += more
            grid += own
            labels[place] = known
        return Texts.of(grid), labels
