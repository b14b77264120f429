"""The dry run: what would happen, and how much memory it would take."""

from __future__ import annotations

from augment_cli.store.store import Store
from train.data.order import epoch_rows, row_groups, steps_per_epoch
from train.data.reader import changed_rows
from train.data.tokens import stage_draws
from train.machine.distributed import Ranks
from train.model.model import Model
from train.model.start import start
from train.objectives.contrastive import ContrastiveObjective
from train.objectives.masked_language import MaskedObjective
from train.run import Run


def plan(run: Run, ranks: Ranks) -> str:
    """The run in words: rows, steps, texts a step, memory. Nothing is written.

    Raises
    ------
    UserError
        Whatever would stop the run at its start: a missing stage, a missing model.
    """
    recipe = run.recipe
    store = Store.open(run.store)
    keep = changed_rows(store, [draw for name in recipe.only_changed for draw in stage_draws(store, name)])
    rows = epoch_rows(row_groups(store.parts), recipe.held_out, keep)
    per_epoch = steps_per_epoch(rows, recipe.batch)
    steps = recipe.steps or per_epoch * recipe.epochs
    encoder = start(run.encoder, recipe, ranks.device, run.allow_download)
    objective = (MaskedObjective if recipe.objective == "mlm" else ContrastiveObjective)(
        recipe, encoder.tokenizer, ranks
    )
    pooling = recipe.pooling or encoder.pooling
    model = Model(encoder.model, pooling, recipe)
    names = objective.columns
    draws = {name: stage_draws(store, name)[: 1 if name in objective.once else None] for name in names}
    parameters = sum(parameter.numel() for parameter in encoder.model.parameters())
    width = (recipe.precision == "float64" and 8) or 4
    views = objective.views.count(0)[1] if isinstance(objective, ContrastiveObjective) else 1
    texts = -(-recipe.batch // ranks.ranks) * views
    at_once = min(texts, recipe.chunk) if recipe.chunk else texts
    activations = (
        at_once * recipe.max_length * _numbers_a_token(encoder.model.config, recipe.max_length) * width
    )
    window = (
        min(len(row_groups(store.parts)), recipe.window) * 8192 * 40 * 4 * len(names) * (recipe.workers + 1)
    )
    lines = [
        f"recipe        {recipe.name}: {recipe.description}",
        f"rows          {rows:,} an epoch ({store.rows - rows:,} left out), columns {', '.join(names)}",
        *(
            f"draws         {name}: {len(found)}, epoch e uses draw e mod {len(found)}"
            for name, found in draws.items()
            if len(found) > 1
        ),
        f"steps         {steps:,} of {recipe.batch} rows ({per_epoch:,} an epoch), {ranks.ranks} process(es)",
        f"encoder       {encoder.name}: {parameters / 1e6:.1f} million parameters, pooling {pooling}",
        f"texts a step  up to {texts} a process, {at_once} encoded at once, "
        f"at most {recipe.max_length} tokens each",
        f"memory        {_numbers(model) * width / 1e6:,.0f} MB weights, gradients and moments; "
        f"up to {activations / 1e6:,.0f} MB activations; about {window / 1e6:,.0f} MB rows; a process",
    ]
    return "\n".join(lines)


def _numbers(model: Model) -> int:
    """Numbers kept throughout: a trained weight with its gradient and two moments; others, such as a running
    mean of the encoder, alone."""
    weights = sum(4 * item.numel() if item.requires_grad else item.numel() for item in model.parameters())
    return weights + sum(buffer.numel() for buffer in model.buffers())


def _numbers_a_token(config: object, length: int) -> int:
    """Numbers kept a token for the backward pass: what linear layers, norms, dropouts and attention read."""
    hidden = getattr(config, "hidden_size", 768)
    inner = getattr(config, "intermediate_size", 4 * hidden)
    heads = getattr(config, "num_attention_heads", 12)
    layers = getattr(config, "num_hidden_layers", 12)
    return layers * (12 * hidden + 2 * inner + 3 * heads * length) + 4 * hidden
