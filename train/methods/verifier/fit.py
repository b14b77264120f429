"""Train a verifier: pairs by the labels of a store's stages, token vectors once, then the small network."""

import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli import augmentations
from augment_cli.augmentations.labels import entailment_of_stage, row_labels
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.verifier import (
    PairNetwork,
    Verifier,
    VerifierShape,
    side_by_side,
    token_vectors,
    untrained,
)
from augment_cli.errors import UsageError
from augment_cli.ingest.options import GIVEN
from augment_cli.store.store import Store
from augment_cli.vectors.texts import rows_by_part
from train.data import CORPUS
from train.data.order import is_held_out
from train.methods.verifier import Settings

# Two turns at one predicate are rare, and nothing else tells a "not" that turns from one that does not.
_CHAINS = 9
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
_OTHER_TEXTS = ("random-sentence",)  # their texts say nothing of the row's
# Whether these say the same depends on the sentence, but they turn nothing.
_LOOSE = ("crop", "summary", "synonym", "uda")
_MARK = re.compile(r"(?<=\w)([,.;:!?])(?=\s|$)")
_SOME = r"(?:an?|some|many|several|two|three)"
_OPENS = re.compile(rf"(?:{_SOME}|the|one) (?=[a-z])", re.IGNORECASE)
_NONE = "none"  # what no stage made
_THERE = re.compile(rf"\b(there (?:is|are|was|were)) {_SOME} ", re.IGNORECASE)
_THE = re.compile(r"\b([Tt])he (?=[b-df-hj-np-tv-z][a-z])")  # in front of a consonant
Say = Callable[[str], None]
_WARM_UP = 0.1  # share of the steps in which the rate rises
_SAY_EVERY = 100  # steps
_TOGETHER = 8  # batches drawn at once and parted by length, which saves padding
# Drawn more often: what is learned last, the order of words and small words far from each other.
_OFTEN = {"phrase-swap": 3.0, "voice": 3.0, "relation": 2.0, "modality": 2.0}
_SLICE = 4_096  # texts encoded between two lines of progress


@dataclass(frozen=True)
class Pair:
    """Two texts, whether one turns what the other says, and what made the difference."""

    first: str
    second: str
    turned: bool
    kind: str


@dataclass(frozen=True)
class _Stage:
    name: str
    maker: str
    of: str  # the stage whose texts it changed
    label: str  # same, other, or neither


def _stages(store: Store) -> list[_Stage]:
    """The stages of texts with a label: given ones, and all of augmentations but those of other rows."""
    found = list[_Stage]()
    for name in store.stages():
        settings = store.stage(name).settings
        maker, parameters = settings["stage"], settings["parameters"]
        of = parameters.get("of", CORPUS)
        if not store.has(name) or maker in _OTHER_TEXTS or of not in (CORPUS, *(one.name for one in found)):
            continue
        if maker == GIVEN:
            label = {"positive": "same", "negative": "other"}.get(parameters["kind"])
        else:
            entailment = entailment_of_stage(settings)
            label = entailment.label if entailment else None
        if label is not None:
            found.append(_Stage(name, maker, of, label))
    return found


def read_pairs(
    store: Store, rows: int, held_out: float, seed: int
) -> tuple[list[Pair], list[Pair], list[str]]:
    """The pairs of some rows of a store, those of its held-out rows, and the texts of the former."""
    generator = np.random.default_rng(seed)
    stages, count = _stages(store), sum(size for _, size in store.parts)
    chosen = np.arange(count) if not rows or rows >= count else np.sort(generator.permutation(count)[:rows])
    pairs: tuple[list[Pair], list[Pair]] = ([], [])
    originals = list[str]()
    for index, some, places in rows_by_part(store, chosen):
        texts = {
            name: store.read_part(name, index, ["text"])["text"].take(places).to_pylist()
            for name in (CORPUS, *(stage.name for stage in stages))
        }
        labels = {stage.name: [stage.label] * len(places) for stage in stages}
        for stage in stages:
            if (of_rows := row_labels(store, stage.name, index)) is not None:
                labels[stage.name] = of_rows.take(places).to_pylist()
        held = is_held_out(chosen[some], held_out)
        for place, is_held in enumerate(held.tolist()):
            row = {name: column[place] for name, column in texts.items() if column[place]}
            own = {name: labels[name][place] for name in row if name != CORPUS}
            pairs[is_held].extend(_of_row(row, own, stages, generator))
            originals += [] if is_held else [row[CORPUS]]
    for turned, what in ((True, "turned sentences"), (False, "texts that say the same")):
        if any(all(pair.turned != turned or pair.kind == _NONE for pair in part) for part in pairs):
            raise UsageError(
                f"{store.path}: has too few {what} for a verifier; make them (augment-cli run meaning "
                f"--store {store.path}), or read and hold out more rows (--rows, --held-out)"
            )
    return *pairs, list(dict.fromkeys(originals))


def _of_row(
    row: dict[str, str], labels: dict[str, str], stages: Sequence[_Stage], generator: np.random.Generator
) -> list[Pair]:
    """Pairs of a row's texts; those of different stages too, since two texts of one may share no word."""
    text = row[CORPUS]
    Texts = list[tuple[str, str]]  # with what made them
    same, loose, turned, pairs = Texts(), Texts(), Texts(), list[Pair]()
    for stage in stages:
        if stage.name not in row or stage.of not in row:
            continue
        other, label = row[stage.name], labels[stage.name]
        if stage.of != CORPUS and label != "neither":
            pairs += _of_chain(row, stage, row[stage.of], label)
        if label in ("same", "other"):
            (same if label == "same" else turned).append((stage.name, other))
        elif stage.maker in _LOOSE and _negations(text) == _negations(other):
            loose.append((stage.name, other))
    surface = _surface(text, generator)
    if surface != text:
        same.append(("surface", surface))
    none = _THERE.sub(r"\1 no ", _OPENS.sub("No ", text, count=1) if _OPENS.match(text) else text, count=1)
    if _negations(none) == _negations(text) + 1:
        turned.append((_NONE, none))
    unturned = [*same, *loose]
    pairs += [Pair(text, other, False, kind) for kind, other in unturned]
    pairs += [Pair(text, other, True, kind) for kind, other in turned]
    for _ in range(min(2, len(unturned) // 2)):
        one, other = generator.choice(len(unturned), 2, replace=False)
        pairs.append(Pair(unturned[one][1], unturned[other][1], False, "two"))
    if same:
        pairs += [
            Pair(same[generator.integers(len(same))][1], other, True, kind)
            for kind, other in turned
            if generator.random() < 0.7
        ]
    return pairs


def _negations(text: str) -> int:
    return len(_NEGATIONS.findall(text))


def _of_chain(row: dict[str, str], stage: _Stage, base: str, label: str) -> list[Pair]:
    """Pairs of a chain with its two steps; two turns at one predicate say the same."""
    chain, step = row[stage.name], row.get(stage.maker)
    if augmentations.get(stage.maker).kind == "positive":
        return [Pair(base, chain, False, stage.name)]
    pairs = [Pair(base, chain, True, stage.maker)]
    if label == "same":
        pairs += [Pair(row[CORPUS], chain, False, "chain")] * (_CHAINS - 1)
        if step is not None:
            pairs += [Pair(step, chain, True, "chain"), Pair(base, chain, True, "chain")] * _CHAINS
            pairs += [Pair(step, base, False, "chain")] * _CHAINS
    return pairs


def _surface(text: str, generator: np.random.Generator) -> str:
    """What changes no meaning: another article, a number in front, or other marks."""
    way = generator.integers(8)
    if way == 0:
        return _THE.sub(lambda found: "a " if found[1] == "t" else "A ", text, count=1)
    if way == 1:
        return re.sub(r"\ban? (?=[a-z])", "the ", text, count=1)
    if way == 2:
        return f"{generator.integers(1, 10)}. {text}"
    if way == 3:
        return text.rstrip(".")
    if way == 4:
        return _MARK.sub(r" \1", text)
    if way == 5:
        return text.replace(",", "")
    return f'"{text}"' if way == 6 else re.sub(r" ?\([^)]*\)", "", text)


def neighbours(vectors: np.ndarray, texts: Sequence[str], most: int = 2) -> list[Pair]:
    """Each text with its nearest others, by vectors of length 1, shape (n, d): other texts turn nothing."""
    pairs = []
    for start in range(0, len(texts) if len(texts) > most else 0, 1_000):
        cosines = vectors[start : start + 1_000] @ vectors.T
        cosines[np.arange(len(cosines)), start + np.arange(len(cosines))] = -1
        near = np.argsort(-cosines, axis=1)[:, :most]
        pairs += [
            Pair(texts[start + row], texts[other], False, "near")
            for row, found in enumerate(near.tolist())
            for other in found
        ]
    return pairs


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
    # Neighbours of the corpus alone: the texts nearest to one include what turns it.
    means = [known[text][:, -verifier.shape.dimension :].float().mean(0) for text in originals]
    pairs += neighbours(F.normalize(torch.stack(means), dim=1).numpy(), originals)
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
        flips = generator.random(len(drawn)) < 0.5
        both = ((pair.first, pair.second) for pair in drawn)
        sides = [side[::-1] if flip else side for side, flip in zip(both, flips, strict=True)]
        first, second = ([known[text] for text in side] for side in zip(*sides, strict=True))
        logits = network(*side_by_side(first), *side_by_side(second))
        turned = torch.tensor([float(pair.turned) for pair in drawn])
        loss = F.binary_cross_entropy_with_logits(logits, turned)
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
