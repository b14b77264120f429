"""A recipe: one method as a TOML file of settings, each with its default and the reason for it."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError, UsageError

FOLDER = Path(__file__).parent / "recipes"
ADDITIONS, LOSSES, HEADS = (Path(__file__).parent / name for name in ("additions", "losses", "heads"))


@dataclass(frozen=True)
class Recipe:
    """Every setting of a run. Lengths are in tokens, counts of steps in optimiser steps, B is `batch`."""

    name: str = "unnamed"
    description: str = ""

    # --- what is learned
    objective: str = "contrastive"  # contrastive | mlm
    loss: str = "one-way"  # one-way | symmetric | ranking-pos-neg | nt-xent: the files of train/losses
    temperature: float = 0.05
    head: str = "tanh"  # tanh | batch-norm | relu | none: the files of train/heads; never saved
    pooling: str = ""  # cls | mean | …; empty: what the starting encoder stores, else mean
    positives: tuple[str, ...] = (
        "self",
    )  # stages; one is drawn uniformly for each row. self: the anchor again
    proportion: float = 1.0  # share of rows that get an augmented positive, the rest get themselves
    negatives: tuple[str, ...] = ()  # stages
    negative_layout: str = "pool"  # pool: rows of the NT-Xent pool | columns: hard-negative columns
    alpha: int = 1  # negatives are used in every alpha-th step, counted from 0
    only_changed: tuple[str, ...] = ()  # rows that one of these stages left unchanged are not trained on
    hard_negative_weight: float = 0.0  # added to the logit of a row's own negative column
    negative_scope: str = "all"  # whose negative columns a row meets: all | own (AugCSE's `ranking_neg`)
    mask_equal_texts: bool = True  # an equal text elsewhere in the batch is no negative
    mlm_weight: float = 0.0  # masked language modelling as auxiliary loss
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
    patience: int = 0  # stop after so many evaluations without a better score; 0: never
    log_every: int = 10
    checkpoint_every: int = 500
    keep: int = 2  # checkpoints kept besides the best

    # --- after training
    whiten: int = 0  # fit a whitening on so many sentences and store it with the model; 0: none
    whiten_dimension: int = 0  # directions it keeps, those of largest variance; 0: all

    # --- a new encoder, where the starting folder holds only a tokenizer (train/recipes/mlm.toml)
    new_encoder: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return dataclasses.asdict(self)


def names_in(folder: Path) -> tuple[str, ...]:
    """What the files of a folder are called in recipes."""
    return tuple(sorted(path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py")))


_CHOICES = {
    "objective": ("contrastive", "mlm"),
    "loss": names_in(LOSSES),
    "head": names_in(HEADS),
    "negative_layout": ("pool", "columns"),
    "negative_scope": ("all", "own"),
    "schedule": ("linear", "constant", "warmup-stable-decay"),
    "precision": ("fp32", "bf16", "float64"),
}


def load_recipe(name: str | Path, changes: Sequence[str] = ()) -> Recipe:
    """Read a recipe by its name (``una``) or file, and apply ``key=value`` changes on top.

    Raises
    ------
    MissingError
        If there is no such recipe.
    UsageError
        If a key is unknown or a value does not fit.
    """
    path = Path(name) if str(name).endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise MissingError(f"no recipe {str(name)!r}; choose one of {known}, or name a .toml file")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    values = {"name": path.stem} | values
    for change in changes:
        key, separator, text = change.partition("=")
        if not separator:
            raise UsageError(f"--set {change}: write key=value, such as --set batch=128")
        table, dot, inner = key.strip().rpartition(".")
        if dot and table in additions():  # --set discriminator.weight=0.01
            values[table] = dict(values.get(table, {})) | {inner: _parse(text.strip())}
        else:
            values[key.strip()] = _parse(text.strip())
    return make_recipe(values, str(path))


def additions() -> tuple[str, ...]:
    """Names of the tables that turn something on: the files of train/additions."""
    return tuple(sorted(path.stem for path in ADDITIONS.glob("[a-z]*.py")))


def make_recipe(values: dict[str, Any], where: str = "recipe") -> Recipe:
    """Check values and make a recipe of them; `where` names their origin in errors."""
    tables = {key: table for key, table in values.items() if key in additions()} | values.get("additions", {})
    plain = {key: value for key, value in values.items() if key not in tables and key != "additions"}
    settings = checked_values(Recipe, plain, _CHOICES, where, additions())
    if tables:
        from train.additions import as_json, check_additions, make_settings  # which load torch

        made = {name: as_json(make_settings(name, table, where)) for name, table in sorted(tables.items())}
        recipe = Recipe(**settings, additions=made)
        check_additions(recipe, where)
    else:
        recipe = Recipe(**settings)
    _check(recipe, where)
    return recipe


def checked_values(
    kind: Any,
    values: dict[str, Any],
    choices: Mapping[str, tuple[str, ...]],
    where: str,
    tables: Sequence[str] = (),
) -> dict[str, Any]:
    """Values for the fields of a dataclass of settings, each of its default's type.

    Raises
    ------
    UsageError
        If a key is unknown (`tables` are named as possible too), or a value is of another type or not among
        its `choices`.
    """
    if not isinstance(values, dict):
        raise UsageError(f"{where}: should be a table, not {values!r}")
    fields = {item.name: item for item in dataclasses.fields(kind)}
    defaults = kind()
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in fields:
            known = ", ".join((*fields, *(f"[{table}]" for table in tables)))
            raise UsageError(f"{where}: unknown setting {key!r}; known: {known}")
        default = getattr(defaults, key)
        if isinstance(default, tuple) and isinstance(value, (list, tuple, str)):
            value = tuple([part for part in value.split(",") if part] if isinstance(value, str) else value)
            if default and isinstance(default[0], float):
                value = _floats(value, key, where)
        elif isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(default):
            raise UsageError(f"{where}: {key} = {value!r} should be a {type(default).__name__}")
        if key in choices and value not in choices[key]:
            raise UsageError(f"{where}: {key} = {value!r}; choose one of {', '.join(choices[key])}")
        checked[key] = value
    return checked


def _floats(values: tuple[Any, ...], key: str, where: str) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: {key} = {list(values)} should be numbers, such as [0.9, 0.98]") from None


def _check(recipe: Recipe, where: str) -> None:
    positive = ("batch", "max_length", "temperature", "learning_rate", "slices", "alpha", "keep",
                "head_rate_scale", "log_every", "checkpoint_every")  # fmt: skip
    for key in positive:
        if not 0 < getattr(recipe, key) < math.inf:
            raise UsageError(f"{where}: {key} = {getattr(recipe, key)} must be above 0")
    counts = ("epochs", "steps", "warmup_steps", "decay_steps", "seed", "workers", "chunk", "threads",
              "evaluate_every", "patience", "clip", "weight_decay", "mlm_weight")  # fmt: skip
    for key in counts:
        if not 0 <= getattr(recipe, key) < math.inf:
            raise UsageError(f"{where}: {key} = {getattr(recipe, key)} must not be below 0")
    if not (recipe.dropout == -1 or 0 <= recipe.dropout < 1):
        raise UsageError(
            f"{where}: dropout = {recipe.dropout} must lie from 0 to below 1, or be -1 for the encoder's own"
        )
    if len(recipe.betas) != 2 or not all(0 <= beta < 1 for beta in recipe.betas):
        raise UsageError(f"{where}: betas = {list(recipe.betas)} must be two numbers from 0 to below 1")
    if recipe.window < 16:
        raise UsageError(
            f"{where}: window = {recipe.window} would hardly mix the corpus, whose neighbours are alike; "
            "write 16 or more"
        )
    for key in ("proportion", "held_out", "mask_rate"):
        if not 0 <= getattr(recipe, key) <= 1:
            raise UsageError(f"{where}: {key} = {getattr(recipe, key)} must lie between 0 and 1")
    if recipe.whiten == 1 or recipe.whiten < 0 or recipe.whiten_dimension < 0:
        raise UsageError(f"{where}: whiten = {recipe.whiten} should be 0 or a number of sentences above 1")
    if not recipe.positives:
        raise UsageError(f'{where}: positives is empty; name stages, or "self" for the anchor itself')
    if recipe.negatives or recipe.hard_negative_weight or recipe.negative_scope == "own":
        _check_negatives(recipe, where)


def _check_negatives(recipe: Recipe, where: str) -> None:
    from train.losses import find  # which loads torch

    layout = find(recipe.loss).LAYOUT
    if recipe.negatives and recipe.negative_layout != layout:
        fitting = [name for name in names_in(LOSSES) if recipe.negative_layout == find(name).LAYOUT]
        raise UsageError(
            f'{where}: negative_layout "{recipe.negative_layout}" needs loss {_or(fitting)}; with '
            f'"{recipe.loss}" write negative_layout = "{layout}"'
        )
    for key in ("hard_negative_weight", "negative_scope"):
        if layout != "columns" and getattr(recipe, key) != getattr(Recipe, key):
            raise UsageError(f'{where}: {key} = {getattr(recipe, key)!r} needs negative_layout "columns"')


def _or(names: Sequence[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)


def _parse(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a bare word is a string, so that --set loss=nt-xent needs no quotes within quotes
