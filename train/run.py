"""The training run, top to bottom: prepare, begin or resume, step and watch, finish."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder
from augment_cli.errors import MixError
from augment_cli.neural.runtime import has_fast_bf16, keep_freed_memory
from augment_cli.store.store import Store
from train.data.reader import Reader, ahead
from train.data.tokens import stage_draws
from train.machine.distributed import Ranks
from train.machine.signals import StopRequest
from train.machine.threads import check_compiler, set_threads
from train.objectives.columns import open_columns
from train.optimizer import clip, make_optimizer, rate_at, set_rate
from train.outputs import checkpoint
from train.outputs.export import export, write_card
from train.outputs.log import Log, Quiet, read_log
from train.outputs.trackers import Tracker
from train.outputs.whiten import store_whitened
from train.prepare import Run, Trainee, TrainingRows, check_memory, prepare_model, prepare_rows
from train.resume import Progress, resume
from train.watching.evaluate import Evaluate, dev_test
from train.watching.harm import HarmWatch
from train.watching.speed import Speed

CHECKPOINTS = "checkpoints"  # in the run's folder


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes
    ----------
    steps : int
        Optimiser steps made.
    scores : dict of str to dict of str to float
        Dev scores: `before`, `best`, `last`, perhaps `whitened`, each a name-to-number table; empty without
        evaluation.
    stopped_by : int
        Number of the signal that interrupted the run, 0 if it is finished.
    facts : dict of str to Any
        For the model card.
    best_step : int
        Step of the best encoder by dev score; 0 where none beat the starting encoder, and without evaluation.
    """

    steps: int
    scores: dict[str, dict[str, float]]
    stopped_by: int
    facts: dict[str, Any]
    best_step: int = 0


@dataclass(frozen=True)
class Training:
    """Everything that a run holds while it steps.

    Attributes
    ----------
    run : Run
        Its recipe as this machine can run it.
    ranks : Ranks
        This process among all.
    store : Store
        Opened after every column was tokenised.
    trainee : Trainee
        The model and its objective.
    rows : TrainingRows
        Rows and steps.
    reader : Reader
        Streams this rank's batches.
    optimizer : torch.optim.Optimizer
        With the moments of the steps made.
    data : dict of str to str
        SHA-256 of every stage that the run reads, by the stage's name.
    settings : dict of str to Any
        What a checkpoint must agree on.
    progress : Progress
        How far it has come.
    evaluate : callable or None
        Gives an encoder's dev scores; None on other ranks than the first, or without evaluation.
    log : Log or Quiet
        Where events go.
    """

    run: Run
    ranks: Ranks
    store: Store
    trainee: Trainee
    rows: TrainingRows
    reader: Reader
    optimizer: torch.optim.Optimizer
    data: dict[str, str]
    settings: dict[str, Any]
    progress: Progress
    evaluate: Evaluate | None
    log: Log | Quiet


def train(run: Run, ranks: Ranks) -> RunResult:
    """Train, continuing from the newest checkpoint in the run's folder if there is one.

    Parameters
    ----------
    run : Run
        What goes in, where it goes.
    ranks : Ranks
        This process among all.

    Raises
    ------
    UserError
        If something is missing or does not fit, or the training diverged.
    """
    run = set_up_machine(run, ranks)
    training = begin(run, ranks)
    with contextlib.closing(training.log):  # until then no other process writes to the run's folder
        with StopRequest() as request:
            stopped_by = loop(training, request)
        return finish(training, stopped_by)


# --- before the first step


def set_up_machine(run: Run, ranks: Ranks) -> Run:
    """Settings of this process that decide speed and repeatability.

    Parameters
    ----------
    run : Run
        As the user wants it.
    ranks : Ranks
        This process among all.

    Returns
    -------
    Run
        As this machine can do it: in fp32 where bf16 would only cost time.
    """
    recipe = run.recipe
    if recipe.precision == "bf16" and ranks.device.type == "cpu" and not has_fast_bf16():
        if ranks.is_first:
            print("this CPU has no fast bf16 (AVX512-BF16 or AMX): fp32 is used", file=sys.stderr)
        recipe = dataclasses.replace(recipe, precision="fp32")
    keep_freed_memory()
    set_threads(recipe.threads, ranks.here)
    torch.use_deterministic_algorithms(True)
    # A debugging aid of deterministic mode that costs a quarter of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return dataclasses.replace(run, recipe=recipe)


def begin(run: Run, ranks: Ranks) -> Training:
    """Prepare model and rows, tokenise what is not yet, and take up an earlier run's state.

    Parameters
    ----------
    run : Run
        The run, as `set_up_machine` returns it.
    ranks : Ranks
        This process among all.
    """
    recipe = run.recipe
    trainee = prepare_model(run, ranks)
    model, objective = trainee.model, trainee.objective
    if recipe.compile:
        check_compiler()
        model.encoder.compile(dynamic=True)
    optimizer = make_optimizer(model, recipe)

    store, stages = open_columns(run.store, objective, trainee.encoder.tokenizer, ranks)
    rows = prepare_rows(run, store)
    check_memory(trainee, recipe, ranks, rows.count)
    for addition in model.additions.values():
        addition.steps = rows.steps  # type: ignore[assignment]
    reader = Reader(
        store, stages, batch=recipe.batch, seed=recipe.seed, window=recipe.window, held_out=recipe.held_out,
        rank=ranks.rank, ranks=ranks.ranks, workers=recipe.workers,
        length_homogeneous=recipe.length_homogeneous, keep=rows.keep, labels=rows.labels,
        weighting=rows.weighting, finish=objective.finish,
    )  # fmt: skip

    # All draws: one made since a checkpoint would change which of them later epochs read.
    names = (*objective.columns, *recipe.only_changed)
    data = {draw: store.stage(draw).digest for name in names for draw in stage_draws(store, name)}
    read = [stage for addition in model.additions.values() for stage in addition.open(store)]  # type: ignore[operator]
    data |= {stage: store.stage(stage).digest for stage in read}
    # As they read back from a checkpoint's JSON.
    settings = json.loads(json.dumps({"encoder": trainee.digest, "data": data} | recipe.as_json()))
    progress = resume(run.out / CHECKPOINTS, recipe, settings, model, optimizer)
    if not ranks.same(progress.done):
        raise MixError(
            f"{run.out}: the machines do not see the same checkpoints (this one step {progress.done}); --out "
            "must be a folder that all of them share"
        )
    patient = progress.watch.is_patient(recipe.patience)
    progress.finished = progress.done >= rows.steps or not patient
    evaluate = dev_test(run.data, recipe, store) if ranks.is_first and recipe.evaluate_every else None
    ranks.barrier()
    run.out.mkdir(parents=True, exist_ok=True)
    log: Log | Quiet = Quiet()
    if ranks.is_first:
        tracker = Tracker(recipe.tracker, run.out, recipe.as_json())
        log = Log(run.out, progress.done, rows.steps, tracker)
    return Training(
        run, ranks, store, trainee, rows, reader, optimizer, data, settings, progress, evaluate, log
    )


# --- the steps


def loop(training: Training, request: StopRequest) -> int:
    """Step until the run is finished or is asked to stop.

    Parameters
    ----------
    training : Training
        The run; its model, optimiser and progress move on.
    request : StopRequest
        Set by a signal.

    Returns
    -------
    int
        Number of the signal that stopped the run, 0 if it is finished.
    """
    recipe, ranks, progress = training.run.recipe, training.ranks, training.progress
    model, objective, optimizer = training.trainee.model, training.trainee.objective, training.optimizer
    steps, evaluate, log = training.rows.steps, training.evaluate, training.log
    model.train()
    if evaluate and not progress.done:
        score(training, evaluate, "before")  # a candidate too: training that only hurts gives it back
    stopped_by = 0
    if progress.finished:  # by an earlier run of the same command
        return stopped_by
    speed = Speed(progress.done * recipe.batch)
    harm = HarmWatch(steps, log.warn)
    # A static encoder's step is so short that two threads at Python's lock cost more than preparing takes.
    depth = 0 if isinstance(training.trainee.encoder, StaticEncoder) else 4
    with contextlib.closing(ahead(padded_batches(training), depth)) as batches:
        for batch in speed.waiting_for(batches):
            rate = rate_at(progress.done, steps, recipe)
            set_rate(optimizer, rate)
            # Each rank has the gradient of its own rows; their sum is that of the whole batch.
            metrics = objective.backward(model, batch.to(ranks.device), progress.done)
            ranks.sum_gradients(model.encoder_parameters(), model.head_parameters())
            norm = clip(model, recipe.clip)
            # Whichever number is not finite stops the run; of finite ones the first, the loss that a collapse
            # would bring to zero, is watched.
            numbers = [*metrics.values(), norm]
            broken = next((number for number in numbers if not math.isfinite(number)), None)
            collapses = bool(recipe.contrastive_weight)
            progress.watch.check(numbers[0] if broken is None else broken, progress.done + 1, collapses)
            optimizer.step()
            optimizer.zero_grad()
            progress.done += 1
            progress.finished = progress.done == steps

            if progress.done % recipe.log_every == 0 or progress.finished:
                measured = speed.since_last(progress.done * recipe.batch)
                log.write("step", progress.done, metrics | {"rate": rate, "norm": norm} | measured)
            harm.loss(progress.watch.loss, progress.done)
            if evaluate and (progress.finished or progress.done % recipe.evaluate_every == 0):
                with speed.paused():  # evaluation does not count as training time
                    score(training, evaluate, "last")
                harm.scores(progress.scores.get("before", {}), progress.scores["last"], progress.done)
                patient = progress.watch.is_patient(recipe.patience)
                progress.finished = progress.finished or not patient
            # All ranks leave after the same step.
            stopped_by, progress.finished = ranks.agree(request.signal, progress.finished)
            due = progress.finished or stopped_by or progress.done % recipe.checkpoint_every == 0
            if ranks.is_first and due:
                save(training)
            if progress.finished or stopped_by:
                break
    return stopped_by


def padded_batches(training: Training) -> Iterator[Any]:
    """This rank's batches from the next step to the end of the run, padded; runs in a thread, or in the loop.

    Parameters
    ----------
    training : Training
        The run; only read.
    """
    per_epoch, steps = training.rows.per_epoch, training.rows.steps
    epoch, first = divmod(training.progress.done, per_epoch)
    while epoch * per_epoch < steps:
        for batch in training.reader.epoch(epoch, first):
            yield training.trainee.objective.prepare(batch, epoch * per_epoch + batch.step)
        epoch, first = epoch + 1, 0


def score(training: Training, evaluate: Evaluate, when: str) -> None:
    """Evaluate the encoder, note and log its scores, and export it if it is the best so far.

    Parameters
    ----------
    training : Training
        The run.
    evaluate : callable
        Gives an encoder's dev scores, the one that decides first.
    when : str
        ``before`` the first step, or ``last``.

    Raises
    ------
    MixError
        If another score decided before the run was resumed.
    DivergedError
        If the encoder has collapsed.
    """
    progress, model = training.progress, training.trainee.model
    model.eval()  # no dropout
    try:
        known = training.run.before if when == "before" else {}
        scores = known or evaluate(training.trainee.encoder, progress.scores.get("before", {}))
    finally:
        model.train()
    main = next(iter(scores))
    earlier = [next(iter(scored)) for scored in progress.scores.values()]
    if other := next((name for name in earlier if name != main), ""):
        raise MixError(
            f"{training.run.out}: its best score so far is of {other}, now {main} decides; give the same "
            "--data and held_out as before, or another --out"
        )
    progress.scores[when] = scores
    training.log.write("dev" if when == "last" else when, progress.done, scores)
    if progress.watch.score(scores[main], progress.done):
        progress.scores["best"] = scores
        export(training.trainee.encoder, training.run.out / "best")


def save(training: Training) -> None:
    """Write a checkpoint, and delete the oldest ones.

    Parameters
    ----------
    training : Training
        The run.
    """
    progress = training.progress
    state = {"settings": training.settings, "watch": progress.watch.as_json(), "scores": progress.scores}
    model, optimizer = training.trainee.model, training.optimizer
    folder = training.run.out / CHECKPOINTS
    checkpoint.save(folder, progress.done, model, optimizer, state)
    checkpoint.rotate(folder, training.run.recipe.keep)


# --- after the last step


def finish(training: Training, stopped_by: int) -> RunResult:
    """Export the encoder with its card, unless the run was stopped before its end.

    Parameters
    ----------
    training : Training
        The run.
    stopped_by : int
        Number of the signal that stopped it, 0 if it is finished.
    """
    run, recipe, progress = training.run, training.run.recipe, training.progress
    encoder, first = training.trainee.encoder, training.ranks.is_first
    exported = ["last", "best"]
    if first and progress.finished:
        export(encoder, run.out / "last")
        if not (run.out / "best").is_dir():
            export(encoder, run.out / "best")
        if recipe.whiten:
            exported.append("whitened")
            store_whitened(
                run.out / "best", run.out / "whitened", training.store, recipe.whiten, recipe.whiten_dimension
            )
            if training.evaluate:
                whitened = load_encoder(run.out / "whitened")
                progress.scores["whitened"] = training.evaluate(whitened, progress.scores.get("before", {}))
    scores = progress.scores
    facts = {
        "name": f"{recipe.name} from {encoder.name}", "recipe": recipe.as_json(), "command": run.command,
        "encoder": f"{encoder.name} (SHA-256 {training.trainee.digest})", "data": training.data,
        "pooling": encoder.pooling, "steps": progress.done, "seeds": [recipe.seed],
        "scores": {f"{when} {key}": [value] for when in scores for key, value in scores[when].items()},
    }  # fmt: skip
    best_step = progress.watch.best_step
    if first and progress.finished and progress.done and "before" in scores and not best_step:
        facts["unbeaten"] = nothing_beat(scores)
        print(facts["unbeaten"], file=sys.stderr)
    if first and progress.finished:
        events = read_log(run.out / "log.jsonl")
        warnings = (event["message"] for event in events if event["event"] == "warning")
        facts["warnings"] = list(dict.fromkeys(warnings))  # said again where the run was resumed
        for kind in exported:
            write_card(run.out / kind, facts)
    return RunResult(progress.done, scores, stopped_by, facts, best_step)


def nothing_beat(scores: dict[str, dict[str, float]]) -> str:
    """The sentence for a run that no evaluation found better than the encoder it started from.

    Parameters
    ----------
    scores : dict of str to dict of str to float
        Dev scores ``before`` the first step and the ``last``, the one that decides first.
    """
    name, before = next(iter(scores["before"].items()))
    last = scores.get("last", {}).get(name, math.nan)
    return (
        f"training beat the starting encoder in no evaluation ({name} {before:.4f} before, {last:.4f} at the "
        "end): best/ is the starting encoder"
    )
