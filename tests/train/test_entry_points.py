"""Losses, heads and additions of other packages, and what can be wrong with one."""

import sys

import pytest
import torch

from augment_cli.contract import plugins
from augment_cli.errors import UsageError
from tests.helpers.installing import install
from train import additions, components, heads, loading, losses

LOSS = """
from dataclasses import dataclass

LAYOUT = "columns"
FURTHER_NEGATIVES = False


@dataclass(frozen=True)
class Settings:
    margin: float = 0.5


def far_away(anchors, candidates, excluded, temperature, logit_bias=None, *, settings):
    return anchors.sum(dim=1) * 0 + settings.margin
"""
HEAD = """
from torch import nn


class TwiceHead(nn.Module):
    def __init__(self, dimension):
        super().__init__()
        self.dimension = dimension

    def forward(self, embeddings):
        return 2 * embeddings
"""
ADDITION = """
from dataclasses import dataclass

from train.additions.base import Addition


class NoWord(Addition):
    @dataclass(frozen=True)
    class Settings:
        weight: float = 0.25

    settings_class = Settings
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package for this test: its entry points of one group, and one module."""
    loaded = set()

    def add(name, group, points, **modules):
        install(tmp_path / name, name, points, f"augment_cli.{group}", **modules)
        monkeypatch.syspath_prepend(tmp_path / name)
        loaded.update(modules)
        forget()

    def forget():
        for module in loaded:
            sys.modules.pop(module, None)
        plugins.brought.cache_clear()
        components.layout.cache_clear()
        losses.find.cache_clear()

    yield add
    monkeypatch.undo()
    forget()


def test_a_loss(package):
    package("faraway", "losses", {"far-away": "faraway_loss"}, faraway_loss=LOSS)
    assert "far-away" in components.names("losses")
    recipe = loading.make_recipe({"loss": "far-away", "loss_settings": {"margin": 2}})
    assert recipe.loss_settings == {"margin": 2.0}
    found = losses.find("far-away").with_settings(recipe.loss_settings)
    assert found(torch.ones(3, 4), torch.ones(3, 4), None, 1.0).tolist() == [2, 2, 2]
    assert components.layout("far-away") == "columns"


def test_a_head(package):
    package("twice", "heads", {"twice": "twice_head"}, twice_head=HEAD)
    assert loading.make_recipe({"head": "twice"}).head == "twice"
    assert heads.make_head("twice", 4)(torch.ones(1, 4)).tolist() == [[2, 2, 2, 2]]


def test_an_addition(package):
    package("nowords", "additions", {"no_word": "no_word_addition"}, no_word_addition=ADDITION)
    recipe = loading.make_recipe({"no_word": {"weight": 0.5}})
    assert recipe.additions == {"no_word": {"weight": 0.5}}
    assert additions.find("no_word").__name__ == "NoWord"


@pytest.mark.parametrize(
    ("points", "source", "name", "message"),
    [
        ({"info-nce": "far_away"}, LOSS, "info-nce", "augment-cli and faraway each bring a loss 'info-nce'"),
        ({"far": "no_such_module"}, LOSS, "far", "the loss 'far' of the package faraway .* cannot be loaded"),
        ({"near-by": "far_away"}, LOSS, "near-by", r"faraway \(far_away\) has no near_by; see docs"),
        ({"far-away": "far_away"}, LOSS.replace("LAYOUT", "SHAPE"), "far-away", "has no LAYOUT; see docs"),
        ({"far-away": "far_away"}, "1 +", "far-away", "cannot be loaded: SyntaxError"),
    ],
)
def test_a_package_with_a_fault_is_named(package, points, source, name, message):
    package("faraway", "losses", points, far_away=source)
    with pytest.raises(UsageError, match=message):
        losses.find(name)
    assert losses.find("nt-xent").layout == "pool"  # the others still work


def test_two_packages_with_one_name(package):
    for name in ("one", "other"):
        package(name, "heads", {"twice": f"{name}_twice"}, **{f"{name}_twice": HEAD})
    with pytest.raises(UsageError, match="one and other each bring a head 'twice'"):
        heads.make_head("twice", 4)


def test_what_cannot_be_read_is_said_before_anything_is_loaded(package):
    package("faraway", "losses", {"far-away": "far_away"}, far_away="1 +")
    with pytest.raises(UsageError, match=r"the loss 'far-away' of the package faraway .* cannot be read"):
        loading.make_recipe({"loss": "far-away"})
