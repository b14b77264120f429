"""Adaptation on domains and ordinary corpora: what is scored; the page shows what was measured."""

import gzip

import numpy as np

from benchmarks.adapt_corpora import corpora_table, own_partner, read_pairs, read_texts
from benchmarks.adapt_domains import DOMAINS, difference_table
from benchmarks.timing import read_lines
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


def test_a_partner_is_found_among_those_of_the_others():
    def encode(texts):
        return np.array([[1.0, 0.1 * len(text)] if text.islower() else [0.0, 1.0] for text in texts])

    assert own_partner(encode, [("a", "b"), ("A", "B")]) == 100
    assert own_partner(encode, [("a", "B"), ("A", "b")]) == 0


def test_texts_and_pairs_are_read(tmp_path):
    for name, texts in (("one", "ab"), ("two", "cdef")):
        (tmp_path / name).write_bytes(gzip.compress("\n".join(texts).encode()))
    assert read_texts([tmp_path / "one", tmp_path / "two"], 4) == ["a", "c", "b", "d"]

    (tmp_path / "pairs").write_bytes(gzip.compress(b'sentence1\tsentence2\na "b\tc\nd\te\n'))
    assert sorted(read_pairs(tmp_path / "pairs")) == [('a "b', "c"), ("d", "e")]
    (tmp_path / "groups").write_bytes(gzip.compress(b"group\ttext\n1\ta\n1\tb\n1\tc\n2\td\n"))
    assert read_pairs(tmp_path / "groups") == [("a", "b")]


def test_gains_are_shown_beside_what_was_there_before():
    line = {"model": "m", "corpus": "news", "rows": 4000, "kept": 0.5, "outcome": "better"}
    line |= {"before": {"main": 50.0, "stsb": 80.0}, "gain": {"main": 1.25, "stsb": -0.5}}
    row = "| m | news | 4,000 | 0.5 | better | 50.0 +1.2 | – | 80.0 −0.5 |"
    assert corpora_table([line]).splitlines()[2:] == [row]


def test_the_page_shows_what_corpora_gained():
    measured = read_lines(REPOSITORY / "benchmarks/adapt_corpora.jsonl")
    assert corpora_table(measured) in PAGE.read_text(encoding="utf-8")
