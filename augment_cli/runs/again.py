"""The options that make a stage again, from what the stage says it depends on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.avoiding import NOTHING, SHIPPED, avoided_digest

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


def _given(name: str, stored: Mapping[str, Any], default: Any) -> Any:
    """The value to give for a parameter, where the stored one is another word for it."""
    value = stored[name]
    if name == "avoid":
        return NOTHING if value is None else SHIPPED if value == avoided_digest(SHIPPED) else value
    if name == "background":
        return "none" if value is None else "always"
    if name == "surface" and value == default and "background" not in stored:
        return "in-place"  # which was called natural in version 0.1.0, and is in its settings
    return value
