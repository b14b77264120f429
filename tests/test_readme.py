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


def _lines(name):
    file = REPOSITORY / "benchmarks" / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_it_is_short_and_its_picture_small():
    assert len(README.splitlines()) <= 90
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (REPOSITORY / picture).stat().st_size < 150_000


def test_it_leads_to_every_page_that_says_how():
    for page in (REPOSITORY / "docs/how-to").glob("*.md"):
        assert re.search(rf"\]\(docs/how-to/{page.name}[#)]", README), page.name


def test_the_rows_of_its_table_are_those_of_the_first_page():
    rows = [line for line in OF_TEXTS.splitlines() if re.search(r"\| (likely|unclear|hurts)\*? \|$", line)]
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
    mine = [line for line in _lines("adapt_domains") if line["model"] == "MiniLM"]
    starts = {line["domain"]: line for line in mine if line["encoder"] == "start"}
    changes: dict[str, list[float]] = {"accuracy": [], "accuracy_10": [], "purity_10": [], "stsb": []}
    for domain, start in starts.items():
        after = [line for line in mine if line["domain"] == domain and line["encoder"] == "best"]
        assert len(after) == 3  # seeds
        for key in changes.keys() & start.keys():
            changes[key].append(sum(line[key] for line in after) / 3 - start[key])
    corpora = [line for line in _lines("adapt_corpora") if line["model"] == "MiniLM"]
    main, purity, lost = changes["accuracy"] + changes["accuracy_10"], changes["purity_10"], changes["stsb"]
    for page in (README, (REPOSITORY / "docs/how-to/adapt.md").read_text("utf-8")):
        said = " ".join(page.split())
        assert f"of {_FIVE[len(main)]} domains" in said
        assert f"rose by {min(main):.1f} to {max(main):.1f} points" in said
        assert f"have its label by {min(purity):.0f} to {max(purity):.0f};" in said
        (news,) = (line for line in corpora if line["corpus"] == "news")
        assert f"on news {-news['gain']['stsb']:.1f}" in said
        assert f"STS-B test lost {-sum(lost) / len(lost):.1f} on average, {-min(lost):.1f} at most" in said


def test_where_it_says_that_nothing_is_trained_or_lost_that_was_so():
    said = " ".join(ANSWER.split())
    corpora = {line["corpus"]: line for line in _lines("adapt_corpora") if line["model"] == "MiniLM"}
    assert "On reviews, books, duplicate questions and many captions it trains nothing;" in said
    for name in ("movie reviews", "product reviews", "books", "duplicate questions", "captions"):
        assert corpora[name]["gain"]["stsb"] == corpora[name]["gain"].get("main", 0) == 0, name
    few = corpora["few captions"]
    assert f"{few['rows']} captions lost {-few['gain']['main']:.1f}." in said


def test_what_it_says_of_both_encoders_side_by_side_is_what_was_measured():
    adapted = {}
    for line in _lines("adapt_domains"):
        if line["model"] == "MiniLM" and line["encoder"] == "best":
            adapted.setdefault(line["domain"], []).append((_main(line), line["purity_10"]))
    reached = 0
    for domain, values in adapted.items():
        main, purity = (sum(column) / len(values) for column in zip(*values, strict=True))
        untrained = [one for one in _lines("adapt_untrained") if one["domain"] == domain]
        beside = [one for one in untrained if one["encoder"].startswith("beside static")]
        assert len(beside) == 2 and max(one["purity_10"] for one in beside) < purity
        reached += max(map(_main, beside)) > main
    assert f"few-shot on {('no', 'one', 'two', 'three')[reached]} domains" in " ".join(ANSWER.split())


def _main(line):
    return line.get("accuracy", line.get("accuracy_10"))
