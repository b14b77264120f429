"""Every protocol on toy sets: constant and broken encoders, and whitening."""

import numpy as np
import pytest

from augment_cli.encoding.loading import load_encoder
from eval import runner
from eval.contract.options import Options, Progress
from eval.tasks.table import load_registry, read_tables


@pytest.mark.slow
def test_constant_and_broken_encoders_are_scored_by_every_protocol_without_an_exception(world):
    registry = load_registry(world / "tasks.toml")
    tables, _ = read_tables(list(registry.values()), world / "data")
    for value, word in ((1.0, "equal"), (np.nan, "NaN")):

        def encode(texts, value=value):
            return np.full((len(texts), 4), value, dtype=np.float32)

        for table in tables:
            score = runner.score_task(table, encode, Options(), Progress())
            assert any(word in note for note in score.notes), (table.task.name, score.notes)
            assert np.isnan(score.main) or value == 1.0
            whitened = runner.score_task(table, encode, Options(whiten=True), Progress())
            assert np.isnan(whitened.main)
            assert whitened.notes


def test_whitening_is_fitted_on_the_tasks_own_sentences(world, plain_model):
    registry = load_registry(world / "tasks.toml")
    (table,), _ = read_tables([registry["geo"]], world / "data")
    encoder = load_encoder(plain_model)
    plain = runner.score_task(table, encoder.encode, Options(), Progress())
    whitened = runner.score_task(table, encoder.encode, Options(whiten=True), Progress())
    assert whitened.scores["anisotropy"] < plain.scores["anisotropy"]
    assert abs(whitened.scores["anisotropy"]) < 0.1
