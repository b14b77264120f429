"""Each loss once more, slowly and in float64: what the tests compare value and gradient with."""

import math

import numpy as np
import torch

from tests.helpers.training import check_gradients, cos, draw

TAU = 0.05


def reference_info_nce(z, candidates, excluded, tau, logit_bias):
    losses = []
    for i in range(len(z)):
        terms = {
            j: math.exp(cos(z[i], candidates[j]) / tau + logit_bias[i, j])
            for j in range(len(candidates))
            if not excluded[i, j]
        }
        losses.append(-math.log(terms[i] / sum(terms.values())))
    return np.array(losses)


def reference_symmetric(z, candidates, excluded, tau, logit_bias):
    n = len(z)
    back = reference_info_nce(candidates[:n], z, excluded[:, :n].T, tau, np.zeros((n, n)))
    return (reference_info_nce(z, candidates, excluded, tau, logit_bias) + back) / 2


def reference_nt_xent(first, second, excluded, tau):
    views, m = np.concatenate([first, second]), len(first)
    losses = []
    for i in range(2 * m):
        terms = {
            j: math.exp(cos(views[i], views[j]) / tau) for j in range(2 * m) if j != i and not excluded[i, j]
        }
        losses.append(-math.log(terms[(i + m) % (2 * m)] / sum(terms.values())))
    return np.array(losses)


def some_excluded(rows, columns, own, seed=3):
    excluded = np.random.default_rng(seed).random((rows, columns)) < 0.2
    excluded[np.arange(rows), own] = False
    return excluded


def check_with_columns(loss, reference, negatives):
    """Value and gradient of a loss of the layout `columns`, with some columns of hard negatives."""
    rows, d = 5, 4
    z, candidates = draw(rows, d), draw(rows * (1 + negatives), d, seed=1)
    excluded = some_excluded(rows, len(candidates), np.arange(rows))
    logit_bias = draw(*excluded.shape, seed=2) if negatives else np.zeros(excluded.shape)
    logit_bias[:, :rows] = 0
    check_gradients(
        lambda *pair: loss(*pair, torch.tensor(excluded), 0.5, torch.tensor(logit_bias)),
        lambda *pair: reference(*pair, excluded, 0.5, logit_bias),
        [z, candidates],
        atol=2e-8,
    )
