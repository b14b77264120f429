"""The table of adaptation on real domains: differences seed by seed, and the page shows what was measured."""

from benchmarks.adapt_domains import DOMAINS, difference_table
from benchmarks.result_lines import read_lines
from tests.helpers.places import REPOSITORY

PAGE = REPOSITORY / "benchmarks/results/adaptation.md"


def test_differences_are_those_to_the_starting_encoder():
    common = {"model": "m", "domain": "d"}
    lines = [
        common | {"encoder": "start", "accuracy_10": 50.0, "stsb": 80.0},
        common | {"encoder": "best", "seed": 1, "accuracy_10": 52.0, "stsb": 79.0},
        common | {"encoder": "best", "seed": 2, "accuracy_10": 49.0, "stsb": 79.0},
    ]
    row = "| m | d | accuracy from ten examples a class | 50.00 | +0.50 ± 2.12 | 1 of 2 | −1.00 ± 0.00 |"
    assert difference_table(lines).split("\n")[2:] == [row]
    assert difference_table(lines[:2]).endswith("| 50.00 | +2.00 | 1 of 1 | −1.00 |")


def test_the_page_shows_what_was_measured():
    lines = read_lines(REPOSITORY / "benchmarks/adapt_domains.jsonl")
    assert difference_table(lines) in PAGE.read_text(encoding="utf-8")


def test_what_needs_no_training_stands_as_measured():
    page = PAGE.read_text("utf-8")
    cells = {}
    for line in read_lines(REPOSITORY / "benchmarks/adapt_untrained.jsonl"):
        main = line.get("accuracy", line.get("accuracy_10"))
        cells.setdefault(line["encoder"], {})[line["domain"]] = f"{main:.1f} / {line['purity_10']:.1f}"
    assert len(cells) == 6
    for encoder, of_domain in cells.items():
        assert f"| {' | '.join(of_domain[domain] for domain in DOMAINS)} |" in page, encoder
