"""`combine`: one set of vectors out of several, smoothed over the neighbourhood of each sentence.

A contextual encoder, a table of words and the corpus's own term weights know different things. Each set is
centred, scaled to length 1 and weighted; side by side they make a vector whose cosine is the weighted mean of
the sets' cosines. Then each vector moves towards its nearest ones, as in label propagation: what is alike
becomes more alike. Where the corpus calls for it, the first set is kept beside that as it was. A student
learns those cosines (`train/methods/adapt/adapt.toml`).
"""

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from augment_cli.contract.vector_parameters import CombineParameters
from augment_cli.encoding.transforms import centred, nearest, smoothed, unit
from augment_cli.errors import UsageError
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import stage_names
from augment_cli.vectors.lexical import LexicalIndex, sparse_library
from augment_cli.vectors.stages import (
    CORPUS_STAGE,
    VECTORS_STAGE,
    VERSION,
    VectorStage,
    row_groups,
    vectors_name,
    vectors_schema,
)

# How `--keep auto` follows from the corpus; the limits are from fourteen sets (benchmarks/LOG.md).
_JUDGED = 2_000  # texts
_GROUPS, _GROUP = 40, 30  # the most groups, and the fewest texts of one on average
_CONFIRMED, _UNCONFIRMED = 0.47, 0.37  # least is kept from the one on, most below the other
_MOST = 10.0
_MANY = 1_000  # texts, of which neighbourhoods are sure
_FEW_KEEP = 2.0  # of fewer texts at least a part of this is kept
_FEW_CONFIRM = 0.1  # and they confirm less: each has fewer neighbours of its own kind


def combine_settings(store: Store, sets: Sequence[str], parameters: CombineParameters) -> Settings:
    """What combined vectors depend on."""
    if not sets and not parameters.lexical:
        raise UsageError("nothing to combine: name sets of vectors, or give --lexical a weight")
    parameters.weights_of(max(len(sets), 1))
    stages = [VectorStage.open(store, CORPUS_STAGE, name or None) for name in sets]
    inputs = {CORPUS_STAGE: store.stage(CORPUS_STAGE).digest} | {item.stage: item.digest for item in stages}
    if parameters.lexical:
        inputs |= {name: store.stage(name).digest for name in stage_names(None)}
    return Settings(
        VECTORS_STAGE,
        VERSION,
        parameters={"of": CORPUS_STAGE, "combined": list(sets), **dataclasses.asdict(parameters)},
        inputs=inputs,
        libraries=library_versions(["numpy", "scipy"]),
    )


def combine(
    store: Store,
    sets: Sequence[str],
    parameters: CombineParameters,
    name: str,
    progress: Callable[[int], None],
) -> str:
    """Make the stage `vectors-NAME` of the corpus from sets of vectors of it."""
    stage, settings = vectors_name(CORPUS_STAGE, name), combine_settings(store, sets, parameters)
    unfinished = store.begin(stage, settings, beside="combine beside it with --name NAME")
    if not unfinished:
        return stage
    views = centred_views(store, sets, parameters)
    vectors = smoothed(side_by_side(views, parameters), parameters.neighbours, parameters.rounds)
    keep = 0.0
    if sets:
        keep = kept_weight(views[0], views[-1]) if parameters.kept is None else parameters.kept
        vectors = unit(np.hstack([vectors, keep * views[0]]))[0] if keep else vectors
    missing = ~np.any(vectors != 0, axis=1)
    schema = vectors_schema(vectors.shape[1])
    for index in unfinished:
        start, size = store.parts[index]
        part = slice(start, start + size)
        statistics = {"vectors": int((~missing[part]).sum())}
        if not index:  # a stage's statistics are the sums of its parts'
            statistics["keep_percent"] = round(100 * keep)
        groups = row_groups(vectors[part], missing[part], start)
        store.commit(store.write_part(stage, index, schema, groups, settings, statistics))
        progress(size)
    return stage


def centred_views(store: Store, sets: Sequence[str], parameters: CombineParameters) -> list[np.ndarray]:
    """Each set's vectors and, where they have a weight, those of the words; centred, float32, of length 1."""
    views = []
    for name in sets:
        stage = VectorStage.open(store, CORPUS_STAGE, name or None)
        parts = [unit(stage.read(index)[0])[0] for index in range(len(store.parts))]
        views.append(centred(np.concatenate(parts)))
    if parameters.lexical:
        views.append(centred(lexical_vectors(store, parameters.components)))
    return views


def side_by_side(views: Sequence[np.ndarray], parameters: CombineParameters) -> np.ndarray:
    """The views, weighted, next to each other; float32 (N, d), of length 1."""
    words = [parameters.lexical] if parameters.lexical else []
    sets = len(views) - len(words)
    weights = parameters.weights_of(max(sets, 1))[:sets] + words
    return unit(np.hstack([weight * view for weight, view in zip(weights, views, strict=True)]))[0]


def kept_weight(vectors: np.ndarray, words: np.ndarray) -> float:
    """How much of the vectors to keep beside the smoothed ones, from 0 to 10, in tenths."""
    # Smoothing makes neighbourhoods of the groups that an encoder sees. Where the sentences' words see
    # them, too, subjects are found better afterwards. Where they do not (praise and blame, captions that
    # differ in a detail), what the encoder could tell apart would be lost.
    few = max(0.0, 1 - len(vectors) / _MANY)
    confirmed = confirmation(vectors, words) + _FEW_CONFIRM * few
    share = max((_CONFIRMED - confirmed) / (_CONFIRMED - _UNCONFIRMED), 0.0)
    return round(min(_FEW_KEEP * few + share / max(1 - share, 1e-9), _MOST), 1)


def confirmation(vectors: np.ndarray, words: np.ndarray) -> float:
    """How far word neighbours lie in the groups that vectors make, relative to neighbours by the vectors."""
    # Groups are those of K-means on the smoothed vectors of at most 2,000 texts. That two views see the same
    # is the assumption of co-training (Blum & Mitchell 1998). Vectors are centred and of length 1, or zero.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    there = np.flatnonzero(np.any(vectors != 0, axis=1) & np.any(words != 0, axis=1))
    there = np.random.default_rng(0).permutation(there)[:_JUDGED]
    count = min(CombineParameters().neighbours, len(there) - 1)
    if count < 1:
        return 0.0
    groups = min(_GROUPS, max(2, len(there) // _GROUP))
    own, by_words = vectors[there], words[there]
    means = KMeans(groups, n_init=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different texts than groups
        group = means.fit_predict(smoothed(own, count, CombineParameters().rounds))
    chance = ((np.bincount(group) / len(group)) ** 2).sum()
    beyond = [(group[nearest(view, count)] == group[:, None]).mean() - chance for view in (by_words, own)]
    return float(beyond[0] / beyond[1]) if beyond[1] > 0 else 0.0


def lexical_vectors(store: Store, components: int) -> np.ndarray:
    """Latent semantic analysis (Deerwester et al. 1990): TF-IDF rows on their largest singular directions."""
    sparse_library()
    from scipy.sparse.linalg import svds

    matrix: Any = LexicalIndex.build(store, None, 1.0, np.zeros(0, np.int64)).matrix
    count = min(components, *(side - 1 for side in matrix.shape))
    if count < 1 or not matrix.count_nonzero():  # one text, or all equal: no word tells them apart
        return np.zeros((store.rows, 1), np.float32)
    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    left, values, _ = svds(matrix.astype(np.float64), k=count, v0=start)
    order = np.argsort(-values)
    return (left[:, order] * values[order]).astype(np.float32)
