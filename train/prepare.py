"""What a run needs before its first step: the model it trains and the rows it reads. Writes nothing.

The training run and the dry run both start here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import sys
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
from train import losses
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
        If the encoder is missing or does not fit the recipe, or no memory holds the loss of a batch.
    """
    recipe = run.recipe
    check_batch(recipe, ranks)
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
    loss : int
        Bytes of the loss, which compares each row of the global batch with all columns, chunked or not.
    """

    texts: int
    at_once: int
    weights: int
    activations: int
    loss: int


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
        How many there are to train on; no more are encoded. The loss has the places of a whole batch, as
        one with fewer rows is padded.
    """
    objective = trainee.objective
    width = _width(recipe)
    views = objective.views.count(0)[1] if isinstance(objective, ContrastiveObjective) else 1
    batch = recipe.batch if rows is None else min(recipe.batch, rows)
    texts = -(-batch // ranks.ranks) * views
    at_once = min(texts, recipe.chunk) if recipe.chunk else texts
    if isinstance(trainee.encoder, StaticEncoder):
        activations = at_once * 4 * trainee.model.dimension  # a few vectors a text, whatever its length
    else:
        tokens = at_once * recipe.max_length
        config = trainee.encoder.model.config
        activations = tokens * _numbers_a_token(config, recipe.max_length)
        if trainee.model.masked_head is not None:  # logits of the hidden tokens, their softmax, its gradient
            activations += int(tokens * recipe.mask_rate) * config.vocab_size * 3
    # What is gathered of all processes: the vectors before and after the head, with their gradients.
    vectors = 4 * recipe.batch * views * trainee.model.dimension
    loss = _numbers_of_the_loss(recipe) + (vectors if recipe.objective != "mlm" else 0)
    return Memory(texts, at_once, numbers_of(trainee.model) * width, activations * width, loss * width)


_MOST_ROWS = 2**24  # of a batch; more have no meaning, and their number overflows further on
_MATRICES = 4  # numbers an entry of the logits: they, their softmax and its gradient; 3 to 6 by the loss
# The estimate of the activations is an upper bound, as most texts are shorter; beyond this it is hopeless.
_HOPELESS = 4
_NEAR = 0.8  # of the memory


def _numbers_of_the_loss(recipe: Recipe) -> int:
    """Numbers of all matrices of the loss, of a step that has the recipe's negatives."""
    if recipe.objective == "mlm":
        return 0
    each = 2 if recipe.negative_layout == "pool" else 1
    views = 2 + each * len(recipe.negatives)
    pooled = losses.find(recipe.loss).layout == "pool"
    logits = (views * recipe.batch) ** 2 if pooled else recipe.batch**2 * (views - 1)
    # A shorter vector has a softmax of its own; an addition compares rows with rows.
    return (_MATRICES + 2 * len(recipe.dimensions)) * logits + len(recipe.additions) * recipe.batch**2


def check_batch(recipe: Recipe, ranks: Ranks, available: int | None = None) -> None:
    """Refuse a batch whose loss this machine cannot hold, before anything is loaded.

    Parameters
    ----------
    recipe : Recipe
        The settings.
    ranks : Ranks
        This process among all.
    available : int, optional
        Bytes of memory; by default `memory_for` this process.

    Raises
    ------
    UsageError
        If there are more rows than any batch has, or the matrices alone are larger than the memory.
    """
    if recipe.batch > _MOST_ROWS:
        raise UsageError(
            f"batch = {recipe.batch} is larger than any batch can be; choose at most {_MOST_ROWS:,}"
        )
    available = memory_for(ranks) if available is None else available
    needed = _numbers_of_the_loss(recipe) * _width(recipe)
    if needed > available:
        raise UsageError(
            f"batch = {recipe.batch}: the loss compares each row with all others, which takes about "
            f"{needed / 1e9:,.0f} GB, and there are {available / 1e9:,.0f}; choose a smaller batch (half of "
            "it takes a quarter; --set chunk=64 makes this no smaller)"
        )


def memory_for(ranks: Ranks) -> int:
    """Bytes of memory that a process may have: the device's, or a share of the machine's or of its limit.

    Parameters
    ----------
    ranks : Ranks
        This process among all.
    """
    if ranks.device.type == "cuda":
        return int(torch.cuda.get_device_properties(ranks.device).total_memory)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # not there, or the word "max"
            machine = min(machine, int(limit.read_text("ascii")))
    own = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min([machine // ranks.here, *(limit for limit in own if limit != resource.RLIM_INFINITY)])


# Where Linux says what a container may have, of both kinds of control groups.
_CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def _width(recipe: Recipe) -> int:
    """Bytes of a number."""
    return 8 if recipe.precision == "float64" else 4


def check_memory(
    trainee: Trainee, recipe: Recipe, ranks: Ranks, rows: int, available: int | None = None
) -> None:
    """Refuse a step that this machine cannot hold, before it is tried; warn where it may be too large.

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
        Bytes of memory; by default `memory_for` this process.

    Raises
    ------
    UsageError
        If the estimate is several times what there is.
    """
    available = memory_for(ranks) if available is None else available
    memory = memory_of(trainee, recipe, ranks, rows)
    certain = memory.weights + memory.loss
    if certain + memory.activations / _HOPELESS > available:
        raise UsageError(
            f"batch = {recipe.batch}: encoding {memory.at_once:,} texts at once takes up to "
            f"{(memory.weights + memory.activations) / 1e9:,.0f} GB and the loss {memory.loss / 1e9:,.0f} "
            f"GB, and there are {available / 1e9:,.0f}; choose a smaller batch, or --set chunk=64, which "
            "encodes so many texts at a time and computes the same (its loss takes as much)"
        )
    if ranks.is_first and certain + memory.activations > _NEAR * available:
        print(
            f"warning: a step may take up to {(certain + memory.activations) / 1e9:,.0f} GB of the "
            f"{available / 1e9:,.0f} there are; if it ends for want of memory, choose a smaller batch or "
            "--set chunk=64",
            file=sys.stderr,
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
