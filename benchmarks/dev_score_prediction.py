"""Whether scores without labels predict how much the labelled one gains, on a domain that was left out.

    python -m benchmarks.dev_score_prediction

Reads what `benchmarks.dev_score_choice` measured of the checkpoints of several runs (`--results`). A ridge
regression over the checkpoints of all domains but one predicts the gain in purity of that one's; printed is
the table of benchmarks/results/dev-score.md. What is predicted from are logarithms of ratios to the start.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.dev_score_choice import PURITY, with_neighbours
from benchmarks.result_lines import read_lines

RESULTS = Path(__file__).parent / "dev_score_choice.jsonl"
PREDICTORS = {
    "`neighbours`": ["neighbours"],
    "`shared_neighbours`": ["shared_neighbours"],
    "`half_neighbours`": ["half_neighbours"],
    "both parts": ["shared_neighbours", "half_neighbours"],
    "both parts, effective rank": ["shared_neighbours", "half_neighbours", "effective_rank"],
    "both parts, 50 topics of the other half": ["shared_neighbours", "half_neighbours", "other_topics_50"],
}
LARGEST = 1.5  # of a logarithm: what has collapsed shall not draw the line
CLEAR = 0.5  # points of purity, below which no sign is asked for


def predictions(lines: list[dict[str, Any]], keys: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted gains in points, true ones, and the domains; each of the number of lines."""
    scored = with_neighbours(lines)
    starts = {line["domain"]: line | {"neighbours": 1.0} for line in scored if line["run"] == "start"}
    domains = np.array([line["domain"] for line in scored])
    gains = np.array([100 * (line[PURITY] - starts[line["domain"]][PURITY]) for line in scored])
    ratios = np.array([[line[key] / starts[line["domain"]][key] for key in keys] for line in scored])
    features = np.log(np.maximum(ratios, 1e-6)).clip(-LARGEST, LARGEST)
    predicted = np.empty(len(scored))
    for domain in dict.fromkeys(domains):
        out = domains == domain
        model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
        predicted[out] = model.fit(features[~out], gains[~out]).predict(features[out])
    return predicted, gains, domains


def prediction_table(lines: list[dict[str, Any]]) -> str:
    """The error of each predictor, and the gain of the checkpoint that it would take, as Markdown."""
    rows = ["| predicted from | mean error | sign right | gain of what it takes |", "|---|---:|---:|---:|"]
    for name, keys in PREDICTORS.items():
        predicted, gains, domains = predictions(lines, keys)
        clear = np.abs(gains) > CLEAR
        sign = 100 * np.mean((predicted > 0)[clear] == (gains > 0)[clear])
        taken = [
            gains[domains == domain][predicted[domains == domain].argmax()]
            for domain in dict.fromkeys(domains)
        ]
        error = np.abs(predicted - gains).mean()
        rows.append(f"| {name} | {error:.1f} | {sign:.0f} % | {np.mean(taken):+.1f} |".replace("-", "−"))
    best = np.mean([gains[domains == domain].max() for domain in dict.fromkeys(domains)])
    return "\n".join([*rows, f"| the purity itself | | | {best:+.1f} |"])


def without_collapse(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of all runs but the two that are made to collapse."""
    return [line for line in lines if not line["run"].startswith(("mlm", "tight"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = read_lines(options.results)
    print(f"{prediction_table(lines)}\n\n{prediction_table(without_collapse(lines))}")


if __name__ == "__main__":
    main()
