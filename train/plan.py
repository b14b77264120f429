"""The dry run: what would happen, and how much memory it would take."""

from __future__ import annotations

from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from train.data.order import row_groups
from train.machine.distributed import Ranks
from train.model.memory import check_memory, memory_of
from train.prepare import Run, column_draws, prepare_model, prepare_rows

_ROW_GROUP_BYTES = ROW_GROUP_ROWS * 40 * 4  # of token ids: 40 in a text, 4 bytes each


def plan(run: Run, ranks: Ranks) -> str:
    """The run in words: rows, steps, texts a step, memory. Nothing is written."""
    recipe = run.recipe
    trainee = prepare_model(run, ranks)
    encoder, objective = trainee.encoder, trainee.objective
    store = Store.open(run.store)
    columns = column_draws(objective, store)
    rows = prepare_rows(run, store, columns)
    for addition in trainee.model.additions.values():
        addition.on_train_begin(store)  # type: ignore[operator]
    parameters = sum(parameter.numel() for parameter in encoder.model.parameters())
    check_memory(trainee.model, objective.views_a_row, recipe, ranks, rows.count)
    memory = memory_of(trainee.model, objective.views_a_row, recipe, ranks, rows.count)
    used = sum(len(one.rows) for one in rows.weighting.corpora) if rows.weighting else rows.count
    left = store.rows - used
    windows = min(len(row_groups(store.parts)), recipe.window) * (recipe.reading.workers + 1)
    losses = [recipe.loss] if recipe.objective == "contrastive" and recipe.contrast.weight else []
    losses += [
        *(["masked words"] if recipe.objective == "mlm" or recipe.masking.weight else []),
        *recipe.additions,
    ]
    lines = [
        f"recipe        {recipe.name}: {recipe.description}",
        f"loss          {', '.join(losses)}",
        f"rows          {rows.count:,} an epoch ({left:,} left out), columns {', '.join(columns)}",
        *(
            f"corpus        {corpus.name}: {len(corpus.rows):,} rows, {corpus.count:,} an epoch"
            for corpus in (rows.weighting.corpora if rows.weighting else ())
        ),
        *(f"usable        {name}: {usable.sum():,} texts" for name, usable in rows.usable.items()),
        *(
            f"draws         {name}: {len(draws)}, epoch e uses draw e mod {len(draws)}"
            for name, draws in columns.items()
            if len(draws) > 1
        ),
        f"steps         {rows.steps:,} of {recipe.batch} rows ({rows.per_epoch:,} an epoch), "
        f"{ranks.ranks} process(es)",
        f"encoder       {encoder.name}: {parameters / 1e6:.1f} million parameters, pooling {encoder.pooling}",
        f"texts a step  up to {memory.texts} a process, {memory.at_once} encoded at once, "
        f"at most {recipe.max_length} tokens each",
        f"memory        {memory.weights / 1e6:,.0f} MB weights, gradients and moments; "
        f"up to {memory.activations / 1e6:,.0f} MB activations; about {memory.loss / 1e6:,.0f} MB loss; "
        f"about {windows * _ROW_GROUP_BYTES * len(columns) / 1e6:,.0f} MB rows; a process",
    ]
    return "\n".join(lines)
