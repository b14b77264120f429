"""A dev score without labels: whether what belongs together in the corpus stays together."""

from __future__ import annotations

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.errors import MixError
from augment_cli.store.store import Store
from eval.measures.geometry import anisotropy, effective_rank
from eval.measures.similarity import NEAREST, finds_own, halves, nearest, shared_neighbours
from eval.results.compare import gain_interval
from train.data.order import is_held_out, row_groups

SAMPLE = 1_000  # texts that are encoded, and their halves
HALVINGS = 4  # ways to halve each text: one alone is mostly noise on short texts
RATIOS = ("shared_neighbours", "half_neighbours")
FOUND = "found_by_half"  # how often half of a text's words finds the text; it decides nothing
FEWEST = 200  # texts; of fewer, the ten nearest are too large a share
Measured = tuple[np.ndarray, dict[str, np.ndarray]]
_LEAST = 1e-6  # keeps a ratio finite: one neighbour of one text more or less is 1e-4


class Neighbourhoods:
    """A score of encoders on a fixed sample of the corpus, with the shape of the space they make of it."""

    # Either alone misleads: training that pushes texts apart without regard to what they mean has fewer
    # shared neighbours, and one that collapses has more; halves find fewer of the same texts where an encoder
    # has collapsed, and sometimes more where it was harmed otherwise: benchmarks/results/training.md.
    def __init__(self, texts: list[str]) -> None:
        generator = np.random.default_rng(0)
        self.texts = texts
        self.halved = [[halves(text, generator) for text in texts] for _ in range(HALVINGS)]

    @classmethod
    def of(cls, store: Store) -> Neighbourhoods | None:
        """Of a store's corpus; None where it is too small."""
        texts = _sample(store, SAMPLE)
        return cls(texts) if len(texts) >= FEWEST else None

    def measure(self, encoder: Encoder) -> Measured:
        """Vectors of the texts, and the scores of each text."""
        vectors = encoder.encode(self.texts)
        halved = []
        for pairs in self.halved:
            sides = [encoder.encode(side) for side in zip(*pairs, strict=True)]
            both = np.logical_and(*map(nearest, sides)).sum(axis=1)
            halved.append([both / NEAREST, sum(finds_own(side, vectors) for side in sides) / 2])
        both, own = np.mean(halved, axis=0)
        return vectors, {"shared_neighbours": shared_neighbours(vectors), "half_neighbours": both, FOUND: own}

    def scores(self, measured: Measured, before: dict[str, float]) -> dict[str, float]:
        """The lesser of two ratios to the starting encoder's scores, what it is made of, and `FOUND`."""
        vectors, by_text = measured
        scores = {name: float(values.mean()) for name, values in by_text.items()}
        shape = {"effective_rank": effective_rank(vectors), "anisotropy": anisotropy(vectors)}
        return {"neighbours": lesser_ratio(scores, before or scores), **scores, **shape}

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


def _sample(store: Store, most: int) -> list[str]:
    """Distinct texts from all over the corpus, at most `most`, in a mixed order that is always the same."""
    texts: list[str] = []
    for group in row_groups(store.parts):
        rows = store.read_part("corpus", group.part, ["row_id", "text"], [group.index])
        chosen = is_held_out(rows["row_id"].to_numpy(), min(1.0, 2 * most / store.rows))
        texts += rows["text"].filter(chosen).to_pylist()
    distinct = list(dict.fromkeys(texts))
    return [distinct[place] for place in np.random.default_rng(0).permutation(len(distinct))[:most]]
