"""Semantic textual similarity as SimCSE's fork of SentEval scores it: one correlation over all pairs."""

from __future__ import annotations

import csv
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.errors import BadInputError, MissingError
from eval.contract.options import Options, Progress
from eval.contract.protocol import Encode, Protocol, rejoin, scored_split
from eval.contract.task_score import TaskScore
from eval.measures.geometry import correlation, cosine
from eval.tasks.table import Pairs, Table, gunzip, pairs_of

# What reading another file, or a damaged one, ends in.
_OTHER_KEYS = (KeyError, TypeError, AttributeError)
_NOT_THE_BENCHMARK = (OSError, EOFError, ValueError, *_OTHER_KEYS, zlib.error, csv.Error)


@dataclass(frozen=True)
class STSScore:
    """Correlations of cosine similarity with gold, each in [-1, 1] or NaN where it is not defined."""

    spearman: float  # over all pairs at once ("all")
    pearson: float
    mean_spearman: float  # mean over the subsets, plain and weighted by their number of pairs
    weighted_spearman: float
    mean_pearson: float
    weighted_pearson: float
    subsets: dict[str, tuple[int, float, float]]  # (pairs, Spearman, Pearson) per subset
    similarity: np.ndarray  # the cosine of each pair, shape (pairs,)
    gold: np.ndarray  # what people said of it, shape (pairs,)
    note: str = ""  # why a correlation is not defined; empty otherwise

    @property
    def correlations(self) -> dict[str, float]:
        """The six correlations by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, float)}


def score_pairs(encode: Encode, pairs: Pairs) -> STSScore:
    """Score an encoder on sentence pairs."""
    count = len(pairs.gold)
    vectors = encode([*pairs.first, *pairs.second])
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
        gold=pairs.gold,
        note=note,
    )


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
    return score_pairs(encode, pairs)


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    pairs = pairs_of(table)
    score = score_pairs(encode, pairs)
    scores = score.correlations
    for name, (count, spearman, pearson) in score.subsets.items():
        scores |= {f"spearman_{name}": spearman, f"pearson_{name}": pearson, f"pairs_{name}": float(count)}
    items = {"similarity": score.similarity, "gold": pairs.gold}
    return TaskScore(score.spearman, scores, items=items, notes=[score.note] if score.note else [])


PROTOCOL = Protocol(
    score=_score,
    splits=scored_split,
    prepare=rejoin,
    mteb_scores={"cosine_spearman": "spearman", "cosine_pearson": "pearson"},
)
