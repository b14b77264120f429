"""Texts as points of a plane, near ones side by side; scikit-learn places them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import regex

GROUPS = 8  # as many colours can be told apart
MOST = 600  # texts of a map
FEWEST = 40
_WORD = regex.compile(r"\p{L}{3,}")
_WORDS = 3  # that name a group
_NEIGHBOURS, _STEPS = 20.0, 400


def places_of(*vectors: np.ndarray) -> list[np.ndarray]:
    """For each set of vectors (n, d) of the same texts places (n, 2), all from one beginning (t-SNE)."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    first = unit(vectors[0])
    first = first - first.mean(axis=0)
    start = first @ np.linalg.svd(first, full_matrices=False)[2][:2].T
    start = 1e-4 * start / max(float(start[:, 0].std()), 1e-9)
    found = []
    for some in vectors:
        count = min(_NEIGHBOURS, (len(some) - 1) / 3)
        method = TSNE(perplexity=count, init=start, max_iter=_STEPS, random_state=0, learning_rate="auto")
        with threadpool_limits(1):  # threads that wait for each other take ten times as long for so few
            found.append(method.fit_transform(unit(some)))
    return found


def groups_of(*vectors: np.ndarray) -> np.ndarray:
    """A group (n,) for each text, by all sets of vectors together, so that none of them is preferred."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        together = np.hstack([unit(some) for some in vectors])
        found: np.ndarray = KMeans(min(GROUPS, len(together)), n_init=4, random_state=0).fit_predict(together)
    return found


def names_of(groups: np.ndarray, texts: Sequence[str]) -> list[str]:
    """For each group the words that its texts have more often than the others."""
    words = [set(_WORD.findall(text.lower())) for text in texts]
    everywhere = Counter(word for some in words for word in some)
    names = []
    for group in range(int(groups.max()) + 1):
        own = [some for some, of in zip(words, groups, strict=True) if of == group]
        counts = Counter(word for some in own for word in some)
        weights = {word: count * math.log(len(texts) / everywhere[word]) for word, count in counts.items()}
        names.append(", ".join(sorted(weights, key=lambda word: (-weights[word], word))[:_WORDS]) or "others")
    return names


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, d) of length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
