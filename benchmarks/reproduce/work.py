"""Training one unit and scoring it, in this process; the bed that units start from, made here."""

import contextlib
import gc
import json
import platform
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import POOLINGS, word_table
from augment_cli.encoding.words_apart import TokenCounts, count_store
from augment_cli.errors import UsageError, UserError
from augment_cli.ingest import IngestOptions
from augment_cli.models.digest import model_digest
from augment_cli.session import Session
from augment_cli.store.files import replace_folder, sha256_of_json
from augment_cli.store.store import Store
from benchmarks import letters
from benchmarks.reproduce.grid import Bed, Profile
from benchmarks.reproduce.units import MOST_COUNTED, TRAINING, Result, Results, Unit, counts_tokens
from eval.contract import Options, Progress
from eval.measures.geometry import correlation
from eval.results import library_versions
from eval.runner import Vectors, score_task
from eval.tasks import Pairs, Table, choose_tasks, load_registry, pairs_of, read_tables
from train.loading import load_recipe
from train.machine.distributed import join
from train.outputs.export import export
from train.outputs.log import read_log
from train.prepare import NoRowsError, Run
from train.run import train
from train.watching.early_stopping import DivergedError

DEV = "stsb-dev"
OWN = f"{DEV}:own"  # Spearman over the dev pairs that are in no test set
TESTS = ("stsb", "sts12", "sts13", "sts14", "sts15", "sts16")
_OUTPUT = "best"  # which of a run's encoders is scored
_FACTS = "bed.json"  # beside the encoder's files; no part of its digest
_DECIDING = ("start", "corpus", "rows", "recipe", "set")  # the rest is words


class StoppedError(UserError):
    """The training was asked to stop."""

    exit_code = 130


@dataclass(frozen=True)
class Job:
    """A unit and where everything lies; travels to a worker process."""

    unit: Unit
    profile: Profile
    todo: tuple[str, ...]  # `training` and `sts`, or what of them has no result yet
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
        gone = job.unit.recipe is not None and not (job.out / _OUTPUT).is_dir()
        if name == TRAINING or gone:
            scores[TRAINING] = train_unit(job)
            _write(job, results, TRAINING, scores[TRAINING])
            if "failed" in scores[TRAINING]:
                return scores
        if name != TRAINING:
            scores[name] = _score(job)
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


def train_unit(job: Job) -> dict[str, Any]:
    assert job.unit.recipe is not None
    job.out.mkdir(parents=True, exist_ok=True)
    command = f"make reproduce PROFILE={job.profile.name} ROW={job.unit.row.name} SEEDS={job.unit.seed}"
    recipe = job.unit.recipe
    run = Run(recipe, job.store, job.unit.start, job.out, job.data, command=command)
    began, cpu = time.perf_counter(), time.process_time()
    with (job.out / "console.log").open("a", encoding="utf-8") as console:
        try:
            with contextlib.redirect_stdout(console), contextlib.redirect_stderr(console):
                outcome = train(run, join())
        except (DivergedError, NoRowsError) as error:  # recorded: the same again would end the same
            return {"failed": str(error), "seconds": time.perf_counter() - began}
    if outcome.stopped_by:
        raise StoppedError(f"{job.unit.name}: stopped after step {outcome.steps}; the next run continues it")
    for folder in job.out.iterdir():
        # What a repeated command needs is the encoder that is scored, and the log.
        if folder.is_dir() and folder.name != _OUTPUT:
            shutil.rmtree(folder)
    steps = [event for event in read_log(job.out / "log.jsonl") if event["event"] == "step"]
    return {
        **{when: next(iter(scores.values())) for when, scores in outcome.scores.items()},
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "loss": steps[-1]["loss"] if steps else None,
        **{name: value for name, value in outcome.scores.get("last", {}).items() if name == "neighbours"},
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }


def _score(job: Job) -> dict[str, Any]:
    """Main score of each test set, as its protocol gives it, and two that are kept beside them."""
    began = time.perf_counter()
    tables = _tables(job.profile.tasks, job.data)
    options = Options(jobs=1, whiten=job.unit.row.whiten)
    encoder = _trained(job) if job.unit.recipe else untrained(job)
    vectors = Vectors(encoder, tables, options, Progress())
    of_task = {table.task.name: score_task(table, vectors, options, Progress()) for table in tables}
    scores = {name: score.main for name, score in of_task.items()}
    if "similarity" in (items := of_task[DEV].items):
        own = _own(job.data)
        scores[OWN] = correlation(items["similarity"][own], items["gold"][own])[0]
    for name, score in of_task.items():
        if "alignment" in score.scores:
            scores[f"{name}:alignment"] = score.scores["alignment"]
    seconds = round(time.perf_counter() - began, 1)
    return {name: round(float(score), 6) for name, score in scores.items()} | {"seconds": seconds}


def _trained(job: Job) -> Encoder:
    precision: Any = job.profile.score_precision
    return load_encoder(job.out / _OUTPUT, precision=precision, device=str(join().device))


def untrained(job: Job) -> Encoder:
    """The encoder of a row that trains nothing, with the row's pooling."""
    path, pooling = job.unit.start, job.unit.pooling
    counts = _counts(job.counted, path) if counts_tokens(pooling) else None
    if pooling in POOLINGS:  # a table's rows are looked up, so there is nothing that bf16 would speed up
        return word_table(load_encoder(path), pooling, counts)
    precision: Any = job.profile.score_precision
    return load_encoder(path, pooling=pooling, precision=precision, device=str(join().device), counts=counts)


@cache
def _counts(store: Path, encoder: str) -> TokenCounts:
    """How often the encoder's tokens occur in a store's corpus, counted once for all rows."""
    return count_store(Store.open(store), load_encoder(encoder).tokenizer, MOST_COUNTED)


@cache
def _own(data: Path) -> np.ndarray:
    """Which dev pairs are in none of the test sets that are there."""
    (dev,) = _tables((DEV,), data)
    return own_pairs(pairs_of(dev), _tables(TESTS, data))


def own_pairs(dev: Pairs, tests: Iterable[Table]) -> np.ndarray:
    """Which dev pairs are in none of the test sets, in either order; bool (n,)."""
    # Two pairs are the same where letters and digits are, since the sets differ in case and spaces.
    seen = {key for table in tests for key in _keys(pairs_of(table))}
    return np.array([key not in seen for key in _keys(dev)])


def _keys(pairs: Pairs) -> list[tuple[str, ...]]:
    return [tuple(sorted(map(letters, both))) for both in zip(pairs.first, pairs.second, strict=True)]


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


def make_bed(bed: Bed, data: Path) -> str:
    """Make the encoder of a bed, unless it is there and was made with the same settings; its digest."""
    # It knows words and has no sentence geometry yet, as BERT before contrastive training, which is not at
    # hand without a network. A short run of masked language modelling at a high rate takes a sentence encoder
    # back to that state. It is for comparing methods with each other; its scores are no model's.
    target = Path(bed.encoder)
    settings = {key: getattr(bed, key) for key in _DECIDING}
    if (known := read_facts(target)).get("settings") == json.loads(json.dumps(settings)):
        return str(known["digest"])
    # A folder for these settings alone, since a checkpoint of others would be refused.
    work = target.with_name(f"{target.name}-work") / sha256_of_json(settings)[:12]
    store = work / "store"
    with Session(store) as session:
        session.ingest([data / pattern for pattern in bed.corpus], IngestOptions(limit=bed.rows))
        if session.store.rows < bed.rows:
            raise UsageError(f"{store}: the corpus gave {session.store.rows:,} sentences of {bed.rows:,}")
    encoder, start = load_encoder(bed.start), work / "start"
    encoder.modules = []  # BERT has no steps after the pooling; of length 1 only its own first vectors were
    export(encoder, start)
    recipe = load_recipe(bed.recipe, bed.set)
    command = "python -m benchmarks.reproduce bed"
    result = train(Run(recipe, store, str(start), work / "run", command=command), join())
    if result.stopped_by:
        raise UsageError(f"stopped after step {result.steps}; the same command continues it")
    digest = model_digest(work / "run" / "last")
    facts = {
        "settings": settings,
        "digest": digest,
        "machine": machine(),
        "libraries": library_versions(),
        "start": encoder.digest,
    }
    finished = work / "finished"
    shutil.rmtree(finished, ignore_errors=True)
    shutil.copytree(work / "run" / "last", finished)
    (finished / _FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (finished / "README.md").write_text(_card(bed, digest), encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(finished, target)
    return digest


def read_facts(folder: Path) -> dict[str, Any]:
    """What is known of a bed that was made; empty where there is none."""
    path = folder / _FACTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def compared(bed: Bed, digest: str) -> str:
    """Whether a bed that was made is the one that the results were made from, in words."""
    if not bed.digest:
        return "no digest is recorded for it in grid.toml"
    if digest == bed.digest:
        return "as recorded in grid.toml"
    return (
        f"grid.toml records {bed.digest}: another processor or other libraries round differently, so results "
        "from this bed stand by themselves and are kept apart from the recorded ones"
    )


def _card(bed: Bed, digest: str) -> str:
    return f"""\
# A bed: for comparing methods, not for use

{bed.about}

Made on this machine from `{bed.start}` by `python -m benchmarks.reproduce bed`, with recipe `{bed.recipe}`
and `{" ".join(bed.set)}` on {bed.rows:,} sentences of {", ".join(bed.corpus)}. Digest: `{digest}`.

{bed.seen}
"""
