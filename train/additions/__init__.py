"""Additions: what a method adds to plain contrastive learning.

To add one, add one file: `train/methods/mine/my_own_addition.py` with a class `MyOwn`, a subclass of
`train.additions.base.Addition`, is what a recipe gets that has a table ``[my_own]``. The keys of the table
are the fields of its `settings_class`, a dataclass. Nothing else needs to know of it; `base.py` says which
hooks there are and when they are called.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from augment_cli.store.store import Store
from train import components
from train.additions.base import Addition, Host, Views
from train.recipe import Recipe


def find(name: str) -> type[Addition]:
    """The class of an addition, by its table in a recipe; `UsageError` where there is none."""
    return getattr(components.module("additions", name), components.member("additions", name))


def make_views(recipe: Recipe) -> list[Views]:
    """The choices of texts of a recipe's additions."""
    kinds = _kinds(recipe).items()
    return [kind.views(kind.settings_class(**recipe.additions[name]), recipe) for name, kind in kinds]


def make_dev_tests(recipe: Recipe, store: Store) -> list[Any]:
    """The dev scores that a recipe's additions bring."""
    kinds = _kinds(recipe).items()
    settings = ((kind, kind.settings_class(**recipe.additions[name])) for name, kind in kinds)
    return [test for kind, own in settings for test in kind.dev_tests(own, recipe, store)]


def make_additions(recipe: Recipe, host: Host) -> nn.ModuleDict:
    """A recipe's additions by name, with their parameters and buffers; the host is the model they join."""
    kinds = _kinds(recipe).items()
    return nn.ModuleDict(
        {name: kind(kind.settings_class(**recipe.additions[name]), host) for name, kind in kinds}
    )


def _kinds(recipe: Recipe) -> dict[str, type[Addition]]:
    """A recipe's additions in the order in which they choose texts: first who draws the positive anew."""
    kinds = {name: find(name) for name in recipe.additions}
    return dict(sorted(kinds.items(), key=lambda item: not item[1].draws_positive))


def anchors_alone(recipe: Recipe) -> bool:
    """Whether no positive is encoded: nothing is contrasted, and no addition reads one."""
    kinds = [find(name) for name in recipe.additions]
    return not recipe.contrast.weight and bool(kinds) and all(kind.anchors_alone for kind in kinds)
