"""Choosing, removing, swapping and inserting words, against slow references that go word by word."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.augmentations.eda.random_words import crops, deletions, permutations, remove_words
from augment_cli.augmentations.eda.word_repetition import repeat_counts
from augment_cli.contract.draws import bits, stream_key, uniform
from augment_cli.english.words import word_edits
from augment_cli.english.words.word_edits import begins_with_vowel_sound
from augment_cli.text.spans import apply_edits
from tests.helpers.in_memory import augment, words_of
from tests.helpers.properties import examples

KEY = stream_key(7, "test")
TEXTS = [
    "The old ferry crossed the wide river, and the children waved from the bridge.",
    "River.",
    "",
    "... !",
    'However, (they) said "no" - twice; an old, odd a-b.',
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
]


@pytest.mark.parametrize(
    ("amount", "maximum", "expected"),
    [("ceil", 0, [1, 1, 2, 3, 1]), ("ceil", 2, [1, 1, 2, 2, 1]), ("floor", 0, [1, 1, 1, 2, 1])],
)
def test_counts_of_a_rate(amount: str, maximum: int, expected: list[int]) -> None:
    words = np.array([1, 10, 11, 29, 0])
    assert word_edits.counts_of(words, 0.1, amount, maximum).tolist() == expected
    assert word_edits.counts_of(words, 0.0, amount, maximum).tolist() == [0] * 5
    # A rate times a number may come out a hair above a whole number.
    everything = np.arange(1, 200) * 10
    assert (word_edits.counts_of(everything, 0.1, amount, 0) == everything // 10).all()


@pytest.mark.parametrize("amount", word_edits.AMOUNTS)
@pytest.mark.parametrize("maximum", [0, 2])
@pytest.mark.parametrize("rate", [0.0, 0.15, 0.5, 1.0])
def test_choice_is_that_of_the_slow_reference(amount: str, maximum: int, rate: float) -> None:
    words = words_of(TEXTS)
    row_ids = np.array([5, 3, 9, 1, 0, 77])
    eligible = np.arange(len(words)) % 3 != 1
    chosen = word_edits.choose(words, row_ids, eligible, KEY, rate, amount, maximum)
    expected = []
    for row, row_id in enumerate(row_ids.tolist()):
        drawn = []
        for place in range(words.offsets[row], words.offsets[row + 1]):
            if eligible[place]:
                counter = np.array([place - words.offsets[row]])
                drawn.append((float(uniform(KEY, np.array([row_id]), counter)[0]), place))
        drawn.sort()
        if amount == "coin":
            drawn = [(draw, place) for draw, place in drawn if draw < rate]
            drawn = drawn[: maximum or None]
        else:
            drawn = drawn[: int(word_edits.counts_of(words.counts[[row]], rate, amount, maximum)[0])]
        expected += sorted(place for _, place in drawn)
    assert chosen.tolist() == expected


PLAIN = st.lists(
    st.lists(st.sampled_from(["red", "a", "Ox", "bees", "an", "I", "egg"]), max_size=8).map(" ".join),
    min_size=1,
    max_size=4,
)


@examples(200)
@given(texts=PLAIN, data=st.data())
def test_removal_of_plain_words_is_that_of_the_slow_reference(texts: list[str], data: st.DataObject) -> None:
    """Words and spaces alone: what is left, joined, with capital and articles as a person would have them."""
    words = words_of(texts)
    removed = np.array(data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words))), bool)
    removed[words.offsets[:-1][words.counts > 0]] &= words.counts[words.counts > 0] > 1
    for row in range(len(texts)):
        span = slice(words.offsets[row], words.offsets[row + 1])
        if removed[span].all():
            removed[span] = False
    result = apply_edits(words.texts, remove_words(words, removed)).to_pylist()
    for row, text in enumerate(texts):
        tokens = text.split(" ") if text else []
        keep = [i for i in range(len(tokens)) if not removed[words.offsets[row] + i]]
        left = []
        for position, i in enumerate(keep):
            token = tokens[i]
            gap = position + 1 < len(keep) and keep[position + 1] != i + 1
            if token in {"a", "an"} and gap:
                token = "an" if begins_with_vowel_sound(tokens[keep[position + 1]]) else "a"
            if position == 0 and i > 0 and tokens[0][0].isupper():
                token = token[0].upper() + token[1:]
            left.append(token)
        assert result[row] == " ".join(left)


@pytest.mark.parametrize(
    ("text", "gone", "expected"),
    [
        ("However, he left.", {0}, "He left."),
        ("The big, bad wolf", {1}, "The, bad wolf"),
        ("cats, dogs, bees", {1}, "cats, bees"),
        ("The big, bad wolf", {1, 2}, "The wolf"),
        ("It is (very) cold.", {2}, "It is cold."),
        ('She said "no" twice.', {2}, "She said twice."),
        ("He left the house.", {3}, "He left the."),
        ("He saw (the red fox) run.", {2, 3, 4}, "He saw run."),
        ("He saw an old house.", {3}, "He saw a house."),
        ("After an old war", {0, 2}, "A war"),
        ("one  two", {1}, "one"),
        ("noun (a copula may be) used", {0, 1}, "(copula may be) used"),
        # Marks around nothing, one pair inside another, around two runs, with a comma inside.
        ('A bird ("Corvus corax").', {2, 3}, "A bird."),
        ('It is [("very")] cold.', {2}, "It is cold."),
        ('A hill (called "Blue Top") burned.', {2, 3, 4}, "A hill burned."),
        ('A hill (high, "Blue") burned.', {2, 3}, "A hill burned."),
        ('They pass their "old(er)" trees.', {2, 3, 4}, "They pass trees."),
        ('He called it "bad," and left.', {3, 4}, "He called it left."),
        ('"Oddly," said Anna.', {0}, "Said Anna."),
        # A straight mark that closes is not one that opens.
        ('The "ABC" of first aid', {2}, 'The "ABC" first aid'),
        ('Her "Koto" song, while he slept', {2}, 'Her "Koto", while he slept'),
        ('She "never" laughed', {0}, '"Never" laughed'),
        ('He read "the red book" twice', {2}, 'He read "red book" twice'),
        ('The book—"the red one"—burned', {2}, 'The book—"red one"—burned'),
        ('the "first," old, and new', {2}, 'the "first," and new'),
    ],
)
def test_removal_leaves_clean_text(text: str, gone: set[int], expected: str) -> None:
    words = words_of([text])
    removed = np.array([place in gone for place in range(len(words))])
    assert apply_edits(words.texts, remove_words(words, removed)).to_pylist() == [expected]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.6, 1.0])
def test_deletion_leaves_a_word_and_takes_the_right_number(rate: float) -> None:
    words = words_of(TEXTS)
    removed = deletions(words, np.arange(len(TEXTS)), KEY, rate, "ceil", 0)
    gone = np.bincount(words.rows[removed], minlength=len(TEXTS))
    expected = np.minimum(
        word_edits.counts_of(words.counts, rate, "ceil", 0), np.maximum(words.counts - 1, 0)
    )
    assert gone.tolist() == expected.tolist()


@pytest.mark.parametrize("part", ["window", "gap"])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_crop_is_one_stretch(part: str, rate: float) -> None:
    words = words_of(TEXTS)
    removed = crops(words, np.arange(len(TEXTS)), KEY, rate, part)
    for row, count in enumerate(words.counts.tolist()):
        span = removed[words.offsets[row] : words.offsets[row + 1]]
        stretch = ~span if part == "window" else span
        places = np.flatnonzero(stretch)
        assert len(places) == 0 or places[-1] - places[0] + 1 == len(places)
        assert span.sum() == min(
            int(word_edits.counts_of(np.array([count]), rate, "ceil", 0)[0]), max(count - 1, 0)
        )


def test_crop_starts_anywhere_with_equal_probability() -> None:
    words = words_of(["a b c d e"] * 4000)
    removed = crops(words, np.arange(4000), KEY, 0.4, "window").reshape(-1, 5)
    starts = Counter(np.argmin(removed, axis=1).tolist())
    assert set(starts) == {0, 1, 2}
    assert max(starts.values()) - min(starts.values()) < 250  # five standard deviations are 180


@pytest.mark.parametrize("distance", ["any", "neighbour"])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_swaps_are_those_of_the_slow_reference(distance: str, rate: float) -> None:
    words = words_of(TEXTS)
    row_ids = np.arange(len(TEXTS)) * 3
    source = permutations(words, row_ids, KEY, rate, distance, 30)
    for row, count in enumerate(words.counts.tolist()):
        order = list(range(count))
        swaps = max(1, int(rate * count + 1e-9)) if distance == "any" else int(np.ceil(rate * count - 1e-9))
        for step in range(swaps if count > 1 else 0):
            drawn = int(bits(KEY, row_ids[[row]], np.array([step]))[0])
            one, rest = (drawn >> 32) % count, drawn & 0xFFFFFFFF
            if distance == "any":
                other = rest % (count - 1)
                other += other >= one
            elif one == count - 1 or (rest % 2 == 0 and one > 0):
                other = one - 1
            else:
                other = one + 1
            order[one], order[other] = order[other], order[one]
        assert (source[words.offsets[row] : words.offsets[row + 1]] - words.offsets[row]).tolist() == order


def test_swapped_texts_have_the_same_words() -> None:
    table = augment("random-swap", TEXTS, rate=0.5)
    for original, text in zip(TEXTS, table["text"].to_pylist(), strict=True):
        if text is not None:
            assert Counter(original.lower()) == Counter(text.lower())
            assert text[:1].isupper() == original[:1].isupper()


def test_repetitions_are_drawn_evenly_up_to_their_bound() -> None:
    uniforms = np.linspace(0, 1, 1000, endpoint=False)
    counts = repeat_counts(np.full(1000, 20), uniforms, 0.32, 10)
    shares = Counter(counts.tolist())
    assert set(shares) == set(range(6))
    assert set(shares.values()) <= {166, 167}
    assert repeat_counts(np.array([1000]), np.array([0.999]), 0.32, 10).tolist() == [9]
    assert set(repeat_counts(np.full(1000, 1), uniforms, 0.32, 10).tolist()) == {0, 1}


def test_each_repeated_word_stands_twice() -> None:
    table = augment("word-repetition", TEXTS * 20, rate=0.9)
    for row in table.to_pylist():
        assert len(row["edits"]) == row["repeated"]
        for edit in row["edits"]:
            original = TEXTS[row["row_id"] % len(TEXTS)]
            word = edit["replacement"].removeprefix(" ")
            assert edit["start"] == edit["end"]
            assert original[: edit["end"]].lower().endswith(word.lower())


def test_mixture_does_one_thing_to_a_sentence() -> None:
    table = augment("random-mixture", [TEXTS[0]] * 300)
    choices = Counter(table["choice"].to_pylist())
    assert set(choices) == {"swap", "deletion", "crop"}
    assert min(choices.values()) > 60
    for row in table.to_pylist():
        if row["choice"] == "swap":
            assert row["text"] is None or Counter(row["text"].lower()) == Counter(TEXTS[0].lower())
        else:
            assert len(row["text"]) < len(TEXTS[0])


@pytest.mark.parametrize(
    "word",
    ["apple", "hour", "honest", "heir", "unimportant", "uninteresting", "FBI", "8", "11", "80th", "umbrella"],
)
def test_an(word: str) -> None:
    assert begins_with_vowel_sound(word)


@pytest.mark.parametrize(
    "word",
    ["river", "university", "European", "one", "one-time", "useful", "unit", "UN", "7", "10", "house", ""],
)
def test_a(word: str) -> None:
    assert not begins_with_vowel_sound(word)
