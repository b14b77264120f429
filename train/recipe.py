"""The settings of a recipe: fields that know their default, their help and their range.

A recipe is one method as a TOML file (`train/recipes`, `train/methods`); `train/loading.py` reads and checks
it. What is rarely changed is in tables, each with its own class. Each of their settings may also stand beside
the others, by its flat name, as in checkpoints and cards: ``patience`` for ``watching.patience``.
"""

import copy
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from augment_cli.contract.pack_options import LABEL_MODES
from augment_cli.contract.parameters import parameter as setting

# Names of before 1.0, which recipes, commands and checkpoints may still have. What came later than the first
# checkpoints is marked `later`.
RENAMED = {"chunk": "gradient_cache", "head_rate_scale": "head_learning_rate_scale"}
RENAMED_LOSSES = {"one-way": "info-nce"}


@dataclass(frozen=True)
class Contrast:
    """Table ``[contrast]``: finer settings of the contrastive loss."""

    hard_negative_weight: float = setting(0.0, "added to the logit of a row's own hard negative")
    negative_scope: str = setting(
        "all", "whose hard negatives a row meets: all rows', or its own (AugCSE)", choices=("all", "own")
    )
    mask_equal_texts: bool = setting(True, "an equal text elsewhere in the batch is not a negative")
    weight: float = setting(
        1.0, "0: the additions' terms alone are learned", minimum=0, later=True, option="contrastive_weight"
    )
    dimensions: tuple[int, ...] = setting(
        (), "the loss counts for vectors cut to these lengths, too (Matryoshka)", later=True
    )


@dataclass(frozen=True)
class Masking:
    """Table ``[masking]``: masked language modelling."""

    weight: float = setting(
        0.0, "of masked language modelling as an auxiliary loss", minimum=0, option="mlm_weight"
    )
    rate: float = setting(
        0.15, "share of tokens hidden for it, BERT's by default", minimum=0, maximum=1, option="mask_rate"
    )


@dataclass(frozen=True)
class Optimizer:
    """Table ``[optimizer]``: AdamW."""

    betas: tuple[float, float] = setting((0.9, 0.999), "of AdamW")
    weight_decay: float = setting(0.0, "of AdamW, for matrices", minimum=0)
    clip: float = setting(1.0, "largest gradient norm; 0: none", minimum=0)


@dataclass(frozen=True)
class Reading:
    """Table ``[reading]``: how batches are read and padded."""

    workers: int = setting(1, "threads that read windows ahead", minimum=0)
    slices: int = setting(
        4, "a batch is sorted by length and cut so often, to save padding; on a GPU it is whole", minimum=1
    )
    length_homogeneous: bool = setting(
        False,
        "batches of like length: faster, and it changes which negatives meet, so it is never the default",
    )


@dataclass(frozen=True)
class Machine:
    """Table ``[machine]``: what depends on the machine and changes no method."""

    fast: bool = setting(
        True, "our own code where it is faster; false: transformers', torch's and gloo's alone", later=True
    )
    compile: bool = setting(False, "torch.compile the encoder")
    threads: int = setting(0, "torch threads of a process; 0: chosen by train/machine/__init__.py", minimum=0)
    rank_timeout: float = setting(300.0, "seconds that a rank may hang; 0: any", minimum=0, later=True)


@dataclass(frozen=True)
class Watching:
    """Table ``[watching]``: dev scores, log and checkpoints."""

    dev: str = setting(
        "auto",
        "which score decides: auto is STS-B if present; method: that of the recipe's own addition",
        choices=("auto", "neighbours", "method"),
        later=True,
    )
    patience: int = setting(
        0, "early stopping: evaluations without a better score after which it ends; 0: never", minimum=0
    )
    log_every: int = setting(10, "steps between two lines of the log", minimum=1)
    tracker: str = setting(
        "none", "gets what log.jsonl gets, offline", choices=("none", "trackio", "wandb"), later=True
    )
    checkpoint_every: int = setting(500, "steps between two checkpoints", minimum=1)
    keep: int = setting(2, "checkpoints kept besides the best", minimum=1)


@dataclass(frozen=True)
class Whitening:
    """Table ``[whitening]``: a whitening after training."""

    sentences: int = setting(
        0, "sentences that a whitening is fitted on and stored with the model; 0: none", option="whiten"
    )
    dimension: int = setting(
        0, "directions it keeps, those of largest variance; 0: all", minimum=0, option="whiten_dimension"
    )


@dataclass(frozen=True)
class Recipe:
    """Every setting of a run. Lengths are in tokens, counts of steps in optimiser steps, B is `batch`."""

    name: str = setting("unnamed", "of the recipe; the file's name where it is left out")
    description: str = setting("", "one line for lists of recipes and the model card")

    # --- what is learned
    objective: str = setting(
        "contrastive", "what is learned; mlm: masked language modelling alone", choices=("contrastive", "mlm")
    )
    loss: str = setting("info-nce", "a loss, by the name of its file in train/losses")
    loss_settings: dict[str, Any] = setting({}, "settings of a loss that has some", later=True)
    temperature: float = setting(0.05, "τ, divides the cosines", above=0)
    head: str = setting("tanh", "between pooling and loss, a file of train/heads; never saved")
    pooling: str = setting("", "cls, mean, …; empty: what the starting encoder stores, else mean")
    prompts: dict[str, str] = setting(
        {}, "names of the encoder's prompts by stage, such as corpus: query; others get its default one",
        later=True,
    )  # fmt: skip
    positives: tuple[str, ...] = setting(
        ("self",), "stages, of which one is drawn uniformly for each row; self: the anchor again"
    )
    proportion: float = setting(
        1.0, "share of rows that get an augmented positive; the rest get themselves", minimum=0, maximum=1
    )
    negatives: tuple[str, ...] = setting(
        (), "stages of hard negatives: further columns, or pairs of the pool, as the loss takes them"
    )
    labels: str = setting(
        "entailment",
        "entailment: positives must mean the same, negatives something else, stage by stage and row by row; "
        "kind: each stage as its paper uses it",
        choices=LABEL_MODES,
        later=True,
    )
    alpha: int = setting(1, "negatives are used in every alpha-th step, counted from 0", minimum=1)
    where: tuple[str, ...] = setting(
        (),
        "STAGE:CONDITIONS, as `pack --where` has them, such as llm-near-miss:judged_same == 0: texts of that "
        "stage which do not meet them count as left unchanged",
        later=True,
    )
    only_changed: tuple[str, ...] = setting(
        (), "stages; rows that one of them left unchanged are not trained on"
    )
    corpus_weights: dict[str, float] = setting(
        {}, "how often a row comes in an epoch, by its file's name or pattern, or by stage:NAME; others once",
        later=True,
    )  # fmt: skip
    contrast: Contrast = setting(Contrast(), "a table: finer settings of the contrastive loss")
    masking: Masking = setting(Masking(), "a table: masked language modelling")
    additions: dict[str, dict[str, Any]] = setting({}, "tables by name; see the additions below")

    # --- how
    batch: int = setting(64, "B, rows of a step over all processes", minimum=1)
    epochs: int = setting(1, "passes over the rows; 0 with steps = 0: no training", minimum=0)
    steps: int = setting(0, "number of steps, over as many epochs as it takes; 0: epochs decides", minimum=0)
    max_length: int = setting(32, "longest text while training; longer ones are cut", minimum=1)
    learning_rate: float = setting(3e-5, "of the encoder, at its highest", above=0)
    static_learning_rate: float = setting(
        0.0, "instead, where the encoder is a static one; 0: the same", minimum=0, later=True
    )
    deep_learning_rate: float = setting(
        0.0, "instead, where the encoder has more than six layers; 0: the same", minimum=0, later=True
    )
    head_learning_rate_scale: float = setting(
        1.0, "learning rate of head and additions, as a multiple of the encoder's", above=0
    )
    schedule: str = setting(
        "linear", "of the rate: linear falls to 0", choices=("linear", "constant", "warmup-stable-decay")
    )
    warmup_steps: int = setting(0, "steps in which the learning rate rises", minimum=0)
    decay_steps: int = setting(0, "length of the last phase of warmup-stable-decay", minimum=0)
    optimizer: Optimizer = setting(Optimizer(), "a table: AdamW")
    frozen: float = setting(
        0.0, "share of the layers, from the embeddings up, not trained", minimum=0, maximum=0.9, later=True
    )
    dropout: float = setting(-1.0, "of the encoder's layers; -1: what the starting encoder says")
    seed: int = setting(42, "of every draw", minimum=0)

    # --- streaming
    window: int = setting(16, "row groups among which rows are permuted, at least 16")
    held_out: float = setting(
        0.0, "share of rows kept from training, for a dev score without STS-B", minimum=0, maximum=1
    )
    reading: Reading = setting(Reading(), "a table: how batches are read and padded")
    gradient_cache: int = setting(
        0, "gradient caching (GradCache): texts encoded at a time; 0: all at once", minimum=0
    )

    # --- machine
    precision: str = setting(
        "fp32", "bf16, fp16: by autocast, fp16 with loss scaling", choices=("fp32", "bf16", "fp16", "float64")
    )
    machine: Machine = setting(Machine(), "a table: what depends on the machine")

    # --- watching
    evaluate_every: int = setting(125, "steps between two dev scores; 0: none", minimum=0)
    watching: Watching = setting(Watching(), "a table: dev scores, log and checkpoints")

    # --- after training
    whitening: Whitening = setting(Whitening(), "a table: a whitening after training")

    # --- a new encoder
    new_encoder: dict[str, Any] = setting(
        {}, "BERT's configuration, where the starting folder holds only a tokenizer (the recipe mlm)"
    )

    def as_json(self) -> dict[str, Any]:
        """The settings by their flat names; of those that came later only what is not the default."""
        return {
            name: copy.deepcopy(value)
            for (name, item, value), (_, _, default) in zip(_flat(self), _flat(Recipe()), strict=True)
            if not item.metadata["later"] or value != default
        }


def _flat(recipe: Recipe) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Each setting by its flat name: its field and its value."""
    for item in dataclasses.fields(recipe):
        value = getattr(recipe, item.name)
        if item.name in TABLES:
            for inner in dataclasses.fields(value):
                yield inner.metadata["option"] or inner.name, inner, getattr(value, inner.name)
        else:
            yield item.name, item, value


TABLES: dict[str, Any] = {
    item.name: type(item.default)
    for item in dataclasses.fields(Recipe)
    if dataclasses.is_dataclass(item.default)
}
# Where the settings of tables are, by their flat names.
IN_TABLES = {
    item.metadata["option"] or item.name: (table, item.name)
    for table, kind in TABLES.items()
    for item in dataclasses.fields(kind)
}


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """Settings under their present names; a name or loss of before 1.0 is replaced."""
    values = {RENAMED.get(key, key): value for key, value in values.items()}
    if isinstance(loss := values.get("loss"), str):  # whatever else a file may hold is refused later
        values["loss"] = RENAMED_LOSSES.get(loss, loss)
    return values
