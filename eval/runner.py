"""Scoring encoders on tasks: each distinct sentence of all tasks is encoded once, then protocols run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augment_cli.errors import MissingError
from eval.encoding import whitening
from eval.encoding.encoder import Encoder
from eval.encoding.static import StaticEncoder
from eval.measures import geometry
from eval.protocols import clustering, intent, ordering, sts, transfer
from eval.results.outcome import Outcome, caution, flaw, undefined
from eval.tasks.registry import Table, Task, pairs_of, read_table, texts_of

PURITY_NEIGHBOURS = (1, 10, 100)
GROMOV_ROWS = 1000  # the Vietoris-Rips filtration grows with the square of the rows


@dataclass(frozen=True)
class Options:
    """Settings of a run that are not the encoder's.

    Attributes
    ----------
    whiten
        Whiten each task's embeddings, fitted on that task's own sentences.
    classifier
        Protocol of the transfer tasks, see `eval.protocols.transfer`.
    jobs
        Processes for nested cross-validation and the seeds of K-means; no score depends on it.
    gromov
        Compute the Gromov-Hausdorff distance too, which needs gudhi.
    cache
        Folder of the embedding cache; None keeps nothing.
    any_data
        Accept files whose digest differs from the registry's.
    """

    whiten: bool = False
    classifier: str = "logistic-regression"
    jobs: int = 1
    gromov: bool = False
    cache: Path | None = None
    any_data: bool = False


class Progress:
    """Where a run reports to; this one says nothing."""

    def start(self, what: str, total: int) -> None:
        """Begin to count `total` of something."""

    def advance(self, count: int) -> None:
        """Count some of it as done."""


def read_tables(
    tasks: Sequence[Task], data: Path, *, any_data: bool = False, skip_missing: bool = False
) -> tuple[list[Table], list[str]]:
    """Read all tasks' files before anything is encoded.

    Parameters
    ----------
    skip_missing
        Leave out tasks whose file is not there, and say so in the second result.

    Raises
    ------
    MissingError
        If files are missing; the message names all of them.
    """
    tables, missing = [], []
    for task in tasks:
        try:
            tables.append(read_table(task, data, any_data=any_data))
        except MissingError as error:
            missing.append(str(error))
    if missing and not (skip_missing and tables):
        hint = "" if not tables else "\nto score the rest all the same, add --skip-missing"
        raise MissingError("\n".join(missing) + hint)
    return tables, missing


def sentences_of(table: Table) -> list[str]:
    """Every sentence of a task as its protocol hands it to an encoder."""
    task = table.task
    splits = (task.split,) if task.protocol in ("sts", "ordering", "geometry", "geometry-nli") else None
    texts = texts_of(table, splits)
    return [sts.rejoin(text) for text in texts] if task.protocol in ("sts", "transfer", "geometry") else texts


class Vectors:
    """The embeddings of all distinct sentences, looked up by text."""

    def __init__(
        self,
        encoder: Encoder | StaticEncoder,
        tables: Sequence[Table],
        options: Options,
        progress: Progress,
    ) -> None:
        distinct = list(dict.fromkeys(text for table in tables for text in sentences_of(table)))
        progress.start("distinct sentences to encode", len(distinct))
        self.rows = {text: row for row, text in enumerate(distinct)}
        self.matrix = encoder.encode(distinct, cache=options.cache, progress=progress.advance)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, shape (n, d)."""
        return self.matrix[[self.rows[text] for text in texts]]


def score_task(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    """Score one task with an encoding function that knows its sentences."""
    notes: list[str] = []
    if options.whiten:
        sentences = list(dict.fromkeys(sentences_of(table)))
        fitted = encode(sentences)
        reason = flaw(fitted) or ("" if not caution(fitted) else "whitening needs embeddings that differ")
        if reason:
            return undefined(table.task.metric, reason)
        whiten, plain = whitening.fit(fitted), encode
        kept, width = whiten.kernel.shape[1], fitted.shape[1]
        if kept < width:
            notes.append(f"whitening kept {kept} of {width} directions, the others have no variance")

        def encode(texts: Sequence[str]) -> np.ndarray:
            return whiten(plain(texts))

    outcome = _PROTOCOLS[table.task.protocol](table, encode, options, progress)
    outcome.notes.extend(notes)
    if not table.checked:
        outcome.notes.append(f"data file not checked against a digest; its sha256 is {table.sha256}")
    return outcome


def timed(table: Table, vectors: Vectors, options: Options, progress: Progress) -> tuple[Outcome, float]:
    """Score one task; the second result is the seconds its protocol took, without encoding."""
    began = time.perf_counter()
    outcome = score_task(table, vectors, options, progress)
    return outcome, time.perf_counter() - began


def _sts(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    pairs = pairs_of(table)
    score = sts.score_pairs(encode, pairs)
    scores = {
        name: getattr(score, name)
        for name in (
            "spearman",
            "pearson",
            "mean_spearman",
            "weighted_spearman",
            "mean_pearson",
            "weighted_pearson",
        )
    }
    for name, (count, spearman, pearson) in score.subsets.items():
        scores |= {f"spearman_{name}": spearman, f"pearson_{name}": pearson, f"pairs_{name}": float(count)}
    items = {"similarity": score.similarity, "gold": pairs.gold}
    return Outcome(score.spearman, scores, items=items, notes=[score.note] if score.note else [])


def _labels(table: Table, splits: Sequence[str]) -> np.ndarray:
    return np.array([label for split in splits for label in table.select(table.task.label_column, split)])


def _transfer(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    splits = {}
    for split in table.task.counts:
        columns = [
            encode([sts.rejoin(text) for text in table.select(column, split)])
            for column in table.task.text_columns
        ]
        if len(columns) == 2:  # SentEval's features of a pair: |u − v| and u · v
            columns = [np.concatenate([abs(columns[0] - columns[1]), columns[0] * columns[1]], axis=1)]
        splits[split] = (columns[0], _labels(table, [split]))
    return transfer.score(splits, protocol=options.classifier, jobs=options.jobs)


def _cola(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    (column,) = table.task.text_columns
    train, dev = (
        (encode(table.select(column, split)), _labels(table, [split])) for split in ("train", "dev")
    )
    return transfer.acceptability(train, dev)


def _clustering(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    progress.start("seeds", len(clustering.SEEDS))
    (column,) = table.task.text_columns
    labels = list(_labels(table, [table.task.split]))
    return clustering.score(
        encode(table.select(column, table.task.split)),
        labels,
        seeds=clustering.SEEDS,
        jobs=options.jobs,
        progress=progress.advance,
    )


def _intent(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    progress.start("few-shot trainings", len(intent.SHOTS) * intent.SPLITS)
    (column,) = table.task.text_columns
    pool = [split for split in ("train", "dev") if split in table.task.counts]
    texts = [text for split in pool for text in table.select(column, split)]
    return intent.score(
        (encode(texts), list(_labels(table, pool))),
        (encode(table.select(column, "test")), list(_labels(table, ["test"]))),
        minimum_class=table.task.minimum_class,
        shots=intent.SHOTS,
        progress=progress.advance,
    )


def _ordering(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    task = table.task
    premises, hypotheses = (table.select(column, task.split) for column in task.text_columns)
    groups = table.select(task.subset_column, task.split) if task.subset_column else None
    labels = table.select(task.label_column, task.split)
    return ordering.score((premises, encode(premises)), encode(hypotheses), labels, groups)


def _geometry(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    pairs = pairs_of(table)
    first, second = (encode([sts.rejoin(text) for text in column]) for column in (pairs.first, pairs.second))
    everything = encode(list(dict.fromkeys(sentences_of(table))))
    reason = flaw(everything)
    if reason:
        return undefined(table.task.metric, reason)
    positive = pairs.gold > 4  # SimCSE's choice of positive pairs
    scores = geometry.of_pairs(everything, first[positive], second[positive])
    return Outcome(scores[table.task.metric], scores, notes=caution(everything))


def _geometry_nli(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    task = table.task
    premises, hypotheses = (table.select(column, task.split) for column in task.text_columns)
    by_premise: dict[str, dict[str, str]] = {}
    for premise, hypothesis, label in zip(
        premises, hypotheses, table.select(task.label_column, task.split), strict=True
    ):
        by_premise.setdefault(premise, {}).setdefault(label[0], hypothesis)
    rows = [
        (premise, found["e"], found["c"]) for premise, found in by_premise.items() if {"e", "c"} <= set(found)
    ]
    if options.gromov:
        rows = rows[:GROMOV_ROWS]
    spaces = {name: encode(list(column)) for name, column in zip("AEC", zip(*rows, strict=True), strict=True)}
    reason = next(filter(None, (flaw(space) for space in spaces.values())), "")
    if reason:
        return undefined(task.metric, reason)
    scores = geometry.of_spaces(spaces, gromov=options.gromov)
    return Outcome(scores[task.metric], scores, settings={"rows": len(rows)}, notes=caution(spaces["A"]))


def _purity(table: Table, encode: sts.Encode, options: Options, progress: Progress) -> Outcome:
    task = table.task
    (column,) = task.text_columns
    vectors = encode(table.select(column, task.split))
    if flaw(vectors):
        return undefined(task.metric, flaw(vectors))
    labels = list(_labels(table, [task.split]))
    counts = [count for count in PURITY_NEIGHBOURS if count < len(vectors)]
    scores = geometry.purities(vectors, labels, counts)
    return Outcome(scores[task.metric], scores, notes=caution(vectors))


_PROTOCOLS: dict[str, Callable[[Table, sts.Encode, Options, Progress], Outcome]] = {
    "sts": _sts,
    "transfer": _transfer,
    "cola": _cola,
    "clustering": _clustering,
    "intent": _intent,
    "ordering": _ordering,
    "geometry": _geometry,
    "geometry-nli": _geometry_nli,
    "purity": _purity,
}
