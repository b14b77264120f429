"""The README stays short, and its results are those of the evidence."""

import re

from tests.helpers.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")


def test_it_is_short_and_its_picture_small():
    assert len(README.splitlines()) < 150
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (REPOSITORY / picture).stat().st_size < 150_000


def test_it_leads_to_every_page_that_says_how():
    for page in (REPOSITORY / "docs").glob("how-*.md"):
        assert f"](docs/{page.name})" in README


def test_its_results_are_those_of_the_evidence():
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([+-][\d.]+ \([^)]+)\) \| (\d) \| ([+-][\d.]+) \|$", README, re.M
    )
    assert len(rows) == 5
    evidence = (REPOSITORY / "docs" / "evidence.md").read_text("utf-8")
    lines = [re.sub(r" \[\d+\]", "", line) for line in evidence.splitlines()]
    for method, baseline, here, seeds, paper in rows:
        said = [
            line
            for line in lines
            if line.startswith(f"| {method} > {baseline} | {paper} | {here}; {seeds}) |")
        ]
        assert len(said) == 1, f"{method}: docs/evidence.md says otherwise; correct the README"


def test_what_it_says_beside_the_table_is_that_of_the_evidence():
    evidence = (REPOSITORY / "docs" / "evidence.md").read_text("utf-8")
    prose = README.partition("## Does it work?")[2]
    gains = {
        "PI": "PI as the positive",
        "AA": "AA as the positive",
        "DN": "DN as the positive",
        "AugCSE": "AugCSE",
    }
    for short, name in gains.items():
        said = re.search(rf"{short},? \(?(\+[\d.]+)\)", prose)
        measured = re.search(rf"^\| [^|]+\? \| {name} \| [^|]+ \| [^|]+ \| (\S+) \(", evidence, re.M)
        assert said and measured and said[1] == measured[1], name
    averages = {
        "recipe of our own": r"`best`, has (\d+\.\d)",
        "word table, idf weights": r"idf weights, (\d+\.\d)",
        "all-MiniLM-L6-v2 itself": r"all-MiniLM-L6-v2\sitself has (\d+\.\d)",
    }
    for name, pattern in averages.items():
        said = re.search(pattern, prose)
        measured = re.search(rf"^\| {name}[^|]* \| [^|]+ \| \d \| [^|]+ \| ([\d.]+)", evidence, re.M)
        assert said and measured and said[1] == f"{float(measured[1]):.1f}", name


def test_its_gains_over_both_beds_are_those_of_the_evidence():
    (said,) = re.findall(r"the\sintervals\sof\sseven\sgains\slie\sabove\szero: (.*?)\.\s", README, re.S)
    fresh = (REPOSITORY / "docs" / "evidence-fresh.md").read_text("utf-8")
    table = fresh.partition("## Both beds together")[2].partition("\n## ")[0]
    gains = re.findall(r"\| (\+[\d.]+) \(\+[\d.]+ to \+[\d.]+\) \| 10 \|", table)
    assert sorted(re.findall(r"\+[\d.]+", said)) == sorted(gains) and len(gains) == 7
