"""The README is short and leads to every page that says how; what it and the results say was measured.

That its commands run and its links hold is tested with those of all pages (`test_page_commands.py`,
`test_documents.py`); how its sentences are worded is nobody's business here.
"""

import csv
import json
import re
from statistics import mean

import numpy as np
import scipy.stats

from benchmarks.adapt_domains import STATIC
from benchmarks.reproduce.draws import SETS
from benchmarks.reproduce.grid import load_grid
from tests.helpers.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
RESULTS, ADAPTATION = (
    (REPOSITORY / f"benchmarks/results/{name}.md").read_text("utf-8") for name in ("results", "adaptation")
)
ANSWER = README.partition("## Does it work?")[2].partition("## Limits")[0]
OF_TEXTS = ANSWER.partition("**Augmentations")[2]  # what results.md says; the rest is of adaptation
SAID = " ".join(ANSWER.split())
_COUNTS = {3: "three", 5: "five"}


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


def test_what_it_says_of_texts_is_what_was_measured():
    draws, averages = [f"draw-{number}" for number in range(1, 6)], {}
    with (REPOSITORY / "benchmarks/results/tuned.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["draw"] in draws and line["measure"] == "average":
                averages.setdefault(line["row"], []).append(float(line["value"]))
    assert all(len(values) == len(draws) for values in averages.values())
    grid = load_grid()
    assert f"with {grid.profiles['draw-1'].rows:,} sentences no text is clearly ahead of SimCSE at" in SAID
    best, clear = max((averages[f"simcse-ntxent{rate}"] for rate in ("", "-3e-4", "-5e-4")), key=mean), {}
    for one in grid.registered:
        if one.worse == "simcse-ntxent":
            gains = np.subtract(averages[one.better], best)
            if scipy.stats.ttest_1samp(gains, 0).confidence_interval().low > 0:
                clear[one.better] = gains.mean()
    assert [*clear] == ["modals"]
    assert f"MODALS, which mixes embeddings, is ({clear['modals']:+.2f})" in SAID
    swap, una = (np.subtract(averages[row], averages["simcse-ntxent"]).mean() for row in ("eda-swap", "una"))
    assert swap > una and f"words swapped at random gain more than UNA ({swap:+.2f})" in SAID
    assert f"correlation over {_COUNTS[len(SETS)]} STS sets" in SAID
    assert f"95 % intervals over {len(draws)} draws of text" in SAID
    table, highest = mean(averages["word-table-idf"]), max(map(mean, averages.values()))
    assert f"word table has {table:.1f}, the highest row of 2,560 sentences {highest:.1f}" in SAID


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
        assert f"of {_COUNTS[len(main)]} domains" in said
        assert f"rose by {min(main):.1f} to {max(main):.1f} points" in said
        assert f"have its label by {min(purity):.0f} to {max(purity):.0f};" in said
        (news,) = (line for line in corpora if line["corpus"] == "news")
        assert f"on news {-news['gain']['stsb']:.1f}" in said
        assert f"STS-B test lost {-sum(lost) / len(lost):.1f} on average, {-min(lost):.1f} at most" in said
    assert f"domains (4,000 texts each, {_COUNTS[len(after)]} trainings" in SAID


def test_where_it_says_that_nothing_is_trained_or_lost_that_was_so():
    corpora = {line["corpus"]: line for line in _lines("adapt_corpora") if line["model"] == "MiniLM"}
    assert "On reviews, books, duplicate questions and many captions it trains nothing, on flight" in SAID
    names = ("movie reviews", "product reviews", "books", "duplicate questions", "captions")
    for name in (*names, "flight questions"):
        assert corpora[name]["gain"]["stsb"] == corpora[name]["gain"].get("main", 0) == 0, name
    few = corpora["few captions"]
    seeds = [0.3, 0.5, 0.4]
    assert f"{-few['gain']['main']:.1f}" == f"{seeds[0]}"
    assert "Few captions lose {}, {} and {} with three seeds".format(*seeds) in " ".join(ADAPTATION.split())
    assert f"{few['rows']} captions lost {min(seeds)} to {max(seeds)}." in SAID


def test_what_it_says_of_the_static_encoder_is_what_was_measured():
    lines, gains = [line for line in _lines("adapt_domains") if line["model"] == "static"], []
    for domain in dict.fromkeys(line["domain"] for line in lines):
        start, *after = (line for line in lines if line["domain"] == domain)
        assert start["encoder"] == "start" and {line["encoder"] for line in after} == {"best"}
        gains.append([mean(score(line) for line in after) - score(start) for score in (_main, _purity)])
    main, purity = zip(*gains, strict=True)
    size = sum(file.stat().st_size for file in STATIC.rglob("*") if file.is_file()) / 1e6
    assert f"A static encoder of {round(size, -1):.0f} MB rose by {min(main):.1f} to {max(main):.1f}" in SAID
    assert f" and {min(purity):.0f} to {max(purity):.0f}. The vectors of both" in SAID


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
    assert f"few-shot on {('no', 'one', 'two', 'three')[reached]} domains" in SAID


def _purity(line):
    return line["purity_10"]


def _main(line):
    return line.get("accuracy", line.get("accuracy_10"))
