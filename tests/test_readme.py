"""The README is short and plain, leads to every page that says how, and its numbers were measured.

How its sentences are worded is nobody's business here. That its commands run and its links hold is tested
with those of all pages (`test_page_commands.py`, `test_documents.py`).
"""

import csv
import re
from statistics import mean

import pytest

from benchmarks.reproduce.grid import GRID, load_grid
from benchmarks.reproduce.table import averages, comparison_table, differences, draws, measured, student
from benchmarks.reproduce.table import gain as gain_of
from benchmarks.timing import read_lines
from tests.helpers.page_commands import commands_of
from tests.helpers.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
ANSWER = README.partition("## Does it work?")[2].partition("\n## ")[0]
VERDICT = re.compile(r"\| (ahead|unclear|behind) \|")
VERDICTS = re.findall(r"^- (.+?)(?=^- |\n\n)", ANSWER, re.M | re.S)


def numbers_of(text):
    """The numbers of a text, without those of names (STS-B, MiniLM) and links."""
    plain = re.sub(r"\]\([^)]+\)", "]", text)
    return [
        float(found.replace(",", "")) for found in re.findall(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?", plain)
    ]


def sentences_of(text):
    """The sentences of the prose: without blocks, tables, headings and pictures."""
    text = re.sub(r"^```.*?^```|^!\[.*$|^[|#].*$", "", text, flags=re.M | re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    paragraphs = re.split(r"\n\s*\n|^- ", text, flags=re.M)
    return [one for part in paragraphs for one in re.split(r"(?<=[.!?])\s+", " ".join(part.split())) if one]


def test_it_is_short_and_its_sentences_and_picture_are():
    assert len(README.splitlines()) <= 70
    for sentence in sentences_of(README):
        assert len(sentence.split()) <= 25, sentence
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (REPOSITORY / picture).stat().st_size < 150_000


def test_its_verdict_is_three_sentences():
    assert [len(sentences_of(verdict)) for verdict in VERDICTS] == [1, 1, 1]


def test_it_leads_to_every_page_that_says_how():
    for page in (REPOSITORY / "docs/how-to").glob("*.md"):
        assert re.search(rf"\]\(docs/how-to/{page.name}[#)]", README), page.name


def test_its_first_commands_are_what_people_come_for_in_an_order_that_works():
    assert [line.split()[:2] for line in commands_of("README.md") if line.startswith("make ")][:3] == [
        ["make", "train"],
        ["make", "augment"],
        ["make", "test"],
    ]


def of_minilm(name):
    """The lines of a file of adaptation that are of MiniLM."""
    lines = read_lines(REPOSITORY / f"benchmarks/adapt_{name}.jsonl")
    return [line for line in lines if line["model"] == "MiniLM"]


def main_score(line):
    return line.get("accuracy", line.get("accuracy_10"))


@pytest.fixture(scope="module")
def adaptation():
    """By domain: the mean change of the main score, purity and STS-B over the trainings of MiniLM."""
    lines = of_minilm("domains")
    changes = {}
    for start in (line for line in lines if line["encoder"] == "start"):
        own = [line for line in lines if line["domain"] == start["domain"] and line["encoder"] == "best"]
        assert len(own) == 3  # seeds
        scores = (main_score, lambda line: line["purity_10"], lambda line: line["stsb"])
        changes[start["domain"]] = [mean(map(score, own)) - score(start) for score in scores]
    return changes


def test_what_it_says_of_adaptation_was_measured(adaptation):
    main, _, stsb = zip(*adaptation.values(), strict=True)
    expected = [len(main), min(main), max(main), -mean(stsb)]
    assert numbers_of(VERDICTS[0]) == [round(one, 1) for one in expected]
    unchanged = {one["corpus"] for one in of_minilm("corpora") if not any(one["gain"].values())}
    assert {"movie reviews", "product reviews", "books", "captions"} <= unchanged


def test_what_it_says_of_the_lookup_was_measured():
    lines = of_minilm("domains")
    start = {line["domain"]: main_score(line) for line in lines if line["encoder"] == "start"}
    gains = [
        main_score(line) - start[line["domain"]] for line in lines if line["encoder"] == "lookup of best"
    ]
    assert f"`--lookup`) gains {mean(gains):.1f} points there" in " ".join(README.split())


def test_what_the_how_to_says_of_adaptation_was_measured(adaptation):
    page = " ".join((REPOSITORY / "docs/how-to/adapt.md").read_text("utf-8").split())
    main, purity, stsb = zip(*adaptation.values(), strict=True)
    (news,) = (one for one in of_minilm("corpora") if one["corpus"] == "news")
    for low, high, digits in ((min(main), max(main), 1), (min(purity), max(purity), 0)):
        assert f"{low:.{digits}f} to {high:.{digits}f}" in page
    for lost in (-mean(stsb), -min(stsb), -news["gain"]["stsb"]):
        assert f"{lost:.1f}" in page


def test_what_it_says_of_augmentations_was_measured():
    grid = load_grid()
    small, large = (measured(GRID.parent / "results", draws(grid, rows)) for rows in (2_560, 20_000))
    verdicts = [row[-1] for row in comparison_table(grid, small)[1:]]
    assert {*verdicts} == {"unclear"}  # beside the control at its best rate
    swaps, una = (mean(differences(small, row, "simcse-ntxent")) for row in ("eda-swap", "una"))
    assert swaps > una
    of_sick = differences(small, "una", "simcse-ntxent", "sick")
    assert min(of_sick) > 0
    assert "ahead" not in [row[7] for row in comparison_table(grid, large)[1:]]
    assert numbers_of(VERDICTS[1]) == [round(mean(of_sick), 1), 2_560]


def test_what_it_says_of_meaning_was_measured():
    with (REPOSITORY / "benchmarks/meaning.csv").open(encoding="utf-8", newline="") as file:
        found = {(line["model"], line["task"]): float(line["score"]) for line in csv.DictReader(file)}
    before, verifier = (found[f"{name}, let through", "meaning"] for name in ("minilm", "verifier"))
    assert numbers_of(VERDICTS[2]) == [round(verifier), round(before)]


def test_the_table_of_results_was_measured():
    # Rows are in the grid's order.
    grid = load_grid()
    found = measured(GRID.parent / "results", draws(grid, 2_560))
    page = (REPOSITORY / "benchmarks/results/results.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if VERDICT.search(line)]
    table = comparison_table(grid, found)[1:]
    for shown, (_, _, paper, gain, _, _, _, of_gain, sick, _, _, _, of_sick, *_) in zip(
        rows, table, strict=True
    ):
        assert shown[2:] == [gain, of_gain, sick, of_sick, paper]
    beside = differences(found, "paraphrase-una", "paraphrase", "sick")
    low, high, _ = student(beside)
    assert f"paraphrase + UNA is {mean(beside):.2f} ({low:.2f} to {high:.2f})" in page and min(beside) > 0
    at_any_rate = [
        gain
        for control in ("simcse-ntxent", "simcse-ntxent-3e-4", "simcse-ntxent-5e-4")
        for gain in differences(found, "una", control, "sick")
    ]
    assert len(at_any_rate) == 15 and min(at_any_rate) > 0
    large = measured(GRID.parent / "results", draws(grid, 20_000))
    for gains in (differences(large, one.better, one.worse) for one in grid.comparisons):
        assert not gains or f"| {gain_of(gains)} |" in page
    levels = averages(found)
    for row in ("word-table-idf", "best"):
        assert f"({levels[row]:.1f})" in page
    assert max(levels.values()) == levels["best"]
