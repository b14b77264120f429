"""A linear softmax layer trained on a few examples a class, the iteration chosen on a few others.

As VaSCL describes it: learning rate 1e-4, batch 32, 1,000 iterations, validated every 100; the best is kept.
The paper states no optimiser; Adam is our choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from eval.measures.senteval import one_thread

LEARNING_RATE = 1e-4
BATCH = 32
ITERATIONS = 1000
VALIDATE_EVERY = 100


@one_thread()
def train_and_predict(
    vectors: np.ndarray, labels: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]], test: np.ndarray
) -> np.ndarray:
    """Train on some rows, choose the iteration on others, predict the test part; for each split."""
    # splits: rows of `vectors` to train on and to validate on, as many in each; a split's number is its seed.
    # Returns the class of each row of `test` (m, d) by each split, (s, m). All splits take a step together,
    # as so small a step costs more to begin than to compute.
    names, count = np.unique(labels), len(splits)
    generators = [torch.Generator().manual_seed(number) for number in range(count)]
    train, validation = (np.stack(rows) for rows in zip(*splits, strict=True))
    x, held = (torch.as_tensor(vectors[rows], dtype=torch.float32) for rows in (train, validation))
    y, held_y = (torch.as_tensor(np.searchsorted(names, labels[rows])) for rows in (train, validation))
    shape = len(names), x.shape[2]
    drawn = torch.stack([torch.rand(shape, generator=generator) for generator in generators])
    weight, bias = (drawn * 2 - 1) * shape[1] ** -0.5, torch.zeros(count, 1, len(names))
    optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE, fused=True)
    wanted = torch.nn.functional.one_hot(y, len(names)).float()
    best, kept = torch.full((count,), -1.0), (weight.clone(), bias.clone())
    order, every = torch.empty((count, 0), dtype=torch.long), torch.arange(count).unsqueeze(1)
    for step in range(1, ITERATIONS + 1):
        if not order.shape[1]:
            order = torch.stack([torch.randperm(x.shape[1], generator=one) for one in generators])
        rows, order = order[:, :BATCH], order[:, BATCH:]
        # The gradient of the cross-entropy by hand, as autograd takes longer than so small a step.
        chosen = x[every, rows]
        shares = torch.baddbmm(bias, chosen, weight.mT).softmax(dim=2)
        slope = (shares - wanted[every, rows]) / rows.shape[1]
        weight.grad, bias.grad = torch.bmm(slope.mT, chosen), slope.sum(dim=1, keepdim=True)
        optimizer.step()
        if step % VALIDATE_EVERY == 0:
            answers = torch.baddbmm(bias, held, weight.mT).argmax(dim=2)
            accuracy = (answers == held_y).float().mean(dim=1)
            better = accuracy > best
            best[better] = accuracy[better]
            for now, then in zip((weight, bias), kept, strict=True):
                then[better] = now[better]
    answers = (torch.as_tensor(test, dtype=torch.float32) @ kept[0].mT + kept[1]).argmax(dim=2)
    return np.asarray(names[answers.numpy()])
