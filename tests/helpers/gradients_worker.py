"""Losses and gradients of two steps for many settings, alone or under torchrun.

Run by tests/train/machine/test_distributed.py:

gradients_worker.py STORE ENCODER OUT.npz
"""

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import train.machine.fast
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import word_table, write_folder
from train.data.order import draw_key
from train.data.reader import Reader
from train.loading import make_recipe
from train.machine.distributed import join, leave
from train.methods.mlm.masked_language import MaskedObjective
from train.model import Model, start
from train.objectives.contrastive import ContrastiveObjective
from train.optimizer import clip, make_optimizer, set_learning_rate
from train.prepare import open_columns

STAGES = ("una", "una.1", "pi")


def settings():
    """(name, recipe values): 0, 1 and 3 negative columns, pool, chunks, auxiliary loss, both precisions."""
    for precision, negatives, chunk in itertools.product(("float64", "fp32"), (0, 1, 3), (0, 7)):
        values = {"precision": precision, "negatives": STAGES[:negatives], "gradient_cache": chunk}
        yield f"{precision} columns {negatives} chunk {chunk}", values | {"positives": ("aa", "self")}
    # Not in fp32: an untrained encoder's first tokens are nearly alike, and so gradients small differences.
    for chunk in (0, 7):
        values = {"precision": "float64", "pooling": "cls", "gradient_cache": chunk}
        yield f"float64 cls chunk {chunk}", values
    for precision in ("float64", "fp32"):
        of = {"precision": precision}
        yield f"{precision} pool", of | {"loss": "nt-xent", "negatives": ("una",)}
        hard = {"loss": "symmetric", "hard_negative_weight": 0.5, "negatives": ("una",)}
        yield f"{precision} symmetric", of | hard
        yield f"{precision} auxiliary", of | {"mlm_weight": 0.1}
        yield f"{precision} mlm", of | {"objective": "mlm"}
    # Additions: what they draw and remember is that of the global batch, whoever encodes it, in what pieces.
    added: dict[str, dict[str, Any]] = {
        "batch norm and discriminator": {
            "loss": "symmetric",
            "head": "batch-norm",
            "discriminator": {"stages": ["una", "pi"], "weight": 0.3},
        },
        "augmented positive and discriminator": {
            "discriminator": {"stages": ["una", "pi"], "weight": 0.3, "positive": "augmented"}
        },
        "neighbourhood": {
            "loss": "nt-xent",
            "head": "relu",
            "neighbourhood": {"neighbours": 13, "radius": 2.0, "gradient": "full", "steps": 2},
        },
        "queue and noise": {
            "momentum": {"rate": 0.5, "queue": 20},
            "gaussian_negatives": {"count": 8},
            "repetition": {},
            "soft_negative": {"stage": "pi", "weight": 0.3},
            "latent_augmentation": {"kind": "linear"},
        },
        "interpolation": {"latent_augmentation": {"strength": 0.5, "sample": 0.5}},
        "jitter": {"pca_jitter": {"layer": 1, "schedule": "constant", "level": 10.0, "draws": "each"}},
    }
    for name, values in added.items():
        for precision in ("float64", "fp32")[: 2 if "head" in values else 1]:
            for chunk in (0, 7):
                common = {"precision": precision, "gradient_cache": chunk}
                yield f"{precision} {name} chunk {chunk}", common | values
    for precision in ("float64", "fp32"):
        values = {"precision": precision, "positives": ("aa", "pi"), "momentum": {}, "clip": 0.5}
        yield f"{precision} info-nce static", values
        values = {"precision": precision, "positives": ("pi",), "loss": "symmetric", "head": "none"}
        yield f"{precision} symmetric static", values


def main():
    store_path, encoder_path, out = sys.argv[1:]
    torch.set_num_threads(1)
    train.machine.fast.TABLE_ROWS = 100  # the tiny encoder's vocabulary counts as one
    ranks = join()
    results = {}
    static = Path(f"{out}.static-{ranks.rank}")
    write_folder(word_table(load_encoder(encoder_path), "table"), static)
    for name, values in settings():
        # 14 rows for 4 ranks: slices of unlike size; 150 rows leave a last batch with padding.
        recipe = make_recipe(
            {"batch": 14, "dropout": 0.0, "slices": 2, "max_length": 24, "pooling": "mean"} | values
        )
        encoder = start(static if name.endswith("static") else encoder_path, recipe, ranks.device)
        torch.manual_seed(draw_key(1, "heads"))
        model = Model(encoder.model, recipe.pooling, recipe).to(encoder.model.dtype).train()
        kind = MaskedObjective if recipe.objective == "mlm" else ContrastiveObjective
        objective = kind(recipe, encoder.tokenizer, ranks)
        store, stages = open_columns(store_path, objective, encoder.tokenizer, ranks, {})
        reader = Reader(store, stages, batch=14, seed=1, rank=ranks.rank, ranks=ranks.ranks)
        batches = list(reader.epoch(0))
        optimizer = make_optimizer(model, recipe)
        set_learning_rate(optimizer, 0.01)
        for step in (0, len(batches) - 1):
            model.zero_grad()
            metrics = objective.backward(model, objective.prepare(batches[step], step), step)
            ranks.sum_gradients(model.encoder_parameters(), model.head_parameters())
            results[f"{name}|{step}|loss"] = np.array(sum(metrics.values()))
            for buffer, value in model.named_buffers():
                if not buffer.startswith("encoder."):  # statistics and the queue
                    results[f"{name}|{step}|{buffer}"] = value.double().numpy().copy()
            gradients = [p.grad.to_dense().reshape(-1) for p in model.parameters() if p.grad is not None]
            results[f"{name}|{step}|gradient"] = torch.cat(gradients).numpy()
            if name.endswith("static"):  # its optimiser is our own: the model after the step, too
                clip(model, recipe.optimizer.clip)
                optimizer.step()
                results[f"{name}|{step}|table"] = next(model.parameters()).detach().numpy().copy()
    if ranks.is_first:
        np.savez(out, **results)
    leave()
    left = [task.read_text() for task in Path("/proc/self/task").glob("*/comm")]
    assert not any("gloo" in name for name in left), left  # they may abort the process at its end


if __name__ == "__main__":
    main()
