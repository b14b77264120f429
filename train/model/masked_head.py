"""The head of masked language modelling, which names hidden tokens."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MaskedHead(nn.Module):
    """BERT's head: linear, GELU, layer norm, then the word embeddings as decoder."""

    # The decoder shares the encoder's word embeddings; only hidden positions are decoded, which saves six
    # sevenths of the largest product of a small encoder.

    def __init__(self, hidden_size: int, vocabulary: int, word_embeddings: nn.Embedding) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)
        self._words = [word_embeddings]  # in a list, or the shared weight would be saved twice

    def forward(self, hidden_states: Tensor, hidden: Tensor, targets: Tensor) -> Tensor:
        """Sum of the negative log-likelihoods (nats) of the hidden tokens, a scalar."""
        # hidden_states: last layer, (n, length, d). hidden: where tokens were hidden, as indices into the
        # flattened (n · length) positions, (m,); targets: the original ids there, (m,).
        picked = hidden_states.reshape(-1, hidden_states.shape[-1])[hidden]
        decoded = F.linear(self.norm(F.gelu(self.dense(picked))), self._words[0].weight, self.bias)
        wide = decoded if decoded.dtype == torch.float64 else decoded.float()
        return F.cross_entropy(wide, targets, reduction="sum")
