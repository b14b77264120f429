"""The table of scores without labels: correlations domain by domain, and the page shows what was measured."""

import json

from benchmarks.dev_score_choice import choice_table, correlation_table
from tests.helpers.places import REPOSITORY


def test_correlations_are_those_with_the_purity_in_each_domain():
    shared = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.1, 0.2]}
    halves = {"a": [0.1, 0.1001, 0.1002], "b": [0.1, 0.09, 0.01]}  # the last counts, as the lesser of both
    lines = [
        {
            "domain": domain,
            "run": run,
            "purity_10": purity,
            "accuracy": purity,
            "shared_neighbours": shared[domain][place],
            "half_neighbours": halves[domain][place],
        }
        for domain in shared
        for place, (run, purity) in enumerate([("start", 0.5), ("one", 0.6), ("two", 0.7)])
    ]
    assert correlation_table(lines).split("\n")[2:] == [
        "| `neighbours`, the lesser ratio of these two | +1.00 | −1.00 | +0.00 |",
        "| `shared_neighbours` | +1.00 | −0.50 | +0.25 |",
        "| `half_neighbours` | +1.00 | −1.00 | +0.00 |",
        "| K-means accuracy, by the labels | +1.00 | +1.00 | +1.00 |",
        "| checkpoints | 3 | 3 | 6 in all |",
    ]


def test_what_would_be_taken_is_the_best_of_both():
    lines = [
        {"domain": "a", "run": run, "purity_10": purity, "shared_neighbours": shared, "half_neighbours": half}
        for run, purity, shared, half in [
            ("start", 0.5, 0.2, 0.1),
            ("collapsed", 0.4, 0.4, 0.05),
            ("better", 0.6, 0.22, 0.11),
            ("best", 0.7, 0.21, 0.12),
        ]
    ]
    assert choice_table(lines).split("\n")[2:] == [
        "| a | 50.0 | 60.0 | `better` | 60.0 | `better` | 70.0 | 40.0 |",
        "| better than the start | | 1 of 1 | | 1 of 1 | | | |",
    ]


def test_what_would_be_taken_without_the_runs_that_are_there_to_fail_stands_beside_it():
    lines = [
        {"domain": "a", "run": run, "purity_10": purity, "shared_neighbours": both, "half_neighbours": both}
        for run, purity, both in [
            ("start", 0.5, 0.2),
            ("adapt step-0000010", 0.6, 0.21),
            ("tight step-0000010", 0.45, 0.3),
        ]
    ]
    assert choice_table(lines).split("\n")[2:] == [
        "| a | 50.0 | 45.0 | `tight` | 60.0 | `adapt` | 60.0 | 45.0 |",
        "| better than the start | | 0 of 1 | | 1 of 1 | | | |",
    ]


def test_the_page_shows_what_was_measured():
    file = REPOSITORY / "benchmarks" / "dev_score_choice.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    page = (REPOSITORY / "benchmarks/results/dev-score.md").read_text(encoding="utf-8")
    assert correlation_table(lines) in page and choice_table(lines) in page
