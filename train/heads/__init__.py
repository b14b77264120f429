"""Heads: what stands between pooling and loss in training, and is left out of what is saved.

To add one, add a file `train/heads/my_head.py` with a class `MyHeadHead`; a recipe selects it by
``head = "my-head"``. The class is a `torch.nn.Module` made with the encoder's dimension d. It maps embeddings
of shape (n, d), those of the whole gathered batch, to (n, h), and says h in its attribute `dimension`.
"""

from torch import nn

from train import components


def make_head(name: str, dimension: int) -> nn.Module:
    """A new head for embeddings of `dimension` d by its name in a recipe, such as ``batch-norm``."""
    file = components.module("heads", name)
    return getattr(file, components.member("heads", name))(dimension)
