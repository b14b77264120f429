"""The judged senses are whole, and the documented counts are theirs."""

from benchmarks.senses import HALVES, read_cases, right, rows
from tests.helpers.places import REPOSITORY

DOCUMENT = REPOSITORY / "benchmarks/results/augmentations.md"


def test_every_case_is_a_word_in_its_sentence():
    cases = read_cases()
    assert len(cases) == 300
    for case in cases:
        assert case.text[case.start : case.end].strip() == case.text[case.start : case.end] != ""
        assert case.part in "nv" and case.half in HALVES and all(rank > 0 for rank in case.senses)
    assert [sum(case.half == half for case in cases) for half in HALVES] == [150, 150]


def test_the_documents_counts_are_those_of_the_cases():
    shown = [f"| {' | '.join(row)} |" for row in rows(read_cases(), {}, vectors=False)]
    text = DOCUMENT.read_text("utf-8")
    assert len(shown) > 5 and all(line in text for line in shown)


def test_a_method_is_right_where_it_takes_a_sense_that_the_reader_found():
    cases = read_cases()
    found = [case.senses[0] - 1 if case.senses else 0 for case in cases]
    good, count = right(cases, found, "tuned")
    assert count == 150 and good == sum(bool(case.senses) for case in cases if case.half == "tuned")
