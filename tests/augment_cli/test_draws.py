"""Counter-based draws: uniform, independent, and the same for a row wherever it is computed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augment_cli.contract.draws import stream_key, uniform

KEY = stream_key(42, "test")


def grid(rows: int, counters: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(rows), counters), np.tile(np.arange(counters), rows)


def test_draws_are_uniform_on_the_unit_interval():
    values = uniform(KEY, *grid(2_000, 50))
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("lag", [1, 2, 50, 100])
def test_neighbouring_draws_are_uncorrelated(lag):
    values = uniform(KEY, *grid(2_000, 50))
    correlation = np.corrcoef(values[:-lag], values[lag:])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(len(values))


def test_pairs_of_draws_fill_the_square_evenly():
    values = uniform(KEY, *grid(20_000, 2)).reshape(-1, 2)
    counts, _, _ = np.histogram2d(values[:, 0], values[:, 1], bins=20, range=[[0, 1], [0, 1]])
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 500)), min_size=1, max_size=30))
def test_a_draw_depends_on_its_row_and_counter_alone(cells):
    rows, counters = (np.array(column) for column in zip(*cells, strict=True))
    together = uniform(KEY, rows, counters)
    alone = [uniform(KEY, rows[i : i + 1], counters[i : i + 1])[0] for i in range(len(cells))]
    assert together.tolist() == alone


def test_streams_of_other_seeds_names_and_draws_differ():
    keys = {stream_key(seed, name, draw) for seed in (0, 1) for name in ("una", "uda") for draw in (0, 1)}
    assert len(keys) == 8


def test_the_generator_never_changes():
    """Stored augmentations can be repeated only while these values stay as they are."""
    values = uniform(stream_key(42, "una/position"), np.array([0, 0, 7]), np.array([0, 1, 3]))
    assert values.tolist() == [0.11209778002514803, 0.4606362989557331, 0.46167318659108547]
