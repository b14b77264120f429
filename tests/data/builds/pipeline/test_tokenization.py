"""The adapted tokenizer: divides as the treebank does, keeps the text, and survives saving."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from data.builds.pipeline.student import adapt_tokenizer

CASES = {
    "a non-human, well-known co-worker": "a non-human , well - known co-worker",
    "Really?! No!!!": "Really ?! No !!!",
    "cats and/or dogs": "cats and / or dogs",
    "I don't wanna go at 7:30PM": "I do n't wan na go at 7:30 PM",
    "Call 555-010-9999 now": "Call 555-010-9999 now",
    "From 1990-1995.": "From 1990 - 1995 .",
    "====": "====",
}


@pytest.fixture(scope="module")
def adapted() -> Language:
    return adapt_tokenizer(spacy.blank("en"))


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_division(text: str, expected: str, adapted: Language) -> None:
    doc = adapted.make_doc(text)
    assert " ".join(token.text for token in doc) == expected
    assert doc.text == text


def test_rules_are_saved_with_the_pipeline(tmp_path: Path, adapted: Language) -> None:
    adapted.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for text, expected in CASES.items():
        assert " ".join(token.text for token in loaded.make_doc(text)) == expected
