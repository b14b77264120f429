"""CoNLL-U to spaCy documents: text, spaces, trees; and the same on the real treebank."""

import random
from pathlib import Path

import pytest
import spacy

from data.builds.pipeline.treebank import group, make_doc, parse_sentence, read_conllu


def conllu(text: str, *rows: str) -> list[str]:
    """Lines of a tree; a row is "id form lemma upos xpos feats head deprel misc"."""
    lines = [f"# text = {text}"]
    for row in rows:
        number, form, lemma, pos, tag, feats, head, dep, misc = row.split()
        lines.append("\t".join([number, form, lemma, pos, tag, feats, head, dep, "_", misc]))
    return lines


CONTRACTION = conllu(
    "Cats don't swim.",
    "1 Cats cat NOUN NNS Number=Plur 4 nsubj _",
    "2-3 don't _ _ _ _ _ _ _",
    "2 do do AUX VBP _ 4 aux _",
    "3 n't not PART RB Polarity=Neg 4 advmod _",
    "4 swim swim VERB VB VerbForm=Inf 0 root SpaceAfter=No",
    "4.1 swim swim VERB VB _ _ _ _",
    "5 . . PUNCT . _ 4 punct _",
)
QUESTION = conllu(
    "Who (else)?",
    "1 Who who PRON WP _ 0 root _",
    "2 ( ( PUNCT -LRB- _ 3 punct SpaceAfter=No",
    "3 else else ADJ JJ _ 1 amod SpaceAfter=No",
    "4 ) ) PUNCT -RRB- _ 3 punct SpaceAfter=No",
    "5 ? ? PUNCT . _ 1 punct _",
)


def test_multi_word_range_becomes_words_without_space_between() -> None:
    doc = make_doc(spacy.blank("en").vocab, [parse_sentence(CONTRACTION)])
    assert doc.text == "Cats don't swim."
    assert [token.text for token in doc] == ["Cats", "do", "n't", "swim", "."]
    assert [token.lemma_ for token in doc] == ["cat", "do", "not", "swim", "."]
    assert [token.head.i for token in doc] == [3, 3, 3, 3, 3]
    assert [token.dep_ for token in doc] == ["nsubj", "aux", "advmod", "ROOT", "punct"]
    assert str(doc[2].morph) == "Polarity=Neg"
    assert doc[0].pos_ == "NOUN" and doc[0].tag_ == "NNS"


def test_range_without_space_after() -> None:
    rows = conllu(
        "(can't)",
        "1 ( ( PUNCT -LRB- _ 2 punct SpaceAfter=No",
        "2-3 can't _ _ _ _ _ _ SpaceAfter=No",
        "2 ca can AUX MD _ 0 root _",
        "3 n't not PART RB _ 2 advmod _",
        "4 ) ) PUNCT -RRB- _ 2 punct _",
    )
    assert parse_sentence(rows).spaces == [False, False, False, False]


def test_sentences_of_one_document_are_joined_by_a_space() -> None:
    doc = make_doc(spacy.blank("en").vocab, [parse_sentence(CONTRACTION), parse_sentence(QUESTION)])
    assert doc.text == "Cats don't swim. Who (else)?"
    assert [sentence.text for sentence in doc.sents] == ["Cats don't swim.", "Who (else)?"]
    assert doc[7].head.i == 5


def test_text_that_does_not_match_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Cats dont"):
        parse_sentence([line.replace("# text = Cats don't", "# text = Cats dont") for line in CONTRACTION])


def test_groups_hold_every_sentence_once_in_order() -> None:
    sentences = [parse_sentence(QUESTION) for _ in range(200)]
    groups = list(group(sentences, 0.5, 4, random.Random(3)))
    assert [id(s) for some in groups for s in some] == [id(s) for s in sentences]
    assert {len(some) for some in groups} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("name", "sentences", "words"),
    [pytest.param("en_ewt-ud-dev", 2001, 25147, marks=pytest.mark.slow), ("en_gum-ud-dev", 1575, 28119)],
)
def test_real_treebank_gives_its_raw_text(data_folder: Path, name: str, sentences: int, words: int) -> None:
    vocab = spacy.blank("en").vocab
    count = total = 0
    for sentence in read_conllu(data_folder / "treebank" / f"{name}.conllu.gz"):
        count += 1
        total += len(make_doc(vocab, [sentence]))
    assert (count, total) == (sentences, words)
