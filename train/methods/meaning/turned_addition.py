"""Turned sentences: some of a row's many, told from the row's own paraphrase and from nothing else."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from augment_cli.contract.parameters import parameter as setting
from augment_cli.encoding.encoder import Encoder
from augment_cli.store.store import Store
from eval.measures.geometry import cosine
from eval.results.compare import gain_interval
from train.additions.base import Addition, GlobalBatch, Row, Views, mean_over
from train.data import CORPUS, NO_TEXT, SELF, Ids
from train.recipe import Recipe
from train.watching.evaluate import PAIRS, held_out_texts

_KEY = 0x7475726E  # keeps these draws apart from others of the same row


def own_contrast(
    anchors: Tensor, positives: Tensor, turned: Tensor, there: Tensor, temperature: float
) -> Tensor:
    """InfoNCE of each row among its own texts, from both sides of the pair.

    ½ Σ_{u ∈ {a, p}} −log( exp(cos(a, p)/τ) / (exp(cos(a, p)/τ) + Σ_k exp(cos(u, n_k)/τ)) ), nats, at least 0.

    `anchors, positives`: shape (B, d); `turned`: (B, K, d); `there`: which of them exist, (B, K), bool.
    Returns: shape (B,); 0 where a row has no turned sentence.

    Source: van den Oord et al. 2018 (InfoNCE); AugCSE (Tang et al. 2022) for negatives of own scope.
    """
    a, p, n = (F.normalize(vectors, dim=-1) for vectors in (anchors, positives, turned))
    pair = ((a * p).sum(dim=-1, keepdim=True)) / temperature
    sides = torch.stack([a, p], dim=1) @ n.transpose(1, 2) / temperature  # (B, 2, K)
    sides = sides.masked_fill(~there[:, None], -torch.inf)
    logits = torch.cat([pair[:, None].expand(-1, 2, 1), sides], dim=-1)
    return (logits.logsumexp(dim=-1) - pair).mean(dim=1)


@dataclass(frozen=True)
class Settings:
    """Keys of ``[turned]``."""

    stages: tuple[str, ...] = setting((), "the turned sentences; a row has those that it has a text of")
    count: int = setting(3, "K: of them in a step, drawn evenly", minimum=1)
    partners: tuple[str, ...] = setting(
        (),
        "POSITIVE:STAGE,STAGE: a row that has such a positive takes it before its others, and these turned "
        "sentences first, such as voice:phrase-swap",
    )
    temperature: float = setting(0.05, "τ, divides the cosines", above=0)
    weight: float = setting(1.0, "of this term; the contrastive loss does not see the turned sentences")


def _partners(settings: Settings) -> dict[str, list[str]]:
    parted = (entry.partition(":") for entry in settings.partners)
    return {positive: stages.split(",") if stages else [] for positive, _, stages in parted}


class _Turned(Views):
    changes_positive = True

    def __init__(self, settings: Settings, recipe: Recipe) -> None:
        super().__init__(settings, recipe)
        self.partners, self.count, self.stages = _partners(settings), settings.count, settings.stages

    def choose(self, row: Row) -> tuple[list[Ids], list[int]]:
        generator = self.draws(_KEY, row, every_epoch=True)
        anchor, positive = row.views[:2]
        assert anchor is not None and positive is not None
        partners = list[str]()
        found = {stage: text for stage in self.recipe.positives if (text := row.text(stage)) is not None}
        if found:
            first = [stage for stage in self.partners if stage in found] or list(found)
            chosen = first[int(generator.integers(len(first)))]
            positive, partners = found[chosen], self.partners.get(chosen, [])
        kept = {anchor.tobytes(), positive.tobytes()}
        # One whose change was cut off is the sentence itself, from which nothing should part it.
        turned = {
            stage: text
            for stage in self.stages
            if (text := row.text(stage)) is not None and text.tobytes() not in kept
        }
        order = [stage for stage in partners if stage in turned]
        rest = [stage for stage in turned if stage not in order]
        order += [rest[place] for place in generator.permutation(len(rest))]
        texts: list[Ids] = [turned[stage] for stage in order[: self.count]]
        return [anchor, positive, *row.views[2:], *texts, *[None] * (self.count - len(texts))], []


@dataclass(frozen=True)
class ToldApart:
    """Dev score: the share of held-out texts whose paraphrases are nearer than all that turns them.

    It has the methods of `train.watching.evaluate.DevTest`.
    """

    rows: list[tuple[str, list[str], list[str]]]  # a text, its paraphrases, its turned sentences

    def measure(self, encoder: Encoder) -> list[np.ndarray]:
        """The cosines of each row's text with its paraphrases and with what turns it, in this order."""
        sides = [len(same) + len(turned) for _, same, turned in self.rows]
        own = encoder.encode([text for text, *_ in self.rows])
        others = encoder.encode([one for _, same, turned in self.rows for one in (*same, *turned)])
        return np.split(cosine(own.repeat(sides, axis=0), others), np.cumsum(sides)[:-1])

    def _parted(self, measured: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        rows = zip(measured, self.rows, strict=True)
        return [(row[: len(same)], row[len(same) :]) for row, (_, same, _) in rows]

    def _told(self, measured: list[np.ndarray]) -> np.ndarray:
        """Whether each row is told apart, shape (rows,), 0 or 1."""
        return np.array([float(same.min() > turned.max()) for same, turned in self._parted(measured)])

    def scores(self, measured: list[np.ndarray], before: dict[str, float]) -> dict[str, float]:
        return {"told_apart": float(self._told(measured).mean())}

    def gain(self, before: list[np.ndarray], after: list[np.ndarray]) -> tuple[float, float, float]:
        return gain_interval(self._told(after), self._told(before))

    def cosines(self, measured: list[np.ndarray]) -> dict[str, np.ndarray]:
        same, turned = zip(*self._parted(measured), strict=True)
        return {"paraphrases": np.concatenate(same), "turned sentences": np.concatenate(turned)}


class Turned(Addition):
    """A sentence and its paraphrase are nearer to each other than either is to what turns it."""

    settings_class, views_class = Settings, _Turned
    draws_positive = True

    @classmethod
    def check(cls, settings: Settings, recipe: Recipe) -> str:
        if not settings.stages:
            return "needs stages, such as --set turned.stages=negation,antonym"
        for positive, stages in _partners(settings).items():
            unread = [stage for stage in stages if stage not in settings.stages]
            if positive not in recipe.positives or unread:
                known = ", ".join((*recipe.positives, *settings.stages))
                return f"partners: {(unread or [positive])[0]!r} is not read; it may name {known}"
        return ""

    @classmethod
    def dev_tests(cls, settings: Settings, recipe: Recipe, store: Store) -> list[Any]:
        positives = [stage for stage in recipe.positives if stage not in (SELF, CORPUS)]
        found = held_out_texts(store, recipe.held_out, (*positives, *settings.stages))
        parted = ((text, other[: len(positives)], other[len(positives) :]) for text, other in found)
        rows = [(text, [*filter(None, same)], [*filter(None, turned)]) for text, same, turned in parted]
        rows = [row for row in rows if row[1] and row[2]][:PAIRS]
        return [ToldApart(rows)] if len(rows) > 1 else []

    def loss(self, batch: GlobalBatch) -> Tensor:
        there = batch.texts[:, batch.own] != NO_TEXT
        vectors = batch.embeddings
        losses = own_contrast(
            vectors[:, 0], vectors[:, 1], vectors[:, batch.own], there, self.settings.temperature
        )
        return mean_over(losses, batch.real & there.any(dim=1))
