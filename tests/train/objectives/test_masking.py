"""Which tokens are hidden."""

import math

import numpy as np
import pytest
import torch

from train.objectives.masked_language import Masking

RATE = 0.15


def masking(**settings):
    values = {
        "rate": RATE,
        "seed": 3,
        "max_length": 32,
        "mask": 4,
        "pad": 0,
        "ordinary": np.arange(5, 1000),
        "before": [2],
        "after": [3],
    }
    return Masking(**(values | settings))


def texts_of(count, length=30):
    return [np.random.default_rng(row).integers(5, 1000, size=length) for row in range(count)]


def undo(items, count):
    """Originals and hidden flags by place."""
    originals, hidden = [None] * count, [None] * count
    for item in items:
        flat = item.inputs.ids.reshape(-1).clone()
        flags = torch.zeros(len(flat), dtype=torch.bool)
        flat[item.hidden], flags[item.hidden] = item.targets, True
        for row, place in enumerate(item.inputs.places.tolist()):
            keep = item.inputs.mask[row].bool()
            originals[place] = flat.reshape(item.inputs.ids.shape)[row][keep].tolist()
            hidden[place] = flags.reshape(item.inputs.ids.shape)[row][keep].tolist()
    return originals, hidden


def test_targets_are_the_originals_and_special_tokens_are_never_hidden():
    texts = [*texts_of(20), np.arange(5, 8), np.zeros(0, dtype=np.int64)]
    originals, hidden = undo(masking().hide(texts, 0, slice(0, 22), 22, 3), 22)
    for text, original, flags in zip(texts, originals, hidden, strict=True):
        assert original == [2, *text.tolist(), 3]
        assert not flags[0]
        assert not flags[-1]


def test_rates_of_hiding_masking_replacing_keeping():
    hidden = masked = kept = total = 0
    for step in range(40):
        texts = texts_of(64)
        total += sum(map(len, texts))
        for item in masking().hide(texts, step, slice(0, 64), 64, 2):
            seen = item.inputs.ids.reshape(-1)[item.hidden]
            hidden += len(seen)
            masked += int((seen == 4).sum())
            kept += int((seen == item.targets).sum())
    assert hidden / total == pytest.approx(RATE, abs=4 * math.sqrt(RATE * (1 - RATE) / total))
    assert masked / hidden == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / hidden))
    assert kept / hidden == pytest.approx(0.1 + 0.1 / 995, abs=4 * math.sqrt(0.09 / hidden))


def test_ranks_hide_what_one_process_hides_and_steps_differ():
    texts = texts_of(10)
    whole = undo(masking().hide(texts, 5, slice(0, 10), 10, 2), 10)[1]
    halves = [undo(masking().hide(texts[part], 5, part, 10, 1), 5)[1] for part in (slice(0, 5), slice(5, 10))]
    assert halves[0] + halves[1] == whole
    assert undo(masking().hide(texts, 6, slice(0, 10), 10, 2), 10)[1] != whole
