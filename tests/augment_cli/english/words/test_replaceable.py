"""Words that mean something only with their neighbours stay, and so does all that is quoted or broken."""

import pyarrow as pa
import pytest

from augment_cli.english.words.replaceable import entails_wider, may_be_replaced
from augment_cli.english.words.words import Words
from augment_cli.text.spans import CodePoints
from augment_cli.text.untouched import has_gap, is_quoted
from tests.helpers.hand_parses import parsed_rows, row_of


def free_words(text: str) -> set[str]:
    words = Words.of(CodePoints.of(pa.array([text])))
    return {
        word
        for word, free in zip(words.strings.to_pylist(), may_be_replaced(words, None), strict=True)
        if free
    }


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They sat in the drawing room until ten.", "room"),  # an entry of WordNet
        ("The ferns took root near the wall.", "root"),  # an inflected one
        ("He was all skin and bones that winter.", "bones"),
        ("We saw two birds of prey there.", "birds"),
        ("They met at the Grand hotel there.", "hotel"),  # beside a capital
        ('She wrote "a large house" on the card.', "house"),
        ("She said 'a large house' and left.", "house"),
        ("The house was sold in , and burned.", "house"),  # a template's gap
        ("The house of the  mayor burned.", "house"),  # two spaces
        ("The house was wider than .", "house"),
    ],
)
def test_what_stands_together_or_is_quoted_or_broken_stays(text: str, word: str) -> None:
    assert word not in free_words(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They sat in the cold room until ten.", "room"),
        ("The hotel stood near the dogs' kennels and the cats' home.", "kennels"),
        ("It was the house they lived in.", "house"),
        ("It cost 1,500.50 in all, and the house burned.", "house"),
        ('"Yes," he said and sold the house.', "house"),
    ],
)
def test_the_others_are_free(text: str, word: str) -> None:
    assert word in free_words(text)


def test_quotations_that_begin_or_end_elsewhere() -> None:
    for text, inside in (('so it was," he said.', "so it was"), ("He said, “so it was", "so it was")):
        quoted = is_quoted(CodePoints.of(pa.array([text])))
        place = text.index(inside)
        assert quoted[place : place + len(inside)].all()
        assert not quoted[text.index("said")]


def test_gaps_are_told_from_sentences() -> None:
    broken = [
        "He was born in , and left.",
        "It held () of them.",
        "It is longer than .",
        "A  b.",
        "Of the, and so.",
    ]
    broken += ["the hero of , really .", "a plot in , said the maker ."]
    whole = [
        "It is what we came for.",
        "At 3.5 km, he stopped.",
        "He came in, and left.",
        "So (as he said) it is.",
        "a good film , really .",  # as treebanks have it
    ]
    expected = [True] * len(broken) + [False] * len(whole)
    assert has_gap(CodePoints.of(pa.array(broken + whole))).tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "No sword was found.",
        "The guard had never seen a sword.",
        "Every sword was sold.",
        "If a sword is found, call him.",
        "He came without a sword.",
        "It was the longest sword.",
        "Most swords were sold.",
        "Only the sword was sold.",
        "Was the sword sold?",
    ],
)
def test_the_wider_noun_is_not_put_where_it_does_not_follow(text: str) -> None:
    words = Words.of(CodePoints.of(pa.array([text])))
    place = next(i for i, word in enumerate(words.strings.to_pylist()) if word.startswith("sword"))
    assert not entails_wider(words, None)[place]


BOTH = """
The DT det 2 det 2
guard NN nsubj 3 nsubj 3
drew VBD ROOT 0 root 0
a DT det 5 det 5
sword NN dobj 3 obj 3
and CC cc 3 cc 8
did VBD aux 8 aux 8
see VB conj 3 conj 3
no DT det 10 det 10
spear NN dobj 8 obj 8
. . punct 3 punct 3
"""


@pytest.mark.parametrize("scheme", ["clear", "universal"])
def test_a_negation_turns_its_clause_and_no_other(scheme: str) -> None:
    text = "The guard drew a sword and did see no spear."
    rows = parsed_rows([text], [row_of(text, BOTH, scheme)], [0])
    words = Words.of(rows.code_points)
    upward = dict(zip(words.strings.to_pylist(), entails_wider(words, rows.parses), strict=True))
    assert upward["sword"] and not upward["spear"]


def test_a_bare_plural_that_a_clause_is_about_is_said_of_all() -> None:
    text = "Wolves fear men."
    parse = "Wolves NNS nsubj 2 nsubj 2\nfear VBP ROOT 0 root 0\nmen NNS dobj 2 obj 2\n. . punct 2 punct 2\n"
    rows = parsed_rows([text], [row_of(text, parse, "universal")], [0])
    assert entails_wider(Words.of(rows.code_points), rows.parses).tolist() == [False, True, True]
