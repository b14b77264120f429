"""What is turned down and why; and a new sentence as the smallest edit of the old one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.neural.checks import one_line, reason_against
from augment_cli.neural.choosing import difference, most_different
from augment_cli.neural.runtime import batches_by_length
from augment_cli.text.spans import edits_of, smallest_change

SENTENCE = "The heron waits near the old bridge while the river rises."


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("By the old bridge the heron waits as the river rises.", None),
        ("", "empty_output"),
        (" …!", "empty_output"),
        (SENTENCE, "same_words"),
        ("the heron waits; near the old bridge, while the river rises", "same_words"),
        ("The heron waits near the the the the the bridge.", "looping_output"),
        ("The heron waits near the old bridge near the old bridge near", "looping_output"),
        ("The old bridge and the old bridge or the old bridge or", "looping_output"),
        ("Very, very old is the bridge near which the heron waits.", None),
        ("Цапля ждёт у старого моста, пока река поднимается.", "wrong_script"),
        ("The heron waits near the bridge called Мост.", None),
        ("Heron.", "absurd_length"),
        ("The bridge is old" + "".join(f", and {n} came" for n in "abcdefghijklmnopqrst"), "absurd_length"),
    ],
)
def test_outputs_that_are_no_paraphrase(output, reason):
    assert reason_against(SENTENCE, output) == reason


def test_an_output_cut_at_the_limit_is_turned_down_unless_worse_is_wrong():
    assert reason_against(SENTENCE, "By the old bridge the heron", is_complete=False) == "truncated_output"
    assert reason_against(SENTENCE, "a b a b a b a b", is_complete=False) == "looping_output"


def test_a_loop_of_the_original_is_no_fault_of_the_output():
    text = "row row row the boat"
    assert reason_against(text, "Row, row, row that boat along!") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\nb", "a b"), (" a \t b\x00\u2028c ", "a b c"), ("one<n>two", "one two"), ("", "")],
)
def test_one_line(text, expected):
    assert one_line(text) == expected


# --- edits


@pytest.mark.parametrize(
    ("original", "text", "change"),
    [
        ("The river rises.", "The water rises.", (4, 9, "water")),
        ("The river rises.", "The river rises.", None),
        ("The river rises.", "The rivers rise.", (4, 15, "rivers rise")),
        ("a b", "a c b", (2, 2, "c ")),
        ("a c b", "a b", (2, 4, "")),
        ("", "a", (0, 0, "a")),
        ("haha", "hahaha", (0, 4, "hahaha")),
    ],
)
def test_smallest_change(original, text, change):
    assert smallest_change(original, text) == change


TEXTS = st.text(st.sampled_from("ab éÀ日.'"), max_size=12)


@given(TEXTS, TEXTS)
def test_the_change_makes_the_text_and_cuts_no_word(original, text):
    change = smallest_change(original, text)
    if change is None:
        assert original == text
        return
    start, end, replacement = change
    assert original[:start] + replacement + original[end:] == text
    if 0 < start < len(original):
        assert not (original[start - 1].isalnum() and original[start].isalnum())
    if 0 < end < len(original):
        assert not (original[end - 1].isalnum() and original[end].isalnum())


def test_edits_of_rows():
    edits = edits_of(["a b", "c", "d e"], ["a x", None, "d e"])
    assert (edits.rows.tolist(), edits.starts.tolist(), edits.ends.tolist()) == ([0], [2], [3])
    assert edits.replacements.to_pylist() == ["x"]


# --- batches


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 200))
def test_batches_hold_every_row_once_within_the_budget(lengths, budget):
    batches = batches_by_length(lengths, budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[row] for row in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
    assert [lengths[row] for batch in batches for row in batch] == sorted(lengths, reverse=True)


# --- choosing


def test_the_most_different_of_those_that_mean_the_same():
    original = "the river rises at night"
    candidates = ["the river rises at dusk", "water levels go up after dark", "cats sleep all day"]
    assert most_different(original, candidates, [0.95, 0.9, 0.1], 0.85) == 1
    assert most_different(original, candidates, [0.95, 0.8, 0.1], 0.85) == 0
    assert most_different(original, candidates, [0.5, 0.5, 0.1], 0.85) is None
    assert most_different(original, ["x y", "z w"], [1, 1], 0.85) == 0


@given(st.text(max_size=20), st.text(max_size=20))
def test_difference_is_a_symmetric_share(one, other):
    assert 0 <= difference(one, other) == difference(other, one) <= 1
    assert difference(one, one) == 0


def test_no_mark_turns_the_direction_of_an_output():
    assert one_line("It is \u202egnp.exe\u202c, \u2067really\u2069.") == "It is gnp.exe, really."
    assert one_line("שלום\u200f!") == "שלום\u200f!"  # a mark without an end of its own turns nothing else
