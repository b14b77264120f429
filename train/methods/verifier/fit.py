"""Train a verifier: the encoder's token vectors once, then the small network on pairs of them."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.verifier import (
    PairNetwork,
    Verifier,
    VerifierShape,
    side_by_side,
    token_vectors,
    untrained,
)
from augment_cli.store.store import Store
from train.methods.verifier.pairs import Pair, neighbours, read_pairs
from train.methods.verifier.settings import Settings

Say = Callable[[str], None]
_WARM_UP = 0.1  # share of the steps in which the rate rises
_SAY_EVERY = 100  # steps
_TOGETHER = 8  # batches drawn at once and parted by length, which saves padding
# Drawn more often: what is learned last, the order of words and small words far from each other.
_OFTEN = {"phrase-swap": 3.0, "voice": 3.0, "relation": 2.0, "modality": 2.0}
_SLICE = 4_096  # texts encoded between two lines of progress


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
    sizes = {field: getattr(settings, field) for field in ("width", "blocks", "penalty", "networks")}
    verifier = untrained(encoder, name, **sizes)
    pairs, held_out, originals = read_pairs(store, settings.rows, settings.held_out, settings.seed)
    # A text without a pair of its own still is another one's neighbour.
    texts = list(dict.fromkeys([*originals, *(text for pair in pairs for text in (pair.first, pair.second))]))
    known = _vectors(verifier, texts, say)
    pairs += _near(originals, known, verifier.shape.dimension)
    for place in range(settings.networks):  # each by draws of its own
        seed = settings.seed + place
        verifier.network[place] = _trained(verifier.shape, pairs, known, settings, seed, say)
    return verifier, _ask(verifier, held_out)


def _vectors(verifier: Verifier, texts: Sequence[str], say: Say) -> dict[str, Tensor]:
    """Token vectors of each text, by the text."""
    known, began = dict[str, Tensor](), time.perf_counter()
    ordered = sorted(texts, key=len)  # texts of a length share a batch
    for start in range(0, len(ordered), _SLICE):
        some = ordered[start : start + _SLICE]
        known.update(zip(some, token_vectors(verifier.encoder, some, verifier.shape), strict=True))
        say(f"encoded {len(known):,} of {len(texts):,} texts in {time.perf_counter() - began:.0f} s")
    return known


def _near(texts: Sequence[str], known: dict[str, Tensor], dimension: int) -> list[Pair]:
    # Of the corpus alone: the texts nearest to one include what turns it.
    means = torch.stack([known[text][:, -dimension:].float().mean(0) for text in texts])
    return neighbours(F.normalize(means, dim=1).numpy(), texts)


def chances(pairs: Sequence[Pair]) -> np.ndarray:
    """How likely each pair is drawn, (n,): half of them turned, each kind by the root of its count."""
    counts = Counter((pair.kind, pair.turned) for pair in pairs)
    chance = np.array([_OFTEN.get(pair.kind, 1.0) * counts[pair.kind, pair.turned] ** -0.5 for pair in pairs])
    turned = np.array([pair.turned for pair in pairs])
    for side in (turned, ~turned):
        chance[side] /= 2 * chance[side].sum()
    return chance


def _batches(pairs: Sequence[Pair], size: int, generator: np.random.Generator) -> Iterator[list[Pair]]:
    """Batches of some pairs each, without end; those of one batch are about as long."""
    chance = chances(pairs)
    lengths = np.array([max(len(pair.first), len(pair.second)) for pair in pairs])
    while True:
        drawn = generator.choice(len(pairs), _TOGETHER * size, p=chance)
        drawn = drawn[np.argsort(lengths[drawn], kind="stable")].reshape(_TOGETHER, size)
        for places in drawn[generator.permutation(_TOGETHER)][::-1]:
            yield [pairs[place] for place in places]


def _trained(
    shape: VerifierShape,
    pairs: Sequence[Pair],
    known: dict[str, Tensor],
    settings: Settings,
    seed: int,
    say: Say,
) -> PairNetwork:
    torch.manual_seed(seed)
    network, generator = PairNetwork(shape).train(), np.random.default_rng(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, settings.learning_rate, settings.steps, pct_start=_WARM_UP
    )
    losses, began = [], time.perf_counter()
    batches = itertools.islice(_batches(pairs, settings.batch, generator), settings.steps)
    for step, drawn in enumerate(batches, 1):
        sides = [(pair.first, pair.second) for pair in drawn]
        sides = [
            side[::-1] if flip else side
            for side, flip in zip(sides, generator.random(len(sides)) < 0.5, strict=True)
        ]
        first, second = ([known[text] for text in side] for side in zip(*sides, strict=True))
        logits = network(*side_by_side(first), *side_by_side(second))
        loss = F.binary_cross_entropy_with_logits(
            logits, torch.tensor([float(pair.turned) for pair in drawn])
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % _SAY_EVERY == 0 or step == settings.steps:
            left = (settings.steps - step) * (time.perf_counter() - began) / step / 60
            say(f"step {step}/{settings.steps} loss {np.mean(losses[-_SAY_EVERY:]):.4f} ETA {left:.1f} min")
    return network.eval()


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
