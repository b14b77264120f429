"""Intervals, Holm's correction and the bootstrap against scipy and slow, obvious ways to do the same."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augment_cli.errors import UsageError
from benchmarks.reproduce.paired import CONCLUSIONS, Interval, bootstrap, conclusion, holm, interval, verdict


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_interval_is_scipys_paired_t_test(n):
    generator = np.random.default_rng(n)
    first, second = generator.normal(60, 1, n), generator.normal(59.5, 1, n)
    found = interval(list(first - second))
    expected = stats.ttest_rel(first, second)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-9)
    assert found.seeds == n


def test_an_interval_by_hand():
    # Differences 1, 2, 3: mean 2, deviation 1, t of two degrees of freedom at 97.5 % is 4.3027.
    found = interval([1.0, 2.0, 3.0])
    assert (found.mean, found.sd) == (2.0, 1.0)
    assert found.high - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_one_seed_has_no_interval_and_none_is_refused():
    found = interval([0.4])
    assert found.mean == 0.4 and math.isnan(found.low) and math.isnan(found.p)
    with pytest.raises(UsageError, match="at least one seed"):
        interval([])
    assert interval([0.0, 0.0]).p == 1.0


def test_about_95_of_100_intervals_hold_the_truth():
    generator = np.random.default_rng(1)
    found = [interval(list(generator.normal(0.3, 2.0, 5))) for _ in range(2000)]
    assert 0.93 < np.mean([one.low < 0.3 < one.high for one in found]) < 0.97


def slow_holm(p_values):
    """Holm's procedure as he words it: the least level at which each hypothesis is still rejected."""

    def rejected(level):
        left, out = set(range(len(p_values))), set()
        while left:
            least = min(left, key=lambda i: p_values[i])
            if p_values[least] > level / len(left):
                break
            left.remove(least)
            out.add(least)
        return out

    # Rejections change only where a level is a p-value times a count.
    levels = sorted({min(1.0, p * k) for p in p_values for k in range(1, len(p_values) + 1)} | {1.0})
    return [next((x for x in levels if i in rejected(x * (1 + 1e-12))), 1.0) for i in range(len(p_values))]


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6))
def test_holm_equals_the_step_down_procedure(p_values):
    assert holm(p_values) == pytest.approx(slow_holm(p_values), rel=1e-9)


def test_holm_as_statsmodels_has_it_and_whatever_the_order():
    # statsmodels.stats.multitest.multipletests([0.01, 0.04, 0.03, 0.005], method="holm")
    expected = {0.01: 0.03, 0.04: 0.06, 0.03: 0.06, 0.005: 0.02}
    for order in permutations(expected):
        assert holm(list(order)) == pytest.approx([expected[p] for p in order])


def test_a_comparison_not_measured_yet_still_counts():
    assert holm([0.01, math.nan, 0.5])[0] == pytest.approx(0.03)
    assert math.isnan(holm([0.01, math.nan])[1])


@pytest.mark.parametrize(
    ("mean", "adjusted", "expected"),
    [
        (0.8, 0.01, "holds"),
        (0.2, 0.01, "same sign, much smaller"),
        (-0.8, 0.01, "reversed"),
        (0.8, 0.06, "not significant"),
        (0.8, math.nan, "too few seeds"),
    ],
)
def test_verdicts(mean, adjusted, expected):
    assert verdict(Interval(mean, 0.1, 0, 1, 0.001, 5), adjusted, published=0.9) == expected


@pytest.mark.parametrize(
    ("values", "published", "expected"),
    [
        ([0.8, 0.9, 1.0], 0.9, "holds"),
        ([0.8, 0.9, 1.0], 0.0, "holds"),  # above 0, without a number
        ([-0.8, -0.9, -1.0], -0.9, "holds"),
        ([0.8, 0.9, 1.0], 3.0, "same sign, much smaller"),
        ([0.8, 0.9, 1.0], -0.9, "reversed"),
        ([-0.8, -0.9, -1.0], 0.0, "reversed"),
        ([-0.2, 0.9, 2.0], 0.9, "not significant"),
        ([0.8, 0.9], 0.9, "same sign, too few seeds"),
        ([0.8], -0.9, "other sign, too few seeds"),
        ([], 0.9, "not measured"),
    ],
)
def test_conclusions(values, published, expected):
    found = interval(values) if values else None
    assert conclusion(found, published) == expected
    assert expected in CONCLUSIONS


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.floats(0.1, 5))
def test_exchanging_the_rows_exchanges_the_conclusion(values, published):
    there, back = (conclusion(interval([sign * value for value in values]), published) for sign in (1, -1))
    if interval(values).mean and not there.startswith("not"):
        assert {there, back} in (
            {"holds", "reversed"},
            {"same sign, much smaller", "reversed"},
            {"same sign, too few seeds", "other sign, too few seeds"},
        )


def rows_of(generator, gold, noise):
    return [
        {name: values + generator.normal(0, noise, len(values)) for name, values in gold.items()}
        for _ in range(2)
    ]


def test_the_bootstrap_equals_a_slow_loop():
    generator = np.random.default_rng(5)
    gold = {"a": generator.normal(size=30), "b": generator.normal(size=20)}
    better, worse = rows_of(generator, gold, 0.5), rows_of(generator, gold, 1.0)
    found = bootstrap(better, worse, gold, resamples=150, seed=3)
    draws, again = [], np.random.default_rng(3)
    chosen = {}
    for name in ("a", "b"):
        n = len(gold[name])
        chosen[name] = np.concatenate([again.integers(0, n, size=(size, n)) for size in (100, 50)])
    for resample in range(150):
        differences = []
        for name in gold:
            rows = chosen[name][resample]
            for first, second in zip(better, worse, strict=True):
                a = stats.spearmanr(first[name][rows], gold[name][rows]).statistic
                b = stats.spearmanr(second[name][rows], gold[name][rows]).statistic
                differences.append(100 * (a - b))
        draws.append(np.mean(differences))
    assert found == pytest.approx(tuple(np.percentile(draws, [2.5, 97.5])), abs=1e-9)


def test_the_bootstrap_of_a_row_with_itself_is_zero():
    generator = np.random.default_rng(0)
    gold = {"a": generator.normal(size=25)}
    row = rows_of(generator, gold, 1.0)
    assert bootstrap(row, row, gold, resamples=50) == (0.0, 0.0)
    with pytest.raises(UsageError, match="same seeds"):
        bootstrap(row, row[:1], gold)
