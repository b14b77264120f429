"""The shipped English pipeline: it loads, is small, says what a grammar book says, and scores as it must."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from augment_cli.models import shipped_pipeline

LIMIT = 12_000_000  # bytes
OPEN = {"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"}
CLOSED = {"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"}
OTHER = {"PUNCT", "SYM", "X"}
CORE = {
    "nsubj",
    "nsubj:pass",
    "obj",
    "cop",
    "aux",
    "aux:pass",
    "advmod",
    "mark",
    "acl:relcl",
    "advcl",
    "ROOT",
}


@pytest.fixture(scope="module")
def english() -> Language:
    """The pipeline as a user loads it."""
    return spacy.load(shipped_pipeline())


def test_size_licence_and_card() -> None:
    folder = shipped_pipeline()
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) <= LIMIT
    assert "Attribution-ShareAlike 4.0" in (folder / "LICENSE").read_text(encoding="utf-8")
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-sa-4.0" in card
    assert all(word in card for word in ("UPOS", "UAS", "LAS", "lemma", "EWT dev", "GUM dev"))


def test_loads_without_the_build(english: Language) -> None:
    assert english.pipe_names == ["tok2vec", "tagger", "morphologizer", "trainable_lemmatizer", "parser"]
    assert "data.builds" not in str(english.config)
    assert sys.modules.get("floret") is None


def test_labels_are_universal(english: Language) -> None:
    pipe: Callable[[str], Any] = english.get_pipe
    assert set(pipe("parser").labels) >= CORE
    features = {part for label in pipe("morphologizer").labels for part in label.split("|")}
    pos = {part.removeprefix("POS=") for part in features if part.startswith("POS=")}
    assert pos == OPEN | CLOSED | OTHER


def find(english: Language, text: str, word: str) -> Token:
    """Return the one token with that form."""
    (token,) = [token for token in english(text) if token.text == word]
    return token


@pytest.mark.parametrize(
    ("text", "word", "pos", "lemma", "dep", "head"),
    [
        ("The old bridge was built by two brothers.", "was", "AUX", "be", "aux:pass", "built"),
        ("The old bridge was built by two brothers.", "bridge", "NOUN", "bridge", "nsubj:pass", "built"),
        ("Her sister is a doctor.", "is", "AUX", "be", "cop", "doctor"),
        ("Her sister is a doctor.", "sister", "NOUN", "sister", "nsubj", "doctor"),
        ("They have sold the house.", "have", "AUX", "have", "aux", "sold"),
        ("They have sold the house.", "house", "NOUN", "house", "obj", "sold"),
        ("He doesn't like cold soup.", "does", "AUX", "do", "aux", "like"),
        ("He doesn't like cold soup.", "n't", "PART", "not", "advmod", "like"),
        ("She left the room because it was cold.", "because", "SCONJ", "because", "mark", "cold"),
        ("The trains run every hour.", "trains", "NOUN", "train", "nsubj", "run"),
        ("The children played in the garden.", "children", "NOUN", "child", "nsubj", "played"),
        ("London is larger than Paris.", "London", "PROPN", "London", "nsubj", "larger"),
    ],
)
def test_textbook_sentences(
    english: Language, text: str, word: str, pos: str, lemma: str, dep: str, head: str
) -> None:
    token = find(english, text, word)
    assert (token.pos_, token.lemma_, token.dep_, token.head.text) == (pos, lemma, dep, head)


@pytest.mark.parametrize(
    ("text", "lemma"),
    [
        ("Were you told about it?", "be"),
        ("Has it begun?", "have"),
        ("Written by a monk, the book sold well.", "write"),
        ("Born in Rome, she went home.", "bear"),
        ("Doing so took years.", "do"),
    ],
)
def test_lemma_of_an_irregular_verb_with_a_capital(english: Language, text: str, lemma: str) -> None:
    assert english(text)[0].lemma_ == lemma


def test_features_of_verbs(english: Language) -> None:
    morph = find(english, "She sings well.", "sings").morph
    assert morph.get("Tense") == ["Pres"] and morph.get("Number") == ["Sing"] and morph.get("Person") == ["3"]


def test_odd_input_is_parsed_into_itself(english: Language) -> None:
    for text in ("", " ", "…", "a" * 300, "?!?! -- 7", "no Capitals no stop", "\u00e9\u00e8 \U0001f600 ok"):
        assert english(text).text == text


@pytest.mark.slow
def test_scores_on_the_real_development_set(english: Language, data_folder: Path) -> None:
    from data.builds.pipeline.treebank import make_doc, read_conllu

    gold = read_conllu(data_folder / "treebank" / "en_ewt-ud-dev.conllu.gz")
    scores = english.evaluate(
        [
            Example(Doc(english.vocab, tree.words, tree.spaces), make_doc(english.vocab, [tree]))
            for tree in gold
        ]
    )
    floors = {"pos_acc": 0.95, "dep_uas": 0.865, "dep_las": 0.83, "lemma_acc": 0.95}
    assert {name: scores[name] for name, floor in floors.items() if scores[name] < floor} == {}
