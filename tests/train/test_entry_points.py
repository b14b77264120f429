"""Losses, heads and additions of other packages, and what can be wrong with one."""

import sys

import pytest
import torch

from augment_cli import augmentations
from augment_cli.errors import UsageError
from tests.helpers.installing import install
from train import additions, components, heads, loading, losses
from train.objectives.contrastive import contrast

LOSS = """
from dataclasses import dataclass

LAYOUT = "columns"
FURTHER_NEGATIVES = False


@dataclass(frozen=True)
class Settings:
    margin: float = 0.5
    form: str = "hinge"

    def __post_init__(self):
        if self.margin < 0:
            raise ValueError(f"margin = {self.margin} must not be below 0")


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
        augmentations.provided.cache_clear()
        components.layout.cache_clear()
        losses.find.cache_clear()

    yield add
    monkeypatch.undo()
    forget()


def test_a_loss(package, tmp_path):
    package("faraway", "losses", {"far-away": "faraway_loss"}, faraway_loss=LOSS)
    assert "far-away" in components.names("losses")
    assert components.layout("far-away") == "columns"
    assert loading.make_recipe({"loss": "far-away"}).loss_settings == {"margin": 0.5, "form": "hinge"}
    (tmp_path / "mine.toml").write_text('loss = "far-away"\n[loss_settings]\nmargin = 2\n')
    recipe = loading.load_recipe(str(tmp_path / "mine.toml"), ["loss_settings.form=soft"])
    assert recipe.loss_settings == {"margin": 2.0, "form": "soft"}
    assert loading.make_recipe(recipe.as_json()) == recipe  # as a checkpoint has it
    assert contrast(recipe, torch.ones(3, 2, 4), torch.arange(6).reshape(3, 2), []) == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"size": 1}, r"\[loss_settings\]: unknown setting 'size'; known: margin, form"),
        ({"margin": "wide"}, r"\[loss_settings\]: margin = 'wide' should be a number"),
        ({"margin": -1.0}, r"\[loss_settings\]: margin = -1.0 must not be below 0"),
    ],
)
def test_wrong_settings_of_a_loss_are_named(package, table, message):
    package("faraway", "losses", {"far-away": "faraway_loss"}, faraway_loss=LOSS)
    with pytest.raises(UsageError, match=message):
        loading.make_recipe({"loss": "far-away", "loss_settings": table})


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
