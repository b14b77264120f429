"""Plots: scores that are not percentages stay out, and nothing is drawn of nothing."""

from eval.contract.task_score import TaskScore
from eval.results import plots
from tests.helpers.stored_results import REGISTRY, sts_score, write_model


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
