"""A loss with settings of its own: a new file in the folder of losses, named by no list."""

from pathlib import Path

import pytest
import torch

import train.losses
from augment_cli.errors import UsageError
from train import components, loading
from train.objectives.contrastive import contrast

SOURCE = """
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


def odd_margin(anchors, candidates, excluded, temperature, logit_bias=None, *, settings):
    return anchors.sum(dim=1) * 0 + settings.margin
"""


@pytest.fixture(autouse=True)
def odd_margin(tmp_path, monkeypatch):
    """`odd_margin.py` beside the other losses, as if it lay in their folder."""
    (tmp_path / "losses").mkdir()
    (tmp_path / "losses/odd_margin.py").write_text(SOURCE)
    (tmp_path / "heads").symlink_to(Path(components.__file__).parent / "heads")
    monkeypatch.setattr(components, "__file__", str(tmp_path / "components.py"))
    monkeypatch.setattr(train.losses, "__path__", [*train.losses.__path__, str(tmp_path / "losses")])


def test_settings_reach_the_loss():
    z, texts = torch.ones(3, 2, 4), torch.arange(6).reshape(3, 2)
    plain = loading.make_recipe({"loss": "odd-margin"})
    assert plain.loss_settings == {"margin": 0.5, "form": "hinge"}  # a checkpoint knows the defaults, too
    assert contrast(plain, z, texts, []) == 0.5
    changed = loading.make_recipe({"loss": "odd-margin", "loss_settings": {"margin": 2}})
    assert contrast(changed, z, texts, []) == 2
    assert changed.as_json()["loss_settings"] == {"margin": 2.0, "form": "hinge"}
    assert loading.make_recipe(changed.as_json()) == changed


def test_settings_on_the_command_line(tmp_path):
    (tmp_path / "mine.toml").write_text('loss = "odd-margin"\n[loss_settings]\nmargin = 1\n')
    recipe = loading.load_recipe(str(tmp_path / "mine.toml"), ["loss_settings.form=soft"])
    assert recipe.loss_settings == {"margin": 1.0, "form": "soft"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"size": 1}, r"\[loss_settings\]: unknown setting 'size'; known: margin, form"),
        ({"margin": "wide"}, r"\[loss_settings\]: margin = 'wide' should be a number"),
        ({"margin": -1.0}, r"\[loss_settings\]: margin = -1.0 must not be below 0"),
    ],
)
def test_wrong_settings_are_named(table, message):
    with pytest.raises(UsageError, match=message):
        loading.make_recipe({"loss": "odd-margin", "loss_settings": table})
