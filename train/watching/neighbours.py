"""A dev score without labels: whether what belongs together in the corpus stays together."""

from __future__ import annotations

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.errors import MixError
from augment_cli.store.store import Store
from eval.measures.geometry import anisotropy, effective_rank
from eval.measures.neighbours import NEAREST, finds_own, halves, nearest, shared_neighbours
from eval.results.compare import gain_interval
from train.data.order import is_held_out, row_groups

SAMPLE = 1_000  # texts that are encoded, and their halves
HALVINGS = 4  # ways to halve each text: one alone is mostly noise on short texts
RATIOS = ("shared_neighbours", "half_neighbours")
FOUND = "found_by_half"  # how often half of a text's words finds the text; it decides nothing
FEWEST = 200  # texts; of fewer, the ten nearest are too large a share
_LEAST = 1e-6  # keeps a ratio finite: one neighbour of one text more or less is 1e-4


class Neighbourhoods:
    """A score of encoders on a fixed sample of the corpus, with the shape of the space they make of it."""

    # Either alone misleads: training that pushes texts apart without regard to what they mean has fewer
    # shared neighbours, and one that collapses has more; halves find fewer of the same texts where an encoder
    # has collapsed, and sometimes more where it was harmed otherwise: benchmarks/results/dev-score.md.
    def __init__(self, texts: list[str]) -> None:
        generator = np.random.default_rng(0)
        self.texts = texts
        self.halved = [[halves(text, generator) for text in texts] for _ in range(HALVINGS)]
        self._seen: dict[bytes, np.ndarray] = {}

    @classmethod
    def of(cls, store: Store) -> Neighbourhoods | None:
        """Of a store's corpus; None where it is too small."""
        texts = _sample(store, SAMPLE)
        return cls(texts) if len(texts) >= FEWEST else None

    def __call__(self, encoder: Encoder, before: dict[str, float]) -> dict[str, float]:
        """The lesser of two ratios to the starting encoder's scores, what it is made of, and `FOUND`."""
        vectors, by_text = self._by_text(encoder)
        scores = {name: float(values.mean()) for name, values in by_text.items()}
        return {
            "neighbours": lesser_ratio(scores, before or scores),
            **scores,
            "effective_rank": effective_rank(vectors),
            "anisotropy": anisotropy(vectors),
        }

    def gain(self, start: Encoder, best: Encoder) -> tuple[float, float, float]:
        """What the deciding score gained, and its 95 % interval over other samples of texts."""
        (_, before), (_, after) = (self._by_text(encoder) for encoder in (start, best))
        name = min(RATIOS, key=lambda name: after[name].mean() / (before[name].mean() + _LEAST))
        scale = before[name].mean() + _LEAST
        return gain_interval(after[name] / scale, before[name] / scale)

    def _by_text(self, encoder: Encoder) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        vectors = encoder.encode(self.texts)
        known = vectors.tobytes()  # what an encoder makes of all texts tells it apart
        if known not in self._seen:
            # At the end the first and one of the latest two are mostly what is compared.
            for earlier in [*self._seen][1:-1]:
                del self._seen[earlier]
            halved = []
            for pairs in self.halved:
                sides = [encoder.encode(side) for side in zip(*pairs, strict=True)]
                first, second = map(nearest, sides)
                found = sum(finds_own(side, vectors) for side in sides) / 2
                halved.append([(first & second).sum(axis=1) / NEAREST, found])
            self._seen[known] = np.mean(halved, axis=0)
        both, found = self._seen[known]
        return vectors, {
            "shared_neighbours": shared_neighbours(vectors), "half_neighbours": both, FOUND: found
        }  # fmt: skip


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
