"""A dev score without labels: whether nearest neighbours share topics, by the words of the corpus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.store.store import Store
from eval.measures.geometry import anisotropy, effective_rank, unit
from train.data.order import is_held_out, row_groups

NEAREST = 10
SAMPLE = 1_000  # texts that are encoded
FITTED_ON = 20_000  # texts whose words the topics are found in, the sample among them
TOPICS = 100
FEWEST = 200  # texts; fewer have no topics to speak of


def neighbour_agreement(store: Store) -> Callable[[Encoder], dict[str, float]] | None:
    """A score of encoders on a fixed sample of the corpus, with the shape of the space they make of it.

    Parameters
    ----------
    store : Store
        Its corpus is read.

    Returns
    -------
    callable or None
        Maps an encoder to `neighbours`, the mean cosine of a text's topics to those of its ten nearest texts
        of the sample by the encoder, from −1 to 1, higher being better; and to `effective_rank` and
        `anisotropy` of the sample. None where the corpus has too few texts, or no words in common.

    Notes
    -----
    The topics of a text are its TF-IDF vector's projection on the leading singular vectors (Deerwester et
    al. 1990, latent semantic analysis). They know of no label and of no encoder; docs/adapt.md shows how the
    score goes with labelled ones, and that retrieval of rephrasings does not.
    """
    texts = _sample(store, FITTED_ON)
    topics = _topics(texts)
    if topics is None:
        return None
    texts, topics = texts[:SAMPLE], topics[:SAMPLE]

    def evaluate(encoder: Encoder) -> dict[str, float]:
        vectors = encoder.encode(texts)
        return {
            "neighbours": agreement(vectors, topics),
            "effective_rank": effective_rank(vectors),
            "anisotropy": anisotropy(vectors),
        }

    return evaluate


def agreement(vectors: np.ndarray, topics: np.ndarray) -> float:
    """Mean cosine of the topics of each text and of its nearest others by cosine of their vectors.

    Parameters
    ----------
    vectors, topics : numpy.ndarray
        Shape (n, d) and (n, t), n above `NEAREST`.
    """
    scaled = unit(vectors).astype(np.float32)
    similarity = scaled @ scaled.T
    np.fill_diagonal(similarity, -np.inf)
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST]
    scaled_topics = unit(topics)
    return float(np.einsum("nt,nkt->nk", scaled_topics, scaled_topics[nearest]).mean())


def _sample(store: Store, most: int) -> list[str]:
    """Distinct texts from all over the corpus, at most `most`, in a mixed order that is always the same."""
    texts: list[str] = []
    for group in row_groups(store.parts):
        rows = store.read_part("corpus", group.part, ["row_id", "text"], [group.index])
        chosen = is_held_out(rows["row_id"].to_numpy(), min(1.0, most / store.rows))
        texts += rows["text"].filter(chosen).to_pylist()
    distinct = list(dict.fromkeys(texts))
    return [distinct[place] for place in np.random.default_rng(0).permutation(len(distinct))[:most]]


def _topics(texts: list[str]) -> np.ndarray | None:
    from sklearn.decomposition import TruncatedSVD  # slow to load
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < FEWEST:
        return None
    # A word in more than a fifth of the texts names no topic, in whichever language.
    counted = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.2)
    try:
        weights = counted.fit_transform(texts)
    except ValueError:  # no word is left
        return None
    topics = min(TOPICS, weights.shape[1] - 1)
    return TruncatedSVD(topics, random_state=0).fit_transform(weights) if topics > 0 else None
