"""Adaptation on ordinary corpora and beside its rivals: what is scored; the page shows what was measured."""

import gzip

import numpy as np

from augment_cli.neural.loading import MINILM_PACKAGE
from benchmarks.adapt_corpora import corpora_table, own_partner, read_pairs, read_texts
from benchmarks.adapt_domains import STATIC
from benchmarks.adapt_rivals import RIVALS, rivals_table, texts_table, with_texts, write_beir
from benchmarks.result_lines import read_lines
from eval.tasks.beir import read_beir
from tests.helpers.places import REPOSITORY

PAGE = REPOSITORY / "benchmarks/results/adaptation.md"


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


def test_a_rival_is_shown_at_the_best_of_its_rates():
    common = {"rival": "r", "domain": "d", "stsb": 80.0}
    lines = [
        common | {"rate": "1", "accuracy": 50.0, "purity_10": 60.0},
        common | {"rate": "2", "accuracy": 55.0, "purity_10": 61.0},
        common | {"rate": "1", "domain": "e", "accuracy_10": 70.0, "purity_10": 40.0},
    ]
    assert rivals_table(lines).splitlines()[2:] == ["| r | 55.0 / 61.0 | 70.0 / 40.0 | 62.5 / 50.5 | 80.0 |"]
    assert rivals_table(lines[:2]).splitlines() == [
        "| way | d | STS-B test |",
        "|---|---:|---:|",
        "| r | 55.0 / 61.0 | 80.0 |",
    ]


def test_a_question_is_no_document_and_its_duplicate_is_the_one_that_is_judged(tmp_path):
    write_beir([("a", "b"), ("c", "a"), ("d", "e"), ("f", "b")], 2, tmp_path)
    table = read_beir(tmp_path)
    names = dict(zip(table.columns["text"], table.columns["id"], strict=True))
    assert {*names} == {"a", "b", "e"}  # c is asked, too, but its duplicate is a question
    assert table.relevance == {names["a"]: {names["b"]: 1}}


def test_what_a_kind_of_text_adds_is_paired_by_seed():
    common = {"model": "m", "domain": "d"}
    lines = [
        common | {"rival": rival, "seed": seed, "accuracy": 50.0 + gain + seed, "purity_10": 60.0 - gain}
        for rival, gains in (("adapt", (0, 0, 0)), ("adapt with synonyms", (1, 2, 3)))
        for seed, gain in enumerate(gains)
    ]
    lines.append(common | {"rival": "adapt with synonyms", "seed": 9, "accuracy": 0.0, "purity_10": 0.0})
    other = {"model": "m", "domain": "e"}
    lines += [
        other | {"rival": rival, "seed": seed, "ndcg_10": 30.0 + gain + seed}
        for rival, gains in (("adapt", (0, 0, 0)), ("adapt with synonyms", (-2, -2.5, -3)))
        for seed, gain in enumerate(gains)
    ]
    lines.append(other | {"rival": "adapt with crops", "seed": 0, "ndcg_10": 30.0})
    assert texts_table(lines).splitlines() == [
        "| model | with | d | e |",
        "|---|---|---:|---:|",
        "| m | synonyms | +2.0 ± 2.5 / −2.0 ± 2.5 | **−2.5 ± 1.2** |",
        "| m | crops | – | – |",
    ]


def test_a_static_encoder_takes_no_sentence_as_its_own_positive():
    own, static = with_texts(MINILM_PACKAGE), with_texts(str(STATIC))
    assert own[:-1] == static[:-1] and own[-1] != static[-1]
    settings = " ".join(setting for name in static for setting in RIVALS[name].settings)
    assert "una" in settings and "self" not in settings


def test_the_page_shows_what_was_measured():
    corpora, rivals, texts = (
        read_lines(REPOSITORY / f"benchmarks/adapt_{name}.jsonl") for name in ("corpora", "rivals", "texts")
    )
    page = PAGE.read_text(encoding="utf-8")
    assert texts_table(texts) in page
    assert corpora_table(corpora) in page
    assert rivals_table([line for line in rivals if line["domain"] == "stackoverflow"]) in page
    tsdae = rivals_table([line for line in rivals if line["rival"] == "TSDAE" and line["rate"] == "3e-5"])
    assert tsdae.splitlines()[2].removeprefix("| TSDAE |") in page
