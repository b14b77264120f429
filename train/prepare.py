"""What a run needs before its first step: the model it trains and the rows it reads. Writes nothing.

The training run and the dry run both start here.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from augment_cli.contract.entailment import BY_LABEL
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.pooling import canonical, weights_in
from augment_cli.encoding.static import StaticEncoder, StaticTable
from augment_cli.encoding.token_weights import count_store
from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from train.data.labels import needed_labels
from train.data.order import epoch_rows, row_groups, steps_per_epoch
from train.data.reader import changed_rows
from train.data.tokens import stage_draws
from train.data.weights import Weighting, weighting
from train.draws import draw_key
from train.machine.distributed import Ranks
from train.model.model import Model
from train.model.start import start
from train.objectives.columns import Objective
from train.objectives.contrastive import ContrastiveObjective
from train.objectives.masked_language import MaskedObjective
from train.outputs.export import check_pooling
from train.recipe import Recipe


class NoRowsError(UsageError):
    """The recipe's settings leave no row to train on."""


@dataclass(frozen=True)
class Run:
    """One run: what goes in, where it goes.

    Attributes
    ----------
    recipe : Recipe
        All settings.
    store : Path
        The store's folder.
    encoder : str
        Folder or hub name of the encoder to start from.
    out : Path
        Folder of the run; created if missing.
    data : Path or None
        The data folder, for STS-B dev; None without.
    allow_download : bool
        Whether a hub encoder that is not on this machine may be fetched.
    command : str
        What the user typed, for the model card.
    before : dict of str to float
        Dev scores of the starting encoder, as another run from it on the same data measured them; empty
        where this one measures them.
    """

    recipe: Recipe
    store: Path
    encoder: str
    out: Path
    data: Path | None = None
    allow_download: bool = False
    command: str = ""
    before: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trainee:
    """The model of a run and what computes its loss.

    Attributes
    ----------
    encoder : Encoder
        The encoder in training with its tokenizer and the run's pooling: what is evaluated and exported.
    digest : str or None
        SHA-256 of the model that the encoder started from.
    model : Model
        The same encoder with head and additions.
    objective : Objective
        Pads the batches and computes loss and gradient.
    """

    encoder: Encoder
    digest: str | None
    model: Model
    objective: Objective


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a run.

    Attributes
    ----------
    keep : numpy.ndarray or None
        Which rows of the corpus may be used, shape (corpus rows,), bool; None for all.
    count : int
        TrainingRows of an epoch.
    per_epoch : int
        Steps of an epoch.
    steps : int
        Steps of the whole run.
    labels : dict of str to str
        Stages whose rows have labels of their own, and the one that is needed.
    weighting : Weighting or None
        How often each row comes in an epoch, of several corpora; None for once.
    """

    keep: np.ndarray | None
    count: int
    per_epoch: int
    steps: int
    labels: dict[str, str] = field(default_factory=dict)
    weighting: Weighting | None = None


def prepare_model(run: Run, ranks: Ranks) -> Trainee:
    """Load or make the encoder, and add the recipe's head and additions to it.

    Parameters
    ----------
    run : Run
        The run.
    ranks : Ranks
        This process among all; its device gets the model.

    Raises
    ------
    UserError
        If the encoder is missing or does not fit the recipe.
    """
    recipe = run.recipe
    starting = start(run.encoder, recipe, ranks.device, run.allow_download)
    pooling = canonical(recipe.pooling or starting.pooling)
    check_pooling(pooling)
    # Weights that came with the encoder stay; others are counted in the corpus it is trained on.
    weights = starting.weights if pooling == starting.pooling else None
    if weights_in(pooling) and weights is None:
        counts = count_store(Store.open(run.store), starting.tokenizer)
        weights = torch.from_numpy(counts.weights(weights_in(pooling)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw_key(recipe.seed, "heads"))
        model = Model(starting.model, pooling, recipe, weights).to(ranks.device, starting.model.dtype)
    objective: Objective = (
        MaskedObjective(recipe, starting.tokenizer, ranks)
        if recipe.objective == "mlm"
        else ContrastiveObjective(recipe, starting.tokenizer, ranks, isinstance(starting.model, StaticTable))
    )
    # Without a digest, since no cache may take the encoder in training for the one it started from.
    encoder = dataclasses.replace(starting, pooling=pooling, digest=None, weights=weights)
    return Trainee(encoder, starting.digest, model, objective)


def prepare_rows(run: Run, store: Store) -> TrainingRows:
    """Count the rows and steps of a run.

    Parameters
    ----------
    run : Run
        The run.
    store : Store
        Its store, opened.

    Raises
    ------
    UsageError
        If a stage of `only_changed` is missing, a positive or negative has not the label for it, or a pattern
        of `corpus_weights` fits no input file.
    NoRowsError
        If no row is left.
    """
    recipe = run.recipe
    by_label = recipe.labels == BY_LABEL
    labels = needed_labels(store, recipe.positives, recipe.negatives) if by_label else {}
    keep = changed_rows(store, [draw for name in recipe.only_changed for draw in stage_draws(store, name)])
    weighted = weighting(store, recipe.corpus_weights, recipe.seed, recipe.held_out, keep)
    count = weighted.count if weighted else epoch_rows(row_groups(store.parts), recipe.held_out, keep)
    if not count:
        raise NoRowsError(
            f"{run.store}: no row is left to train on; lower held_out ({recipe.held_out}), shorten "
            f"only_changed ({', '.join(recipe.only_changed) or 'empty'}) or raise corpus_weights"
        )
    per_epoch = steps_per_epoch(count, recipe.batch)
    return TrainingRows(keep, count, per_epoch, recipe.steps or per_epoch * recipe.epochs, labels, weighted)


@dataclass(frozen=True)
class Memory:
    """What a step needs at most, in a process.

    Attributes
    ----------
    texts, at_once : int
        Texts of a step, and how many of them are encoded at once.
    weights, activations : int
        Bytes of weights with their gradients and moments, and of what the backward pass reads.
    """

    texts: int
    at_once: int
    weights: int
    activations: int


def memory_of(trainee: Trainee, recipe: Recipe, ranks: Ranks, rows: int | None = None) -> Memory:
    """Estimate the memory of a step: every text as long as the recipe allows.

    Parameters
    ----------
    trainee : Trainee
        The model.
    recipe : Recipe
        The settings.
    ranks : Ranks
        This process among all.
    rows : int, optional
        How many there are to train on; no batch is larger.
    """
    objective = trainee.objective
    width = 8 if recipe.precision == "float64" else 4  # bytes of a number
    views = objective.views.count(0)[1] if isinstance(objective, ContrastiveObjective) else 1
    batch = recipe.batch if rows is None else min(recipe.batch, rows)
    texts = -(-batch // ranks.ranks) * views
    at_once = min(texts, recipe.chunk) if recipe.chunk else texts
    if isinstance(trainee.encoder, StaticEncoder):
        activations = at_once * 4 * trainee.model.dimension  # a few vectors a text, whatever its length
    else:
        tokens = at_once * recipe.max_length
        activations = tokens * _numbers_a_token(trainee.encoder.model.config, recipe.max_length)
    return Memory(texts, at_once, numbers_of(trainee.model) * width, activations * width)


# The estimate is an upper bound, as most texts are shorter; what is beyond this is hopeless.
_HOPELESS = 4


def check_memory(
    trainee: Trainee, recipe: Recipe, ranks: Ranks, rows: int, available: int | None = None
) -> None:
    """Refuse a step that this machine cannot hold, before it is tried.

    Parameters
    ----------
    trainee : Trainee
        The model.
    recipe : Recipe
        The settings.
    ranks : Ranks
        This process among all.
    rows : int
        How many there are to train on.
    available : int, optional
        Bytes of memory; by default the device's, divided among this machine's processes.

    Raises
    ------
    UsageError
        If the estimate is several times what there is.
    """
    if available is None:
        if ranks.device.type == "cuda":
            available = int(torch.cuda.get_device_properties(ranks.device).total_memory)
        else:
            available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // ranks.here
    memory = memory_of(trainee, recipe, ranks, rows)
    needed = memory.weights + memory.activations
    if needed > _HOPELESS * available:
        raise UsageError(
            f"batch = {recipe.batch}: encoding {memory.at_once:,} texts at once takes up to "
            f"{needed / 1e9:,.0f} GB, and there are {available / 1e9:,.0f}; choose a smaller batch, or "
            "--set chunk=64, which encodes so many texts at a time and computes the same"
        )


def numbers_of(model: Model) -> int:
    """Numbers kept throughout the run.

    A trained weight comes with its gradient and two moments; others, such as a running mean of the encoder,
    alone.
    """
    weights = sum(4 * item.numel() if item.requires_grad else item.numel() for item in model.parameters())
    return weights + sum(buffer.numel() for buffer in model.buffers())


def _numbers_a_token(config: object, length: int) -> int:
    """Numbers kept a token for the backward pass: what linear layers, norms, dropouts and attention read."""
    hidden = getattr(config, "hidden_size", 768)
    inner = getattr(config, "intermediate_size", 4 * hidden)
    heads = getattr(config, "num_attention_heads", 12)
    layers = getattr(config, "num_hidden_layers", 12)
    return layers * (12 * hidden + 2 * inner + 3 * heads * length) + 4 * hidden
