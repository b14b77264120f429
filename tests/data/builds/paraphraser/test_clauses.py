"""Clause rules on parses by hand: what they say, and where they decline."""

import pytest

from data.builds.paraphraser import clauses
from data.builds.paraphraser.sentence import Sentence


def test_ending_moves_first(moved: Sentence) -> None:
    order = clauses.move_ending_first(moved)
    assert order is not None
    assert moved.render(order) == "In 1999, he moved to Rome."


def test_beginning_moves_last(tree) -> None:
    sentence = tree(
        """
        In in ADP IN 1 case
        1999 1999 NUM CD 4 obl glued
        , , PUNCT , 1 punct
        he he PRON PRP 4 nsubj
        moved move VERB VBD = ROOT
        to to ADP IN 6 case
        Rome Rome PROPN NNP 4 obl glued
        . . PUNCT . 4 punct
        """
    )
    order = clauses.move_beginning_last(sentence)
    assert order is not None
    assert sentence.render(order) == "He moved to Rome in 1999."


def test_passive_becomes_active(painted: Sentence) -> None:
    order = clauses.passive_to_active(painted)
    assert order is not None
    assert painted.render(order) == "Two men painted the bridge in March."


def test_active_becomes_passive_and_pronoun_changes_case(tree) -> None:
    sentence = tree(
        """
        She she PRON PRP 1 nsubj
        wrote write VERB VBD = ROOT
        two two NUM CD 3 nummod
        books book NOUN NNS 1 obj glued
        . . PUNCT . 1 punct
        """
    )
    order = clauses.active_to_passive(sentence)
    assert order is not None
    assert sentence.render(order) == "Two books were written by her."


def test_speaker_changes_place(tree) -> None:
    said = tree(
        """
        He he PRON PRP 1 nsubj
        said say VERB VBD = ROOT
        that that SCONJ IN 5 mark
        the the DET DT 4 det
        plan plan NOUN NN 5 nsubj
        failed fail VERB VBD 1 ccomp glued
        . . PUNCT . 1 punct
        """
    )
    order = clauses.name_speaker_last(said)
    assert order is not None
    assert said.render(order) == "The plan failed, he said."
    last = tree(
        """
        The the DET DT 1 det
        plan plan NOUN NN 2 nsubj
        failed fail VERB VBD = ROOT glued
        , , PUNCT , 5 punct
        he he PRON PRP 5 nsubj
        said say VERB VBD 2 parataxis glued
        . . PUNCT . 2 punct
        """
    )
    order = clauses.name_speaker_first(last)
    assert order is not None
    assert last.render(order) == "He said that the plan failed."


def test_identity_turns(tree) -> None:
    sentence = tree(
        """
        Rome Rome PROPN NNP 3 nsubj
        is be AUX VBZ 3 cop
        the the DET DT 3 det
        capital capital NOUN NN = ROOT
        of of ADP IN 5 case
        Italy Italy PROPN NNP 3 nmod glued
        . . PUNCT . 3 punct
        """
    )
    order = clauses.turn_identity(sentence)
    assert order is not None
    assert sentence.render(order) == "The capital of Italy is Rome."


def test_existence_is_said_with_a_verb(tree) -> None:
    sentence = tree(
        """
        There there PRON EX 1 expl
        are be VERB VBP = ROOT
        two two NUM CD 3 nummod
        schools school NOUN NNS 1 nsubj
        in in ADP IN 6 case
        the the DET DT 6 det
        town town NOUN NN 3 nmod glued
        . . PUNCT . 1 punct
        """
    )
    order = clauses.say_exists(sentence)
    assert order is not None
    assert sentence.render(order) == "Two schools exist in the town."


def test_bound_place_stays(tree) -> None:
    """ "He lives in Rome" is not said "In Rome, he lives"."""
    sentence = tree(
        """
        He he PRON PRP 1 nsubj
        lives live VERB VBZ = ROOT
        in in ADP IN 3 case
        Rome Rome PROPN NNP 1 obl glued
        . . PUNCT . 1 punct
        """
    )
    assert clauses.reorder(sentence) is None


@pytest.mark.parametrize("rule", clauses.RULES)
def test_reordering_invents_and_loses_no_noun(rule, moved, painted, bought) -> None:
    """Whatever a rule does, each noun, name and number stands in the result exactly once."""
    for sentence in (moved, painted, bought):
        order = rule(sentence)
        if order is None:
            continue
        kept = [piece for piece in order if isinstance(piece, int)]
        assert len(kept) == len(set(kept))
        content = {i for i, t in enumerate(sentence.tokens) if t.pos in ("NOUN", "PROPN", "NUM")}
        assert content <= set(kept)
