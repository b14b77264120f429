"""NT-Xent: every view of the pool against all others (SimCLR, UNA's code, VaSCL)."""

import torch
import torch.nn.functional as F
from torch import Tensor

LAYOUT = "pool"
FURTHER_NEGATIVES = False


def nt_xent(first: Tensor, second: Tensor, excluded: Tensor, temperature: float) -> Tensor:
    """NT-Xent (SimCLR): each view finds its partner, the other view of its text, among all views of the pool.

    >>> first = torch.eye(2)
    >>> second = torch.eye(2)
    >>> nobody = torch.zeros(4, 4, dtype=torch.bool)  # is left out
    >>> nt_xent(first, second, nobody, temperature=0.5)
    tensor([0.2395, 0.2395, 0.2395, 0.2395])

    The logits have a row and a column for each of the 2M views, in the order (first, second):
    cos(view i, view j) / τ. Row i's right answer is its partner, column (i + M) mod 2M; every other column
    that is not excluded is a negative, save the view itself. The loss of a row is −log softmax at its right
    answer.

    `first, second`: two views of each text, (M, d) each; scaled to length 1 here. In a UNA step the M = 2B
    texts are the B sentences and their B negatives: negatives are anchors with a positive of their own.
    `excluded`: which views a view does not meet, (2M, 2M), bool; never its partner; itself is excluded here.
    `temperature`: τ > 0, divides the cosines. Returns: (2M,), nats, at least 0; those of `first` come first.

    Source: Chen et al. 2020 (SimCLR), equation 1; Shu & Lampos 2024 (UNA), whose equation leaves the positive
    out of the denominator, which their code does not.
    """
    views = F.normalize(torch.cat([first, second]), dim=-1)
    logits = views @ views.T / temperature  # (2M, 2M)
    itself = torch.eye(len(views), dtype=torch.bool, device=views.device)
    labels = torch.arange(len(views), device=views.device).roll(len(first))
    return F.cross_entropy(logits.masked_fill(excluded | itself, float("-inf")), labels, reduction="none")
