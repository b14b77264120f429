"""Scripts that adapt encoders to real corpora, and to the same corpora otherwise."""

import argparse
import gzip
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import adapt_languages, adapt_rivals, read_lines
from benchmarks.adapt_corpora import CORPORA, corpora_table, is_right, own_partner, read_pairs
from benchmarks.adapt_domains import gains_table
from benchmarks.adapt_rivals import WAYS, Trained, crops, damaged, rivals_table, tune
from eval.tasks import load_registry
from tests.helpers.places import REPOSITORY
from tests.helpers.tiny_models import SENTENCES

PAGE = REPOSITORY / "benchmarks/results/adaptation.md"


def test_gains_are_those_over_the_starting_encoder_by_domain():
    common = {"model": "m", "domain": "banking77"}
    lines = [
        common | {"encoder": "start", "accuracy_10": 50.0, "purity_10": 40.0, "stsb": 80.0},
        common | {"encoder": "best", "seed": 1, "accuracy_10": 52.0, "purity_10": 45.0, "stsb": 79.0},
        common | {"encoder": "best", "seed": 2, "accuracy_10": 49.0, "purity_10": 46.0, "stsb": 79.5},
    ]
    assert gains_table(lines).split("\n")[2:] == [
        "| **m** | – | – | – | 50.0 / 40.0 | – | 50.0 / 40.0 | 80.0 |",
        "| adapted | – | – | – | +0.5 / +5.5 | – | +0.5 / +5.5 | −0.8 |",
    ]


def test_the_page_shows_what_each_encoder_gains():
    page, folder = PAGE.read_text("utf-8"), REPOSITORY / "benchmarks"
    assert gains_table(read_lines(folder / "adapt_domains.jsonl")) in page
    assert adapt_languages.gains_table(read_lines(folder / "adapt_languages.jsonl")) in page


def test_a_partner_is_found_among_those_of_the_others():
    def encode(texts):
        return np.array([[1.0, 0.1 * len(text)] if text.islower() else [0.0, 1.0] for text in texts])

    assert own_partner(encode, [("a", "b"), ("A", "B")]) == 100
    assert own_partner(encode, [("a", "B"), ("A", "b")]) == 0


def test_pairs_are_read(tmp_path):
    (tmp_path / "pairs").write_bytes(gzip.compress(b'sentence1\tsentence2\na "b\tc\nd\te\nd\tf\n'))
    assert sorted(read_pairs(tmp_path / "pairs")) == [('a "b', "c"), ("d", "e")]
    (tmp_path / "judged").write_bytes(gzip.compress(b"label\tsentence1\tsentence2\n1\ta\tb\n0\tc\td\n"))
    assert read_pairs(tmp_path / "judged") == [("a", "b")]
    (tmp_path / "groups").write_bytes(gzip.compress(b"group\ttext\n1\ta\n1\tb\n1\tc\n2\td\n"))
    assert read_pairs(tmp_path / "groups") == [("a", "b")]


@pytest.mark.parametrize(
    ("outcome", "found", "gain", "right"),
    [
        ("same", [0.8, 0.8], {"main": 0.0, "stsb": 0.0}, True),
        ("same", [0.8, 0.8], {"main": 0.1, "stsb": 0.0}, False),  # not the start, though it says so
        ("better", [0.8, 0.8], {"main": 2.0, "purity_10": -0.4}, True),
        ("better", [0.8, 0.8], {"main": 2.0, "purity_10": -0.6}, False),
        ("better", [0.8, 0.8], {"main": -0.1, "purity_10": -0.1}, False),
        ("better", [0.8, 0.8], {"own": -0.8}, False),
        ("better", [0.8, 0.7], {"own": -0.8}, True),
        ("better", [0.8, 0.7], {"own": 0.8}, False),
    ],
)
def test_a_verdict_is_right_where_labels_and_partners_agree(outcome, found, gain, right):
    line = {"outcome": outcome, "half_neighbours": [0.1, 0.2], "found_by_half": found, "gain": gain}
    assert is_right(line) is right


def test_the_page_shows_the_verdicts_and_how_many_are_right():
    lines, page = read_lines(REPOSITORY / "benchmarks/adapt_corpora.jsonl"), PAGE.read_text("utf-8")
    assert corpora_table(lines) in page
    assert f"{sum(map(is_right, lines))} of {len(lines)} verdicts are right" in page
    assert {line["corpus"] for line in lines} <= {*CORPORA}


def test_the_page_shows_the_rivals_at_their_best():
    assert rivals_table(read_lines(REPOSITORY / "benchmarks/adapt_rivals.jsonl")) in PAGE.read_text("utf-8")


@given(st.lists(st.text("abc", min_size=1), min_size=1, max_size=12), st.integers(0, 99))
def test_crops_are_stretches_of_half_a_text_or_more_and_damage_leaves_words_in_order(words, seed):
    text = " ".join(words)
    for crop in crops(text, random.Random(seed)):
        assert f" {crop} " in f" {text} " and len(crop.split()) >= len(words) / 2
    left, whole = damaged(text, random.Random(seed))
    remaining = iter(words)
    assert whole == text and left and all(word in remaining for word in left.split())


class Told:
    """A training whose score is told by its rate, seed and steps."""

    trained: dict[tuple[float, int], int]

    def __init__(self, way, texts, rate, seed):
        self.rate, self.seed, self.trained[rate, seed] = rate, seed, 0

    def until(self, steps):
        self.trained[self.rate, self.seed] = steps

    def encode(self, texts):
        raise AssertionError("nothing is encoded where scores are told")


def test_the_best_rates_go_on_and_seeds_follow_at_the_best_point(tmp_path, monkeypatch):
    best = adapt_rivals.RATES[2]

    def scores(encode, table, rows, scored, data, seeds, general):
        steps = encode.__self__.trained[encode.__self__.rate, encode.__self__.seed]
        found = {"purity_10": 50 - abs(encode.__self__.rate - best) * 1e4 - abs(steps - 100), "accuracy": 50}
        return found | ({"stsb": 80.0} if general else {})

    monkeypatch.setattr(adapt_rivals, "Trained", Told)
    monkeypatch.setattr(adapt_rivals, "scores", scores)
    monkeypatch.setattr(adapt_rivals, "corpus_of", lambda table, rows: (SENTENCES, None))
    monkeypatch.setattr(Told, "trained", {}, raising=False)
    table = argparse.Namespace(task=load_registry()["stackoverflow"])
    options = argparse.Namespace(rows=1, scored=1, data=Path(), kmeans=1, seeds="42,0")
    results, lines = tmp_path / "results.jsonl", []
    for _ in range(2):  # what is finished is not made again
        tune("SimCSE", table, options, results, lines)
    made = [(line["rate"], line["steps"], line["seed"]) for line in read_lines(results)]
    others = [rate for rate in adapt_rivals.RATES if rate != best]
    second = min(others, key=lambda rate: abs(rate - best))
    assert sorted(made[:5]) == [(rate, 30, 42) for rate in adapt_rivals.RATES]
    assert made[5:] == [(best, 100, 42), (second, 100, 42), (best, 300, 42), (best, 100, 42), (best, 100, 0)]
    row = f"| SimCSE | stackoverflow | {best:g}, 100 | 50.0 | 50.0 | 80.0 | 2 |"
    assert rivals_table(lines).splitlines()[2:] == [row]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_way_trains_what_it_says(way):
    texts = [f"{text} {place}" for place in range(4) for text in SENTENCES]
    trained = Trained(way, texts, 1e-3, 42)
    before = {name: one.detach().clone() for name, one in trained.model.named_parameters()}
    trained.until(2)
    moved = {name for name, one in trained.model.named_parameters() if not torch.equal(one, before[name])}
    layers = {int(name.split("layer.")[1].split(".")[0]) for name in moved if "layer." in name}
    assert layers == ({3, 4, 5} if "last" in way else {*range(6)})
    assert any("word_embeddings" in name for name in moved) == ("last" not in way)
    vectors = trained.encode(texts[:3])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
