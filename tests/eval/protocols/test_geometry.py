"""Geometry of an STS set: positive pairs by their gold score, everything else over distinct sentences."""

import numpy as np
import pytest

from eval.contract.options import Options, Progress
from eval.measures import geometry
from eval.protocols.geometry import PROTOCOL
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
    score = PROTOCOL.score(
        Table(REGISTRY["geometry"], columns, "", True),
        lambda texts: vectors[[int(text) for text in texts]],
        Options(),
        Progress(),
    )
    assert score.scores["alignment"] == pytest.approx(geometry.alignment(vectors[[0, 2]], vectors[[1, 4]]))
    assert score.main == pytest.approx(geometry.uniformity(vectors))
