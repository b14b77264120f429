"""How much, and in how many ways, a stage's texts differ from their originals."""

import pytest

import augment_cli
from augment_cli.pages import terminal as views
from augment_cli.reports.comparison import diversity
from tests.helpers.made_stores import store_of

ROWS = [
    ("the car is red", "the automobile is red"),
    ("a car for two", "a automobile for two"),
    ("what is this", "tell me what this is"),
    ("no", "no , no"),
]


def test_words_that_differ_are_counted_in_place():
    found = diversity(ROWS)
    assert found.one_word == 2 / 4 and found.rows == 4
    # 1 of 4 words, 1 of 4, 3 of 5, 2 of 3
    assert found.words_changed == pytest.approx((1 / 4 + 3 / 5) / 2)
    assert found.frequent == {
        "car → automobile": 2, "∅ → tell me": 1, "∅ → this": 1, "this → ∅": 1, "∅ → , no": 1,
    }  # fmt: skip
    assert found.top_ten == 1


def test_the_share_of_frequent_edits_is_of_all_edits():
    rows = [(f"w{number} stays", f"v{number} stays") for number in range(30)] + [("a b", "c b")] * 10
    found = diversity(rows)
    assert found.top_ten == pytest.approx((10 + 9) / 40)
    assert found.words == (
        "100% differ in one word, the median in 50% of the words; the ten most frequent edits are 48% of all "
        "(“a → c” 10, “w0 → v0” 1, “w1 → v1” 1)"
    )


def test_stats_say_it_of_what_was_changed(tmp_path, capsys):
    texts = ["It is not late, but the children wait.", "The old ferry crossed the wide river."]
    store = store_of(tmp_path, texts, "negation-removal", "contraction")
    entry = augment_cli.stats("negation-removal", store)
    assert entry["diversity"]["frequent"] == {"not → ∅": 1}
    views.show_stats(entry, as_json=False)
    assert "100% differ in one word" in capsys.readouterr().out
    assert "diversity" not in augment_cli.stats("corpus", store)
