"""The options that make a stage again, from what the stage says it depends on."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.avoiding import NOTHING, SHIPPED, avoided_digest
from augment_cli.errors import MissingError
from augment_cli.models import shipped_paraphraser
from augment_cli.models.digest import model_digest
from augment_cli.runs.run import DEFAULT_SEED
from augment_cli.store.store import Store

_DIGEST = re.compile("[0-9a-f]{64}")


def options_of(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What of a stage's parameters is not the default, as its augmentation takes it.

    Parameters
    ----------
    settings : mapping
        Of the stage: `stage`, the augmentation's name, and `parameters` as it resolved them.

    Returns
    -------
    options : dict
        By parameter name.
    files : list of str
        The parameters that name a file, of which the stage knows the content's digest and not the place.
    """
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


def command_of(store: Store, name: str) -> str:
    """The command that makes a stage again.

    Parameters
    ----------
    store : Store
    name : str
        A stage of an augmentation.

    Returns
    -------
    str
        Ready to be typed but for FILE and FOLDER: of a file or a model of one's own the stage knows the
        digest and not the place.
    """
    settings = store.stage(name).settings
    augmentation, draw = settings["stage"], settings["parameters"].get("draw", 0)
    options, files = options_of(settings)
    given = options | dict.fromkeys(files, "FILE") | _models(settings) | _read(store, settings)
    words = ["augment-cli", augmentation]
    for option, value in given.items():
        typed = f"--{option.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(typed if value else f"--no-{typed[2:]}")
        else:
            words += [typed, str(value)]
    words += ["--seed", str(settings["seed"])] if settings["seed"] != DEFAULT_SEED else []
    words += ["--draws", str(draw + 1)] if draw else []
    base = name.removesuffix(f".{draw}") if draw else name
    return shlex.join(words + (["--name", base] if base != augmentation else []))


def _models(settings: Mapping[str, Any]) -> dict[str, str]:
    """The options for models that are not the shipped one."""
    names = {item.name for item in dataclasses.fields(augmentations.get(settings["stage"]).parameters)}
    digests = {key.removesuffix(" model"): value for key, value in settings["resources"].items()}
    digests = {key: value for key, value in digests.items() if key in names}
    if not digests:
        return {}
    try:
        shipped = model_digest(shipped_paraphraser())
    except MissingError:
        shipped = ""
    return {key: "FOLDER" for key, value in digests.items() if value != shipped}


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
        return NOTHING if value is None else SHIPPED if value == avoided_digest(SHIPPED) else value
    if name == "background":
        return "none" if value is None else "always"
    if isinstance(value, Mapping):  # a switch, with the digests of the lists that it reads
        return True
    if isinstance(default, bool) and value is None:
        return False
    if name == "surface" and value == default and "background" not in stored:
        return "in-place"  # which was called natural in version 0.1.0, and is in its settings
    return value
