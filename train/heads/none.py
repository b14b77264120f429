"""No head: the loss sees the embeddings."""

from torch import nn


class NoneHead(nn.Identity):
    """The embeddings as they are: h is d."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = dimension
