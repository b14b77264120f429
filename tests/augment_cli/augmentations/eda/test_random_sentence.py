"""random-sentence: never a row's own text, from a file of one's own, and what it refuses."""

import numpy as np
import pyarrow.compute as pc
import pytest

from augment_cli import augment
from augment_cli.errors import UsageError


def test_never_its_own_text(tmp_path):
    file = tmp_path / "two.txt"
    file.write_text("The heron waits.\n\nThe river flows on.\nThe heron waits.\n", "utf-8")
    texts = ["The heron waits.", "The river flows on."] * 20
    other = dict([texts[:2], texts[1::-1]])
    made = augment(texts, "random-sentence", sentences=str(file))["text"].to_pylist()
    assert made == [other[text] for text in texts]
    drawn = set(augment(["A boat."] * 40, "random-sentence", sentences=str(file))["text"].to_pylist())
    assert drawn == set(texts)


def test_some_rows_get_a_paragraph_of_one_to_several_sentences(tmp_path):
    file = tmp_path / "sentences.txt"
    file.write_text("".join(f"S{number}.\n" for number in range(50)), "utf-8")
    texts = [*["A boat."] * 600, "", "S1."]
    made = augment(texts, "random-sentence", sentences=str(file), most=3, share=0.5)
    found = [text.split() for text in made["text"].to_pylist()[:600] if text]
    assert 250 < len(found) < 350
    assert np.bincount([len(text) for text in found]).tolist()[0] == 0
    assert min(np.bincount([len(text) for text in found])[1:]) > 60 and max(map(len, found)) == 3
    assert len({sentence for text in found for sentence in text}) == 50
    reasons = made.filter(pc.is_null(made["text"]))["reason"].to_pylist()
    assert set(reasons) <= {"no_position_drawn", "no_token"}


def test_sentences_with_some_words_are_left_out(tmp_path):
    file = tmp_path / "sentences.txt"
    file.write_text("It isn't.\nIt is not.\nNot here.\nA knot.\nNoting it.\nIt won’t.\n", "utf-8")
    made = augment(["A boat."] * 60, "random-sentence", sentences=str(file), without="not,n't,n’t")
    assert set(made["text"].to_pylist()) == {"A knot.", "Noting it."}


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"One line.\nOne line.\n", "1 different sentences"), (b"\xff\xfe\n", "a UTF-8 file"), (None, "read")],
)
def test_a_file_that_will_not_do(tmp_path, content, message):
    file = tmp_path / "given.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        augment(["A boat."], "random-sentence", sentences=str(file))
