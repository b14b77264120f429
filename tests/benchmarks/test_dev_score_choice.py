"""The table of scores without labels: correlations domain by domain, and the page shows what was measured."""

import json

from benchmarks.dev_score_choice import correlation_table
from tests.helpers.places import REPOSITORY


def test_correlations_are_those_with_the_purity_in_each_domain():
    lines = [
        {"domain": domain, "run": str(run), "purity_10": purity, "accuracy": purity, "neighbours": found}
        for domain, values in {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.1, 0.2]}.items()
        for run, (purity, found) in enumerate(zip([0.5, 0.6, 0.7], values, strict=True))
    ]
    assert correlation_table(lines).split("\n")[2:] == [
        "| `neighbours` | +1.00 | −0.50 | +0.25 |",
        "| K-means accuracy, by the labels | +1.00 | +1.00 | +1.00 |",
        "| checkpoints | 3 | 3 | 6 in all |",
    ]


def test_the_page_shows_what_was_measured():
    file = REPOSITORY / "benchmarks" / "dev_score_choice.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert correlation_table(lines) in (REPOSITORY / "docs" / "adapt.md").read_text(encoding="utf-8")
