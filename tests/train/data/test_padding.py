"""Cutting texts into slices, and padding them."""

import itertools

import numpy as np

from train.data.padding import Piece, in_a_bag, length_sorted_slices, with_special
from train.data.tokens import special_ids


def padded(groups):
    return sum(len(group) * max(group) for group in groups)


def test_no_other_cut_costs_less():
    rng = np.random.default_rng(7)
    for _ in range(60):
        texts = [np.ones(n, dtype=np.int64) for n in rng.integers(1, 6, size=rng.integers(1, 9))]
        lengths = sorted(map(len, texts), reverse=True)
        count = int(rng.integers(1, 5))
        actual = length_sorted_slices(texts, count, pad=0)
        assert 1 <= len(actual) <= count
        least = min(
            padded(np.split(lengths, list(cuts)))
            for parts in range(min(count, len(texts)))
            for cuts in itertools.combinations(range(1, len(texts)), parts)
        )
        assert sum(item.ids.numel() for item in actual) == least


def test_truncation_and_special_tokens_are_the_tokenizers(tokenizer):
    before, after = special_ids(tokenizer)
    text = "One two three four five six seven eight nine ten eleven twelve."
    bare = np.array(tokenizer(text, add_special_tokens=False)["input_ids"])
    for length in range(2, 40):
        expected = tokenizer(text, truncation=True, max_length=length)["input_ids"]
        one, none, other = with_special([bare, None, bare[:1]], before, after, length)
        assert one.tolist() == expected and none is None
        assert other.tolist() == [*before, *bare[: max(0, length - 2)][:1], *after]


def test_slices_keep_every_token_in_its_place():
    rng = np.random.default_rng(0)
    texts = [rng.integers(5, 100, size=n) for n in rng.integers(1, 33, size=37)]
    for count in (1, 2, 4, 37, 100):
        slices = length_sorted_slices(texts, count, pad=0)
        places = np.concatenate([item.places.numpy() for item in slices])
        assert sorted(places) == list(range(37))
        for item in slices:
            for row, place in enumerate(item.places.tolist()):
                assert item.ids[row][item.mask[row].bool()].tolist() == texts[place].tolist()
        widths = [item.ids.shape[1] for item in slices]
        assert widths == sorted(widths, reverse=True)


def test_a_bag_holds_what_slices_hold():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 9, size=40)
    texts = [rng.integers(5, 100, size=n) if rng.random() < 0.8 else None for n in lengths]
    (bag,) = in_a_bag(texts)
    for views in (1, 2, 5):  # of which the first is the anchor
        expected = {
            place // views: ids.tolist()
            for place, ids in enumerate(texts)
            if ids is not None and (views == 1 or place % views == 0)
        }
        pieces: list[Piece] = [bag, *length_sorted_slices(texts, 3, pad=0)]
        held = []
        for piece in pieces if views == 1 else [piece.anchors(views) for piece in pieces]:
            flat = piece.bagged()
            parts = [part.tolist() for part in flat.ids.split(flat.lengths.tolist())]
            held.append(dict(zip(flat.places.tolist(), parts, strict=True)))
        assert held[0] == expected == held[1] | held[2] | held[3]
    assert in_a_bag([None, None]) == []
