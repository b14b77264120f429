"""Protocols on the shape of a space: alignment and the like, three spaces, purity."""

import numpy as np
import pytest

from eval.contract.options import Options, Progress
from eval.measures import geometry
from eval.measures.geometry import neighbourhoods_by_row
from eval.protocols.geometry import PROTOCOL as GEOMETRY
from eval.protocols.geometry_nli import PROTOCOL as GEOMETRY_NLI
from eval.protocols.geometry_nli import triples
from eval.protocols.purity import PROTOCOL as PURITY
from eval.tasks.table import Table
from tests.helpers.stored_results import REGISTRY


def test_positive_pairs_are_those_above_four_and_repeats_count_once():
    columns = {
        "split": ["test", "test", "test", "dev"],
        "sentence1": ["0", "0", "2", "9"],
        "sentence2": ["1", "3", "4", "9"],
        "score": ["4.2", "4", "5", "5"],
    }
    vectors = np.random.default_rng(0).normal(size=(5, 3))
    score = GEOMETRY.score(
        Table(REGISTRY["geometry"], columns, "", True),
        lambda texts: vectors[[int(text) for text in texts]],
        Options(),
        Progress(),
    )
    assert score.scores["alignment"] == pytest.approx(geometry.alignment(vectors[[0, 2]], vectors[[1, 4]]))
    assert score.main == pytest.approx(geometry.uniformity(vectors))


ROWS = [
    ("p", "first entailed", "entailment"),
    ("q", "contradicts q", "contradiction"),
    ("p", "second entailed", "entailment"),
    ("p", "neutral", "neutral"),
    ("p", "contradicts p", "contradiction"),
    ("q", "entailed by q", "entailment"),
    ("r", "entailed by r", "entailment"),
]


@pytest.fixture()
def table():
    premises, hypotheses, labels = (list(column) for column in zip(*ROWS, strict=True))
    columns = {"split": ["test"] * 7, "premise": premises, "hypothesis": hypotheses, "label": labels}
    return Table(REGISTRY["geometry-nli"], columns, "", True)


def test_a_premise_takes_its_first_hypothesis_of_each_kind_and_needs_both(table):
    assert triples(table) == [
        ("p", "first entailed", "contradicts p"),
        ("q", "entailed by q", "contradicts q"),
    ]


def test_the_spaces_are_compared_two_by_two(table):
    vectors = {text: np.random.default_rng(len(text)).normal(size=4) for row in ROWS for text in row[:2]}
    score = GEOMETRY_NLI.score(
        table, lambda texts: np.stack([vectors[text] for text in texts]), Options(), Progress()
    )
    anchors, entailed = (np.stack([vectors[row[column]] for row in triples(table)]) for column in (0, 1))
    assert score.main == score.scores["cond_hm_A_E"] == pytest.approx(geometry.cond_hm(anchors, entailed))
    assert score.scores["alignment_A_E"] == pytest.approx(geometry.alignment(anchors, entailed))
    assert len(score.scores) == 9
    assert score.settings == {"rows": 2}


def test_numbers_of_neighbours_beyond_the_rows_are_left_out():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    labels = [str(row % 3) for row in range(20)]
    columns = {"split": ["all"] * 20, "text": [str(row) for row in range(20)], "label": labels}
    table = Table(REGISTRY["purity"], columns, "", True)
    score = PURITY.score(table, lambda texts: vectors[[int(text) for text in texts]], Options(), Progress())
    assert set(score.scores) == {"purity_1", "purity_10", "distance_1", "distance_10"}
    assert score.main == pytest.approx(neighbourhoods_by_row(vectors, labels, [10])["purity_10"].mean())
