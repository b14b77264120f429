"""Components are found by their files."""

import torch

from train import components, losses
from train.heads import make_head


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
