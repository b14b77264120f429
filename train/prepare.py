"""What a run needs before its first step: its model and its rows; the dry run. Writes nothing."""

import dataclasses
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augment_cli.augmentations.labels import needed_labels, usable_rows
from augment_cli.contract.pack_options import BY_LABEL
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.pooling import NEGATIONS, canonical, weights_in
from augment_cli.encoding.static import StaticTable
from augment_cli.encoding.words_apart import count_store, negation_weights
from augment_cli.errors import UsageError
from augment_cli.neural.loading import find_folder
from augment_cli.store.conditions import conditions_by_stage, scores_of
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from train import components
from train.data import CORPUS
from train.data.order import draw_key, epoch_rows, row_groups
from train.data.tokens import cache_tokens, stage_draws
from train.machine.distributed import Ranks
from train.model import Model, freeze, is_new, start
from train.model.memory import check_batch, check_memory, memory_of
from train.objectives.contrastive import ContrastiveObjective
from train.outputs.export import check_pooling
from train.recipe import Recipe

Objective = Any  # `ContrastiveObjective`, or what does the same for masked language modelling
_ROW_GROUP_BYTES = ROW_GROUP_ROWS * 40 * 4  # of token ids: 40 in a text, 4 bytes each


class NoRowsError(UsageError):
    """The recipe's settings leave no row to train on."""


@dataclass(frozen=True)
class Run:
    """One run: what goes in, where it goes."""

    recipe: Recipe  # all settings
    store: Path  # the store's folder
    encoder: str  # folder or hub name of the encoder to start from
    out: Path  # folder of the run; created if missing
    data: Path | None = None  # the data folder, for STS-B dev; None without
    allow_download: bool = False  # whether a hub encoder that is not on this machine may be fetched
    command: str = ""  # what the user typed, for the model card
    # Dev scores of the starting encoder where another run from it on the same data has measured them.
    before: dict[str, float] = field(default_factory=dict)
    untrained: str = ""  # why no step is made; empty: the recipe says how many
    # What the dev score may lose where something else says that the encoder learns what is true of the texts.
    allowed: float = 0.0


@dataclass(frozen=True)
class Trainee:
    """The model of a run and what computes its loss."""

    encoder: Encoder  # in training, with its tokenizer and the run's pooling: what is evaluated, exported
    digest: str | None  # SHA-256 of the model that the encoder started from
    model: Model  # the same encoder with head and additions
    objective: Objective  # pads the batches and computes loss and gradient
    prompts: dict[str, str]  # what is put before the texts of each column
    # What step 0 is: the encoder as it was given, and its folder. Without a folder (a new encoder, or a run
    # without steps) it is the encoder with the recipe's pooling.
    given: Encoder
    folder: Path | None = None


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a run."""

    keep: np.ndarray | None  # which rows of the corpus may be used, shape (corpus rows,), bool; None for all
    count: int  # rows of an epoch
    per_epoch: int  # steps of an epoch
    steps: int  # steps of the whole run
    # By stage that has labels of its rows or must meet conditions: which of its texts may be used, (corpus
    # rows,), bool. And the stages of scores that the conditions read.
    usable: dict[str, np.ndarray] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    weighting: Any = None  # of several corpora, how often each row comes in an epoch


def prepare_model(run: Run, ranks: Ranks) -> Trainee:
    """Load or make the encoder, and add the recipe's head and additions to it."""
    recipe = run.recipe
    check_batch(recipe, ranks)
    starting = start(run.encoder, recipe, ranks.device, run.allow_download)
    pooling = canonical(recipe.pooling or starting.pooling)
    check_pooling(pooling)
    # Weights that came with the encoder stay; others are counted in the corpus it is trained on.
    weights = starting.weights if pooling == starting.pooling else None
    if weights_in(pooling) and weights is None:
        if weights_in(pooling) == NEGATIONS:
            found = negation_weights(starting.tokenizer)
        else:
            found = count_store(Store.open(run.store), starting.tokenizer).weights(weights_in(pooling))
        weights = torch.from_numpy(found)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw_key(recipe.seed, "heads"))
        model = Model(starting.model, pooling, recipe, weights).to(ranks.device, starting.model.dtype)
    is_table = isinstance(starting.model, StaticTable)
    if recipe.frozen and not is_table and not freeze(model.encoder, recipe.frozen) and ranks.is_first:
        print("which layers this encoder has is not known: none is frozen", file=sys.stderr)
    objective: Objective
    if recipe.objective == "mlm":
        masked_language = components.part("methods.mlm.masked_language")
        objective = masked_language.MaskedObjective(recipe, starting.tokenizer, ranks)
    else:
        objective = ContrastiveObjective(recipe, starting.tokenizer, ranks, is_table)
    prompts = column_prompts(starting, recipe, objective.columns)
    model.left_out = dataclasses.replace(starting, prompt=prompts[CORPUS]).unpooled
    # Without a digest, since no cache may take the encoder in training for the one it started from.
    encoder = dataclasses.replace(starting, pooling=pooling, digest=None, weights=weights)
    if is_new(Path(run.encoder)) or not (recipe.steps or recipe.epochs):
        return Trainee(encoder, starting.digest, model, objective, prompts, encoder)
    folder, _ = find_folder(run.encoder, run.allow_download, "model")
    given = dataclasses.replace(starting, digest=None)
    return Trainee(encoder, starting.digest, model, objective, prompts, given, folder)


def column_prompts(encoder: Encoder, recipe: Recipe, columns: Iterable[str]) -> dict[str, str]:
    """What is put before the texts of each column."""
    if unknown := recipe.prompts.keys() - set(columns):
        raise UsageError(f"prompts: {sorted(unknown)[0]!r} is not read; the columns are {', '.join(columns)}")
    name_of = recipe.prompts.get
    found = {column: encoder.prompts.text(name_of(column, ""), encoder.name) for column in columns}
    if not encoder.prompts.pooled and len(set(found.values())) > 1:
        raise UsageError(
            f"prompts: {encoder.name} leaves its prompts out of the pooling (include_prompt), which training "
            "does for one prompt alone; name the same one for all columns"
        )
    return found


def prepare_rows(run: Run, store: Store, columns: Iterable[str]) -> TrainingRows:
    """Count the rows and steps of a run."""
    recipe = run.recipe
    asked = conditions_by_stage(recipe.where)
    known = sorted({*columns, *recipe.only_changed} - {CORPUS})
    if unread := sorted(asked.keys() - known):
        raise UsageError(
            f"where: {unread[0]!r} is not read; it may name {', '.join(known) or 'nothing here'}"
        )
    by_kind = {"positive": recipe.positives, "negative": recipe.negatives}
    labels = needed_labels(store, by_kind) if recipe.labels == BY_LABEL else {}

    def usable(name: str, label: str = "") -> dict[str, np.ndarray]:
        conditions = asked.get(name, ())
        return {draw: usable_rows(store, draw, label, conditions) for draw in stage_draws(store, name)}

    texts: dict[str, np.ndarray] = {}
    for name in dict.fromkeys((*labels, *asked)):
        texts |= usable(name, labels.get(name, ""))
    scores = [scores_of(store, draw) for name in asked for draw in stage_draws(store, name)]
    changed = [rows for name in recipe.only_changed for rows in usable(name).values()]
    keep = np.logical_and.reduce(changed) if changed else None
    weighted = None
    if recipe.corpus_weights:
        weighting = components.part("extras.weights").weighting
        weighted = weighting(store, recipe, keep, lambda name: usable(name, labels.get(name, "")))
    count = weighted.count if weighted else epoch_rows(row_groups(store.parts), recipe.held_out, keep)
    if not count:
        raise NoRowsError(
            f"{run.store}: no row is left to train on; lower held_out ({recipe.held_out}), shorten "
            f"only_changed ({', '.join(recipe.only_changed) or 'empty'}) or where, or raise corpus_weights"
        )
    per_epoch = -(-count // recipe.batch)  # the last batch may be short and is then padded
    steps = 0 if run.untrained else recipe.steps or per_epoch * recipe.epochs
    return TrainingRows(keep, count, per_epoch, steps, texts, tuple(filter(None, scores)), weighted)


def column_draws(objective: Objective, store: Store) -> dict[str, list[str]]:
    """The stages that each column of an objective is read from: epoch e reads draw e mod K of its K draws."""
    return {
        name: stage_draws(store, name)[: 1 if name in objective.once else None] for name in objective.columns
    }


def open_columns(
    path: Path, objective: Objective, tokenizer: Any, ranks: Ranks, prompts: Mapping[str, str]
) -> tuple[Store, dict[str, list[str]]]:
    """Open a store and the token-id stages of an objective's columns, tokenising first what is not yet."""

    def token_stages(store: Store) -> dict[str, list[str]]:
        return {
            name: [cache_tokens(store, draw, tokenizer, prompts.get(name, "")) for draw in draws]
            for name, draws in column_draws(objective, store).items()
        }

    if ranks.is_first:
        token_stages(Store.open(path))
    ranks.barrier()
    store = Store.open(path)
    return store, token_stages(store)


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
    losses += ["masked words"] if recipe.objective == "mlm" or recipe.masking.weight else []
    losses += recipe.additions
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
