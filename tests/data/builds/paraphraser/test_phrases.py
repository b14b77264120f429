"""Phrase rules and synonyms on parses by hand."""

from pathlib import Path

import pytest

from data.builds.paraphraser import pairs, phrases
from data.builds.paraphraser.sentence import Sentence


def after(rule, sentence: Sentence) -> str:
    """Text after one rule."""
    rule(sentence)
    return sentence.render()


def test_partners_swap(bought: Sentence) -> None:
    assert after(phrases.swap_partners, bought) == "The firm bought coffee and tea because of the price."


def test_lexicon(bought: Sentence) -> None:
    assert after(phrases.use_lexicon, bought) == "The firm bought tea and coffee due to the price."


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            """
            Many many ADJ JJ 1 amod
            uses use NOUN NNS 2 nsubj
            exist exist VERB VBP = ROOT glued
            . . PUNCT . 2 punct
            """,
            "A large number of uses exist.",
        ),
        (
            """
            Its its PRON PRP$ 2 nmod:poss
            many many ADJ JJ 2 amod
            uses use NOUN NNS 3 nsubj
            matter matter VERB VBP = ROOT glued
            . . PUNCT . 3 punct
            """,
            "Its many uses matter.",
        ),
        (
            """
            He he PRON PRP 1 nsubj
            groaned groan VERB VBD = ROOT
            also also ADV RB 1 advmod glued
            . . PUNCT . 1 punct
            """,
            "He groaned also.",
        ),
    ],
)
def test_lexicon_looks_at_the_words_around(tree, rows: str, expected: str) -> None:
    assert after(phrases.use_lexicon, tree(rows)) == expected


def test_parts_of_compounds_keep_their_words(tree) -> None:
    sentence = tree(
        """
        Spanish Spanish PROPN NNP 2 obl glued
        - - PUNCT HYPH 2 punct glued
        speaking speak VERB VBG 3 amod
        towns town NOUN NNS 4 nsubj
        grew grow VERB VBD = ROOT glued
        . . PUNCT . 4 punct
        """
    )
    pairs.use_synonyms(sentence, {("speak", "VERB"): "talk", ("grow", "VERB"): "expand"})
    assert sentence.render() == "Spanish-speaking towns expanded."


def test_earlier_span_wins(bought: Sentence) -> None:
    assert bought.replace(6, 8, ["given"])
    assert after(phrases.use_lexicon, bought) == "The firm bought tea and coffee given the price."


def test_genitives(tree) -> None:
    sentence = tree(
        """
        He he PRON PRP 1 nsubj
        saw see VERB VBD = ROOT
        the the DET DT 3 det
        bridges bridge NOUN NNS 1 obj
        of of ADP IN 5 case
        Paris Paris PROPN NNP 3 nmod glued
        . . PUNCT . 1 punct
        """
    )
    assert after(phrases.turn_genitives, sentence) == "He saw the bridges of Paris."  # no "Paris's"
    tokens = [
        t if t.text != "Paris" else t.__class__("Rome", *list(vars(t).values())[1:]) for t in sentence.tokens
    ]
    assert after(phrases.turn_genitives, Sentence(tokens)) == "He saw Rome's bridges."


def test_dates_both_ways(tree) -> None:
    american = tree(
        """
        On on ADP IN 1 case
        April April PROPN NNP 5 obl
        21 21 NUM CD 1 nummod glued
        , , PUNCT , 4 punct
        1836 1836 NUM CD 1 nmod
        fell fall VERB VBD = ROOT
        snow snow NOUN NN 5 nsubj glued
        . . PUNCT . 5 punct
        """
    )
    assert after(phrases.turn_dates, american) == "On 21 April 1836 fell snow."
    british = tree(
        """
        On on ADP IN 2 case
        21 21 NUM CD 2 nummod
        April April PROPN NNP 4 obl
        1836 1836 NUM CD 2 nmod
        fell fall VERB VBD = ROOT
        snow snow NOUN NN 4 nsubj glued
        . . PUNCT . 4 punct
        """
    )
    assert after(phrases.turn_dates, british) == "On April 21, 1836 fell snow."


def test_synonyms_keep_form_case_and_article(tree) -> None:
    sentence = tree(
        """
        Lawyers lawyer NOUN NNS 1 nsubj
        buy buy VERB VBP = ROOT
        a a DET DT 3 det
        car car NOUN NN 1 obj glued
        . . PUNCT . 1 punct
        """
    )
    table = {("lawyer", "NOUN"): "attorney", ("buy", "VERB"): "purchase", ("car", "NOUN"): "automobile"}
    pairs.use_synonyms(sentence, table)
    assert sentence.render() == "Attorneys purchase an automobile."


def test_corrected_table(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text(
        "a\tNOUN\tb\t0.95\nc\tVERB\td\t0.95\ne\tVERB\tf\t0.99\n", encoding="utf-8"
    )
    (tmp_path / "rejected.txt").write_text("a/N\ne/N\n", encoding="utf-8")
    (tmp_path / "added.tsv").write_text("c\tVERB\tz\n", encoding="utf-8")
    table = pairs.read_synonyms(tmp_path / "table.tsv", tmp_path)
    assert table == {("c", "VERB"): "z", ("e", "VERB"): "f"}


def test_everything_at_once(bought: Sentence, painted: Sentence, moved: Sentence) -> None:
    assert pairs.paraphrase(bought, {("firm", "NOUN"): "company", ("buy", "VERB"): "purchase"}) == (
        "Due to the price, the company purchased coffee and tea."
    )
    assert pairs.paraphrase(painted, {}) == "Two men painted the bridge in March."
    assert pairs.paraphrase(moved, {("move", "VERB"): "go"}) == "In 1999, he went to Rome."


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("a b c", "a b c", 0.0), ("a b", "c d", 1.0), ("a b c", "a x c", 0.5), ("", "", 0.0)],
)
def test_change(source: str, target: str, expected: float) -> None:
    assert pairs.change(source, target) == pytest.approx(expected)


def test_every_lexicon_entry_is_well_formed() -> None:
    lines = phrases.LEXICON.read_text(encoding="utf-8").splitlines()
    sides = [line.split("\t") for line in lines]
    assert all(len(side) == 2 and side[0] != side[1] for side in sides)
    assert len({left for left, _ in sides}) == len(sides)
    slots = [(left.count("<"), right.count("<")) for left, right in sides]
    assert all(left == right for left, right in slots)
