"""The table of spaces takes the sentences that a stage changed, each with what became of it."""

import numpy as np

from augment_cli import api
from benchmarks.augmented_spaces import HEADER, changed, table
from eval.measures.geometry import cond_hm, singular_value_gap


class Lengths:
    """An encoder whose vectors are a text's number of characters, of words, and of full stops."""

    def encode(self, texts):
        return np.array([[len(text), len(text.split()), text.count(".")] for text in texts], dtype=float)


def test_a_stages_changed_sentences_are_compared_with_what_became_of_them(tmp_path):
    texts = ["It isn't late.", "Nothing here has a short form.", "We're off. They won't come.", "You can't."]
    store = api.run("contraction", tmp_path / "store", texts=texts)
    originals, others = changed(store, "contraction", 2)
    assert originals == [texts[0], texts[2]] and others[0] == "It is not late."
    encode = Lengths().encode
    lines = table(store, Lengths(), ["contraction"], 2)
    one = f"{cond_hm(encode(originals), encode(others)):.1f}"
    gap = f"{singular_value_gap(encode(originals), encode(others)):.2f}"
    assert lines[:2] == HEADER and lines[2].startswith(f"| `contraction` | 2 | {one} | {gap} |")
    assert lines[3].startswith("| other sentences | 2 |")
