"""Semantic textual similarity as SimCSE's fork of SentEval scores it: one correlation over all pairs."""

import csv
import io
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from augment_cli.errors import BadInputError, MissingError
from eval.contract import Encode, Options, Progress, Protocol, TaskScore, rejoin, scored_split
from eval.measures.geometry import correlation, cosine
from eval.tasks import Pairs, Table, gunzip, pairs_of

# What reading another file, or a damaged one, ends in.
_OTHER_KEYS = (KeyError, TypeError, AttributeError)
_NOT_THE_BENCHMARK = (OSError, EOFError, ValueError, *_OTHER_KEYS, zlib.error, csv.Error)


class STSScore(NamedTuple):
    """What a trainer needs to know of an encoder on STS pairs."""

    spearman: float  # in [-1, 1], or NaN where it is not defined
    similarity: np.ndarray  # the cosine of each pair, shape (pairs,)
    gold: np.ndarray  # what people said of it, shape (pairs,)


def similarities(encode: Encode, pairs: Pairs) -> np.ndarray:
    """The cosine of each pair, shape (pairs,)."""
    return cosine(*np.split(encode([*pairs.first, *pairs.second]), 2))


def score_pairs(similarity: np.ndarray, pairs: Pairs) -> TaskScore:
    """Correlations over all pairs at once ("all"), in each subset, and their means over subsets."""
    spearman, pearson, note = correlation(similarity, pairs.gold)
    names = np.array(pairs.subsets)
    subsets = {}
    for name in dict.fromkeys(pairs.subsets):
        chosen = names == name
        subsets[name] = (*correlation(similarity[chosen], pairs.gold[chosen])[:2], float(chosen.sum()))
    spearmans, pearsons, sizes = (np.array(column) for column in zip(*subsets.values(), strict=True))
    scores = {
        "spearman": spearman,
        "pearson": pearson,
        "mean_spearman": float(spearmans.mean()),
        "weighted_spearman": float(np.average(spearmans, weights=sizes)),
        "mean_pearson": float(pearsons.mean()),
        "weighted_pearson": float(np.average(pearsons, weights=sizes)),
    }
    for name, values in subsets.items():
        scores |= dict(zip((f"spearman_{name}", f"pearson_{name}", f"pairs_{name}"), values, strict=True))
    items = {"similarity": similarity, "gold": pairs.gold}
    return TaskScore(spearman, scores, items=items, notes=[note] if note else [])


def stsb(encode: Encode, data: Path, split: str = "dev") -> STSScore:
    """Score an encoder on the STS Benchmark, which is what a trainer calls between its steps."""
    path = data / "sts" / "stsb.tsv.gz"
    if not path.is_file():
        raise MissingError(
            f"{path} does not exist; set DATA to the data folder, or run `make data` to fetch the sets"
        )
    try:
        file = io.StringIO(gunzip(path.read_bytes()).decode("utf-8"), newline="")
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [row for row in reader if row["split"] == split]
        pairs = Pairs(
            first=[rejoin(row["sentence1"]) for row in rows],
            second=[rejoin(row["sentence2"]) for row in rows],
            gold=np.array([float(row["score"]) for row in rows]),
            subsets=[row["genre"] for row in rows],
        )
    except _NOT_THE_BENCHMARK as error:
        raise BadInputError(
            f"{path} is not the STS Benchmark ({error}); fetch it again: `make data`"
        ) from error
    if not rows:
        raise BadInputError(f"{path} has no rows of the split {split!r}; choose train, dev or test")
    similarity = similarities(encode, pairs)
    return STSScore(correlation(similarity, pairs.gold)[0], similarity, pairs.gold)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    pairs = pairs_of(table)
    return score_pairs(similarities(encode, pairs), pairs)


PROTOCOL = Protocol(
    score=_score,
    splits=scored_split,
    prepare=rejoin,
    mteb_scores={"cosine_spearman": "spearman", "cosine_pearson": "pearson"},
)
