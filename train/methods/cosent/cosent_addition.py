"""CoSENT: of two pairs of texts, the one of the higher score shall be the more alike."""

from dataclasses import dataclass

import pyarrow as pa
import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.errors import UsageError
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store
from train.additions.base import GlobalBatch
from train.data import CORPUS, SELF
from train.methods.adapt.base_teacher import TeacherAddition, vectors_setting
from train.recipe import Recipe


def cosent(similarities: Tensor, scores: Tensor) -> Tensor:
    """CoSENT: every pair of a higher score than another shall be more alike than that one.

    >>> cosines = torch.tensor([0.5, 0.5])  # of two pairs of texts
    >>> scores = torch.tensor([1.0, 0.0])  # the first means the same, the second does not
    >>> cosent(20 * cosines, scores)  # ln 2: as good as guessing
    tensor(0.6931)

    L = log(1 + Σ exp(s_j − s_i)) over all i, j with score i > score j; s are similarities times a scale.

    `similarities, scores`: of each pair, (B,); a pair whose score is NaN counts nowhere. Returns a scalar,
    nats, at least 0; 0 where no two scores differ.

    Source: Su 2022 (CoSENT); `CoSENTLoss` of sentence-transformers.
    """
    differences = similarities - similarities[:, None]  # NaN is neither above nor below a number
    wanted = differences.masked_fill(~(scores[:, None] > scores), float("-inf"))
    return torch.cat([wanted.new_zeros(1), wanted.flatten()]).logsumexp(0)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[cosent]`` and ``[angle]``."""

    column: str = setting(
        "score",
        "field of the corpus that holds each pair's score, as `augment-cli ingest --keep-column` keeps it; "
        "empty: the cosine of `vectors` is the score, as of `pack --scores`",
    )
    vectors: str = vectors_setting("which gives the scores where there is no column")
    scale: float = setting(20.0, "λ, multiplies the similarities; 1 / τ of other losses", above=0)
    weight: float = setting(1.0, "of this term. With `contrastive_weight = 0` it is the loss")


class Cosent(TeacherAddition):
    """CoSENT (CoSENTLoss): a row's anchor and its positive are a pair, whose score is a number.

    It is computed before the head, where the exported embedding is. Rows without a positive or a score are
    no pairs; the log has how many were (`cosent_pairs`).

    Source: Su 2022 (CoSENT), as in sentence-transformers.
    """

    settings_class = Settings
    tells_equal = True
    scores: Tensor | None = None  # of each row of the corpus, where they are a column of it

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if set(recipe.positives) <= {SELF, CORPUS}:
            return "needs positives of other texts than the anchors, such as --set positives=positive"
        return super().check(settings, recipe)

    def on_train_begin(self, store: Store) -> tuple[str, ...]:
        if not self.settings.column:
            return super().on_train_begin(store)
        self.scores = column_of(store, self.settings.column)
        return ()

    def similarity(self, first: Tensor, second: Tensor) -> Tensor:
        """How alike the two texts of each pair are, (B,)."""
        return F.cosine_similarity(first, second)

    def loss(self, batch: GlobalBatch) -> Tensor:
        rows, which, _ = batch.labels.unbind(1)
        is_pair = batch.real & (which >= 0)
        if self.scores is None:
            first, second = self.vectors_of(batch.labels, is_pair)
            scores = (first * second).sum(dim=1)
        else:
            scores = self.scores[rows.cpu()].to(rows.device)
        scores = scores.masked_fill(~is_pair, torch.nan)
        self.noted = {"pairs": float((~scores.isnan()).sum())}
        anchors, positives = batch.embeddings[:, :2].unbind(1)
        return cosent(self.settings.scale * self.similarity(anchors, positives), scores)


def column_of(store: Store, name: str) -> Tensor:
    """A field of the corpus as numbers, shape (rows,), float64; NaN where there is none."""

    def refuse(what: str) -> UsageError:
        keep = f"pairs with scores are read with `augment-cli ingest --keep-column {name}`"
        return UsageError(
            f'{store.path}: the field {name!r} of the corpus {what}; {keep}, or write column = ""'
        )

    if name not in describe(store.part_path(CORPUS, 0))[1].names:
        raise refuse("is not there")
    parts = [store.read_part(CORPUS, part, [name])[name] for part in range(len(store.parts))]
    try:
        numbers = torch.cat([torch.tensor(part.cast(pa.float64()).to_numpy()) for part in parts])
    except pa.ArrowInvalid as error:
        raise refuse(f"is not a number everywhere ({error})") from None
    if numbers.isnan().all() or numbers.isinf().any():
        raise refuse("has no number, or an infinite one")
    return numbers
