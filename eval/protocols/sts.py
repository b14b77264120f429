"""Semantic textual similarity as SimCSE's fork of SentEval scores it: one correlation over all pairs."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from augment_cli.errors import BadInputError, MissingError

Encode = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with gold similarity and the subset each pair is from; all of one length."""

    first: list[str]
    second: list[str]
    gold: np.ndarray
    subsets: list[str]


@dataclass(frozen=True)
class STSScore:
    """Correlations of cosine similarity with gold, each in [-1, 1] or NaN where it is not defined.

    Attributes
    ----------
    spearman, pearson
        Over all pairs at once ("all").
    mean_spearman, weighted_spearman, mean_pearson, weighted_pearson
        Mean over the subsets, plain and weighted by their number of pairs.
    subsets
        (pairs, Spearman, Pearson) per subset.
    similarity
        The cosine of each pair, shape (pairs,).
    note
        Why a correlation is not defined; empty otherwise.
    """

    spearman: float
    pearson: float
    mean_spearman: float
    weighted_spearman: float
    mean_pearson: float
    weighted_pearson: float
    subsets: dict[str, tuple[int, float, float]]
    similarity: np.ndarray
    note: str = ""


def rejoin(text: str) -> str:
    """Whitespace-split and re-joined by single spaces, as SentEval hands sentences to an encoder."""
    return " ".join(text.split())


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosine of matching rows; a zero vector is orthogonal to everything (cosine 0).

    Parameters
    ----------
    first, second
        Shape (n, d) each.

    Returns
    -------
    numpy.ndarray
        Shape (n,), float64.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.divide((first * second).sum(axis=1), norms, out=np.zeros(len(first)), where=norms != 0)


def correlation(similarity: np.ndarray, gold: np.ndarray) -> tuple[float, float, str]:
    """Spearman and Pearson correlation, with the reason where they are not defined.

    Returns
    -------
    tuple
        (Spearman, Pearson, note). Fewer than two pairs, a constant side, or NaN give (NaN, NaN, why).
    """
    if not np.isfinite(similarity).all():
        return math.nan, math.nan, "some embeddings are NaN or infinite"
    if len(similarity) < 2:
        return math.nan, math.nan, "fewer than two pairs"
    if np.ptp(similarity) == 0:
        return math.nan, math.nan, "all similarities are equal (constant embeddings)"
    if np.ptp(gold) == 0:
        return math.nan, math.nan, "all gold scores are equal"
    return float(stats.spearmanr(similarity, gold)[0]), float(stats.pearsonr(similarity, gold)[0]), ""


def score_pairs(encode: Encode, pairs: Pairs) -> STSScore:
    """Score an encoder on sentence pairs.

    Parameters
    ----------
    encode
        A function of n strings that returns vectors of shape (n, d).
    pairs
        The pairs. All sentences go to one call of `encode`, so that equal ones are encoded once.
    """
    count = len(pairs.gold)
    vectors = encode([rejoin(text) for text in (*pairs.first, *pairs.second)])
    similarity = cosine(vectors[:count], vectors[count:])
    spearman, pearson, note = correlation(similarity, pairs.gold)
    names = np.array(pairs.subsets)
    subsets = {}
    for name in dict.fromkeys(pairs.subsets):
        chosen = names == name
        subsets[name] = (int(chosen.sum()), *correlation(similarity[chosen], pairs.gold[chosen])[:2])
    sizes, spearmans, pearsons = (np.array(column) for column in zip(*subsets.values(), strict=True))
    return STSScore(
        spearman=spearman,
        pearson=pearson,
        mean_spearman=float(spearmans.mean()),
        weighted_spearman=float(np.average(spearmans, weights=sizes)),
        mean_pearson=float(pearsons.mean()),
        weighted_pearson=float(np.average(pearsons, weights=sizes)),
        subsets=subsets,
        similarity=similarity,
        note=note,
    )


def stsb(encode: Encode, data: Path, split: str = "dev") -> STSScore:
    """Score an encoder on the STS Benchmark, which is what a trainer calls between its steps.

    Parameters
    ----------
    encode
        As in `score_pairs`.
    data
        The data folder.
    split
        `train`, `dev` (1,500 pairs) or `test` (1,379 pairs).

    Raises
    ------
    MissingError
        If the data folder does not hold sts/stsb.tsv.gz.
    """
    path = data / "sts" / "stsb.tsv.gz"
    if not path.is_file():
        raise MissingError(
            f"{path} does not exist; set DATA to the data folder, or run `make data` to fetch the sets"
        )
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["split"] == split
        ]
    if not rows:
        raise BadInputError(f"{path} has no rows of the split {split!r}; choose train, dev or test")
    return score_pairs(
        encode,
        Pairs(
            first=[row["sentence1"] for row in rows],
            second=[row["sentence2"] for row in rows],
            gold=np.array([float(row["score"]) for row in rows]),
            subsets=[row["genre"] for row in rows],
        ),
    )
