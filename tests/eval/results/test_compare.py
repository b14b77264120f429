"""The paired bootstrap: against a plain one, its error of the first kind, and two models' results."""

import numpy as np
import pytest
from scipy import stats

from augment_cli.errors import BadInputError, UsageError
from eval.results import compare
from tests.helpers.stored_results import sts_score, write_model


def test_spearman_by_rows_equals_scipy():
    generator = np.random.default_rng(0)
    similarity, gold = generator.normal(size=(5, 30)), generator.integers(0, 6, (5, 30)).astype(float)
    expected = [stats.spearmanr(a, b)[0] for a, b in zip(similarity, gold, strict=True)]
    np.testing.assert_allclose(compare.spearman_rows(similarity, gold), expected)
    assert np.isnan(compare.spearman_rows(np.ones((1, 5)), np.arange(5.0)[None])).all()


def test_bootstrap_equals_a_plain_one_and_tells_noise_from_difference():
    generator = np.random.default_rng(1)
    first = (generator.random(200) < 0.9).astype(float)
    second = (generator.random(200) < 0.6).astype(float)
    a, b, low, high, p = compare.paired_bootstrap(first, second, resamples=400, seed=5)
    assert (a, b) == (first.mean(), second.mean())
    draws = np.random.default_rng(5)
    plain = []
    for _ in range(2):  # two blocks of 200 resamples
        for rows in draws.integers(0, 200, size=(200, 200)):
            plain.append(first[rows].mean() - second[rows].mean())
    assert (low, high) == pytest.approx(tuple(np.percentile(plain, [2.5, 97.5])))
    assert p == pytest.approx(2 / 401)
    same = compare.paired_bootstrap(first, first, resamples=100)
    assert same[2:] == (0, 0, 1)
    noise = compare.paired_bootstrap(first, np.random.default_rng(2).permutation(first), resamples=400)
    assert noise[4] > 0.05


def test_the_error_of_the_first_kind_is_near_five_percent():
    generator = np.random.default_rng(3)
    rejected = 0
    for trial in range(200):
        first, second = generator.normal(size=(2, 60))
        rejected += compare.paired_bootstrap(first, second, resamples=200, seed=trial)[4] < 0.05
    assert 1 <= rejected <= 24  # 5 % of 200 is 10; three standard deviations are 9


def test_two_models_are_compared_on_the_tasks_they_share(tmp_path):
    gold = np.arange(40.0)
    generator = np.random.default_rng(0)
    items = [{"similarity": gold + generator.normal(size=40) * noise, "gold": gold} for noise in (1, 30)]
    a, b = (
        write_model(tmp_path / str(n), str(n), {"sts12": sts_score(0.5, items=item)})
        for n, item in enumerate(items)
    )
    (difference,) = compare.compare(a, b, resamples=200)
    assert (difference.task, difference.statistic) == ("sts12", "spearman")
    assert difference.first == pytest.approx(stats.spearmanr(items[0]["similarity"], gold)[0])
    assert difference.low > 0
    assert difference.p < 0.05
    other = sts_score(0.5, items={"similarity": gold, "gold": gold[::-1]})
    with pytest.raises(BadInputError, match="scored on different pairs"):
        compare.compare(a, write_model(tmp_path / "c", "c", {"sts12": other}))
    with pytest.raises(UsageError, match="share no task"):
        compare.compare(a, write_model(tmp_path / "d", "d", {"sts13": sts_score(0.5)}))
