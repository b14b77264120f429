"""Training one unit and scoring it, in this process."""

from __future__ import annotations

import contextlib
import gc
import json
import platform
import shutil
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import torch

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.token_weights import TokenCounts, count_store
from augment_cli.encoding.word_table import POOLINGS, word_table
from augment_cli.errors import UserError
from augment_cli.store.files import sha256_of_json, write_atomically
from augment_cli.store.store import Store
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.rates import DEV, OWN, TESTS, own_pairs
from benchmarks.reproduce.results import TRAINING, Result, Results
from benchmarks.reproduce.units import MOST_COUNTED, Unit, counts_tokens
from eval.contract.options import Options, Progress
from eval.contract.task_score import TaskScore
from eval.measures.similarity import correlation
from eval.results.files import library_versions
from eval.runner import Vectors, timed
from eval.tasks.pairs import pairs_of
from eval.tasks.registry import choose_tasks, load_registry
from eval.tasks.table import Table, read_tables
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import NoRowsError, Run
from train.run import train
from train.watching.early_stopping import DivergedError


class StoppedError(UserError):
    """The training was asked to stop."""

    exit_code = 130


@dataclass(frozen=True)
class Job:
    """A unit and where everything lies; travels to a worker process."""

    unit: Unit
    profile: Profile
    tasks: dict[str, tuple[str, ...]]  # test sets of each evaluation
    also: dict[str, tuple[str, ...]]  # scores of each evaluation that are kept beside the main ones
    todo: tuple[str, ...]  # evaluations to do, the training among them if there is no result of it
    stages: dict[str, str]  # digest of each stage the unit reads
    store: Path
    counted: Path  # the store in whose corpus tokens are counted
    data: Path
    runs: Path  # folder of the trained encoders
    results: Path  # file of the results
    keep: bool = True  # whether the trained encoder stays afterwards

    @property
    def out(self) -> Path:
        """Folder of the training."""
        return self.runs / self.unit.name


def do(job: Job) -> dict[str, Any]:
    """Train unless that is done and the encoder is still there, and score what is to be scored."""
    results = Results(job.results)
    scores: dict[str, Any] = {}
    for name in job.todo:
        gone = job.unit.recipe is not None and not (job.out / job.unit.row.output).is_dir()
        if name == TRAINING or gone:
            scores[TRAINING] = train_unit(job)
            _write(job, results, TRAINING, scores[TRAINING])
            if "failed" in scores[TRAINING]:
                return scores
        if name != TRAINING:
            scores[name] = _score(job, job.tasks[name], job.also[name])
            _write(job, results, name, scores[name])
    if not job.keep:
        shutil.rmtree(job.out, ignore_errors=True)
    gc.collect()
    return scores


def _write(job: Job, results: Results, evaluation: str, scores: dict[str, Any]) -> None:
    origin = {
        "profile": job.profile.name,
        "machine": machine(),
        "libraries": library_versions(),
        "encoder": job.unit.encoder,
    }
    unit = job.unit
    results.write(Result(unit.row.name, unit.seed, evaluation, unit.key, job.stages, scores, origin))


def machine() -> str:
    """The GPU where there is one, else the kind of processor."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()


_BEFORE = "before"  # folder of the dev scores of starting encoders, measured once a command


def forget_before(runs: Path) -> None:
    """Measure starting encoders anew, since the code may be another than when they were measured."""
    shutil.rmtree(runs / _BEFORE, ignore_errors=True)


def train_unit(job: Job) -> dict[str, Any]:
    assert job.unit.recipe is not None
    job.out.mkdir(parents=True, exist_ok=True)
    command = f"make reproduce PROFILE={job.profile.name} ROW={job.unit.row.name} SEEDS={job.unit.seed}"
    recipe = job.unit.recipe
    # What decides the starting encoder's dev scores; held-out pairs are of the positives.
    same = {
        "encoder": job.unit.encoder,
        "store": str(job.store),
        "data": str(job.data),
        "recipe": [recipe.pooling, recipe.precision, recipe.max_length, recipe.watching.dev, recipe.held_out],
        "positives": recipe.positives if recipe.held_out else (),
    }
    measured = job.runs / _BEFORE / f"{sha256_of_json(same)[:12]}.json"
    known = json.loads(measured.read_text("utf-8")) if measured.is_file() else {}
    run = Run(recipe, job.store, job.profile.encoder, job.out, job.data, command=command, before=known)
    began, cpu = time.perf_counter(), time.process_time()
    with (job.out / "console.log").open("a", encoding="utf-8") as console:
        try:
            with contextlib.redirect_stdout(console), contextlib.redirect_stderr(console):
                outcome = train(run, join())
        except (DivergedError, NoRowsError) as error:  # recorded: the same again would end the same
            return {"failed": str(error), "seconds": time.perf_counter() - began}
    scores = json.dumps(outcome.scores.get("before", {}))
    write_atomically(measured, scores.encode(), measured.parent)
    if outcome.stopped_by:
        raise StoppedError(f"{job.unit.name}: stopped after step {outcome.steps}; the next run continues it")
    for folder in job.out.iterdir():
        # What a repeated command needs is the encoder that is scored, and the log.
        if folder.is_dir() and folder.name != job.unit.row.output:
            shutil.rmtree(folder)
    steps = [event for event in read_log(job.out / "log.jsonl") if event["event"] == "step"]
    # What a discriminator is right in at the end, over the steps of a tenth of the run.
    accuracies = [event["discriminator_accuracy"] for event in steps if "discriminator_accuracy" in event]
    late = accuracies[-max(1, len(accuracies) // 10) :]
    slowness = [1 / event["rows_per_second"] for event in steps if event.get("rows_per_second")]
    return {
        **{when: next(iter(scores.values())) for when, scores in outcome.scores.items()},
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "loss": steps[-1]["loss"] if steps else None,
        **{name: value for name, value in outcome.scores.get("last", {}).items() if name == "neighbours"},
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        # The median: on a shared machine some stretches are slow for reasons that are not the method's.
        "seconds_per_1000_rows": round(1000 * median(slowness), 3) if slowness else None,
        **(
            {"discriminator_accuracy": round(mean(late), 4), "discriminator_curve": accuracies}
            if late
            else {}
        ),
    }


def _score(job: Job, tasks: tuple[str, ...], also: tuple[str, ...]) -> dict[str, Any]:
    """Main score of each task, as its protocol gives it, and those that are kept beside it."""
    unit, profile = job.unit, job.profile
    began = time.perf_counter()
    tables = _tables(tasks, job.data)
    encoder: Encoder
    if unit.recipe:
        encoder = load_encoder(
            job.out / unit.row.output,
            precision=profile.score_precision,  # type: ignore[arg-type]
            device=str(join().device),
        )
    else:
        encoder = untrained(job)
    options = Options(jobs=1)
    vectors = Vectors(encoder, tables, options, Progress())
    task_scores = {table.task.name: timed(table, vectors, options, Progress())[0] for table in tables}
    _keep_similarities(job, task_scores)
    scores = {name: score.main for name, score in task_scores.items()}
    if OWN in also:
        items, own = task_scores[DEV].items, _own(job.data)
        scores[OWN] = correlation(items["similarity"][own], items["gold"][own])[0]
    scores |= {
        f"{name}:{more}": score.scores[more]
        for name, score in task_scores.items()
        for more in also
        if more in score.scores
    }
    return {name: round(float(score), 6) for name, score in scores.items()} | {
        "seconds": round(time.perf_counter() - began, 1)
    }


def untrained(job: Job) -> Encoder:
    """The encoder of a row that trains nothing, with the row's pooling."""
    row, profile = job.unit.row, job.profile
    path, pooling = row.encoder or profile.encoder, row.pooling or profile.pooling
    precision: Any = profile.score_precision
    table = pooling in POOLINGS
    # A table's rows are looked up and not computed, so there is nothing that bf16 would speed up.
    plain = load_encoder(path) if table or counts_tokens(pooling) else None
    counts = _counts(job.counted, path) if counts_tokens(pooling) else None
    if plain is not None and table:
        return word_table(plain, pooling, counts)
    return load_encoder(path, pooling=pooling, precision=precision, device=str(join().device), counts=counts)


@cache
def _counts(store: Path, encoder: str) -> TokenCounts:
    """How often the encoder's tokens occur in a store's corpus, counted once for all rows."""
    return count_store(Store.open(store), load_encoder(encoder).tokenizer, MOST_COUNTED)


def _keep_similarities(job: Job, scores: dict[str, TaskScore]) -> None:
    """Write the similarity of each pair, for the bootstrap of the test sets; no part of the results."""
    arrays = {
        f"{name}-{key}": np.asarray(score.items[key], dtype=np.float32)
        for name, score in scores.items()
        for key in ("similarity", "gold")
        if key in score.items
    }
    if arrays:
        folder = job.runs / "similarities"
        folder.mkdir(parents=True, exist_ok=True)
        work = folder / f".{job.unit.name}.npz"
        np.savez_compressed(work, **arrays)  # type: ignore[arg-type]
        work.replace(folder / f"{job.unit.name}.npz")


@cache
def _own(data: Path) -> np.ndarray:
    """Which dev pairs are in none of the test sets that are there."""
    (dev,) = _tables((DEV,), data)
    return own_pairs(pairs_of(dev), _tables(TESTS, data))


@cache
def _tables(tasks: tuple[str, ...], data: Path) -> list[Table]:
    """The test sets, read once; those whose file is not in the data folder are left out."""
    chosen = choose_tasks(load_registry(), list(tasks))
    # No suites: `geometry` is one too, whose other sets would take as long as all of STS.
    return read_tables([task for task in chosen if task.name in tasks], data, skip_missing=True)[0]


def start_worker(threads: int) -> None:
    """Called first in each worker process: several share a machine's cores."""
    if threads:
        torch.set_num_threads(threads)
