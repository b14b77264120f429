"""The scores watched while training: with labels, and without, by what belongs together in the corpus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MixError, UsageError
from augment_cli.places import as_typed
from augment_cli.store.store import Store
from eval.measures import geometry
from eval.protocols.sts import STSScore, stsb
from eval.results.compare import gain_interval
from train.data import CORPUS, SELF
from train.data.order import is_held_out, row_groups
from train.recipe import Recipe
from train.watching import has_stsb
from train.watching.early_stopping import NOTHING_TO_LEARN

SAMPLE = 1_000  # texts that are encoded, and their halves
HALVINGS = 4  # ways to halve each text: one alone is mostly noise on short texts
RATIOS = ("shared_neighbours", "half_neighbours")
FOUND = "found_by_half"  # how often half of a text's words finds the text; it decides nothing
FEWEST = 200  # texts; of fewer, the ten nearest are too large a share
Measured = tuple[np.ndarray, dict[str, np.ndarray]]
_LEAST = 1e-6  # keeps a ratio finite: one neighbour of one text more or less is 1e-4
PAIRS = 1_000  # held-out pairs; enough for a standard error of 1.5 points
Scores = dict[str, float]
Sides = tuple[np.ndarray, np.ndarray]
RANK_FALL = 0.1  # of the starting encoder's effective rank
ANISOTROPY_RISE = 0.05  # mean cosine of two texts
NEIGHBOUR_FALL = 0.05  # of what the starting encoder kept together
FOUND_FALL = 0.02  # of the texts
EARLY = 0.25  # share of the run in which a loss of nearly nothing is early


class Neighbourhoods:
    """A score of encoders on a fixed sample of the corpus, with the shape of the space they make of it."""

    # Either alone misleads: training that pushes texts apart without regard to what they mean has fewer
    # shared neighbours, and one that collapses has more; halves find fewer of the same texts where an encoder
    # has collapsed, and sometimes more where it was harmed otherwise: benchmarks/results/training.md.
    def __init__(self, texts: list[str]) -> None:
        generator = np.random.default_rng(0)
        self.texts = texts
        self.halved = [[geometry.halves(text, generator) for text in texts] for _ in range(HALVINGS)]

    @classmethod
    def of(cls, store: Store, longest: int) -> "Neighbourhoods | None":
        """Of a store's corpus, of each text `longest` words; None where it is too small."""
        # Distinct texts from all over the corpus, in a mixed order that is always the same.
        some = held_out_texts(store, min(1.0, 2 * SAMPLE / store.rows), ())
        distinct = list(dict.fromkeys(geometry.opening(text, longest) for text, _ in some))
        order = np.random.default_rng(0).permutation(len(distinct))[:SAMPLE]
        return cls([distinct[place] for place in order]) if len(order) >= FEWEST else None

    def measure(self, encoder: Encoder) -> Measured:
        """Vectors of the texts, and the scores of each text."""
        vectors = encoder.encode(self.texts)
        halved = []
        for pairs in self.halved:
            sides = [encoder.encode(side) for side in zip(*pairs, strict=True)]
            both = np.logical_and(*map(geometry.nearest, sides)).sum(axis=1)
            own = sum(geometry.finds_own(side, vectors) for side in sides) / 2
            halved.append([both / geometry.NEAREST, own])
        both, own = np.mean(halved, axis=0)
        shared = geometry.shared_neighbours(vectors)
        return vectors, {"shared_neighbours": shared, "half_neighbours": both, FOUND: own}

    def scores(self, measured: Measured, before: dict[str, float]) -> dict[str, float]:
        """The lesser of two ratios to the starting encoder's scores, what it is made of, and `FOUND`."""
        vectors, by_text = measured
        scores = {name: float(values.mean()) for name, values in by_text.items()}
        ratio = {"neighbours": lesser_ratio(scores, before or scores)}
        rank, anisotropy = geometry.effective_rank(vectors), geometry.anisotropy(vectors)
        return ratio | scores | {"effective_rank": rank, "anisotropy": anisotropy}

    def gain(self, before: Measured, after: Measured) -> tuple[float, float, float]:
        """What the deciding score gained, and its 95 % interval over other samples of texts."""
        (_, old), (_, new) = before, after
        name = min(RATIOS, key=lambda name: new[name].mean() / (old[name].mean() + _LEAST))
        scale = old[name].mean() + _LEAST
        return gain_interval(new[name] / scale, old[name] / scale)


def lesser_ratio(scores: dict[str, float], before: dict[str, float]) -> float:
    """The lesser of the ratios of `shared_neighbours` and `half_neighbours` to the starting encoder's."""
    if missing := [name for name in RATIOS if name not in before]:
        raise MixError(
            f"the starting encoder was scored without {', '.join(missing)}, by an earlier version "
            "whose dev score was another; give another --out"
        )
    return min((scores[name] + _LEAST) / (before[name] + _LEAST) for name in RATIOS)


@dataclass
class DevTest:
    """Several tests; the first score of the first one decides."""

    tests: Sequence[Any]  # with the methods measure, scores and gain, as `PairRetrieval`
    kept: dict[str, Any] = field(default_factory=dict)  # what the first one measured of each text
    # Percentiles, 0 to 100, of the first one's cosines, by what they are of; where it has `cosines`.
    cosines: dict[str, list[float]] = field(default_factory=dict)

    def __call__(self, encoder: Encoder, before: Scores) -> Scores:
        """All scores, given those of the starting encoder (empty for itself)."""
        found = [(test, test.measure(encoder)) for test in self.tests]
        test, self.kept["latest"] = found[0]
        kinds = test.cosines(found[0][1]) if hasattr(test, "cosines") else {}
        self.cosines = {
            kind: np.percentile(each, range(101)).round(3).tolist() for kind, each in kinds.items()
        }
        return {key: value for test, each in found for key, value in test.scores(each, before).items()}

    def keep(self, when: str) -> None:
        """Keep what the latest encoder gave for the gain, as that of `before` or `best`."""
        self.kept[when] = self.kept.get("latest")

    def gain(self, folders: dict[str, Path], device: str) -> tuple[float, float, float]:
        """What the best encoder gained on that before it, and the 95 % interval over other texts."""
        for when, folder in folders.items():
            if self.kept.get(when) is None:  # another process evaluated it
                self.kept[when] = self.tests[0].measure(load_encoder(folder, device=device))
        return self.tests[0].gain(self.kept["before"], self.kept["best"])


def dev_test(data: Path | None, recipe: Recipe, store: Store, own: Sequence[Any] = ()) -> DevTest:
    """STS-B dev where the data has it, neighbourhoods of the corpus, held-out pairs, a method's `own`."""
    # The first there is decides, in this order; with ``dev = "neighbours"`` the neighbourhoods do, and STS-B
    # is beside it, so that the price is seen; so with ``dev = "method"`` and the scores of an addition. Where
    # the corpus is too small for it, the others do.
    tests: list[Any] = [STSBDev(data)] if data is not None and has_stsb(data) else []
    if recipe.watching.dev == "method":
        tests = [*own, *tests]
    # Half of a text is then as long as what training reads.
    elif shared := Neighbourhoods.of(store, 2 * recipe.max_length):
        tests.insert(0 if recipe.watching.dev == "neighbours" else len(tests), shared)
    if recipe.held_out:
        stages = tuple(stage for stage in recipe.positives if stage not in (SELF, CORPUS))
        pairs = held_out_pairs(store, recipe.held_out, stages)
        if len(pairs) > 1:
            tests.append(PairRetrieval(pairs))
    if not tests:
        raise UsageError(
            "nothing could tell whether training helps: fewer than 200 different texts have no "
            "neighbourhoods to ask, and the data folder has no STS-B (--data); give more texts, add "
            f"--set held_out={max(0.1, min(0.5, 2 * recipe.held_out)):.2g} to ask held-out texts, or --set "
            "evaluate_every=0 to train without knowing"
        )
    return DevTest(tests)


@dataclass(frozen=True)
class STSBDev:
    """Spearman correlation on STS-B dev (1,500 pairs), from -1 to 1."""

    data: Path

    def measure(self, encoder: Encoder) -> STSScore:
        """Similarity and gold of each pair."""
        return stsb(encoder.encode, self.data, "dev")

    def scores(self, measured: STSScore, before: Scores) -> Scores:
        """As `DevTest`."""
        return {"stsb_dev": float(np.nan_to_num(measured.spearman))}

    def gain(self, before: STSScore, after: STSScore) -> tuple[float, float, float]:
        """As `DevTest`."""
        return gain_interval(after.similarity, before.similarity, after.gold)


def held_out_texts(
    store: Store, fraction: float, stages: tuple[str, ...]
) -> Iterator[tuple[str, list[str | None]]]:
    """Each held-out row's text, and its texts of some stages, None where one left it unchanged."""
    for group in row_groups(store.parts):
        columns = ["row_id", "text"]
        corpus = store.read_part("corpus", group.part, columns, [group.index])
        chosen = np.flatnonzero(is_held_out(corpus["row_id"].to_numpy(), fraction))
        others = [
            store.read_part(stage, group.part, columns, [group.index])["text"].take(chosen).to_pylist()
            for stage in stages
        ]
        for row, text in enumerate(corpus["text"].take(chosen).to_pylist()):
            yield text, [column[row] for column in others]


def held_out_pairs(store: Store, fraction: float, stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of held-out rows: a text and its positive, or the text's two halves where there is none."""
    pairs: list[tuple[str, str]] = []
    for text, others in held_out_texts(store, fraction, stages):
        positive = next((other for other in others if other is not None), None)
        words = text.split()
        if positive is not None:
            pairs.append((text, positive))
        elif len(words) >= 8:  # shorter halves say too little to find each other by
            pairs.append((" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])))
        if len(pairs) == PAIRS:
            break
    return pairs


@dataclass(frozen=True)
class PairRetrieval:
    """Share of texts whose partner is nearest by cosine among all partners, with alignment and uniformity."""

    pairs: list[tuple[str, str]]  # at least two: a single one is always found

    def measure(self, encoder: Encoder) -> Sides:
        """Vectors of the pairs' two sides."""
        vectors = encoder.encode([text for pair in self.pairs for text in pair])
        return vectors[::2], vectors[1::2]

    def scores(self, measured: Sides, before: Scores) -> Scores:
        """As `DevTest`."""
        return {
            "pair_retrieval": float(geometry.finds_own(*measured).mean()),
            "alignment": geometry.alignment(*measured),
            "uniformity": geometry.uniformity(np.concatenate(measured)),
            "pair_cosine": float(geometry.cosine(*measured).mean()),
        }

    def gain(self, before: Sides, after: Sides) -> tuple[float, float, float]:
        """As `DevTest`."""
        return gain_interval(*(geometry.finds_own(*sides).astype(float) for sides in (after, before)))


class HarmWatch:
    """Says each sign once, or again where the run was resumed."""

    def __init__(self, steps: int, warn: Callable[[int, str], None]) -> None:
        self.steps, self.warn = steps, warn
        self.said: set[str] = set()
        self.still = 0  # steps in a row

    def gradient(self, norm: float, step: int) -> None:
        """Take note of a gradient's norm before it is limited."""
        self.still = 0 if norm else self.still + 1
        if self.still == 3:  # the last batch of an epoch may have none
            self._say("gradient", step, "the gradient was exactly zero three times: nothing is learned")

    def loss(self, loss: float, step: int) -> None:
        """Take note of the loss above its least value."""
        if 10 <= step <= max(20, EARLY * self.steps) and loss < NOTHING_TO_LEARN:
            self._say(
                "loss",
                step,
                f"the loss is {loss:.1e} above the least it can be already: positives are told from "
                "negatives without effort, so there is nothing to learn, and what still changes is what the "
                "encoder knew. Take harder positives or negatives (`python -m train adapt`), a higher "
                "temperature, or stop here",
            )

    def scores(self, before: dict[str, float], now: dict[str, float], step: int) -> None:
        """Compare an evaluation with the one before the first step."""
        both = {key: (before[key], now[key]) for key in before.keys() & now.keys()}
        start, rank = both.get("effective_rank", (0.0, 0.0))
        if rank < (1 - RANK_FALL) * start:
            self._say(
                "rank",
                step,
                f"the effective rank fell from {start:.0f} to {rank:.0f}: embeddings are collapsing into "
                "fewer directions. Lower learning_rate, or add agreement with the starting encoder, or "
                "more of it (`python -m train adapt` has it: agreement.weight)",
            )
        start, cosine = both.get("anisotropy", (0.0, 0.0))
        if cosine > start + ANISOTROPY_RISE:
            self._say(
                "anisotropy",
                step,
                f"the mean cosine of two texts rose from {start:.2f} to {cosine:.2f}: all texts move towards "
                "one direction. Lower learning_rate, or add negatives or agreement with the starting encoder",
            )
        start, found = both.get(FOUND, (0.0, 0.0))
        if found < start - FOUND_FALL:
            self._say(
                "found",
                step,
                f"half of its words finds a text less often ({start:.3f} before, {found:.3f} now): texts "
                "that differ in a detail are drawn together. That helps to find subjects, and not to find "
                "the one text that says the same; labels of your own tell: `python -m eval A B --labelled`",
            )
        start, together = both.get("neighbours", (0.0, 0.0))
        if together < (1 - NEIGHBOUR_FALL) * start:
            known = [(name, *both[name]) for name in RATIOS if name in both]
            shown = "; ".join(f"{name} {first:.3f} before, {last:.3f} now" for name, first, last in known)
            self._say(
                "neighbours",
                step,
                "what is near in the corpus stays together less than before (neighbours, the lesser ratio, "
                f"{together / start:.2f}: {shown}): the encoder unlearns what belongs together. Lower "
                "learning_rate, or add what `python -m train adapt` has: masked false negatives, and "
                "agreement with the starting encoder",
            )

    def _say(self, sign: str, step: int, message: str) -> None:
        if sign not in self.said:
            self.said.add(sign)
            self.warn(step, as_typed(message))
