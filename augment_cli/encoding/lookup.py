"""Lookup: two steps after an encoder, which move a text towards its likes in a corpus; nothing is trained.

For clustering, topics and few-shot classification. It does not find the one text that says the same: what is
alike becomes more alike. Texts that are not of the corpus's kind stay as the encoder has them.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augment_cli.contract.vector_parameters import CombineParameters
from augment_cli.encoding.dense import Dense, Step, to_length_one, with_steps
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.transforms import centred, smoothed, unit
from augment_cli.errors import UsageError
from augment_cli.languages import general_sentences
from augment_cli.neural.loading import find_folder
from augment_cli.tokenization.tokens import WORDS

_COMBINED = CombineParameters()  # a lookup is smoothed as `augment-cli combine` does by default
_MOST_TEXTS = 10_000  # of a corpus that are kept; of MiniLM 46 MB
_TEMPERATURE = 0.04  # the kernel's variance, by that of the corpus's vectors
_STRENGTH = 10.0  # inverse, of the regression's regularisation
_LEFT = 0.05  # share of the corpus's texts that are moved by less than half
_BLOCK = 1_024  # texts whose attention is held at a time
_NEVER = -1e6  # a logit that softmax makes zero of
_CARD = """
## Lookup

After the encoder stands attention over the vectors of {:,} of the corpus's texts, which moves a text towards
those that are like it. Use it for clustering, topics and classification with few labels, not to search. It
needs sentence-transformers 5.7 or later; transformers and model2vec load the encoder without it. PyTorch may
warn that a softmax's dimension is implicit; it is the right one.
"""


@dataclass(frozen=True)
class Lookup:
    """An encoder, and attention over points near a corpus's vectors, whose mean is added to a text's vector.

    The points p are the corpus's vectors of length 1, smoothed over their neighbours about the mean of all.
    Of a text's vector x of length 1 comes x + Σ wᵢ pᵢ, of length 1. The weights are of a Gaussian kernel,
    wᵢ ∝ exp(−|x − pᵢ|² / 2σ²), where σ² is 0.04 of the mean squared distance of the corpus's vectors from
    their mean. They sum to less than 1 by what a logit c − v · x takes, which has no point: nearly nothing of
    the corpus's texts, and nearly all of texts that are unlike them.

    Source: attention (Vaswani et al. 2017, eq. 1), the mean shift (Fukunaga and Hostetler 1975).

    Examples
    --------
    >>> import augment_cli
    >>> encoder = augment_cli.load_encoder("data/models/static")
    >>> lookup = augment_cli.Lookup.fit(encoder, ["The river flows.", "A heron waits.", "A boat waits."])
    >>> lookup.encode(["The heron waits."]).shape
    (1, 256)
    """

    encoder: Encoder
    points: np.ndarray  # p, float32 (n, d)
    variance: float  # σ²
    direction: np.ndarray  # v, float32 (d,)
    offset: float  # c

    @classmethod
    def fit(
        cls,
        encoder: Encoder,
        texts: Sequence[str],
        beside: Sequence[tuple[Encoder, float]] = (),
        others: Sequence[str] | None = None,
    ) -> "Lookup":
        """Look a corpus up, or 10,000 of its texts.

        Other encoders, with their weights, may tell beside this one which texts are near each other. `others`
        are sentences that are to stay as they are: by default shipped ones, in the corpus's language where
        there are some. With an empty list all texts are the corpus's.
        """
        kept = np.linspace(0, len(texts) - 1, min(len(texts), _MOST_TEXTS)).astype(int)
        texts = [texts[place] for place in kept]
        vectors, has_direction = unit(encoder.encode(texts))
        if (count := len(set(texts))) < 2 or not has_direction.any():
            raise UsageError(
                f"a lookup needs at least two texts that the encoder knows words of, not {count}; give the "
                "corpus's texts"
            )
        own = centred(vectors)
        guide = _side_by_side(own, texts, beside)
        directions = smoothed(own, _COMBINED.neighbours, _COMBINED.rounds, guide)
        mean = vectors[has_direction].mean(axis=0)
        spread = max(1 - float(mean @ mean), 1e-6)  # mean squared distance from the mean
        points = mean + np.sqrt(spread, dtype=np.float32) * directions
        lookup = cls(encoder, points, _TEMPERATURE * spread, np.zeros_like(mean), _NEVER)
        if others is None:
            others = general_sentences(texts).read_text("utf-8").splitlines()
        return lookup._leaving(vectors, unit(encoder.encode(others))[0]) if others else lookup

    def _leaving(self, vectors: np.ndarray, others: np.ndarray) -> "Lookup":
        """One that leaves others' vectors (m, d) where they are, and not the corpus's (n, d)."""
        from scipy.special import logsumexp
        from sklearn.linear_model import LogisticRegression

        model: Any = LogisticRegression(C=_STRENGTH, class_weight="balanced", max_iter=1000)
        # Encoders differ in how far from each other their vectors lie.
        both = np.concatenate([vectors, others])
        scale = np.sqrt(both.var(axis=0).sum()) or 1.0
        features = (both - both.mean(axis=0)) / scale
        direction = model.fit(features, np.arange(len(both)) < len(vectors)).coef_[0] / scale
        near = []
        for low in range(0, len(vectors), _BLOCK):
            logits = self._logits(vectors[low : low + _BLOCK])
            rows = np.arange(len(logits))
            logits[rows, low + rows] = -np.inf  # an unseen text has no point of its own
            near.append(logsumexp(logits, axis=1))
        least = np.quantile(np.concatenate(near) + vectors @ direction, _LEFT)
        return dataclasses.replace(self, direction=direction.astype(np.float32), offset=float(least))

    @property
    def _bias(self) -> np.ndarray:
        """Of the points' logits, (n,)."""
        return np.asarray(-np.einsum("ij,ij->i", self.points, self.points) / (2 * self.variance))

    def _logits(self, vectors: np.ndarray) -> np.ndarray:
        """−|x − p|² / 2σ² of vectors of length 1, but for what all points have in common."""
        return vectors @ self.points.T / np.float32(self.variance) + self._bias

    @property
    def steps(self) -> tuple[Step, ...]:
        """What follows the encoder's own steps."""
        count, width = self.points.shape
        weight = np.zeros((count + 1 + width, width), np.float32)
        weight[:count], weight[count] = self.points / np.float32(self.variance), -self.direction
        bias = np.concatenate([self._bias, [self.offset], np.full(width, _NEVER)])
        unchanged = np.zeros_like(weight)  # the vector itself, behind the weights
        unchanged[count + 1 :] = np.eye(width)
        values = unchanged.T.copy()
        values[:, :count] = self.points.T
        weights, start, value = map(torch.from_numpy, (weight, unchanged, values))
        attention = Dense(weights, torch.from_numpy(bias).float(), "Softmax", start)
        return to_length_one, attention, Dense(value), to_length_one

    def encode(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        """Vectors of texts, float32 (n, d), of length 1; options are those of the encoder's `encode`."""
        vectors, steps = torch.from_numpy(self.encoder.encode(texts, **options)), self.steps
        found = torch.empty_like(vectors)
        for low in range(0, len(vectors), _BLOCK):
            block = vectors[low : low + _BLOCK]
            for step in steps:
                block = step(block)
            found[low : low + _BLOCK] = block
        return found.numpy()

    def save(self, encoder: str | Path, target: str | Path) -> None:
        """Write a new folder for sentence-transformers; `encoder` is the folder or name of the encoder."""
        source, target = find_folder(str(encoder), False, "encoder")[0], Path(target)
        with_steps(source, target, self.steps)
        if (card := target / "README.md").is_file():
            with card.open("a", encoding="utf-8") as file:
                file.write(_CARD.format(len(self.points)))


def neighbourhoods(
    encoder: Encoder, texts: Sequence[str], beside: Sequence[tuple[Encoder, float]] = ()
) -> np.ndarray:
    """A teacher's vectors, float32 (n, k): those of all encoders and of the texts' words, smoothed.

    As `augment-cli combine` makes them of a store.
    """
    guide = _side_by_side(centred(encoder.encode(texts)), texts, beside)
    return smoothed(guide, _COMBINED.neighbours, _COMBINED.rounds)


def _side_by_side(
    own: np.ndarray, texts: Sequence[str], beside: Sequence[tuple[Encoder, float]]
) -> np.ndarray:
    views = [own, *(weight * centred(other.encode(texts)) for other, weight in beside)]
    if (words := _word_vectors(texts)) is not None:
        views.append(_COMBINED.lexical * centred(words))
    return unit(np.hstack(views))[0]


def _word_vectors(texts: Sequence[str]) -> np.ndarray | None:
    """Latent semantic analysis of TF-IDF weights, (n, k); None where no word stands in two texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        counts = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=WORDS).fit_transform(texts)
    except ValueError:
        return None
    components = min(_COMBINED.components, min(counts.shape) - 1)
    if components < 1:
        return None
    with np.errstate(invalid="ignore"):  # equal texts: it divides by their variance
        return np.asarray(TruncatedSVD(components, random_state=0).fit_transform(counts))
