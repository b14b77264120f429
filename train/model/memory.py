"""How much memory a step takes, and whether this machine has it."""

import contextlib
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from augment_cli.encoding.static import StaticTable
from augment_cli.errors import UsageError
from train import components
from train.machine.distributed import Ranks
from train.model import Model
from train.recipe import Recipe


@dataclass(frozen=True)
class Memory:
    """What a step needs at most, in a process."""

    texts: int  # of a step
    at_once: int  # how many of them are encoded at once
    weights: int  # bytes of weights with their gradients and moments
    activations: int  # bytes of what the backward pass reads
    loss: int  # bytes; it compares each row of the global batch with all columns, cached or not


def memory_of(model: Model, views: int, recipe: Recipe, ranks: Ranks, rows: int) -> Memory:
    """Estimate the memory of a step: every text as long as the recipe allows, `views` of them a row."""
    # No more rows are encoded than there are. The loss has the places of a whole batch: a short one is
    # padded.
    texts = -(-min(recipe.batch, rows) // ranks.ranks) * views
    at_once = min(texts, recipe.gradient_cache) if recipe.gradient_cache else texts
    if isinstance(model.encoder, StaticTable):
        activations = at_once * 4 * model.dimension  # a few vectors a text, whatever its length
    else:
        tokens = at_once * recipe.max_length
        config: Any = model.encoder.config
        activations = tokens * _numbers_a_token(config, recipe.max_length)
        if model.masked_head is not None:  # logits of the hidden tokens, their softmax, its gradient
            activations += int(tokens * recipe.masking.rate) * config.vocab_size * 3
    # What is gathered of all processes: the vectors before and after the head, with their gradients.
    vectors = 4 * recipe.batch * views * model.dimension
    loss = _numbers_of_the_loss(recipe) + (vectors if recipe.objective != "mlm" else 0)
    # A trained weight comes with its gradient and two moments; others, such as a running mean of the encoder,
    # alone.
    weights = sum(4 * item.numel() if item.requires_grad else item.numel() for item in model.parameters())
    weights += sum(buffer.numel() for buffer in model.buffers())
    return Memory(texts, at_once, *(_width(recipe) * numbers for numbers in (weights, activations, loss)))


_MOST_ROWS = 2**24  # of a batch; more have no meaning, and their number overflows further on
_MATRICES = 4  # numbers an entry of the logits: they, their softmax and its gradient; 3 to 6 by the loss
# The estimate of the activations is an upper bound, as most texts are shorter; beyond this it is hopeless.
_HOPELESS = 4
_NEAR = 0.8  # of the memory


def _numbers_of_the_loss(recipe: Recipe) -> int:
    """Numbers of all matrices of the loss, of a step that has the recipe's negatives."""
    if recipe.objective == "mlm":
        return 0
    pooled = components.layout(recipe.loss) == "pool"
    views = 2 + (2 if pooled else 1) * len(recipe.negatives)
    logits = (views * recipe.batch) ** 2 if pooled else recipe.batch**2 * (views - 1)
    # A shorter vector has a softmax of its own; an addition compares rows with rows.
    pairs = len(recipe.additions) * recipe.batch**2
    return (_MATRICES + 2 * len(recipe.contrast.dimensions)) * logits + pairs


def check_batch(recipe: Recipe, ranks: Ranks, available: int | None = None) -> None:
    """Refuse a batch whose loss this machine cannot hold, before anything is loaded."""
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
            "it takes a quarter; --set gradient_cache=64 makes this no smaller)"
        )


def memory_for(ranks: Ranks) -> int:
    """Bytes of memory that a process may have: the device's, or a share of the machine's or of its limit."""
    if ranks.device.type == "cuda":
        return int(torch.cuda.get_device_properties(ranks.device).total_memory)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # not there, or the word "max"
            machine = min(machine, int(limit.read_text("ascii")))
    own = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min([machine // ranks.here, *(limit for limit in own if limit != resource.RLIM_INFINITY)])


# Where Linux says what a container may have, of both kinds of control groups.
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def _width(recipe: Recipe) -> int:
    """Bytes of a number."""
    return 8 if recipe.precision == "float64" else 4


def check_memory(
    model: Model, views: int, recipe: Recipe, ranks: Ranks, rows: int, available: int | None = None
) -> None:
    """Refuse a step that this machine cannot hold, before it is tried; warn where it may be too large."""
    available = memory_for(ranks) if available is None else available
    memory = memory_of(model, views, recipe, ranks, rows)
    certain = memory.weights + memory.loss
    if certain + memory.activations / _HOPELESS > available:
        raise UsageError(
            f"batch = {recipe.batch}: encoding {memory.at_once:,} texts at once takes up to "
            f"{(memory.weights + memory.activations) / 1e9:,.0f} GB and the loss {memory.loss / 1e9:,.0f} "
            f"GB, and there are {available / 1e9:,.0f}; choose a smaller batch, or --set gradient_cache=64, "
            "which encodes that many texts at a time and computes the same (its loss takes as much)"
        )
    if ranks.is_first and certain + memory.activations > _NEAR * available:
        print(
            f"warning: a step may take up to {(certain + memory.activations) / 1e9:,.0f} GB of the "
            f"{available / 1e9:,.0f} there are; if it ends for want of memory, choose a smaller batch or "
            "--set gradient_cache=64",
            file=sys.stderr,
        )


def _numbers_a_token(config: object, length: int) -> int:
    """Numbers kept a token for the backward pass: what linear layers, norms, dropouts and attention read."""
    hidden = getattr(config, "hidden_size", 768)
    inner = getattr(config, "intermediate_size", 4 * hidden)
    heads = getattr(config, "num_attention_heads", 12)
    layers = getattr(config, "num_hidden_layers", 12)
    return layers * (12 * hidden + 2 * inner + 3 * heads * length) + 4 * hidden
