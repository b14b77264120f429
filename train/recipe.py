"""The settings of a recipe, each with its default and the reason for it.

A recipe is one method as a TOML file (`train/recipes`); `train/loading.py` reads and checks it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

# Settings of later releases with their defaults: checkpoints of earlier ones do not have them.
_LATER: dict[str, Any] = {
    "loss_settings": {}, "contrastive_weight": 1.0, "dimensions": (), "dev": "auto", "tracker": "none",
    "labels": "entailment", "corpus_weights": {},
}  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """Every setting of a run. Lengths are in tokens, counts of steps in optimiser steps, B is `batch`."""

    name: str = "unnamed"
    description: str = ""

    # --- what is learned
    objective: str = "contrastive"  # contrastive | mlm
    loss: str = "one-way"  # one-way | symmetric | ranking-pos-neg | nt-xent: the files of train/losses
    loss_settings: dict[str, Any] = field(default_factory=dict)  # of a loss whose file has `Settings`
    temperature: float = 0.05
    head: str = "tanh"  # tanh | batch-norm | relu | none: the files of train/heads; never saved
    pooling: str = ""  # cls | mean | …; empty: what the starting encoder stores, else mean
    positives: tuple[str, ...] = (
        "self",
    )  # stages; one is drawn uniformly for each row. self: the anchor again
    proportion: float = 1.0  # share of rows that get an augmented positive, the rest get themselves
    negatives: tuple[str, ...] = ()  # stages
    negative_layout: str = "pool"  # pool: rows of the NT-Xent pool | columns: hard-negative columns
    labels: str = "entailment"  # entailment: positives must mean the same, negatives another thing, stage by
    # stage and row by row | kind: each stage as its paper uses it
    alpha: int = 1  # negatives are used in every alpha-th step, counted from 0
    only_changed: tuple[str, ...] = ()  # rows that one of these stages left unchanged are not trained on
    corpus_weights: dict[str, float] = field(
        default_factory=dict
    )  # how often a row of an input file comes in
    # an epoch, by the file's name or a pattern; others come once
    hard_negative_weight: float = 0.0  # added to the logit of a row's own negative column
    negative_scope: str = "all"  # whose negative columns a row meets: all | own (AugCSE's `ranking_neg`)
    mask_equal_texts: bool = True  # an equal text elsewhere in the batch is not a negative
    contrastive_weight: float = 1.0  # 0: the additions' terms alone are learned, such as a regression
    dimensions: tuple[int, ...] = ()  # the loss counts for vectors cut to these lengths, too (Matryoshka)
    mlm_weight: float = 0.0  # of masked language modelling as auxiliary loss
    mask_rate: float = 0.15  # BERT's
    additions: dict[str, dict[str, Any]] = field(default_factory=dict)  # tables by name, see train/additions

    # --- how
    batch: int = 64
    epochs: int = 1  # 0 with steps = 0: no training, only what comes after it
    steps: int = 0  # stop after so many steps, over as many epochs as it takes; 0: epochs decides
    max_length: int = 32
    learning_rate: float = 3e-5
    head_rate_scale: float = 1.0  # learning rate of head and additions, as a multiple of the encoder's
    schedule: str = "linear"  # linear (to 0) | constant | warmup-stable-decay
    warmup_steps: int = 0
    decay_steps: int = 0  # length of the last phase of warmup-stable-decay
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    clip: float = 1.0  # largest gradient norm; 0: none
    dropout: float = -1.0  # -1: what the starting encoder says
    seed: int = 42

    # --- streaming
    window: int = 16  # row groups among which rows are permuted, at least 16
    held_out: float = 0.0  # share of rows kept from training, for the dev score where there is no STS-B
    workers: int = 1  # threads that read windows ahead
    slices: int = 4  # a batch is sorted by length and cut so often to save padding
    length_homogeneous: bool = (
        False  # batches of like length: changes which negatives meet, so never the default
    )
    chunk: int = 0  # gradient caching: encode so many texts at a time; 0: all at once

    # --- machine
    precision: str = "fp32"  # fp32 | bf16 (autocast) | float64
    compile: bool = False
    threads: int = 0  # torch threads of a process; 0: chosen by train.machine.threads

    # --- watching
    evaluate_every: int = 125
    dev: str = "auto"  # which dev score decides: auto (STS-B where there is one) | neighbours
    patience: int = 0  # stop after so many evaluations without a better score; 0: never
    log_every: int = 10
    tracker: str = "none"  # none | trackio | wandb (offline): gets what log.jsonl gets
    checkpoint_every: int = 500
    keep: int = 2  # checkpoints kept besides the best

    # --- after training
    whiten: int = 0  # fit a whitening on so many sentences and store it with the model; 0: none
    whiten_dimension: int = 0  # directions it keeps, those of largest variance; 0: all

    # --- a new encoder, where the starting folder holds only a tokenizer (train/recipes/mlm.toml)
    new_encoder: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON values; of those that came later only what is not the default."""
        values = dataclasses.asdict(self)
        for key, default in _LATER.items():  # as in checkpoints of before there were any
            if values[key] == default:
                del values[key]
        return values
