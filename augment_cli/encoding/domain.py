"""How far a text is one of a corpus's, and not a general sentence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from augment_cli.encoding.transforms import mean_of_nearest

_NEIGHBOURS = 10
_STRENGTH = 10.0  # inverse, of the regressions' regularisation


@dataclass
class Domain:
    """Tells a corpus's texts from general sentences, by vectors of one encoder.

    Two logistic regressions have to agree, as neither is right alone: one on the vector, which takes much
    that is new for the corpus's, and one on how near the ten nearest texts of the corpus are.

    Source: distance to the nearest neighbours as a sign of what is out of a domain (Sun et al. 2022).
    """

    vectors: np.ndarray  # of the corpus, of length 1, float32 (n, d)
    direction: np.ndarray  # of the first regression, float32 (d + 1,), its offset last
    slope: np.ndarray  # of the second one, float32 (2,), its offset last

    @classmethod
    def fit(cls, vectors: np.ndarray, others: np.ndarray) -> "Domain":
        """Learn it from vectors of the corpus (n, d) and of general sentences (m, d), all of length 1."""
        vectors = vectors.astype(np.float16).astype(np.float32)  # as they are stored
        near = np.append(_nearness(vectors), _nearness(others, vectors))
        is_own = np.arange(len(near)) < len(vectors)
        direction = _regression(np.concatenate([vectors, others]), is_own)
        return cls(vectors, direction, _regression(near[:, None], is_own))

    def share(self, vectors: np.ndarray) -> np.ndarray:
        """From 0, general, to 1, of the corpus, for vectors (n, d) of length 1; float32 (n,)."""
        from scipy.special import expit

        near = _nearness(vectors, self.vectors)
        by_vector = expit(vectors @ self.direction[:-1] + self.direction[-1])
        return np.asarray(by_vector * expit(near * self.slope[0] + self.slope[1]), np.float32)


def _nearness(vectors: np.ndarray, keys: np.ndarray | None = None) -> np.ndarray:
    """Mean cosine of each vector with its ten nearest keys, or others; (n,)."""
    count = min(_NEIGHBOURS, len(vectors) - 1 if keys is None else len(keys))
    return np.asarray(np.einsum("ij,ij->i", vectors, mean_of_nearest(vectors, count, keys)))


def _regression(features: np.ndarray, is_own: np.ndarray) -> np.ndarray:
    """Weights of features (n, k), and an offset; float32 (k + 1,)."""
    from sklearn.linear_model import LogisticRegression

    # Encoders differ in where their vectors lie, and in how far from each other.
    mean = features.mean(axis=0)
    scale = np.sqrt(features.var(axis=0).sum()) or 1.0
    model: Any = LogisticRegression(C=_STRENGTH, class_weight="balanced", max_iter=1000)
    model.fit((features - mean) / scale, is_own)
    weights = model.coef_[0] / scale
    return np.append(weights, model.intercept_ - weights @ mean).astype(np.float32)
