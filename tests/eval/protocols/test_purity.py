"""Purity asks for as many neighbours as there are."""

import numpy as np
import pytest

from eval.contract.options import Options, Progress
from eval.measures.geometry import neighbourhoods_by_row
from eval.protocols.purity import PROTOCOL
from eval.tasks.table import Table
from tests.helpers.stored_results import REGISTRY


def test_numbers_of_neighbours_beyond_the_rows_are_left_out():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    labels = [str(row % 3) for row in range(20)]
    columns = {"split": ["all"] * 20, "text": [str(row) for row in range(20)], "label": labels}
    table = Table(REGISTRY["purity"], columns, "", True)
    score = PROTOCOL.score(table, lambda texts: vectors[[int(text) for text in texts]], Options(), Progress())
    assert set(score.scores) == {"purity_1", "purity_10", "distance_1", "distance_10"}
    assert score.main == pytest.approx(neighbourhoods_by_row(vectors, labels, [10])["purity_10"].mean())
