"""The training run, top to bottom: open the store, start the model, step, watch, save."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from augment_cli.errors import MixError, UsageError
from augment_cli.store.store import Store
from eval.encoding.encoder import load_encoder
from train.data.order import epoch_rows, row_groups, steps_per_epoch
from train.data.reader import Reader, ahead, changed_rows
from train.data.texts import CORPUS
from train.data.tokens import cache_tokens, stage_draws
from train.draws import draw_key
from train.machine.distributed import Ranks
from train.machine.signals import StopRequest
from train.machine.threads import check_compiler, has_fast_bf16, keep_freed_memory, set_threads
from train.model.model import Model
from train.model.start import start
from train.objectives.contrastive import ContrastiveObjective
from train.objectives.masked_language import MaskedObjective
from train.optimizer import clip, make_optimizer, rate_at
from train.outputs import checkpoint
from train.outputs.export import check_pooling, export, write_card
from train.outputs.log import Log, Quiet
from train.outputs.whiten import store_whitened
from train.recipe import Recipe
from train.watching.evaluate import Evaluate, has_stsb, held_out_pairs, pair_retrieval, stsb_dev
from train.watching.watch import Watch

# Settings that may differ between a checkpoint and the run that continues it: none changes a number.
FREE = frozenset(
    {"threads", "workers", "log_every", "evaluate_every", "checkpoint_every", "keep", "name", "description"}
    | {"whiten", "whiten_dimension"}
)


@dataclass(frozen=True)
class Run:
    """One run: what goes in, where it goes.

    Attributes
    ----------
    store
        The store's folder.
    encoder
        Folder or hub name of the encoder to start from.
    out
        Folder of the run; made if it is not there.
    data
        The data folder, for STS-B dev; None without.
    command
        What the user typed, for the card.
    """

    recipe: Recipe
    store: Path
    encoder: str
    out: Path
    data: Path | None = None
    allow_download: bool = False
    command: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes
    ----------
    steps
        Optimiser steps made.
    scores
        Dev scores: `before`, `best`, `last`, perhaps `whitened`, each a name-to-number table; empty without
        evaluation.
    stopped_by
        Number of the signal that interrupted the run, 0 if it is finished.
    facts
        For the card.
    """

    steps: int
    scores: dict[str, dict[str, float]]
    stopped_by: int
    facts: dict[str, Any]


def train(run: Run, ranks: Ranks) -> Outcome:
    """Train, continuing from the newest checkpoint in `run.out` if there is one."""
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

    # --- the model
    starting = start(run.encoder, recipe, ranks.device, run.allow_download)
    pooling = recipe.pooling or starting.pooling
    check_pooling(pooling)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw_key(recipe.seed, "heads"))
        model = Model(starting.model, pooling, recipe).to(ranks.device, starting.model.dtype)
    encoder = dataclasses.replace(starting, pooling=pooling, digest=None)
    if recipe.compile:
        check_compiler()
        model.encoder.compile(dynamic=True)
    optimizer = make_optimizer(model, recipe)

    # --- the rows
    objective = (MaskedObjective if recipe.objective == "mlm" else ContrastiveObjective)(
        recipe, starting.tokenizer, ranks
    )
    store, stages = open_columns(run.store, objective.columns, starting.tokenizer, ranks, objective.once)
    keep = changed_rows(store, [draw for name in recipe.only_changed for draw in stage_draws(store, name)])
    reader = Reader(
        store, stages, batch=recipe.batch, seed=recipe.seed, window=recipe.window, held_out=recipe.held_out,
        rank=ranks.rank, ranks=ranks.ranks, workers=recipe.workers,
        length_homogeneous=recipe.length_homogeneous, keep=keep,
    )  # fmt: skip
    per_epoch = steps_per_epoch(epoch_rows(row_groups(store.parts), recipe.held_out, keep), recipe.batch)
    steps = recipe.steps or per_epoch * recipe.epochs
    if not per_epoch:
        raise UsageError(
            f"{run.store}: no row is left to train on; lower held_out ({recipe.held_out}) or shorten "
            f"only_changed ({', '.join(recipe.only_changed) or 'empty'})"
        )
    for addition in model.additions.values():
        addition.steps = steps  # type: ignore[assignment]
    # All draws: one made since a checkpoint would change which of them later epochs read.
    names = (*objective.columns, *recipe.only_changed)
    data = {draw: store.stage(draw).digest for name in names for draw in stage_draws(store, name)}

    # --- where an earlier run stopped
    folder, done, watch = run.out / "checkpoints", 0, Watch()
    scores: dict[str, dict[str, float]] = {}
    settings = _json({"encoder": starting.digest, "data": data} | recipe.as_json())
    if saved := checkpoint.checkpoints(folder):
        state = checkpoint.read_state(saved[-1])
        # A run with a constant rate until its last phase may be given its length while it runs.
        free = FREE | ({"steps", "decay_steps"} if recipe.schedule == "warmup-stable-decay" else set())
        checkpoint.check_same_run(saved[-1], state["settings"], settings, free)
        checkpoint.load(saved[-1], model, optimizer)
        done, watch, scores = state["step"], Watch.from_json(state["watch"]), state["scores"]
    if not ranks.same(done):
        raise MixError(
            f"{run.out}: the machines do not see the same checkpoints (this one step {done}); --out must be "
            "a folder that all of them share"
        )
    evaluate = dev_test(run, store) if ranks.is_first and recipe.evaluate_every else None
    ranks.barrier()
    run.out.mkdir(parents=True, exist_ok=True)
    log = Log(run.out, done, steps) if ranks.is_first else Quiet()

    def score(kind: str) -> float:
        """Evaluate on the first rank; returns the main score."""
        assert evaluate is not None
        with evaluating(model):
            found = evaluate(encoder)
        main = next(iter(found))
        firsts = [next(iter(known)) for known in scores.values()]
        if other := next((name for name in firsts if name != main), ""):
            raise MixError(
                f"{run.out}: its best score so far is of {other}, now {main} decides; give the same --data "
                "and held_out as before, or another --out"
            )
        scores[kind] = found
        log.write("dev" if kind == "last" else kind, done, found)
        return next(iter(found.values()))

    def prepared() -> Iterator[Any]:
        """This rank's batches from here to the end of the epoch, padded; runs in a thread."""
        epoch, first = divmod(done, per_epoch)
        for batch in reader.epoch(epoch, first):
            yield objective.prepare(batch, epoch * per_epoch + batch.step)

    def save_checkpoint() -> None:
        state = {"settings": settings, "watch": watch.as_json(), "scores": scores}
        checkpoint.save(folder, done, model, optimizer, state)
        checkpoint.rotate(folder, recipe.keep)

    # --- the loop
    model.train()
    clock, waited, counted = time.perf_counter(), 0.0, done
    stopping, finished = 0, done >= steps or not watch.is_patient(recipe.patience)
    with StopRequest() as request, contextlib.closing(log):
        if evaluate and not done:
            score("before")
            clock = time.perf_counter()
        while not finished and not stopping:
            batches = ahead(prepared(), depth=4)
            asked_at = time.perf_counter()
            for batch in batches:
                waited += time.perf_counter() - asked_at
                rate = rate_at(done, steps, recipe)
                for group in optimizer.param_groups:
                    group["lr"] = rate * group["scale"]
                metrics = objective.backward(model, batch.to(ranks.device), done)
                ranks.sum_gradients(model.encoder_parameters(), model.head_parameters())
                norm = clip(model, recipe.clip)
                parts = [
                    *metrics.values(),
                    norm,
                ]  # the first is the one that a collapse would bring to zero
                watch.check(next((x for x in parts if not math.isfinite(x)), parts[0]), done + 1)
                optimizer.step()
                optimizer.zero_grad()
                done += 1
                finished = done == steps

                if done % recipe.log_every == 0 or finished:
                    now = time.perf_counter()
                    speed = {"rows_per_second": round((done - counted) * recipe.batch / (now - clock), 1)}
                    speed["waited"] = round(waited / (now - clock), 5)
                    log.write("step", done, metrics | {"rate": rate, "norm": norm} | speed)
                    clock, waited, counted = now, 0.0, done
                if evaluate and (finished or done % recipe.evaluate_every == 0):
                    before = time.perf_counter()
                    if watch.score(score("last"), done):
                        scores["best"] = scores["last"]
                        export(encoder, run.out / "best")
                    finished = finished or not watch.is_patient(recipe.patience)
                    clock += time.perf_counter() - before  # evaluation is no training time
                stopping, finished = ranks.agree(request.signal, finished)
                if ranks.is_first and (finished or stopping or done % recipe.checkpoint_every == 0):
                    save_checkpoint()
                if finished or stopping:
                    break
                asked_at = time.perf_counter()
            batches.close()

    # --- what comes out
    made = ["last", "best"]
    if ranks.is_first and finished:
        export(encoder, run.out / "last")
        if not (run.out / "best").is_dir():
            export(encoder, run.out / "best")
        if recipe.whiten:
            made.append("whitened")
            store_whitened(
                run.out / "best", run.out / "whitened", store, recipe.whiten, recipe.whiten_dimension
            )
            if evaluate:
                scores["whitened"] = evaluate(load_encoder(run.out / "whitened"))
    shown = {f"{when} {key}": [value] for when in scores for key, value in scores[when].items()}
    facts = {
        "name": f"{recipe.name} from {encoder.name}", "recipe": recipe.as_json(), "command": run.command,
        "encoder": f"{encoder.name} (SHA-256 {starting.digest})", "data": data, "pooling": pooling,
        "steps": done, "seeds": [recipe.seed], "scores": shown,
    }  # fmt: skip
    if ranks.is_first and finished:
        for kind in made:
            write_card(run.out / kind, facts)
    return Outcome(done, scores, stopping, facts)


def open_columns(
    path: Path, names: tuple[str, ...], tokenizer: Any, ranks: Ranks, once: Sequence[str] = ()
) -> tuple[Store, dict[str, list[str]]]:
    """Open a store and the token-id stages of the named text stages, tokenising first what is not yet.

    Parameters
    ----------
    once
        Stages of which only the first draw is read.
    """

    def columns(store: Store) -> dict[str, list[str]]:
        draws = {name: stage_draws(store, name)[: 1 if name in once else None] for name in names}
        return {name: [cache_tokens(store, draw, tokenizer) for draw in of] for name, of in draws.items()}

    if ranks.is_first:
        columns(Store.open(path))
    ranks.barrier()
    store = Store.open(path)
    return store, columns(store)


def dev_test(run: Run, store: Store) -> Evaluate:
    """STS-B dev where the data folder has it, and retrieval of held-out pairs where rows are held out.

    The first of them decides which encoder is the best.
    """
    tests: list[Evaluate] = []
    if has_stsb(run.data):
        assert run.data is not None
        tests.append(stsb_dev(run.data))
    if run.recipe.held_out:
        stages = tuple(stage for stage in run.recipe.positives if stage not in ("self", CORPUS))
        tests.append(pair_retrieval(held_out_pairs(store, run.recipe.held_out, stages)))
    if not tests:
        raise UsageError(
            "no dev score: there is no STS-B in the data folder (--data) and no row is held out; add "
            "--set held_out=0.1 for retrieval of held-out pairs, or --set evaluate_every=0 for none"
        )
    return lambda encoder: {key: value for test in tests for key, value in test(encoder).items()}


@contextlib.contextmanager
def evaluating(model: Model) -> Iterator[None]:
    """Dropout off within the block."""
    model.eval()
    try:
        yield
    finally:
        model.train()


def _json(value: dict[str, Any]) -> dict[str, Any]:
    """A table as it reads back from JSON."""
    return json.loads(json.dumps(value))
