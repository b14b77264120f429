"""The options that make a stage again, from what the stage says it depends on."""

# Apart from `kinds`, which loads every augmentation: commands that need these alone start sooner.

import dataclasses
import re
import shlex
from collections.abc import Mapping
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import NO_LIST, SHIPPED_LIST, avoided_digest
from augment_cli.contract.parameters import DEFAULT_SEED
from augment_cli.errors import UserError
from augment_cli.runs.run import make_run
from augment_cli.store import refusals
from augment_cli.store.store import Store

_DIGEST = re.compile("[0-9a-f]{64}")


def options_of(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What of a stage's parameters is not the default, as its augmentation takes it."""
    stored = settings["parameters"]
    options: dict[str, Any] = {}
    files: list[str] = []
    for item in dataclasses.fields(augmentations.get(settings["stage"]).parameters):
        if item.name not in stored:
            continue
        value = _given(item.name, stored, item.default)
        if isinstance(value, str) and _DIGEST.fullmatch(value):
            files.append(item.name)
        elif value is not None and str(value) != str(item.default):
            options[item.name] = str(value) if isinstance(item.default, str) else value
    return options, files


def option_of(store: Store, settings: Mapping[str, Any], key: str) -> str | None:
    """The option that gives a setting of a stage again (`parameters.radius`, `inputs.terms`), or None."""
    # As `augment_cli.store.refusals.option_of`, for what augmentations resolve: lists by digest, switches.
    section, _, name = key.partition(".")
    parameters = augmentations.get(settings["stage"]).parameters
    fields = {item.name: item for item in dataclasses.fields(parameters)}
    stored = settings["parameters"]
    if section == "inputs":
        found = _read(store, settings)
        return " ".join(f"--{option} {value}" for option, value in found.items() if value != "NAME") or None
    if section != "parameters":
        return refusals.option_of(settings, key)
    if name in fields and name not in stored and "surface" in fields:  # as of a paper's surface
        name = "surface"
    if name == "protect" and name in stored:
        return refusals.option_of(settings, key)
    if name not in fields or name not in stored:
        return None
    value = _given(name, stored, fields[name].default)
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        value = "FILE"
    return refusals.option_of({"parameters": {name: value}}, f"parameters.{name}")


def command_of(store: Store, name: str) -> str:
    """The command that makes a stage again."""
    return shlex.join(words_of(store, name))


def words_of(store: Store, name: str) -> list[str]:
    """The command of `command_of` as words."""
    settings = store.stage(name).settings
    augmentation, draw = settings["stage"], settings["parameters"].get("draw", 0)
    base = name.removesuffix(f".{draw}") if draw else name
    options, files = options_of(settings)
    read = _read(store, settings)
    options = _without_defaults(store, settings, options | dict.fromkeys(files, "FILE"), read.get("fit"))
    first = store.stage(base).settings["parameters"] if base in store.stages() else {}
    low, high = first.get("beta"), settings["parameters"].get("beta")
    if draw and low is not None and low != high:
        options["beta"] = f"{low}:{high}"  # spread over the draws
    chain = {"of": settings["parameters"]["of"]} if "of" in settings["parameters"] else {}
    given = options | chain | _models(settings) | read
    words = ["augment-cli", augmentation]
    for option, value in given.items():
        typed = f"--{option.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(typed if value else f"--no-{typed[2:]}")
        else:
            words += [typed, str(value)]
    words += ["--seed", str(settings["seed"])] if settings["seed"] != DEFAULT_SEED else []
    words += ["--protect", settings["parameters"]["protect"]] if "protect" in settings["parameters"] else []
    words += ["--draws", str(draw + 1)] if draw else []
    return words + (["--name", base] if base != augmentation else [])


def last_draw(store: Store, name: str) -> str:
    """Of several draws the last, whose command makes them all."""
    base = name.removesuffix(f".{store.stage(name).settings['parameters'].get('draw', 0)}")
    draws = [other for other in store.stages() if re.fullmatch(rf"{re.escape(base)}(\.\d+)?", other)]
    return max(draws, key=lambda other: store.stage(other).settings["parameters"].get("draw", 0))


def _without_defaults(
    store: Store, settings: Mapping[str, Any], options: dict[str, Any], fit: str | None
) -> dict[str, Any]:
    """The options but for those whose default is resolved to the same: a radius of 1%, the shipped sample."""
    try:
        usual = make_run(settings["stage"], fit=fit)
        resolved = usual.augmentation.resolve(usual.parameters, usual.resources(store))
    except UserError:  # without the fit, or a model
        return options
    stored = settings["parameters"]
    return {
        name: value
        for name, value in options.items()
        if name not in resolved or name not in stored or resolved[name] != stored[name] or name == "surface"
    }


def _models(settings: Mapping[str, Any]) -> dict[str, str]:
    """The options for models: a stage keeps their digests, not where they lie."""
    names = {item.name for item in dataclasses.fields(augmentations.get(settings["stage"]).parameters)}
    digests = {key.removesuffix(" model"): value for key, value in settings["resources"].items()}
    return {key: "FOLDER" for key in digests if key in names}


def _read(store: Store, settings: Mapping[str, Any]) -> dict[str, str]:
    """The options that name a fit or a parse, where it was not the unnamed one that is there now."""
    found = {}
    for kind, option in (("tfidf", "fit"), ("parses", "parses")):
        digest = settings["inputs"].get(kind)
        if digest is None:
            continue
        named = {
            stage.removeprefix(kind).removeprefix("-"): store.stage(stage).digests
            for stage in store.stages()
            if stage == kind or stage.startswith(f"{kind}-")
        }
        if digest not in named.get("", ()):
            found[option] = next((name for name, known in named.items() if digest in known), "NAME")
    return found


def _given(name: str, stored: Mapping[str, Any], default: Any) -> Any:
    """The value to give for a parameter, where the stored one is another word for it."""
    value = stored[name]
    if name == "avoid":
        return NO_LIST if value is None else SHIPPED_LIST if value == avoided_digest(SHIPPED_LIST) else value
    if name == "background":
        return "none" if value is None else "always"
    if isinstance(value, Mapping):  # a switch, with the digests of the lists that it reads
        return True
    if isinstance(default, bool) and value is None:
        return False
    if name == "surface" and value == default and "background" not in stored:
        return "in-place"  # which was called natural in version 0.1.0, and is in its settings
    return value
