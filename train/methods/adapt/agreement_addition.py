"""Agreement with the start: about other texts than the corpus's, an encoder keeps what cached vectors say."""

from dataclasses import dataclass

from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from train.additions.base import GlobalBatch, Row, Views, mean_over
from train.data import Ids
from train.methods.adapt import teacher_addition as teacher
from train.methods.adapt.base_teacher import TeacherAddition, vector_regression, vectors_setting, width
from train.recipe import Recipe

_KEY = 0x6B6565  # keeps these draws apart from others of the same row


@dataclass(frozen=True)
class Settings(teacher.Settings):
    """Keys of ``[agreement]``; the teacher is the encoder before the training."""

    stage: str = setting("random-sentence", "the other texts: a stage of the store, one text a row")
    vectors: str = vectors_setting("of them that is kept to", "start")
    on: str = setting(
        "similarities",
        "`similarities` of the other texts among each other; `vectors`: each one's own, of the same length",
        choices=("similarities", "vectors"),
    )
    share: float = setting(0.375, "of the rows that bring their other text", above=0, maximum=1)


class _OtherTexts(Views):
    """A row's text of another stage, of some of the rows; labelled as `CachedVectors.pairs` reads it."""

    count, labels = 1, 3

    def __init__(self, settings: Settings, recipe: Recipe) -> None:
        super().__init__(settings, recipe)
        self.stages = (settings.stage,)

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        drawn = self.draws(_KEY, row, every_epoch=True).random() < self.settings.share
        text = row.text(self.settings.stage) if drawn else None
        return [*row.views, text], [row.row_id, 0, row.epoch]


class Agreement(TeacherAddition):
    """Cross entropy between the kept and the encoder's softmax over the batch's other texts, or regression.

    What an encoder learns about a domain then costs less of what it knows in general.

    Source: learning without forgetting (Li and Hoiem 2016) keeps outputs in the same way.
    """

    settings_class = Settings
    anchors_alone = True

    @classmethod
    def columns_of(cls, recipe: Recipe) -> tuple[str, ...]:
        """The other texts have vectors beside the anchors."""
        return (recipe.additions["agreement"]["stage"],)

    @classmethod
    def views(cls, settings: Settings, recipe: Recipe) -> Views:
        return _OtherTexts(settings, recipe)

    def loss(self, batch: GlobalBatch) -> Tensor:
        view = batch.own.start
        there = batch.texts[:, view] >= 0
        _, known = self.vectors_of(batch.labels, there)
        if self.settings.on == "vectors":
            own = batch.embeddings[:, view]
            return mean_over(vector_regression(own, known.to(own), there), there)
        scale = width(known, there)
        return teacher.distillation(batch, view, known, self.settings, (scale, scale))
