"""Score tables as a page, and plots."""

import numpy as np
import pytest
from scipy import stats

from eval.contract.task_score import TaskScore
from eval.results import compare, plots, tables
from eval.results.page import as_page
from tests.helpers.stored_results import REGISTRY, sts_score, write_model

GENERATOR = np.random.default_rng(1)
GOLD = GENERATOR.normal(size=400)
SIMILARITY = GOLD + GENERATOR.normal(size=400)
ITEMS = {"gold": GOLD, "similarity": SIMILARITY}
SPEARMAN = float(stats.spearmanr(GOLD, SIMILARITY).statistic)


def test_the_interval_of_a_rank_correlation_is_that_of_resampled_pairs():
    low, high = compare.spearman_interval(SPEARMAN, len(GOLD))
    drawn = []
    for _ in range(400):
        rows = GENERATOR.integers(0, len(GOLD), len(GOLD))
        drawn.append(stats.spearmanr(GOLD[rows], SIMILARITY[rows]).statistic)
    assert (low, high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.015)
    assert compare.spearman_interval(0.5, 3) is None and compare.spearman_interval(1.0, 50) is None


def test_shares_of_correct_examples_have_wilsons_interval(tmp_path):
    right = np.arange(50) < 40
    score = TaskScore(0.8, {"accuracy": 0.8}, items={"correct": right})
    model = write_model(tmp_path, "m", {"mr": score, "sts12": sts_score(0.5)})
    expected = stats.binomtest(40, 50).proportion_ci(method="wilson")
    assert compare.interval_of(model, "mr") == pytest.approx((expected.low, expected.high))
    assert compare.interval_of(model, "sts12") is None  # nothing is stored for each pair
    assert compare.interval_of(model, "sts13") is None
    # Where the main score is something else than the mean of the examples, their interval is not its own.
    other = write_model(
        tmp_path / "other", "o", {"mr": TaskScore(0.7, {"accuracy": 0.7}, items={"correct": right})}
    )
    assert compare.interval_of(other, "mr") is None


def test_models_stand_first_with_their_intervals_and_names_are_text(tmp_path):
    one = write_model(tmp_path / "1", "<b>one\u202e", {"sts12": sts_score(SPEARMAN, items=ITEMS)})
    seeds = [
        write_model(tmp_path / name, "two", {"sts12": sts_score(value)})
        for name, value in (("a", 0.5), ("b", 0.6))
    ]
    page = as_page(tables.build([one, *seeds], REGISTRY))
    assert (
        page.startswith("<!doctype html>") and "script-src &#39;none&#39;" in page and "<script" not in page
    )
    assert "<b>one" not in page and "&lt;b&gt;one&lt;U+202E&gt;" in page
    low, high = (100 * end for end in compare.spearman_interval(SPEARMAN, len(GOLD)))
    assert f"{100 * SPEARMAN:.2f}, from {low:.2f} to {high:.2f}" in page
    assert "two, STS12: 55.00, from 47.93 to 62.07" in page
    assert page.index(">two<") < page.index("Shu &amp; Lampos 2024")


def test_a_name_opens_no_tag_and_no_cell_in_markdown_either(tmp_path):
    model = write_model(tmp_path / "1", "<script>|x\u202e\n", {"sts12": sts_score(SPEARMAN, notes=["<b>"])})
    text = tables.as_markdown(tables.build([model], REGISTRY, published=False))
    assert "| &lt;script>\\|x&lt;U+202E>␊ |" in text and text.count("<") == 0


def test_without_results_of_ones_own_there_is_no_table(tmp_path):
    assert "<table" not in as_page(tables.build([], REGISTRY))


def test_only_percentages_are_drawn(tmp_path, monkeypatch):
    scores = {"sts12": sts_score(0.5), "geometry": TaskScore(-2.0, {"uniformity": -2.0})}
    model = write_model(tmp_path, "m", scores)
    drawn = []
    monkeypatch.setattr(plots, "_save", lambda figure, path: drawn.append(figure))
    plots.plot_scores([model], list(REGISTRY.values()), tmp_path / "scores.png")
    (axes,) = drawn[0].axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["STS12"]


def test_a_model_without_similarities_has_no_plot_of_them(tmp_path):
    model = write_model(tmp_path, "m", {"sts12": sts_score(0.5)})
    plots.plot_similarity(model, list(REGISTRY.values()), tmp_path / "similarity.png")
    assert not (tmp_path / "similarity.png").exists()
