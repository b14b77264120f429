"""What is read of NLI's labels, and the table of what was trained on them."""

import csv
import gzip

from benchmarks.nli_labels import REPORTED, RESULTS, WAYS, table, write_triples
from benchmarks.result_lines import read_lines
from tests.helpers.places import REPOSITORY

COVERAGE = REPOSITORY / "benchmarks/results/evidence-tables.md"


def test_a_premise_with_both_hypotheses_is_a_triple_with_the_first_of_each(tmp_path):
    lines = [
        ("split", "label", "premise", "hypothesis"),
        ("dev", "contradiction", 'He said "no".', "He was silent."),
        ("dev", "entailment", 'He said "no".', "He spoke."),
        ("test", "entailment", 'He said "no".', "He said a word."),
        ("dev", "neutral", 'He said "no".', "He was angry."),
        ("dev", "entailment", "It rains.", "It is wet."),
    ]
    (tmp_path / "nli").mkdir()
    text = "".join("\t".join(line) + "\n" for line in lines)
    (tmp_path / "nli/snli_dev_test.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert write_triples("SNLI", tmp_path, tmp_path / "triples.csv") == 1
    with (tmp_path / "triples.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["text", "entailed", "contradicting"],
            ['He said "no".', "He spoke.", "He was silent."],
        ]


def test_the_table_has_the_seeds_that_chose_nothing():
    way, key = "entailed", {"way": "entailed", "premises": 1234}
    lines = [key | {"rate": 1e-4, "seed": 1001, "dev": 99.0}]
    lines += [key | {"rate": 1e-4, "seed": seed, "dev": 70.0 + place} for place, seed in enumerate(REPORTED)]
    (row,) = table(lines).splitlines()[2:]
    assert row == f"| {way} | 1,234 | 0.0001 | 71.0 (68.5 to 73.5) | {WAYS[way][3]} |"
