"""The training run, top to bottom: prepare, begin or resume, step and watch, finish."""

import contextlib
import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder
from augment_cli.errors import MixError
from augment_cli.models.digest import copy_model
from augment_cli.neural import fast
from augment_cli.neural.runtime import has_fast_bf16, keep_freed_memory
from augment_cli.store.store import Store
from train import components, losses
from train.additions import make_dev_tests
from train.data.padding import moved
from train.data.reader import Reader, ahead
from train.data.tokens import stage_draws
from train.loading import unlike_paper
from train.machine import StopRequest, check_compiler, set_threads
from train.machine.distributed import Ranks
from train.model.memory import check_memory
from train.optimizer import clip, learning_rate_at, make_optimizer, set_learning_rate
from train.outputs import CHECKPOINTS, checkpoint
from train.outputs.export import export
from train.outputs.log import Log, Quiet, Speed, Tracker, read_log
from train.prepare import Run, Trainee, TrainingRows, open_columns, prepare_model, prepare_rows
from train.recipe import Recipe, renamed
from train.watching.early_stopping import DivergedError, EarlyStopping, is_accepted, verdict
from train.watching.evaluate import DevTest, HarmWatch, dev_test

# Settings that may differ between a checkpoint and the run that continues it: none changes a number.
FREE = frozenset({"threads", "workers", "log_every", "evaluate_every", "checkpoint_every", "keep"})
FREE |= {"name", "description", "tracker", "whiten", "whiten_dimension", "rank_timeout"}
FREE |= {"negative_layout"}  # only in checkpoints made before 1.0; it follows from the loss


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    steps: int  # optimiser steps made
    # Dev scores by name: `before`, `best`, `last`, perhaps `whitened`; empty without evaluation.
    scores: dict[str, dict[str, float]]
    stopped_by: int  # number of the signal that interrupted the run, 0 if it is finished
    facts: dict[str, Any]  # for the model card
    best_step: int = 0  # of the best encoder by dev score; 0: none beat the starting one, or no evaluation


@dataclass
class Progress:
    """How far a run has come: what a checkpoint holds besides weights and moments."""

    done: int = 0  # optimiser steps made
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    # Dev scores by name so far: `before`, `best`, `last`.
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    finished: bool = False  # whether the run is at its end, by its steps or by its patience


@dataclass(frozen=True)
class Training:
    """Everything that a run holds while it steps."""

    run: Run  # its recipe as this machine can run it
    ranks: Ranks
    store: Store  # opened after every column was tokenised
    trainee: Trainee
    rows: TrainingRows
    reader: Reader
    optimizer: torch.optim.Optimizer
    data: dict[str, str]  # SHA-256 of every stage that the run reads, by the stage's name
    settings: dict[str, Any]  # what a checkpoint must agree on
    progress: Progress
    evaluate: DevTest | None  # None on other ranks than the first, or without evaluation
    log: Log | Quiet


def train(run: Run, ranks: Ranks) -> RunResult:
    """Train, continuing from the newest checkpoint in the run's folder if there is one."""
    run = set_up_machine(run, ranks)
    with ranks.watchdog.watching(run.recipe.machine.rank_timeout):
        training = begin(run, ranks)
        with contextlib.closing(training.log):  # until then no other process writes to the run's folder
            with StopRequest() as request, ranks.watchdog.busy(False):
                stopped_by = loop(training, request)
            return finish(training, stopped_by)


# --- before the first step


def set_up_machine(run: Run, ranks: Ranks) -> Run:
    """Settings of this process that decide speed and repeatability."""
    recipe = run.recipe
    if recipe.precision == "bf16" and ranks.device.type == "cpu" and not has_fast_bf16():
        if ranks.is_first:
            print("this CPU has no fast bf16 (AVX512-BF16 or AMX): fp32 is used", file=sys.stderr)
        recipe = dataclasses.replace(recipe, precision="fp32")
    fast.use(recipe.machine.fast)
    # Checkpoints know which way they were made.
    recipe = dataclasses.replace(recipe, machine=dataclasses.replace(recipe.machine, fast=fast.is_on()))
    keep_freed_memory()
    set_threads(recipe.machine.threads, ranks.here)
    torch.use_deterministic_algorithms(True)
    # A debugging aid of deterministic mode that costs a quarter of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return dataclasses.replace(run, recipe=recipe)


def begin(run: Run, ranks: Ranks) -> Training:
    """Prepare model and rows, tokenise what is not yet, and take up an earlier run's state."""
    recipe = run.recipe
    trainee = prepare_model(run, ranks)
    model, objective, tokenizer = trainee.model, trainee.objective, trainee.encoder.tokenizer
    if recipe.machine.compile:
        check_compiler()
        model.encoder.compile(dynamic=True)
    optimizer = make_optimizer(model, recipe)

    store, stages = open_columns(run.store, objective, tokenizer, ranks, trainee.prompts)
    rows = prepare_rows(run, store, objective.columns)
    check_memory(model, objective.views_a_row, recipe, ranks, rows.count)
    for addition in model.additions.values():
        addition.steps = rows.steps  # type: ignore[assignment]
    reader = Reader(
        store, stages, batch=recipe.batch, seed=recipe.seed, window=recipe.window, held_out=recipe.held_out,
        rank=ranks.rank, ranks=ranks.ranks, workers=recipe.reading.workers,
        length_homogeneous=recipe.reading.length_homogeneous, keep=rows.keep, usable=rows.usable,
        weighting=rows.weighting, finish=objective.finish,
        vocabulary=1 + max(tokenizer.get_vocab().values()),
    )  # fmt: skip

    # All draws: one made since a checkpoint would change which of them later epochs read.
    names = (*objective.columns, *recipe.only_changed)
    data = {draw: store.stage(draw).digest for name in names for draw in stage_draws(store, name)}
    read = [stage for addition in model.additions.values() for stage in addition.on_train_begin(store)]  # type: ignore[operator]
    data |= {stage: store.stage(stage).digest for stage in (*read, *rows.scores)}
    # As they read back from a checkpoint's JSON.
    settings = json.loads(json.dumps({"encoder": trainee.digest, "data": data} | recipe.as_json()))
    progress = resume(run.out / CHECKPOINTS, recipe, settings, model, optimizer, objective.scaler)
    if not ranks.same(progress.done):
        raise MixError(
            f"{run.out}: the machines do not see the same checkpoints (this one step {progress.done}); --out "
            "must be a folder that all of them share"
        )
    patient = progress.early_stopping.is_patient(recipe.watching.patience)
    progress.finished = progress.done >= rows.steps or not patient
    evaluate = None
    if ranks.is_first and recipe.evaluate_every:
        evaluate = dev_test(run.data, recipe, store, make_dev_tests(recipe, store))
    ranks.barrier()
    run.out.mkdir(parents=True, exist_ok=True)
    log: Log | Quiet = Quiet()
    if ranks.is_first:
        name, tracker = recipe.watching.tracker, None
        if name != "none":
            tracker = Tracker(name, run.out, recipe.as_json())
        log = Log(run.out, progress.done, rows.steps, tracker)
    return Training(
        run, ranks, store, trainee, rows, reader, optimizer, data, settings, progress, evaluate, log
    )


def resume(
    folder: Path,
    recipe: Recipe,
    settings: dict[str, Any],
    model: Any,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
) -> Progress:
    """Load the newest checkpoint into model and optimiser; without one, begin at step 0."""
    saved = checkpoint.checkpoints(folder)
    if not saved:
        return Progress()
    state = checkpoint.read_state(saved[-1])
    # A run with a constant rate until its last phase may be given its length while it runs.
    open_end = recipe.schedule == "warmup-stable-decay"
    free = FREE | ({"steps", "decay_steps"} if open_end else set())
    checkpoint.check_same_run(saved[-1], renamed(state["settings"]), settings, free)
    checkpoint.load(saved[-1], model, optimizer)
    scaler.load_state_dict(state.get("scaler", {}))
    return Progress(state["step"], EarlyStopping.from_json(state["watch"]), state["scores"])


# --- the steps


def loop(training: Training, request: StopRequest) -> int:
    """Step until the run is finished or is asked to stop."""
    recipe, ranks, progress = training.run.recipe, training.ranks, training.progress
    model, objective, optimizer = training.trainee.model, training.trainee.objective, training.optimizer
    steps, evaluate, log = training.rows.steps, training.evaluate, training.log
    model.train()
    speed = Speed(progress.done * recipe.batch)
    if recipe.name == "sda" and not progress.done:
        for said in unlike_paper(recipe, training.store):
            log.warn(0, said)
    if evaluate and not progress.done:
        with speed.paused(), ranks.watchdog.busy():
            score(training, evaluate, "before")  # a candidate too: training that only hurts gives it back
    stopped_by = 0
    if progress.finished:  # by an earlier run of the same command
        return stopped_by
    harm = HarmWatch(steps, log.warn)
    floor = losses.find(recipe.loss).floor if recipe.contrast.weight else -math.inf
    # A static encoder's step is so short that two threads at Python's lock cost more than preparing takes.
    depth = 0 if isinstance(training.trainee.encoder, StaticEncoder) else 4
    with contextlib.closing(ahead(padded_batches(training), depth)) as batches:
        for batch in speed.waiting_for(batches):
            rate = learning_rate_at(progress.done, steps, recipe)
            set_learning_rate(optimizer, rate)
            # Each rank has the gradient of its own rows; their sum is that of the whole batch.
            metrics = objective.backward(model, moved(batch, ranks.device), progress.done)
            ranks.sum_gradients(model.encoder_parameters(), model.head_parameters())
            objective.scaler.unscale_(optimizer)
            norm = clip(model, recipe.optimizer.clip)
            # Whichever number is not finite stops the run; of finite ones the first, the loss that a collapse
            # would bring to zero, is watched.
            # With loss scaling an infinite gradient only says that the scale was too large.
            numbers = [*metrics.values(), *([] if objective.scaler.is_enabled() else [norm])]
            broken = next((number for number in numbers if not math.isfinite(number)), None)
            watched = numbers[0] if broken is None else broken
            progress.early_stopping.check(watched, progress.done + 1, floor)
            progress.early_stopping.still += not norm
            harm.gradient(norm, progress.done + 1)
            objective.scaler.step(optimizer)
            objective.scaler.update()
            optimizer.zero_grad()
            progress.done += 1
            progress.finished = progress.done == steps

            if progress.done % recipe.watching.log_every == 0 or progress.finished:
                measured = speed.since_last(progress.done * recipe.batch)
                values = metrics | {"learning_rate": rate, "norm": norm} | measured
                every, to_come = recipe.evaluate_every or steps, steps - progress.done
                left = speed.left(to_come, -(-steps // every) - (progress.done - 1) // every)
                log.write("step", progress.done, values, left)
            harm.loss(progress.early_stopping.loss, progress.done)
            if evaluate and (progress.finished or progress.done % recipe.evaluate_every == 0):
                with speed.paused(), ranks.watchdog.busy():  # evaluation does not count as training time
                    score(training, evaluate, "last")
                harm.scores(progress.scores.get("before", {}), progress.scores["last"], progress.done)
                patient = progress.early_stopping.is_patient(recipe.watching.patience)
                progress.finished = progress.finished or not patient
            # All ranks leave after the same step.
            stopped_by, progress.finished = ranks.agree(request.signal, progress.finished)
            due = progress.finished or stopped_by or progress.done % recipe.watching.checkpoint_every == 0
            if ranks.is_first and due:
                save(training)
            if progress.finished or stopped_by:
                break
    return stopped_by


def padded_batches(training: Training) -> Iterator[Any]:
    """This rank's batches from the next step to the last, padded; runs in a thread, or in the loop."""
    per_epoch, steps = training.rows.per_epoch, training.rows.steps
    epoch, first = divmod(training.progress.done, per_epoch)
    while epoch * per_epoch < steps:
        for batch in training.reader.epoch(epoch, first):
            yield training.trainee.objective.prepare(batch, epoch * per_epoch + batch.step)
        epoch, first = epoch + 1, 0


def score(training: Training, evaluate: DevTest, when: str) -> None:
    """Evaluate the encoder `before` the first step or as the `last`; export it if it is the best so far."""
    progress, model, trainee = training.progress, training.trainee.model, training.trainee
    model.eval()  # no dropout
    try:
        known = training.run.before if when == "before" else {}
        encoder = trainee.given if when == "before" else trainee.encoder
        scores = known or evaluate(encoder, progress.scores.get("before", {}))
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
    if not known and evaluate.cosines:
        training.log.draw(progress.done, evaluate.cosines)
    evaluate.keep(when)
    allowed = training.run.allowed if progress.done else 0.0
    if progress.early_stopping.score(scores[main] + allowed, progress.done):
        evaluate.keep("best")
        progress.scores["best"] = scores
        if when == "before" and trainee.folder is not None:
            copy_model(trainee.folder, training.run.out / "best")
        else:
            export(encoder, training.run.out / "best")
    if progress.early_stopping.collapsed:
        said = progress.early_stopping.collapse(scores[main])
        if trainee.folder is None:
            raise DivergedError(f"step {progress.done}: {said}; the best encoder so far is kept in best/")
        training.log.warn(progress.done, said)


def save(training: Training) -> None:
    """Write a checkpoint, and delete the oldest ones."""
    progress = training.progress
    watch, folder = progress.early_stopping.as_json(), training.run.out / CHECKPOINTS
    state = {"settings": training.settings, "watch": watch, "scores": progress.scores}
    model, optimizer = training.trainee.model, training.optimizer
    if training.trainee.objective.scaler.is_enabled():
        state["scaler"] = training.trainee.objective.scaler.state_dict()
    checkpoint.save(folder, progress.done, model, optimizer, state)
    checkpoint.rotate(folder, training.run.recipe.watching.keep)


# --- after the last step


def finish(training: Training, stopped_by: int) -> RunResult:
    """Export the encoder with its card, unless the run was stopped before its end."""
    run, recipe, progress = training.run, training.run.recipe, training.progress
    encoder, first = training.trainee.encoder, training.ranks.is_first
    exported, best_step, gain = ["last", "best"], progress.early_stopping.best_step, None
    if first and progress.finished:
        export(encoder, run.out / "last")
        if not (run.out / "best").is_dir():
            export(encoder, run.out / "best")
        if training.evaluate and training.trainee.folder and best_step:
            folders = {"before": training.trainee.folder, "best": run.out / "best"}
            gain = training.evaluate.gain(folders, str(training.ranks.device))
            if not is_accepted(gain, run.allowed):  # the start is as good, and known
                copy_model(training.trainee.folder, run.out / "best")
                progress.scores["best"], best_step = progress.scores["before"], 0
        if recipe.whitening.sentences:
            exported.append("whitened")
            whitening, places = recipe.whitening, (run.out / "best", run.out / "whitened")
            store_whitened = components.part("methods.whitening").store_whitened
            store_whitened(*places, training.store, whitening.sentences, whitening.dimension)
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
    if "before" in scores and not best_step:
        facts["best_pooling"] = training.trainee.given.pooling
    if first and progress.finished:
        steps, stopping = training.rows.steps, progress.early_stopping
        outcome, said = verdict(
            scores, stopping, progress.done, steps, recipe, gain, run.untrained, run.allowed
        )
        training.log.judge(progress.done, outcome, said)
        facts["verdict"] = said
        events = read_log(run.out / "log.jsonl")
        warnings = (event["message"] for event in events if event["event"] == "warning")
        facts["warnings"] = list(dict.fromkeys(warnings))  # said again where the run was resumed
        card = components.part("extras.card")
        facts["origin"] = card.origin(run.encoder, training.store)
        for kind in exported:
            card.write_card(run.out / kind, facts)
    return RunResult(progress.done, scores, stopped_by, facts, best_step)
