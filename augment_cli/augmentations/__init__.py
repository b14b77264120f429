"""The registry. A new augmentation is one file here, one golden file in the tests, and one line below."""

from __future__ import annotations

import importlib

from augment_cli.augmentations.base import Augmentation
from augment_cli.errors import UsageError

_REGISTRY = {
    "una": "augment_cli.augmentations.una:UNA",
    "uda": "augment_cli.augmentations.uda:UDA",
}


def names() -> list[str]:
    """Names of all augmentations, in the order of the registry."""
    return list(_REGISTRY)


def get(name: str) -> Augmentation:
    """The card of an augmentation.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if name not in _REGISTRY:
        raise UsageError(f"there is no augmentation {name!r}; there are {', '.join(_REGISTRY)}")
    module, _, attribute = _REGISTRY[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
