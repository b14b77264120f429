"""What is read of NLI's labels, and the table of what was trained on them."""

from benchmarks.reproduce.nli_labels import REPORTED, WAYS, table, triples_of
from eval.tasks.registry import load_registry
from eval.tasks.table import Table

LINES = [
    ("dev", "contradiction", "He spoke.", "He was silent."),
    ("dev", "entailment", "He spoke.", "He said a word."),
    ("dev", "entailment", "It rains.", "It is wet."),
    ("test", "entailment", "She left.", "She went."),
    ("test", "contradiction", "She left.", "She stayed."),
]


def test_all_splits_give_premises_with_both_hypotheses():
    names = ("split", "label", "premise", "hypothesis")
    columns = dict(zip(names, map(list, zip(*LINES, strict=True)), strict=True))
    assert triples_of(Table(load_registry()["snli"], columns, "", True)) == [
        ("He spoke.", "He said a word.", "He was silent."),
        ("She left.", "She went.", "She stayed."),
    ]


def test_the_table_has_the_seeds_that_chose_nothing():
    way, key = "entailed", {"way": "entailed", "premises": 1234}
    lines = [key | {"rate": 1e-4, "seed": 1001, "dev": 99.0}]
    lines += [key | {"rate": 1e-4, "seed": seed, "dev": 70.0 + place} for place, seed in enumerate(REPORTED)]
    (row,) = table(lines).splitlines()[2:]
    assert row == f"| {way} | 1,234 | 0.0001 | 71.0 (68.5 to 73.5) | {WAYS[way].published} |"
