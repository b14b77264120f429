"""The shipped English pipeline: it loads, is small, scores as it must, and its digest follows its answers."""

import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from augment_cli.errors import MissingError
from augment_cli.models import shipped_pipeline
from augment_cli.models.digest import model_digest
from augment_cli.syntax.tree import words

LIMIT = 12_000_000  # bytes
OPEN = {"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"}
CLOSED = {"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"}
OTHER = {"PUNCT", "SYM", "X"}
CORE = words("nsubj nsubj:pass obj cop aux aux:pass advmod mark acl:relcl advcl ROOT")


@pytest.fixture(scope="module")
def english():
    """The pipeline as a user loads it."""
    return spacy.load(shipped_pipeline())


def test_size_licence_and_card():
    folder = shipped_pipeline()
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) <= LIMIT
    assert "Attribution-ShareAlike 4.0" in (folder / "LICENSE").read_text(encoding="utf-8")
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-sa-4.0" in card
    assert all(word in card for word in ("UPOS", "UAS", "LAS", "lemma", "EWT dev", "GUM dev"))


def test_loads_without_the_build(english):
    assert english.pipe_names == ["tok2vec", "tagger", "morphologizer", "trainable_lemmatizer", "parser"]
    assert "data.builds" not in str(english.config)
    assert sys.modules.get("floret") is None


def test_labels_are_universal(english):
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
        ("Her sister is a doctor.", "sister", "NOUN", "sister", "nsubj", "doctor"),
        ("They have sold the house.", "have", "AUX", "have", "aux", "sold"),
        ("He doesn't like cold soup.", "does", "AUX", "do", "aux", "like"),
        ("He doesn't like cold soup.", "n't", "PART", "not", "advmod", "like"),
        ("She left the room because it was cold.", "because", "SCONJ", "because", "mark", "cold"),
        ("The children played in the garden.", "children", "NOUN", "child", "nsubj", "played"),
        ("London is larger than Paris.", "London", "PROPN", "London", "nsubj", "larger"),
    ],
)
def test_textbook_sentences(english, text, word, pos, lemma, dep, head):
    token = find(english, text, word)
    assert (token.pos_, token.lemma_, token.dep_, token.head.text) == (pos, lemma, dep, head)


@pytest.mark.parametrize(
    ("text", "lemma"),
    [
        ("Were you told about it?", "be"),
        ("Written by a monk, the book sold well.", "write"),
        ("Born in Rome, she went home.", "bear"),
    ],
)
def test_lemma_of_an_irregular_verb_with_a_capital(english, text, lemma):
    assert english(text)[0].lemma_ == lemma


def test_features_of_verbs(english):
    morph = find(english, "She sings well.", "sings").morph
    assert morph.get("Tense") == ["Pres"] and morph.get("Number") == ["Sing"] and morph.get("Person") == ["3"]


def test_odd_input_is_parsed_into_itself(english):
    for text in ("", " ", "…", "a" * 300, "?!?! -- 7", "no Capitals no stop", "\u00e9\u00e8 \U0001f600 ok"):
        assert english(text).text == text


@pytest.mark.slow
def test_scores_on_the_real_development_set(english, data_folder):
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


@pytest.fixture
def pipeline(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_the_same_wherever_it_lies(pipeline, tmp_path):
    shutil.copytree(pipeline, tmp_path / "elsewhere" / "x")
    assert model_digest(pipeline) == model_digest(tmp_path / "elsewhere" / "x")


def test_every_file_counts_but_cards_and_licences(pipeline):
    before = model_digest(pipeline)
    for name in ("README.md", "LICENSE", "LICENSES_SOURCES", "LICENCE.txt", "meta.json", ".DS_Store"):
        (pipeline / name).write_text("{}")
        assert model_digest(pipeline) == before, name
    files = [path for path in pipeline.rglob("*") if path.is_file()]
    decisive = [path for path in files if path.stem[:4] not in {"READ", "LICE"}]
    changed = set()
    for path in decisive:
        data = path.read_bytes()
        path.write_bytes(data + b" ")
        if model_digest(pipeline) != before:
            changed.add(path.relative_to(pipeline).as_posix())
        path.write_bytes(data)
    assert {"config.cfg", "tokenizer", "vocab/strings.json"} <= changed
    names = {path.relative_to(pipeline).as_posix() for path in decisive}
    assert changed == names - {"meta.json", ".DS_Store"}


def test_no_model_there(tmp_path):
    (tmp_path / "README.md").write_text("soon")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(MissingError, match="holds no model"):
            model_digest(folder)
