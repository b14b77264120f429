"""Reading a recipe: a TOML file, changes on top of it, and the check that its settings fit together."""

import dataclasses
import difflib
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from augment_cli.contract.parameters import what_is_wrong
from augment_cli.errors import MissingError, UsageError, did_you_mean
from augment_cli.runs.recipe import PAPERS, load, of_paper
from augment_cli.store.conditions import conditions_by_stage
from augment_cli.store.files import parse_value, read_toml
from augment_cli.store.store import Store
from train import components
from train.recipe import IN_TABLES, TABLES, Contrast, Recipe, renamed

_FILES = [*components.HERE.glob("recipes/*.toml"), *components.HERE.glob("methods/*/*.toml")]
RECIPES = {file.stem: file for file in sorted(_FILES, key=lambda file: file.stem)}
_KINDS = {bool: "true or false", int: "a whole number", float: "a number",
          str: "a text in quotes", tuple: "a list", dict: "a table"}  # fmt: skip


def load_recipe(name: str | Path, changes: Sequence[str] = ()) -> Recipe:
    """Read a shipped recipe by its name, or a TOML file, and apply changes on top."""
    # `changes`: ``key=value`` each, as after ``--set``; ``table.key=value`` for a key of a table.
    path = Path(name) if str(name).endswith(".toml") else RECIPES.get(str(name), Path(name))
    if not path.is_file() or (path == Path(name) and path.suffix != ".toml"):
        known, alike = ", ".join(RECIPES), did_you_mean(path.stem, list(RECIPES))
        if str(name).endswith(".toml"):
            raise MissingError(f"{name}: no such file; the recipes of train/recipes are {known}.{alike}")
        raise MissingError(f"no recipe {str(name)!r}; choose one of {known}, or name a .toml file.{alike}")
    values = {"name": path.stem} | read_toml(path)
    for change in changes:
        key, separator, text = change.partition("=")
        if not separator:
            raise UsageError(f"--set {change}: write key=value, such as --set batch=128")
        table, dot, inner = key.strip().partition(".")
        tables = {*components.names("additions"), *TABLES, "loss_settings", "corpus_weights", "prompts"}
        if dot and table in tables:  # discriminator.weight=0.01
            values[table] = dict(values.get(table, {})) | {inner: parse_value(text)}
        else:
            values[key.strip()] = parse_value(text)
    try:
        return make_recipe(values, str(path))
    except UsageError as error:
        said = str(error).removeprefix(str(path))
        words = set(re.findall(r"\w+", said.partition("; known:")[0]))
        blamed = []
        for change in changes:
            key = change.partition("=")[0].strip()
            if words & {*re.findall(r"\w+", key), IN_TABLES.get(key, ("", key))[1]}:
                blamed.append(change)
        raise UsageError(f"--set {' --set '.join(blamed)}{said}") if blamed else error from None


def make_recipe(values: dict[str, Any], where: str = "recipe") -> Recipe:
    """Check values and make a recipe of them: settings by their key, additions' tables by their name."""
    known = components.names("additions")
    tables = {key: table for key, table in values.items() if key in known} | values.get("additions", {})
    plain = {key: value for key, value in values.items() if key not in tables and key != "additions"}
    plain = renamed(plain)
    layout = plain.pop("negative_layout", "")  # a setting before 1.0; it follows from the loss
    choices = {"loss": components.names("losses"), "head": components.names("heads")}
    inner = {table: _table_settings(table, plain, where) for table in TABLES}
    settings = checked_values(Recipe, plain, where, choices, (*TABLES, *known)) | inner
    loss = settings.get("loss", Recipe.loss)
    if layout and components.layout(loss) != layout:
        raise UsageError(
            f'{where}: negative_layout = "{layout}" needs loss {_losses(layout)}, not "{loss}"; leave '
            "negative_layout out, as it follows from the loss"
        )
    settings["loss_settings"] = _loss_settings(loss, settings.get("loss_settings", {}), where)
    additions = {name: _addition_settings(name, tables[name], where) for name in sorted(tables)}
    recipe = Recipe(**settings, additions=additions)
    if additions:
        _check_additions(recipe, where)
    _check(recipe, where)
    return recipe


def _table_settings(table: str, plain: dict[str, Any], where: str) -> Any:
    """The settings of a recipe's table, taken out of its values; each may also stand by its flat name."""
    given = plain.pop(table, {})
    flat = {
        name: plain.pop(key) for key, (owner, name) in IN_TABLES.items() if owner == table and key in plain
    }
    where = f"{where}: [{table}]"
    values = checked_values(TABLES[table], given | flat if isinstance(given, dict) else given, where)
    if "dimensions" in values:
        values["dimensions"] = _lengths(values["dimensions"], where)
    return TABLES[table](**values)


def checked_values(
    kind: Any,
    values: dict[str, Any],
    where: str,
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    tables: Sequence[str] = (),
) -> dict[str, Any]:
    """Values for the fields of a dataclass of settings, each of its default's type and within its limits."""
    # As read from TOML or from --set: a list may be a text with commas, a float may be an int. `choices` are
    # values that a setting may have beside what its field says, `tables` names to mention for an unknown key.
    if not isinstance(values, dict):
        raise UsageError(f"{where}: should be a table, not {values!r}")
    fields = {item.name: item for item in dataclasses.fields(kind)}
    defaults = kind()
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in fields:
            known = [*(name for name in fields if name not in tables), *(f"[{table}]" for table in tables)]
            # `momentun.queue` from the command, where a file has a table.
            meant = f"[{key.partition('.')[0]}]" if "." in key else key
            alike = difflib.get_close_matches(meant, known, n=1, cutoff=0.75)
            hint = f" (did you mean {alike[0]}?)" if alike else ""
            raise UsageError(f"{where}: unknown setting {key!r}{hint}; known: {', '.join(known)}")
        default = getattr(defaults, key)
        if isinstance(default, tuple) and isinstance(value, (list, tuple, str)):
            value = tuple([part for part in value.split(",") if part] if isinstance(value, str) else value)
            if default and isinstance(default[0], float):
                value = _floats(value, key, where)
        elif isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(default):
            raise UsageError(f"{where}: {key} = {value!r} should be {_KINDS[type(default)]}")
        limits = {"choices": choices.get(key)} if key in choices else fields[key].metadata
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{where}: {key} = {value} should be a finite number")
        if wrong := what_is_wrong(value, limits):
            joint = " " if wrong.startswith("must") else "; "
            raise UsageError(f"{where}: {key} = {value!r}{joint}{wrong}")
        checked[key] = value
    return checked


def _floats(values: tuple[Any, ...], key: str, where: str) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: {key} = {list(values)} should be numbers, such as [0.9, 0.98]") from None


def _lengths(values: tuple[Any, ...], where: str) -> tuple[int, ...]:
    """Lengths of vectors in ascending order, each once; on the command line they are texts."""
    try:
        lengths = {int(str(value)) for value in values}
    except ValueError:
        lengths = {0}
    if min(lengths, default=1) < 1:
        raise UsageError(f"{where}: dimensions = {list(values)} should be lengths, such as [64, 128]")
    return tuple(sorted(lengths))


# --- what goes together


def _loss_settings(name: str, table: dict[str, Any], where: str) -> dict[str, Any]:
    """The loss's settings with all its defaults; an empty table for one that has none."""
    if not components.has_settings("losses", name):
        if table:
            raise UsageError(f'{where}: [loss_settings]: the loss "{name}" has no settings; leave it out')
        return {}
    from train.losses import find  # loads torch

    kind = find(name).settings_class
    assert kind is not None
    values = checked_values(kind, table, f"{where}: [loss_settings]")
    try:
        return dataclasses.asdict(kind(**values))
    except ValueError as error:
        raise UsageError(f"{where}: [loss_settings]: {error}") from error


def _addition_settings(name: str, table: dict[str, Any], where: str) -> dict[str, Any]:
    """An addition's settings with all its defaults, so that a checkpoint knows what it was made with."""
    from train.additions import find  # loads torch, which most recipes need not wait for

    addition = find(name)
    values = checked_values(addition.settings_class, table, f"{where}: [{name}]")
    return dataclasses.asdict(addition.settings_class(**values))


def _check_additions(recipe: Recipe, where: str) -> None:
    from train import additions, losses

    for name, values in recipe.additions.items():
        addition = additions.find(name)
        if recipe.objective != "contrastive":
            raise UsageError(f'{where}: [{name}] needs objective "contrastive"')
        if addition.adds_negatives() and not losses.find(recipe.loss).further_negatives:
            fitting = [
                f'"{loss}"' for loss in components.names("losses") if losses.find(loss).further_negatives
            ]
            raise UsageError(f"{where}: [{name}] adds columns, which needs loss {' or '.join(fitting)}")
        if wrong := addition.check(addition.settings_class(**values), recipe):
            raise UsageError(f"{where}: [{name}] {wrong}")


def _check(recipe: Recipe, where: str) -> None:
    contrast = recipe.contrast
    if not (recipe.dropout == -1 or 0 <= recipe.dropout < 1):
        raise UsageError(
            f"{where}: dropout = {recipe.dropout} must be from 0 to below 1, or the encoder's: -1"
        )
    if len(recipe.optimizer.betas) != 2 or not all(0 <= beta < 1 for beta in recipe.optimizer.betas):
        raise UsageError(
            f"{where}: betas = {list(recipe.optimizer.betas)} must be two numbers from 0 to below 1"
        )
    if recipe.window < 16:
        raise UsageError(f"{where}: window = {recipe.window} hardly mixes the corpus; write 16 or more")
    if recipe.whitening.sentences == 1 or recipe.whitening.sentences < 0:
        raise UsageError(
            f"{where}: whiten = {recipe.whitening.sentences} should be 0 or a number of sentences above 1"
        )
    if contrast.dimensions and recipe.head != "none":
        raise UsageError(f'{where}: head "{recipe.head}" mixes what dimensions divide; write head = "none"')
    if not contrast.weight and not recipe.additions and not recipe.masking.weight:
        raise UsageError(f"{where}: contrastive_weight = 0 leaves nothing to learn; add [cosine_regression]")
    if not recipe.positives:
        raise UsageError(f'{where}: positives is empty; name stages, or "self" for the anchor itself')
    conditions_by_stage(recipe.where, f"{where}: where =")
    for name, weight in recipe.corpus_weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise UsageError(
                f"{where}: corpus_weights: {name!r} = {weight!r} should be a number, 0 or more: how often a "
                "row of that file comes in an epoch"
            )
    for key in ("hard_negative_weight", "negative_scope"):
        if components.layout(recipe.loss) != "columns" and getattr(contrast, key) != getattr(Contrast, key):
            raise UsageError(f"{where}: {key} = {getattr(contrast, key)!r} needs loss {_losses('columns')}")


def _losses(layout: str) -> str:
    return " or ".join(
        f'"{name}"' for name in components.names("losses") if components.layout(name) == layout
    )


def changes_of_paper(recipe: str) -> tuple[str, ...]:
    """What `--paper` changes of a recipe; raises `UsageError` for one without a paper's texts."""
    stages = ",".join(one.stage for one in load(of_paper(recipe)))
    return {"sda": ("labels=kind",), "augcse": (f"discriminator.stages={stages}",)}.get(recipe, ())


def unlike_paper(recipe: Recipe, store: Store) -> list[str]:
    """A warning for each text of UNA or SDA that the paper makes otherwise."""
    paper = load(PAPERS[recipe.name]) if recipe.name in ("una", "sda") else []
    said = []
    for name in sorted({*recipe.positives, *recipe.negatives} & {*store.stages()}):
        made = store.stage(name).settings
        own = [one.run for one in paper if one.run.name == made["stage"]]
        if own and not any(run.makes(store, made["parameters"]) for run in own):
            column = "positives" if name in recipe.positives else "negatives"
            said.append(
                f"{name}: sentences of `{made['stage']}` that are not the paper's: a score of this run is "
                f"not {recipe.name.upper()}'s. `augment-cli run {recipe.name} --paper --store OTHER` makes "
                f"them in a store of its own (--set {column}=NAME takes another stage of this one)"
            )
    return said
