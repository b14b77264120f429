"""Which tokens are hidden, and the head against its formula."""

import math

import numpy as np
import pytest
import torch

from train.loading import make_recipe
from train.methods.mlm.masked_language import MaskedHead, Masking

RATE = 0.15


class Words:
    """A tokenizer of `[PAD]`, `[CLS]`, `[SEP]`, `[MASK]` and words from 5 on."""

    mask_token_id, pad_token_id, all_special_ids = 4, 0, range(5)

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": [2, 5, 3] if add_special_tokens else [5]}


def masking(size=1000):
    return Masking(make_recipe({"objective": "mlm", "mask_rate": RATE, "seed": 3}), Words(size))


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


def test_head_is_the_sum_of_negative_log_likelihoods():
    torch.manual_seed(0)
    words = torch.nn.Embedding(50, 8, dtype=torch.float64)
    head = MaskedHead(8, 50, words).double()
    states = torch.randn(3, 6, 8, dtype=torch.float64)
    item = masking(50).hide([np.arange(5, 9)] * 3, 1, slice(0, 3), 3, 1)[0]
    picked = states.reshape(-1, 8)[item.hidden]
    with torch.no_grad():
        logits = head.norm(torch.nn.functional.gelu(head.dense(picked))) @ words.weight.T + head.bias
    expected = sum(
        float(torch.logsumexp(row, 0) - row[target]) for row, target in zip(logits, item.targets, strict=True)
    )
    assert len(item.targets) > 0
    assert float(head(states, item.hidden, item.targets).detach()) == pytest.approx(expected, rel=1e-12)
