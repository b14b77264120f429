"""Train a verifier: the small network on pairs of the token vectors that its encoder gives."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.verifier import Verifier, side_by_side, token_vectors, untrained
from augment_cli.neural.runtime import has_fast_bf16
from augment_cli.store.store import Store
from train.methods.verifier.pairs import Pair, neighbours, read_pairs
from train.methods.verifier.settings import Settings

Say = Callable[[str], None]
_WARM_UP = 0.1  # share of the steps in which the rate rises
_AHEAD = 100  # steps whose texts are encoded at once, and between two lines of progress
_KNOWN = 40_000  # texts whose vectors are kept: 2 GB for MiniLM
_NEAR = 10_000  # texts whose neighbours are looked for
_SLICE = 4_096  # of them encoded at once


@dataclass(frozen=True)
class HeldOut:
    """What became of held-out pairs where 90 % of the texts that say the same pass."""

    turned: int
    turned_down: float  # share, by the verifier's score
    by_cosine: float  # share that the encoder's cosine alone turns down
    by_kind: dict[str, float]


def fit(
    encoder: Encoder, name: str, store: Store, settings: Settings, say: Say = print
) -> tuple[Verifier, HeldOut]:
    """A verifier for an encoder from a store's texts, and what it does on the store's held-out rows."""
    torch.manual_seed(settings.seed)
    sizes = {key: getattr(settings, key) for key in ("networks", "width", "blocks", "penalty")}
    verifier = untrained(encoder, name, **sizes)
    pairs, held_out, originals = read_pairs(store, settings.rows, settings.held_out, settings.seed)
    # Neighbours of some are enough: each kind is drawn by the root of its count.
    near = np.random.default_rng(settings.seed).permutation(len(originals))[:_NEAR]
    pairs += _near([originals[place] for place in near], verifier)
    _train(verifier, pairs, settings, say)
    return verifier, _ask(verifier, held_out)


def _near(texts: Sequence[str], verifier: Verifier) -> list[Pair]:
    """Texts of the corpus with their nearest ones; among all texts, the nearest include what turns one."""
    last, means = verifier.shape.dimension, list[Tensor]()
    for start in range(0, len(texts), _SLICE):
        vectors = token_vectors(verifier.encoder, texts[start : start + _SLICE], verifier.shape)
        means += [one[:, -last:].float().mean(0) for one in vectors]
    return neighbours(F.normalize(torch.stack(means), dim=1).numpy(), texts)


def chances(pairs: Sequence[Pair]) -> np.ndarray:
    """How likely each pair is drawn, (n,): half of them turned, each kind by the root of its count."""
    counts = Counter((pair.kind, pair.turned) for pair in pairs)
    chance = np.array([counts[pair.kind, pair.turned] ** -0.5 for pair in pairs])
    turned = np.array([pair.turned for pair in pairs])
    for side in (turned, ~turned):
        chance[side] /= 2 * chance[side].sum()
    return chance


def _train(verifier: Verifier, pairs: Sequence[Pair], settings: Settings, say: Say) -> None:
    generator, began = np.random.default_rng(settings.seed), time.perf_counter()
    drawn = generator.choice(len(pairs), (settings.steps, settings.batch), p=chances(pairs))
    learners = [_Learner(network, settings) for network in verifier.network.networks]
    known = dict[str, Tensor]()
    for start in range(0, settings.steps, _AHEAD):
        ahead = [pairs[place] for place in drawn[start : start + _AHEAD].ravel().tolist()]
        known = _vectors(verifier, ahead, known)
        loss = np.mean([learner.learn(ahead, known, generator) for learner in learners])
        done = min(start + _AHEAD, settings.steps)
        left = (settings.steps - done) * (time.perf_counter() - began) / done / 60
        say(f"step {done}/{settings.steps} loss {loss:.4f} ETA {left:.1f} min")
    verifier.network.eval()


class _Learner:
    """One network, and how it learns."""

    def __init__(self, network: nn.Module, settings: Settings) -> None:
        self.network, self.batch = network.train(), settings.batch
        self.bf16 = has_fast_bf16()
        self.optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, settings.learning_rate, settings.steps, pct_start=_WARM_UP
        )

    def learn(self, pairs: Sequence[Pair], known: dict[str, Tensor], generator: np.random.Generator) -> float:
        """Take the steps of some pairs, in batches of one length; returns the mean loss."""
        flipped = generator.random(len(pairs)) < 0.5
        sides = [
            (known[pair.second], known[pair.first]) if flip else (known[pair.first], known[pair.second])
            for pair, flip in zip(pairs, flipped, strict=True)
        ]
        lengths = np.array([len(one) + len(other) for one, other in sides])
        order = np.argsort(lengths + generator.random(len(lengths)))
        batches = [order[start : start + self.batch] for start in range(0, len(order), self.batch)]
        losses = []
        for place in generator.permutation(len(batches)):
            rows = batches[place].tolist()
            first, second = zip(*(sides[row] for row in rows), strict=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
                logits = self.network(*side_by_side(first), *side_by_side(second))
            turned = torch.tensor([float(pairs[row].turned) for row in rows])
            loss = F.binary_cross_entropy_with_logits(logits.float(), turned)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
            losses.append(loss.item())
        return float(np.mean(losses))


def _vectors(verifier: Verifier, pairs: Sequence[Pair], known: dict[str, Tensor]) -> dict[str, Tensor]:
    """Token vectors of the texts of some pairs, by the text, beside those known if memory allows."""
    texts = dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second))
    if len(known) > _KNOWN:
        known = {text: known[text] for text in texts if text in known}
    missing = [text for text in texts if text not in known]
    return known | dict(zip(missing, token_vectors(verifier.encoder, missing, verifier.shape), strict=True))


def _ask(verifier: Verifier, pairs: Sequence[Pair]) -> HeldOut:
    """Where 90 % of the held-out texts that say the same pass: how many turned ones do not."""
    first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
    found, cosines = verifier.turned(first, second), verifier.cosines(first, second)
    turned, kinds = np.array([pair.turned for pair in pairs]), np.array([pair.kind for pair in pairs])
    scores = verifier.lowered(cosines, found)
    down = scores <= np.quantile(scores[~turned], 0.1)
    by_cosine = cosines <= np.quantile(cosines[~turned], 0.1)
    by_kind = {kind: float(down[turned & (kinds == kind)].mean()) for kind in sorted({*kinds[turned]})}
    return HeldOut(int(turned.sum()), float(down[turned].mean()), float(by_cosine[turned].mean()), by_kind)
