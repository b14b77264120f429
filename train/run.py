"""The training run, top to bottom: open the store, start the model, step, watch, save."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from augment_cli.store import Store
from train import checkpoint
from train.distributed import Ranks
from train.machine import keep_freed_memory, set_threads
from train.masked_objective import MaskedObjective
from train.model import Model, draw_key, start
from train.order import epoch_rows, row_groups, steps_per_epoch
from train.reader import Reader, ahead
from train.recipe import Recipe
from train.schedule import rate_at
from train.signals import StopRequest
from train.tokens import cache_tokens


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
    """

    recipe: Recipe
    store: Path
    encoder: str
    out: Path
    stop_at: int = 0  # leave with a checkpoint after this step, for planned interruptions


def train(run: Run, ranks: Ranks) -> dict[str, Any]:
    """Train, resuming from the newest checkpoint in `run.out` if there is one."""
    recipe = run.recipe
    keep_freed_memory()
    set_threads(recipe.threads, ranks.here)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # a debugging aid that costs a quarter of a step

    store = Store.open(run.store)
    starting = start(run.encoder, recipe, ranks.device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw_key(recipe.seed, "heads"))
        model = Model(starting.model, recipe.pooling or starting.pooling, recipe).to(ranks.device)
    model.train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, betas=recipe.betas, weight_decay=recipe.weight_decay, fused=True
    )
    objective = MaskedObjective(recipe, starting.tokenizer, ranks)

    if ranks.is_first:
        for name in objective.columns:
            cache_tokens(store, name, starting.tokenizer)
    ranks.barrier()
    store = Store.open(run.store)
    stages = {name: [cache_tokens(store, name, starting.tokenizer)] for name in objective.columns}
    reader = Reader(
        store, stages, batch=recipe.batch, seed=recipe.seed, window=recipe.window, held_out=recipe.held_out,
        rank=ranks.rank, ranks=ranks.ranks, workers=recipe.workers,
    )  # fmt: skip
    per_epoch = steps_per_epoch(epoch_rows(row_groups(store.parts), recipe.held_out), recipe.batch)
    steps = recipe.steps or per_epoch * recipe.epochs

    folder = run.out / "checkpoints"
    done = 0
    if saved := checkpoint.checkpoints(folder):
        state = checkpoint.read_state(saved[-1])
        checkpoint.check_same_run(saved[-1], state["recipe"], _json(recipe), frozenset({"steps", "threads", "workers"}))
        checkpoint.load(saved[-1], model, optimizer)
        done = state["step"]
    run.out.mkdir(parents=True, exist_ok=True)
    log = (run.out / "log.jsonl").open("a", encoding="utf-8")
    began, waited, last = time.perf_counter(), 0.0, done

    def prepared(epoch: int, first: int) -> Any:
        for batch in reader.epoch(epoch, first):
            yield objective.prepare(batch, epoch * per_epoch + batch.step)

    with StopRequest() as stop:
        while done < steps:
            batches = ahead(prepared(*divmod(done, per_epoch)), depth=4)
            before = time.perf_counter()
            for batch in batches:
                waited += time.perf_counter() - before
                for group in optimizer.param_groups:
                    group["lr"] = rate_at(done, steps, recipe)
                metrics = objective.backward(model, [item.to(ranks.device) for item in batch], done)
                ranks.sum_gradients(model.encoder_parameters(), model.head_parameters())
                norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip or math.inf))
                optimizer.step()
                optimizer.zero_grad()
                done += 1
                if ranks.is_first and (done % recipe.log_every == 0 or done == steps):
                    now = time.perf_counter()
                    rows_a_second = (done - last) * recipe.batch / (now - began)
                    line = {"step": done, "rate": rate_at(done - 1, steps, recipe), "norm": norm, **metrics}
                    line |= {"rows_per_second": round(rows_a_second, 1), "waited": round(waited / (now - began), 4)}
                    log.write(json.dumps(line) + "\n")
                    log.flush()
                    began, waited, last = now, 0.0, done
                leaving = stop.asked or done == run.stop_at
                if ranks.is_first and (done % recipe.checkpoint_every == 0 or done == steps or leaving):
                    checkpoint.save(folder, done, model, optimizer, {"recipe": _json(recipe)})
                    checkpoint.rotate(folder, recipe.keep)
                if done == steps or leaving:
                    batches.close()
                    log.close()
                    return {"steps": done}
                before = time.perf_counter()
    return {"steps": done}


def _json(recipe: Recipe) -> dict[str, Any]:
    """A recipe as it reads back from JSON."""
    return json.loads(json.dumps(recipe.as_json()))
