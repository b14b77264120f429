"""Meaning and minimal pairs: figures against slow counts, and the sets that are read."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import MissingError
from eval.contract import Options, Progress
from eval.protocols import meaning, minimal_pairs
from eval.protocols.meaning import auc, half_of_auc
from eval.tasks.meaning import _FILES, KINDS, meaning_table, minimal_pairs_table
from tests.helpers.commands import typed

VALUES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.9]), min_size=1, max_size=12)


@given(VALUES, VALUES)
def test_auc_counts_pairs_and_half_of_the_ties(same, turned):
    slow = np.mean([(one > other) + 0.5 * (one == other) for one in same for other in turned])
    assert auc(np.array(same), np.array(turned)) == pytest.approx(slow)


def test_an_interval_is_as_wide_as_other_draws_of_examples_differ():
    drawn = np.random.default_rng(0)
    areas = drawn.exponential(3, (1_000, 40, 1)) > drawn.exponential(1, (1_000, 1, 30))  # the formula's case
    assert half_of_auc(0.75, 40, 30) == pytest.approx(1.96 * np.std(areas.mean(axis=(1, 2))), rel=0.1)


def test_what_is_nearest_and_what_a_threshold_lets_through():
    cosines = np.array([0.9, 0.8, 0.95, 0.7, 0.9, *np.linspace(0.5, 1, 10), 0.4, 0.99])
    sets = np.array(["a"] * 5 + ["b"] * 12)
    groups = np.array(["1", "1", "1", "2", "2"] + [""] * 12)
    is_same = np.array([True, False, False, False, True] + [True] * 10 + [False, False])
    found = meaning.score(cosines, sets, groups, is_same)
    assert found.scores["right_a"] == 0.5  # of the first, a turned sentence is nearer
    assert found.scores["half_interval_right_a"] == pytest.approx(
        (0.9055 - 0.0945) / 2, abs=1e-3
    )  # one of two
    limit = np.quantile(cosines[is_same & (groups == "")], 0.1)  # not those of a group
    assert found.scores["let_through"] == pytest.approx(
        np.mean([c > limit for c in (0.8, 0.95, 0.7, 0.4, 0.99)])
    )
    assert found.scores["let_through_b"] == 0.5 and "auc_b" in found.scores and "auc_a" not in found.scores
    assert found.items["correct"].tolist() == [False, True]


ROWS = {
    "semantoneg": "sentence\tsame\tturned1\tturned2\n"
    "It is good.\tIt is not bad.\tIt is bad.\tIt is not good.\n",
    "refuted": "sentence\tturned\nHe left.\tHe stayed.\n",
    "snli": "split\tlabel\tpremise\thypothesis\nt\tentailment\tA man runs.\tHe moves.\n"
    "t\tcontradiction\tA man runs.\tHe sits.\nt\tneutral\tA man runs.\tHe is late.\n",
    "sick": "entailment\tsentence1\tsentence2\nENTAILMENT\ta b\tb a\n"
    "NEUTRAL\ta\tc\nCONTRADICTION\ta b\tno b\n",
    "mrpc": "split\tlabel\tsentence1\tsentence2\nt\t1\tone two\ttwo one\nt\t0\tone\tthree\n",
    "quora": "split\tsentence1\tsentence2\nt\twhy?\thow so?\n",
    "turkcorpus": "split\tsentence1\tsentence2\nt\ta long one\ta short one\n",
}


@pytest.fixture
def data(tmp_path):
    for name, file in _FILES.items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(ROWS[name].encode()))
    return tmp_path


def test_the_sets_are_read_and_scored(data):
    table = meaning_table(data)
    pairs = list(zip(*(table.columns[name] for name in ("set", "kind", "sentence2")), strict=True))
    assert [pair[1:] for pair in pairs if pair[0] == "semantoneg"] == [
        ("same", "It is not bad."),
        ("turned", "It is bad."),
        ("turned", "It is not good."),
    ]
    assert ("snli", "turned", "He sits.") in pairs and not any(pair[2] == "He is late." for pair in pairs)
    assert [pair for pair in pairs if pair[0] == "mrpc"] == [("mrpc", "same", "two one")]

    def encode(texts):
        return np.array([np.random.default_rng(len(text)).normal(size=3) for text in texts])

    found = meaning.PROTOCOL.score(table, encode, Options(), Progress()).scores
    assert {"auc", "auc_sick", "let_through_refuted", "right_semantoneg", "right_triples"} <= set(found)
    rows = meaning.PROTOCOL.rows(found)
    assert {"right triples", "let through refuted"} <= set(rows) and not any("half" in name for name in rows)
    assert 0 < rows["right triples"][1] < rows["right triples number"][1]  # of all kinds less than of one
    assert found["right_triples"] == pytest.approx(
        np.mean([value for name, value in found.items() if name.startswith("right_triples ")])
    )


def test_a_set_that_is_missing_is_named(data):
    (data / _FILES["sick"]).unlink()
    with pytest.raises(MissingError, match=r"sick\.tsv\.gz does not exist"):
        meaning_table(data)


TABLE = minimal_pairs_table()


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def jaccard(one, other):
    return len(words(one) & words(other)) / len(words(one) | words(other))


def test_the_file_has_a_hundred_different_triples_of_each_kind():
    columns = TABLE.columns
    assert set(columns["kind"]) == set(KINDS)
    assert all(100 <= columns["kind"].count(kind) <= 112 for kind in KINDS)
    rows = list(zip(*(columns[name] for name in ("sentence", "same", "changed")), strict=True))
    assert len({row[0] for row in rows}) == len(rows) == len({row[1] for row in rows})
    assert all(text == text.strip() and len(set(row)) == 3 for row in rows for text in row)
    # Words alone mislead: that is what the task asks for.
    misled = [jaccard(row[0], row[2]) > jaccard(row[0], row[1]) for row in rows]
    assert sum(misled) >= 0.97 * len(rows)


def reference(vectors):
    """Shares of right triples by kind, triple by triple."""
    right = {}
    for row, kind in enumerate(TABLE.columns["kind"]):
        one, same, changed = (
            vectors[TABLE.columns[name][row]] / np.linalg.norm(vectors[TABLE.columns[name][row]])
            for name in TABLE.task.text_columns
        )
        right.setdefault(kind, []).append(one @ same > one @ changed)
    return {kind: sum(values) / len(values) for kind, values in right.items()}


def test_accuracies_are_those_of_a_count_by_hand():
    rng = np.random.default_rng(1)
    known = {text: rng.normal(size=4) for text in TABLE.every_text(("test",))}
    found = minimal_pairs.PROTOCOL.score(
        TABLE, lambda texts: np.array([known[text] for text in texts]), Options(), Progress()
    )
    expected, kinds = reference(known), TABLE.columns["kind"]
    assert found.scores == pytest.approx(
        {f"accuracy_{kind}": value for kind, value in expected.items()}
        | {"accuracy": sum(expected[kind] for kind in kinds) / len(kinds), "margin": found.scores["margin"]}
    )
    assert 0 < found.main < 1 and found.main == found.scores["accuracy"] == found.items["correct"].mean()
    rows = minimal_pairs.PROTOCOL.rows(found.scores)
    assert list(rows) == ["all", *KINDS] and rows["entity"][0] == pytest.approx(expected["entity"])


def test_a_tie_does_not_count_and_vectors_that_are_not_numbers_are_noted():
    one, kinds = np.ones((2, 3)), np.array(["entity", "number"])
    assert minimal_pairs.score(one, one, one, kinds).scores["accuracy"] == 0
    bad = minimal_pairs.score(one, one * np.nan, one, kinds)
    assert np.isnan(bad.main) and bad.notes


def test_the_command_scores_them_without_a_data_folder(tiny_encoder, tmp_path):
    done = typed("eval", tiny_encoder, "--minimal-pairs", "--no-plots", "--no-cache", "--out", tmp_path)
    assert "role switch" in done.stdout
