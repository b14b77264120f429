"""The lemmatizer's last layer learned anew: it knows the new trees, and nothing else changes."""

import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import fix_random_seed

from data.builds.pipeline.student import relearn
from data.builds.pipeline.treebank import Sentence, make_doc

WORDS = {"dogs": "dog", "cats": "cat", "ran": "run", "flies": "fly", "here": "here"}
NEW = {"Written": "write", "Known": "know"}


def sentence(words: dict[str, str]) -> Sentence:
    """A sentence of those words with those lemmas."""
    size = len(words)
    return Sentence(
        text=" ".join(words),
        words=list(words),
        spaces=[True] * (size - 1) + [False],
        lemmas=list(words.values()),
        pos=["NOUN"] * size,
        tags=["NN"] * size,
        morphs=[""] * size,
        heads=[0] * size,
        deps=["ROOT"] + ["dep"] * (size - 1),
    )


@pytest.fixture
def nlp() -> Language:
    """A lemmatizer that has never seen the new words."""
    fix_random_seed(1)
    random.seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96},
    }
    nlp.add_pipe("trainable_lemmatizer", config={"min_tree_freq": 1, "model": model})
    gold = sentence(WORDS)
    examples = [Example(nlp.make_doc(gold.text), make_doc(nlp.vocab, [gold]))]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    return nlp


def test_new_trees_are_learned(nlp: Language, tmp_path: Path) -> None:
    everything = WORDS | NEW
    encoder: Any = nlp.get_pipe("tok2vec")
    shared = encoder.model.to_bytes()
    assert [token.lemma_ for token in nlp(" ".join(NEW))] != list(NEW.values())
    docs = [make_doc(nlp.vocab, [sentence(everything)]) for _ in range(400)]
    docs.append(make_doc(nlp.vocab, [sentence({"mice": "", "dogs": "dog"})]))  # "": nobody knows
    training = tmp_path / "training"
    training.mkdir()
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    DocBin(attrs=attributes, docs=docs).to_disk(training / "gold.spacy")
    relearn(nlp, training, share=1, seed=1)
    nlp.to_disk(tmp_path / "saved")
    for pipeline in (nlp, spacy.load(tmp_path / "saved")):
        lemmas = {token.text: token.lemma_ for token in pipeline(" ".join(everything))}
        assert lemmas == everything
    assert encoder.model.to_bytes() == shared
