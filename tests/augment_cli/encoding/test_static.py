"""Word vectors as an encoder, read from a text file."""

import numpy as np
import pytest

from augment_cli.encoding.static import load_static
from augment_cli.errors import BadInputError

LINES = [
    f"{word} {number}.0 {number * number} 1" for number, word in enumerate(["the", "dog", "plays", "New"])
]


def test_a_sentence_is_the_mean_of_its_known_words(tmp_path):
    path = tmp_path / "words.vec"
    path.write_text("4 3\n" + "\n".join([*LINES, "New York 1 2 3", "the 9 9 9"]) + "\n")
    encoder = load_static(path)
    vectors = encoder.encode(["The dog zzz", "", "unknown"])
    np.testing.assert_array_equal(vectors, [[0.5, 0.5, 1], [0] * 3, [0] * 3])
    assert "New York" in encoder.tokenizer.rows


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "words.vec"
    path.write_text("the 1 2 3\ndog 1 2\n")
    with pytest.raises(BadInputError, match="line 2: not a word and its numbers"):
        load_static(path)
    path.write_text("")
    with pytest.raises(BadInputError, match="holds no word vectors"):
        load_static(path)
