"""Which stages are packed: options from the command line or a recipe, filled in and checked."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.augmentations.labels import check_labels, entailment_of_stage
from augment_cli.contract.augmentation import NEEDED
from augment_cli.contract.pack_options import BY_LABEL, CORPUS_STAGE, PackOptions
from augment_cli.contract.parameters import check_parameters, declared, several
from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest.options import GIVEN
from augment_cli.store.conditions import conditions_by_stage, meets
from augment_cli.store.files import read_toml
from augment_cli.store.store import Store
from augment_cli.vectors.mine import MINED_STAGE

NUMBERS = ("label", "score")
SIDES = ("train", "test")
# What a value of a recipe is, by the annotation of the field; splits are of the command line alone.
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "tuple[str, ...]": ("lists of strings", (list,)),
    "str": ("strings", (str,)),
    "str | None": ("strings", (str,)),
    "float | None": ("numbers", (int, float)),
    "bool": ("true or false", (bool,)),
}
_IN_RECIPES = {
    item.name: _KINDS[str(item.type)]
    for item in declared(PackOptions)
    if str(item.type) in _KINDS and item.name != "shuffle"
}


def read_pack_recipe(path: Path) -> dict[str, Any]:
    """What the [pack] table of a TOML file says: some of the keys that `choose` takes."""
    try:
        table = read_toml(path).get("pack")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; correct the path after --recipe") from None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: has no [pack] table; write one, or give the options on the command line")
    for key, value in table.items():
        kinds = _IN_RECIPES.get(key, ("", ()))[1]
        names = value if isinstance(value, list) else []
        if type(value) not in kinds or not all(isinstance(name, str) for name in names):
            known: dict[str, list[str]] = {}
            for name, (words, _) in _IN_RECIPES.items():
                known.setdefault(words, []).append(name)
            listed = ", ".join(f"{', '.join(some)} ({words})" for words, some in known.items())
            raise UsageError(f"{path}: [pack] has {key} = {value!r}; use {listed}")
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
    """Options with defaults filled in: every finished stage that has the label, or is of the kind."""
    more["where"] = several(more.get("where") or ())
    wanted = PackOptions(unchanged=unchanged, carry=several(carry or ()), labels=labels, **more)
    check_parameters(wanted)
    if negatives is None:
        negatives = [] if wanted.layout == "pair" else _fitting(store, "negative", labels)
    positives = positives or _fitting(store, "positive", labels) or [CORPUS_STAGE]
    options = dataclasses.replace(wanted, positives=several(positives), negatives=several(negatives))
    _check_values(options)
    if not options.stages:
        raise UsageError(f"{store.path}: has no augmentation to pack; run `augment-cli una` first")
    for name in (CORPUS_STAGE, *options.stages):
        if store.stage(name).expected_parts != len(store.parts) or not store.has(name):
            todo = "is not a finished augmentation; run it first"
            if store.made_before(name) is not None:
                todo = "was made before files were appended; `augment-cli run --behind` makes the rest"
            raise UsageError(f"{store.path}: stage {name!r} {todo}")
    _check_kinds(store, options)
    for name, conditions in conditions_by_stage(options.where).items():
        if name not in options.stages:
            raise UsageError(f"--where {name}: is not packed; name one of {', '.join(options.stages)}")
        meets(store, name, conditions, sorted(store.stage(name).parts)[:1])
    names, own = store.read_rows(CORPUS_STAGE, 0, []).schema.names, ("text", *options.columns, *NUMBERS)
    for name in options.carry:
        if name not in names:
            known = [column for column in names if column not in own]
            raise UsageError(
                f"--carry {name}: the corpus has {', '.join(known)} to carry; `augment-cli ingest` keeps "
                "more columns of the input with --id-column and --keep-column"
            )
        if name in own:
            raise UsageError(
                f"--carry {name}: pack or a trainer has a column of this name; rename yours in the input"
            )
    return options


def _check_values(options: PackOptions) -> None:
    """See that the values make sense together, and the layout has what it needs."""
    if not options.split < 1:
        raise UsageError(f"--split {options.split:g}: must be a share from 0 to below 1, such as 0.1")
    if options.layout == "pair" and options.negatives:
        raise UsageError("--layout pair: has no negatives; leave --negative out, or take another layout")
    if options.layout in ("triplet", "labeled-pair") and not options.negatives:
        raise UsageError(f"--layout {options.layout}: needs negatives; name a stage with --negative")
    for name in ("max_negative", "margin"):
        if getattr(options, name) is not None and not options.negatives:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option}: there are no negatives; name a stage with --negative")
    if options.vectors is not None and not options.compared:
        raise UsageError(
            f"--vectors {options.vectors}: nothing is compared; add --min-positive, --max-negative, --margin "
            "or --scores"
        )


def _fitting(store: Store, kind: str, labels: str) -> list[str]:
    """Finished stages that may stand among the positives, or the negatives, if nobody names them."""
    # Random sentences are not among them: `train adapt` makes that stage for itself.
    wanted, fitting = NEEDED[kind] if labels == BY_LABEL else kind, list[str]()
    for name in store.stages():
        if (
            _place_of(store, name, labels) != wanted
            or store.stage(name).settings["stage"] == "random-sentence"
        ):
            continue
        if store.has(name):
            fitting.append(name)
        elif store.stage(name).is_complete:
            raise BadInputError(
                f"{store.path / name}: files of this stage are missing or damaged (`augment-cli verify` "
                "names them), so its column would be missing; run the command that made it again, or name "
                f"the stages to pack with --{kind}"
            )
    return fitting


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
    if "of" in settings["parameters"]:
        kind = "positive" if settings["parameters"].get("label") == "same" else "negative"
    return augmentations.get(maker).kind if kind is None and maker in augmentations.names() else kind


def left_out(store: Store, options: PackOptions) -> list[str]:
    """Finished augmentations that stand in no column as their label is neither, each with the reason."""
    labels = {name: entailment_of_stage(store.stage(name).settings) for name in store.stages()}
    return [
        f"{name} ({label.reason})"
        for name, label in labels.items()
        if label and label.label == "neither" and name not in options.stages and store.has(name)
    ]


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
