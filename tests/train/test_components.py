"""Components are found by their files."""

import torch

from train import components, losses
from train.heads import make_head
from train.loading import load_recipe


def test_a_loss_is_found_by_its_file():
    assert {"info-nce", "symmetric", "nt-xent"} <= set(components.names("losses"))
    for name in components.names("losses"):
        loss = losses.find(name)
        assert callable(loss.function)
        assert loss.layout in ("columns", "pool")
        assert loss.further_negatives in (True, False)
    for name in components.names("heads"):
        head = make_head(name, 6)
        assert head(torch.ones(3, 6)).shape == (3, head.dimension)


def test_the_core_is_enough_for_its_own_recipes(monkeypatch):
    recipes = [path.stem for path in components.HERE.glob("recipes/*.toml")]
    monkeypatch.setattr(
        components,
        "_own",
        lambda kind, own=components._own: {
            name: place for name, place in own(kind).items() if "methods" not in place.module
        },
    )
    for name in recipes:
        assert load_recipe(name).name == name
    assert {"simcse", "sda", "static"} <= set(recipes)
