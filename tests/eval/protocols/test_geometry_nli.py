"""Premises with their hypotheses, and the rows of the Gromov-Hausdorff distance."""

import numpy as np
import pytest

from eval.contract.options import Options, Progress
from eval.measures import geometry
from eval.protocols.geometry_nli import PROTOCOL, triples
from eval.tasks.table import Table
from tests.helpers.stored_results import REGISTRY

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
    score = PROTOCOL.score(
        table, lambda texts: np.stack([vectors[text] for text in texts]), Options(), Progress()
    )
    anchors, entailed = (np.stack([vectors[row[column]] for row in triples(table)]) for column in (0, 1))
    assert score.main == score.scores["cond_hm_A_E"] == pytest.approx(geometry.cond_hm(anchors, entailed))
    assert score.scores["alignment_A_E"] == pytest.approx(geometry.alignment(anchors, entailed))
    assert len(score.scores) == 9
    assert score.settings == {"rows": 2}
