"""What goes into a packed stage: stages, filters, layout; from the command line or a recipe, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli import augmentations
from augment_cli.augmentations.labels import check_labels, entailment_of_stage
from augment_cli.contract.entailment import BY_LABEL, LABEL_MODES, NEEDED
from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest.pairs import GIVEN
from augment_cli.small_files import read_toml
from augment_cli.store.store import Store
from augment_cli.vectors.mine_parameters import MINED_STAGE

CORPUS_STAGE = "corpus"
UNCHANGED = ("drop", "anchor")
LAYOUTS = ("n-tuple", "triplet", "pair", "labeled-pair")  # the names of sentence-transformers
FILTERS = ("min_positive", "max_negative", "margin")  # in the order in which they are applied
NUMBERS = ("label", "score")
SIDES = ("train", "test")
DEFAULT_SEED = 42
_RECIPE_KEYS: dict[str, tuple[type, ...]] = {
    "positives": (list,),
    "negatives": (list,),
    "unchanged": (str,),
    "require_all": (bool,),
    "carry": (list,),
    **dict.fromkeys(FILTERS, (int, float)),
    "vectors": (str,),
    "layout": (str,),
    "scores": (bool,),
    "labels": (str,),
}


@dataclass(frozen=True)
class PackOptions:
    """What goes into the columns.

    Parameters
    ----------
    positives : tuple of str
        Stages of positives, each giving rows of its own; `corpus` is the anchor itself, as in
        unsupervised SimCSE.
    negatives : tuple of str
        Stages of negatives, each a column of its own.
    unchanged : {"drop", "anchor"}
        What becomes of a row in which a stage changed nothing: it is dropped, or the anchor stands in.
        (An anchor among its own negatives teaches nothing good: it is meant for positives.)
    require_all : bool
        Drop a row that lacks one of several negatives, instead of putting another of its own there.
    carry : tuple of str
        Columns of the corpus to have behind the texts, such as `row_id`, `id` or what ingest kept
        (sentence-transformers takes every column but `label` and `score` for a text).
    split : float
        Share of the sentences, 0 to 1, on the side `test`; equal sentences are always on the same side.
    side : {"", "train", "test"}
        Which side of the split this is; empty where nothing is split.
    shuffle : bool
        Put the rows of each part in a random order.
    seed : int
        Of split and shuffle.
    min_positive : float, optional
        Lowest cosine of anchor and positive, −1 to 1.
    max_negative : float, optional
        Highest cosine of anchor and negative, −1 to 1.
    margin : float, optional
        How much lower a negative's cosine is than the positive's, at least; 0 to 2.
    vectors : str, optional
        Which vectors the cosines are of, where there are several.
    layout : {"n-tuple", "triplet", "pair", "labeled-pair"}
        Which columns there are; see `augment_cli.pack.layouts`.
    scores : bool
        A column `score` with the cosines, as losses for distillation take them.
    labels : {"entailment", "kind"}
        Whether the label of each augmentation, and where it has some of each row, decides where it may stand,
        or the kind that its paper gives it.
    """

    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    unchanged: str = "drop"
    require_all: bool = False
    carry: tuple[str, ...] = ()
    split: float = 0.0
    side: str = ""
    shuffle: bool = False
    seed: int = DEFAULT_SEED
    min_positive: float | None = None
    max_negative: float | None = None
    margin: float | None = None
    vectors: str | None = None
    layout: str = "n-tuple"
    scores: bool = False
    labels: str = BY_LABEL

    @property
    def fills(self) -> bool:
        """Whether a negative may stand in for another."""
        several = len(self.negatives) > 1 and self.layout == "n-tuple"
        return several and not self.require_all and self.unchanged == "drop"

    @property
    def stages(self) -> list[str]:
        """The stages that are read beside the corpus."""
        return [name for name in dict.fromkeys(self.positives + self.negatives) if name != CORPUS_STAGE]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of texts: anchor, positive, negative, negative_1, …, by the layout."""
        if self.layout == "labeled-pair":
            return ["sentence1", "sentence2"]
        count = {"n-tuple": len(self.negatives), "triplet": 1, "pair": 0}[self.layout]
        negatives = [f"negative_{number}" if number else "negative" for number in range(count)]
        return ["anchor", "positive", *negatives]

    def schema(self, corpus: pa.Schema) -> pa.Schema:
        """Columns of texts, label or score, and what is carried from the corpus; no nulls but in the last."""
        fields = [pa.field(name, pa.string(), nullable=False) for name in self.columns]
        if self.scores:
            is_pair = self.layout in ("pair", "labeled-pair")
            kind = pa.float32() if is_pair else pa.list_(pa.float32())
            fields.append(pa.field("score", kind, nullable=False))
        elif self.layout == "labeled-pair":
            fields.append(pa.field("label", pa.int64(), nullable=False))
        return pa.schema([*fields, *(corpus.field(name) for name in self.carry)])

    @property
    def filters(self) -> list[str]:
        """Names of the filters that are on, in the order in which they are applied."""
        return [name for name in FILTERS if getattr(self, name) is not None]

    @property
    def compared(self) -> list[str]:
        """The stages whose cosines to the corpus are asked for, those that are the corpus itself left out."""
        both = self.scores or self.margin is not None
        wanted = self.positives if both or self.min_positive is not None else ()
        wanted += self.negatives if both or self.max_negative is not None else ()
        return [name for name in dict.fromkeys(wanted) if name != CORPUS_STAGE]


def read_pack_recipe(path: Path) -> dict[str, Any]:
    """What the [pack] table of a TOML file says: some of the keys that `choose` takes.

    Raises
    ------
    UsageError
        If the file cannot be read, or holds something else.
    """
    try:
        table = read_toml(path).get("pack")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; correct the path after --recipe") from None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: has no [pack] table; write one, or give the options on the command line")
    for key, value in table.items():
        kinds = _RECIPE_KEYS.get(key, ())
        is_bool = isinstance(value, bool) and bool not in kinds
        names = value if isinstance(value, list) else []
        if not isinstance(value, kinds) or is_bool or not all(isinstance(name, str) for name in names):
            raise UsageError(
                f"{path}: [pack] has {key} = {value!r}; use positives, negatives, carry (lists of strings), "
                "unchanged, vectors, layout, labels (strings), min_positive, max_negative, margin (numbers), "
                "require_all and scores (true or false)"
            )
    return dict(table)


def choose(
    store: Store,
    positives: Sequence[str] | None = None,
    negatives: Sequence[str] | None = None,
    unchanged: str = "drop",
    *,
    carry: Sequence[str] | None = None,
    labels: str = BY_LABEL,
    **more: Any,
) -> PackOptions:
    """Options with what was not named filled in: every finished stage that has the label, or is of the kind.

    Parameters
    ----------
    store : Store
    positives, negatives, carry : sequence of str, optional
    unchanged, labels : str
    **more
        Further ones of `PackOptions`.

    Raises
    ------
    UsageError
        If a stage is missing, unfinished or of the wrong label or kind, a column is not there, a number or a
        layout makes no sense, or there is nothing to pack.
    """
    if labels not in LABEL_MODES:
        raise UsageError(f"--labels {labels}: choose one of {', '.join(LABEL_MODES)}")
    if negatives is None:
        negatives = [] if more.get("layout") == "pair" else _fitting(store, "negative", labels)
    options = PackOptions(
        tuple(positives or _fitting(store, "positive", labels) or [CORPUS_STAGE]),
        tuple(negatives),
        unchanged,
        carry=tuple(carry or ()),
        labels=labels,
        **more,
    )
    _check_values(options)
    if not options.stages:
        raise UsageError(f"{store.path}: has no augmentation to pack; run `augment-cli una` first")
    for name in (CORPUS_STAGE, *options.stages):
        if store.stage(name).expected_parts != len(store.parts) or not store.has(name):
            raise UsageError(f"{store.path}: stage {name!r} is not a finished augmentation; run it first")
    _check_kinds(store, options)
    corpus = store.read_rows(CORPUS_STAGE, 0, []).schema
    for name in options.carry:
        if name not in corpus.names or name == "text" or name in (*options.columns, *NUMBERS):
            known = [column for column in corpus.names if column != "text"]
            raise UsageError(
                f"--carry {name}: the corpus has {', '.join(known)} to carry; `augment-cli ingest` keeps "
                "more columns of the input with --id-column and --keep-column"
            )
    return options


def _check_values(options: PackOptions) -> None:
    """See that each value makes sense by itself, and the layout has what it needs."""
    if options.unchanged not in UNCHANGED:
        raise UsageError(f"--unchanged {options.unchanged}: choose one of {', '.join(UNCHANGED)}")
    if not 0 <= options.split < 1:
        raise UsageError(f"--split {options.split:g}: must be a share from 0 to below 1, such as 0.1")
    for name, lowest, highest in (("min_positive", -1, 1), ("max_negative", -1, 1), ("margin", 0, 2)):
        value = getattr(options, name)
        if value is not None and not lowest <= value <= highest:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} {value:g}: cosines are compared; give a number {lowest} to {highest}")
    if options.layout not in LAYOUTS:
        raise UsageError(f"--layout {options.layout}: choose one of {', '.join(LAYOUTS)}")
    if options.layout == "pair" and options.negatives:
        raise UsageError("--layout pair: has no negatives; leave --negative out, or take another layout")
    if options.layout in ("triplet", "labeled-pair") and not options.negatives:
        raise UsageError(f"--layout {options.layout}: needs negatives; name a stage with --negative")
    for name in ("max_negative", "margin"):
        if getattr(options, name) is not None and not options.negatives:
            raise UsageError(
                f"--{name.replace('_', '-')}: there are no negatives; name a stage with --negative"
            )
    if options.vectors is not None and not options.compared:
        raise UsageError(
            f"--vectors {options.vectors}: nothing is compared; add --min-positive, --max-negative, --margin "
            "or --scores"
        )


def _fitting(store: Store, kind: str, labels: str) -> list[str]:
    """Finished stages that may stand among the positives, or the negatives.

    Raises
    ------
    BadInputError
        If files of such a stage are missing or have another size: its column would be missing, too.
    """
    wanted = NEEDED[kind] if labels == BY_LABEL else kind
    fitting = [name for name in store.stages() if _place_of(store, name, labels) == wanted]
    for name in fitting:
        if store.stage(name).is_complete and not store.has(name):
            raise BadInputError(
                f"{store.path / name}: files of this stage are missing or damaged (`augment-cli verify` "
                "names them), so its column would be missing; run the command that made it again, or name "
                f"the stages to pack with --{kind}"
            )
    return [name for name in fitting if store.has(name)]


def _place_of(store: Store, name: str, labels: str) -> str | None:
    """Label or kind of a stage, or None of one that has neither."""
    settings = store.stage(name).settings
    maker, kind = settings["stage"], None
    if maker == MINED_STAGE:
        kind = "negative"
    elif maker == GIVEN:
        kind = str(settings["parameters"]["kind"])
    if labels == BY_LABEL:
        entailment = entailment_of_stage(settings)
        return entailment.label if entailment else NEEDED[kind] if kind else None
    return augmentations.get(maker).kind if maker in augmentations.names() else kind


def left_out(store: Store, options: PackOptions) -> list[str]:
    """Finished augmentations that stand in no column as their label is neither, each with the reason."""
    notes = []
    for name in store.stages():
        entailment = entailment_of_stage(store.stage(name).settings)
        if entailment and entailment.label == "neither" and name not in options.stages and store.has(name):
            notes.append(f"{name} ({entailment.reason})")
    return notes


def _check_kinds(store: Store, options: PackOptions) -> None:
    for name in options.positives:
        if _place_of(store, name, options.labels) in {"negative", "other"}:
            raise UsageError(
                f"--positive {name}: its texts mean something else than their originals, and would be taught "
                f"as equal; give it as --negative {name}"
            )
    if CORPUS_STAGE in options.negatives:
        raise UsageError("--negative corpus: a sentence cannot be its own negative; leave it out")
    if options.labels == BY_LABEL:
        for kind, stages in (("positive", options.positives), ("negative", options.negatives)):
            check_labels(store, kind, stages, f"--{kind}", "--labels kind")
