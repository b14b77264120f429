"""The README is short and leads to every page that says how; what it and the results say was measured.

That its commands run and its links hold is tested with those of all pages (`test_page_commands.py`,
`test_documents.py`); how its sentences are worded is nobody's business here.
"""

import json
import re

from tests.helpers.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
RESULTS = (REPOSITORY / "benchmarks/results/results.md").read_text("utf-8")
ANSWER = README.partition("## Does it work?")[2].partition("## Limits")[0]
OF_TEXTS = ANSWER.partition("**Augmentations")[2]  # what results.md says; the rest is of adaptation


_FIVE = {5: "five"}


def test_it_is_short_and_its_picture_small():
    assert len(README.splitlines()) <= 90
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (REPOSITORY / picture).stat().st_size < 150_000


def test_it_leads_to_every_page_that_says_how():
    for page in (REPOSITORY / "docs/how-to").glob("*.md"):
        assert re.search(rf"\]\(docs/how-to/{page.name}[#)]", README), page.name


def test_the_rows_of_its_table_are_those_of_the_first_page():
    rows = [line for line in OF_TEXTS.splitlines() if re.search(r"\| (likely|unclear|hurts) \|$", line)]
    assert len(rows) >= 5
    for row in rows:
        assert row in RESULTS.splitlines(), f"{row}: the first page says otherwise"


def test_every_number_that_it_says_of_texts_stands_on_the_first_page():
    prose = "\n".join(line for line in OF_TEXTS.splitlines() if not line.startswith("|"))
    numbers = re.findall(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?", re.sub(r"\]\([^)]+\)", "", prose))
    assert len(numbers) >= 3
    for number in numbers:
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", RESULTS), f"{number}: from where?"


def test_what_it_and_the_how_to_say_of_adaptation_is_what_was_measured():
    file = REPOSITORY / "benchmarks" / "adapt_domains.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    mine = [line for line in lines if line["model"] == "MiniLM"]
    starts = {line["domain"]: line for line in mine if line["encoder"] == "start"}
    changes: dict[str, list[float]] = {"accuracy": [], "accuracy_10": [], "purity_10": [], "stsb": []}
    for domain, start in starts.items():
        after = [line for line in mine if line["domain"] == domain and line["encoder"] == "best"]
        assert len(after) == 3  # seeds
        for key in changes.keys() & start.keys():
            changes[key].append(sum(line[key] for line in after) / 3 - start[key])
    main, purity, lost = changes["accuracy"] + changes["accuracy_10"], changes["purity_10"], changes["stsb"]
    for page in (README, (REPOSITORY / "docs/how-to/adapt.md").read_text("utf-8")):
        said = " ".join(page.split())
        assert f"of {_FIVE[len(main)]} domains" in said
        assert f"rose by {min(main):.1f} to {max(main):.1f} points" in said
        assert f"have its label by {min(purity):.0f} to {max(purity):.0f};" in said
        assert f"STS-B test lost {-sum(lost) / len(lost):.1f} on average, {-min(lost):.1f} at most" in said
