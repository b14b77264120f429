"""A linear softmax layer trained on a few examples a class, the iteration chosen on a few others.

As VaSCL describes it: learning rate 1e-4, batch 32, 1,000 iterations, validated every 100; the best is kept.
The paper states no optimiser; Adam is our choice.
"""

from __future__ import annotations

import numpy as np
import torch

from eval.measures.senteval import one_thread

LEARNING_RATE = 1e-4
BATCH = 32
ITERATIONS = 1000
VALIDATE_EVERY = 100


@one_thread()
def train_and_predict(
    vectors: np.ndarray,
    labels: np.ndarray,
    train: np.ndarray,
    validation: np.ndarray,
    test: np.ndarray,
    *,
    seed: int,
) -> np.ndarray:
    """Train on some rows, choose the iteration on others, predict the test part."""
    # train, validation: numbers of rows of `vectors`. Returns the class of each row of `test`, (m, d).
    names = np.unique(labels)
    generator = torch.Generator().manual_seed(seed)
    x, held = (torch.as_tensor(vectors[rows], dtype=torch.float32) for rows in (train, validation))
    y, held_y = (torch.as_tensor(np.searchsorted(names, labels[rows])) for rows in (train, validation))
    bound = x.shape[1] ** -0.5
    weight = (torch.rand((len(names), x.shape[1]), generator=generator) * 2 - 1) * bound
    bias = torch.zeros(len(names))
    optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE, fused=True)
    wanted = torch.nn.functional.one_hot(y, len(names)).float()
    best, kept = -1.0, (weight, bias)
    order = torch.empty(0, dtype=torch.long)
    for step in range(1, ITERATIONS + 1):
        if not len(order):
            order = torch.randperm(len(x), generator=generator)
        rows, order = order[:BATCH], order[BATCH:]
        # The gradient of the cross-entropy by hand, as autograd takes longer than so small a step.
        chosen = x[rows]
        slope = (torch.addmm(bias, chosen, weight.T).softmax(dim=1) - wanted[rows]) / len(rows)
        weight.grad, bias.grad = slope.T @ chosen, slope.sum(dim=0)
        optimizer.step()
        if step % VALIDATE_EVERY == 0:
            accuracy = float(((held @ weight.T + bias).argmax(dim=1) == held_y).float().mean())
            if accuracy > best:
                best, kept = accuracy, (weight.clone(), bias.clone())
    answers = (torch.as_tensor(test, dtype=torch.float32) @ kept[0].T + kept[1]).argmax(dim=1)
    return np.asarray(names[answers.numpy()])
