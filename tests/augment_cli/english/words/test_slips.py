"""Slips that reading found in outputs of augmentations on words, each with what has to come out."""

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.runs.run import make_run
from augment_cli.runs.tables import as_table
from augment_cli.text.spans import CodePoints


def texts_of(name, texts, seed=42, **parameters):
    run = make_run(name, **parameters)
    column = pa.array(texts, pa.string())
    rows = Rows(np.arange(len(texts)), column, CodePoints.of(column))
    outcome = run.augmentation.prepare(run.parameters, Resources(seed, 0))(rows)
    return as_table(run.augmentation, rows, outcome)["text"].to_pylist()


def test_a_place_that_is_explained_already_is_left_alone():
    texts = ["They met in Lima, the capital of Peru.", "He left Lima – a large city – at night."]
    for seed in range(5):
        first, second = texts_of("geographic-name", texts, seed)
        assert second is None
        assert first is None or "Lima, the capital of Peru" in first


@pytest.mark.parametrize("name", ["crop", "word-deletion"])
def test_nothing_leaves_a_space_before_a_mark(name):
    texts = [
        "They work for the Players Association (the PA).",
        'He calls it the "Three Colors" trilogy, too.',
    ]
    for seed in range(40):
        for text in texts_of(name, texts, seed, rate=0.4):
            assert " ." not in text and " ," not in text and not text.endswith(" ")


@pytest.mark.parametrize("name", ["crop", "word-deletion", "random-mixture"])
def test_nothing_leaves_marks_around_nothing(name):
    texts = [
        'A raven ("Corvus corax") and a hill (called "Blue Top") were painted.',
        'He called it "bad," and she wrote "V"("S") on a [("very")] small card.',
    ]
    for seed in range(60):
        for text in texts_of(name, texts, seed, rate=0.5):
            assert not re.search(r"""[(\[][\s,"]*[)\]]|(?<![\w"])"[\s,]*"(?![\w"])""", text)
            assert "  " not in text


def test_no_word_is_put_in_twice():
    texts = ["The teacher said that she had it and that it was with him at home in the car then."]
    lenders = Counter()
    for seed in range(20):
        (text,) = texts_of("random-insertion", texts, seed, rate=0.5)
        inserted = Counter((text or texts[0]).lower().split())
        inserted.subtract(texts[0].lower().split())
        assert max(inserted.values()) <= 1
        lenders.update(word for word, count in inserted.items() if count > 0)
    assert lenders  # something was put in


def test_versions_tell_changed_outputs_apart():
    names = {
        1: "una",
        2: "dn",
        3: "adjective-antonym discourse-marker modality quantifier quantity relation",
        4: "antonym city-name contraction crop random-insertion random-mixture uda word-deletion",
        5: "colour entity-swap gender-swap geographic-name negation-removal yoda",
        6: "negation synonym",
        7: "subject-object-switch summary tense",
        8: "back-translate paraphrase rephrase",
        9: "hypernym",
        10: "hyponym",
    }
    versions = {name: version for version, listed in names.items() for name in listed.split()}
    assert {name: augmentations.get(name).version for name in versions} == versions
