"""A dev score without labels: whether what belongs together in the corpus stays together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.errors import MixError
from augment_cli.store.store import Store
from eval.measures.geometry import anisotropy, effective_rank, unit
from train.data.order import is_held_out, row_groups

NEAREST = 10
SAMPLE = 1_000  # texts that are encoded, and their halves
RATIOS = ("shared_neighbours", "half_neighbours")
FEWEST = 200  # texts; of fewer, the ten nearest are too large a share
_LEAST = 1e-6  # keeps a ratio finite: one neighbour of one text more or less is 1e-4


def neighbourhoods(store: Store) -> Callable[[Encoder, dict[str, float]], dict[str, float]] | None:
    """A score of encoders on a fixed sample of the corpus, with the shape of the space they make of it."""
    # Either alone misleads: training that pushes texts apart without regard to what they mean has fewer
    # shared neighbours, and one that collapses has more; halves find fewer of the same texts where an encoder
    # has collapsed, and sometimes more where it was harmed otherwise. benchmarks/results/dev-score.md
    # shows how they were chosen.
    texts = _sample(store, SAMPLE)
    if len(texts) < FEWEST:
        return None
    generator = np.random.default_rng(0)
    pairs = [halves(text, generator) for text in texts]
    first, second = (list(side) for side in zip(*pairs, strict=True))

    def evaluate(encoder: Encoder, before: dict[str, float]) -> dict[str, float]:
        vectors = encoder.encode(texts)
        both = nearest(encoder.encode(first)) & nearest(encoder.encode(second))
        scores = {
            "shared_neighbours": shared_neighbours(vectors),
            "half_neighbours": float(both.sum(axis=1).mean() / NEAREST),
        }
        return {
            "neighbours": lesser_ratio(scores, before or scores),
            **scores,
            "effective_rank": effective_rank(vectors),
            "anisotropy": anisotropy(vectors),
        }

    return evaluate


def halves(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A text's words in two random halves, each in its order; a text of one word by its characters."""
    words = text.split()
    parts, between = (words, " ") if len(words) > 1 else (list(text), "")
    first = generator.permutation(len(parts)) < len(parts) // 2
    chosen = list(zip(parts, first, strict=True))
    return (
        between.join(part for part, is_first in chosen if is_first),
        between.join(part for part, is_first in chosen if not is_first),
    )


def nearest(vectors: np.ndarray) -> np.ndarray:
    """Which texts are the ten nearest others of each, by cosine about the mean of all."""
    # Shape (n, n), bool.
    scaled = unit(vectors)
    # What all texts have in common says nothing of which belong together.
    scaled = unit(scaled - scaled.mean(axis=0)).astype(np.float32)
    similarity = scaled @ scaled.T
    np.fill_diagonal(similarity, -np.inf)
    found = np.zeros(similarity.shape, dtype=bool)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST]
    np.put_along_axis(found, order, True, axis=1)
    return found


def shared_neighbours(vectors: np.ndarray) -> float:
    """How many of the ten nearest a text and one of its ten nearest share, on average."""
    # The similarity of Jarvis & Patrick (1973), as the mean over all neighbours.
    near = nearest(vectors).astype(np.float32)
    return float(((near @ near.T) * near).sum() / (len(near) * NEAREST * NEAREST))


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
