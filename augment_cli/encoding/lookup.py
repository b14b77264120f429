"""Lookup: two steps after an encoder, which move a text towards its likes in a corpus; nothing is trained.

For clustering, topics and few-shot classification. It does not find the one text that says the same: what is
alike becomes more alike. Texts that are not of the corpus's kind stay as the encoder has them.
"""

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
from augment_cli.tokenization.tokens import WORDS

_COMBINED = CombineParameters()  # a lookup is smoothed as `augment-cli combine` does by default
_MOST_KEYS = 10_000  # texts of a corpus that are kept; of MiniLM 46 MB
_TEMPERATURE = 0.04  # of the attention
_STRENGTH = 10.0  # inverse, of the regression's regularisation
_LEFT = 0.05  # share of the corpus's texts whose weight the empty key takes by half or more
_BLOCK = 1_024  # texts whose attention is held at a time
_NEVER = -1e4  # a logit that softmax makes zero of
_CARD = """
## Lookup

After the encoder stands attention over the vectors of {:,} of the corpus's texts, which moves a text towards those
that are like it. Use it for clustering, topics and classification with few labels, not to search. It needs
sentence-transformers 5.7 or later. PyTorch may warn that a softmax's dimension is implicit; it is the right one.
"""


@dataclass(frozen=True)
class Lookup:
    """An encoder, and attention over a corpus's smoothed vectors whose value is added to a text's vector.

    Let x be a text's vector of length 1, m the mean of the corpus's, r their distance from it and k their
    smoothed directions from there. What comes out is x + Σ pᵢ (m + r kᵢ), of length 1. The weights p are
    softmax((x − m) · kᵢ / 0.04 r). One key more, of logit b − w · x, has no value, and takes the weight of
    texts that are not like the corpus.

    Source: attention (Vaswani et al. 2017, eq. 1), diffusion for retrieval (Iscen et al. 2017).

    Examples
    --------
    >>> import augment_cli
    >>> encoder = augment_cli.load_encoder("data/models/static")
    >>> lookup = augment_cli.Lookup.fit(encoder, ["The river flows.", "A heron waits.", "A boat waits."])
    >>> lookup.encode(["The heron waits."]).shape
    (1, 256)
    """

    encoder: Encoder
    mean: np.ndarray  # m, float32 (d,)
    keys: np.ndarray  # k, float32 (n, d)
    empty: np.ndarray  # w and, last, b; float32 (d + 1,)

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
        if len(texts) < 2:
            raise UsageError(f"a lookup needs at least two texts, not {len(texts)}; give the corpus's texts")
        kept = np.linspace(0, len(texts) - 1, min(len(texts), _MOST_KEYS)).astype(int)
        texts = [texts[place] for place in kept]
        vectors = unit(encoder.encode(texts))[0]
        mean, own = vectors[vectors.any(axis=1)].mean(axis=0), centred(vectors)
        views = [own, *(weight * centred(other.encode(texts)) for other, weight in beside)]
        if (words := _word_vectors(texts)) is not None:
            views.append(_COMBINED.lexical * centred(words))
        beside_each_other = unit(np.hstack(views))[0]
        keys = smoothed(own, _COMBINED.neighbours, _COMBINED.rounds, beside_each_other)
        lookup = cls(encoder, mean, keys, np.append(np.zeros_like(mean), np.float32(_NEVER)))
        if others is None:
            others = general_sentences(texts).read_text("utf-8").splitlines()
        return lookup._leaving(vectors, unit(encoder.encode(others))[0]) if others else lookup

    def _leaving(self, vectors: np.ndarray, others: np.ndarray) -> "Lookup":
        """One whose empty key takes the weight of others' vectors (m, d), and not of the corpus's (n, d)."""
        from scipy.special import logsumexp
        from sklearn.linear_model import LogisticRegression

        logits = self._logits(vectors)
        np.fill_diagonal(logits, -np.inf)  # an unseen text has no key of its own
        model: Any = LogisticRegression(C=_STRENGTH, class_weight="balanced", max_iter=1000)
        # Encoders differ in how far from each other their vectors lie.
        both = np.concatenate([vectors, others]) - self.mean
        scale = np.sqrt(both.var(axis=0).sum()) or 1.0
        direction = model.fit(both / scale, np.arange(len(both)) < len(vectors)).coef_[0] / scale
        least = np.quantile(logsumexp(logits, axis=1) + vectors @ direction, _LEFT)
        return Lookup(self.encoder, self.mean, self.keys, np.append(direction, least).astype(np.float32))

    @property
    def _distance(self) -> float:
        """Of the corpus's vectors from their mean."""
        return float(np.sqrt(max(1 - self.mean @ self.mean, 1e-6)))

    def _logits(self, vectors: np.ndarray) -> np.ndarray:
        return (vectors - self.mean) @ self.keys.T / (_TEMPERATURE * self._distance)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What follows the encoder's own steps."""
        count, width = self.keys.shape
        weight, bias = np.zeros((count + 1 + width, width), np.float32), np.full(count + 1 + width, _NEVER)
        weight[:count] = self.keys / (_TEMPERATURE * self._distance)
        bias[:count] = -weight[:count] @ self.mean
        weight[count], bias[count] = -self.empty[:-1], self.empty[-1]
        unchanged = np.zeros_like(weight)  # the vector itself, behind the weights
        unchanged[count + 1 :] = np.eye(width)
        values = unchanged.T.copy()
        values[:, :count] = (self.mean + self._distance * self.keys).T
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

    def save(self, source: Path, target: Path) -> None:
        """Write a new folder, from the encoder's, which sentence-transformers and `load_encoder` read."""
        with_steps(source, target, self.steps)
        if (card := target / "README.md").is_file():
            with card.open("a", encoding="utf-8") as file:
                file.write(_CARD.format(len(self.keys)))


def _word_vectors(texts: Sequence[str]) -> np.ndarray | None:
    """Latent semantic analysis of TF-IDF weights, (n, k); None where no word stands in two texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        counts = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=WORDS).fit_transform(texts)
    except ValueError:
        return None
    components = min(_COMBINED.components, min(counts.shape) - 1)
    return TruncatedSVD(components, random_state=0).fit_transform(counts) if components >= 1 else None
