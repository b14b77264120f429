"""Additions: what a method adds to plain contrastive learning.

To add one, add one file: `train/methods/mine/my_own_addition.py` with a class `MyOwn`, a subclass of
`train.additions.base.Addition`, is what a recipe gets that has a table ``[my_own]``. The keys of the table
are the fields of its `settings_class`, a dataclass. Nothing else needs to know of it; `base.py` says which
hooks there are and when they are called.
"""

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
    return [kind.views(settings, recipe) for _, kind, settings in _in_order(recipe)]


def make_dev_tests(recipe: Recipe, store: Store) -> list[Any]:
    """The dev scores that a recipe's additions bring."""
    every = _in_order(recipe)
    return [test for _, kind, settings in every for test in kind.dev_tests(settings, recipe, store)]


def make_additions(recipe: Recipe, host: Host) -> nn.ModuleDict:
    """A recipe's additions by name, with their parameters and buffers; the host is the model they join."""
    return nn.ModuleDict({name: kind(settings, host) for name, kind, settings in _in_order(recipe)})


def _in_order(recipe: Recipe) -> list[tuple[str, type[Addition], Any]]:
    """Name, class and settings of each addition, as they choose texts: first who draws the positive anew."""
    kinds = sorted(
        ((name, find(name)) for name in recipe.additions), key=lambda one: not one[1].draws_positive
    )
    return [(name, kind, kind.settings_class(**recipe.additions[name])) for name, kind in kinds]


def anchors_alone(recipe: Recipe) -> bool:
    """Whether no positive is encoded: nothing is contrasted, and no addition reads one."""
    kinds = [find(name) for name in recipe.additions]
    return not recipe.contrast.weight and bool(kinds) and all(kind.anchors_alone for kind in kinds)
