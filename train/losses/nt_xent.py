"""NT-Xent: every view of the pool against all others (SimCLR, UNA's code, VaSCL)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LAYOUT = "pool"
FURTHER_NEGATIVES = False


def nt_xent(first: Tensor, second: Tensor, excluded: Tensor, temperature: float) -> Tensor:
    """Loss of each view, −log softmax of its partner among all other views of the pool.

    Parameters
    ----------
    first, second
        Two views of each text, shape (M, d) each; scaled to length 1 here. In a UNA step the M = 2B texts are
        the B sentences and their B negatives, so that negatives are anchors with a positive of their own.
    excluded
        Views that are no negatives of a view, shape (2M, 2M), bool, in the order (first, second); never the
        partner. The view itself is excluded here.
    temperature
        τ > 0, divides the cosines.

    Returns
    -------
    Tensor
        Shape (2M,), nats, at least 0; the losses of `first`, then of `second`.

    Notes
    -----
    Source: Chen et al. 2020, equation 1; Shu & Lampos 2024, whose equation leaves the positive out of the
    denominator, which their code does not.
    """
    views = F.normalize(torch.cat([first, second]), dim=-1)
    logits = views @ views.T / temperature
    itself = torch.eye(len(views), dtype=torch.bool, device=views.device)
    labels = torch.arange(len(views), device=views.device).roll(len(first))
    return F.cross_entropy(logits.masked_fill(excluded | itself, float("-inf")), labels, reduction="none")
