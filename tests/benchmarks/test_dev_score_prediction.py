"""What predicts a gain without labels: a domain is predicted from the others alone, and the page shows it."""

import json

import numpy as np
import pytest

from benchmarks.dev_score_prediction import RESULTS, prediction_table, predictions, without_collapse
from tests.helpers.places import REPOSITORY


def lines_of(domain: str, slope: float) -> list[dict]:
    """Ten checkpoints whose purity follows the logarithm of one score's ratio to the start's."""
    runs = ["start", *(f"run {number}" for number in range(9))]
    return [
        {
            "domain": domain,
            "run": run,
            "purity_10": 0.5 + slope * np.log(1 + place / 20),
            "shared_neighbours": 0.3 * (1 + place / 20),
            "half_neighbours": 0.1,
        }
        for place, run in enumerate(runs)
    ]


def test_a_domain_is_predicted_from_the_others_alone():
    alike = [line for domain in "abc" for line in lines_of(domain, 0.2)]
    predicted, gains, domains = predictions(alike, ["shared_neighbours"])
    assert predicted == pytest.approx(gains, abs=0.05) and list(domains[::10]) == ["a", "b", "c"]

    odd = [*lines_of("a", 0.2), *lines_of("b", 0.2), *lines_of("c", -0.2)]
    predicted, gains, _ = predictions(odd, ["shared_neighbours"])
    assert predicted[-1] > 0 > gains[-1]  # c's own line is not known to what predicts it


def test_the_page_shows_what_was_measured():
    page = (REPOSITORY / "benchmarks/results/dev-score.md").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    assert prediction_table(lines) in page and prediction_table(without_collapse(lines)) in page
