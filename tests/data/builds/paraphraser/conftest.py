"""Sentences with parses by hand, for the pair rules."""

from collections.abc import Callable

import pytest

from data.builds.paraphraser.sentence import Sentence, Token

COMMON = frozenset(
    [
        "the",
        "a",
        "he",
        "she",
        "they",
        "we",
        "in",
        "on",
        "when",
        "there",
        "this",
        "many",
        "two",
        "but",
        "his",
        "people",
        "however",
    ]
)
Tree = Callable[[str], Sentence]


def _tree(rows: str) -> Sentence:
    tokens = []
    for number, row in enumerate(line for line in rows.splitlines() if line.strip()):
        word, lemma, pos, tag, head, dep, *glued = row.split()
        head_number = number if head == "=" else int(head)
        tokens.append(Token(word, lemma, pos, tag, dep, head_number, not glued))
    return Sentence(tokens, common=COMMON)


@pytest.fixture
def tree() -> Tree:
    """Parse from rows of "word lemma POS TAG head dep [glued]"; heads count from 0, "=" is the root."""
    return _tree


@pytest.fixture
def moved(tree: Tree) -> Sentence:
    """ "He moved to Rome in 1999." """
    return tree(
        """
        He he PRON PRP 1 nsubj
        moved move VERB VBD = ROOT
        to to ADP IN 3 case
        Rome Rome PROPN NNP 1 obl
        in in ADP IN 5 case
        1999 1999 NUM CD 1 obl glued
        . . PUNCT . 1 punct
        """
    )


@pytest.fixture
def painted(tree: Tree) -> Sentence:
    """ "The bridge was painted by two men in March." """
    return tree(
        """
        The the DET DT 1 det
        bridge bridge NOUN NN 3 nsubj:pass
        was be AUX VBD 3 aux:pass
        painted paint VERB VBN = ROOT
        by by ADP IN 6 case
        two two NUM CD 6 nummod
        men man NOUN NNS 3 obl:agent
        in in ADP IN 8 case
        March March PROPN NNP 3 obl glued
        . . PUNCT . 3 punct
        """
    )


@pytest.fixture
def bought(tree: Tree) -> Sentence:
    """ "The firm bought tea and coffee because of the price." """
    return tree(
        """
        The the DET DT 1 det
        firm firm NOUN NN 2 nsubj
        bought buy VERB VBD = ROOT
        tea tea NOUN NN 2 obj
        and and CCONJ CC 5 cc
        coffee coffee NOUN NN 3 conj
        because because ADP IN 9 case
        of of ADP IN 6 fixed
        the the DET DT 9 det
        price price NOUN NN 2 obl glued
        . . PUNCT . 2 punct
        """
    )
