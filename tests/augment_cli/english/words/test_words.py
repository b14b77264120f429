"""Words as spans, which of them may change, and how they are chosen, removed, swapped and inserted."""

import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.augmentations.eda.random_words import crops, deletions, permutations, remove_words
from augment_cli.augmentations.eda.word_repetition import repeat_counts
from augment_cli.contract.draws import bits, stream_key, uniform
from augment_cli.english.words import Words, word_edits
from augment_cli.english.words.replaceable import entails_wider, may_be_replaced
from augment_cli.english.words.word_edits import begins_with_vowel_sound
from augment_cli.resources import word_list
from augment_cli.text.spans import CodePoints, EditList, apply_edits
from augment_cli.text.untouched import has_gap, is_quoted
from tests.helpers.hand_parses import parsed_rows, row_of
from tests.helpers.in_memory import words_of
from tests.helpers.properties import examples


def strings_of(texts: list[str]) -> list[list[str]]:
    words = words_of(texts)
    strings = words.strings.to_pylist()
    return [strings[first:last] for first, last in zip(words.offsets[:-1], words.offsets[1:], strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Hello, (big) "world"!', ["Hello", "big", "world"]),
        ("They don't; she's well-known.", ["They", "don't", "she's", "well-known"]),
        ("3.5 of 1,000 cost $5 or 50%", ["3.5", "of", "1,000", "cost", "$5", "or", "50%"]),
        ("AT&T and C++ on www.example.org", ["AT&T", "and", "C++", "on", "www.example.org"]),
        ("The U.S. Army left the U.S.", ["The", "U.S.", "Army", "left", "the", "U.S"]),
        ("J. Smith saw Dr. No etc. today.", ["J.", "Smith", "saw", "Dr.", "No", "etc.", "today"]),
        ("this—that, he - she, one--two", ["this", "that", "he", "she", "one", "two"]),
        ("a…b “c” «d» [1]", ["a", "b", "c", "d", "1"]),
        ("é e\u0301 日本 Σ", ["é", "e\u0301", "日本", "Σ"]),
        ("... -- !? ''", []),
        ("", []),
    ],
)
def test_examples(text, expected):
    assert strings_of([text]) == [expected]


SEPARATORS = '()[]{}<>"“”„«»‹›—–―…|*=~^\\'
SYMBOLS = "%‰°#@+&_§"


def kind(character: str) -> str:
    if character in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85":
        return "space"
    if character in SEPARATORS:
        return "separator"
    if character in SYMBOLS:
        return "symbol"
    category = unicodedata.category(character)
    if category[0] == "Z":
        return "space"
    if category == "Cc":
        return "separator"
    if category[0] in "LMN":
        return "letter"
    return "symbol" if category in {"Sc", "So"} else "mark"


def slow_words(text: str) -> list[str]:
    kinds = [kind(character) for character in text]
    for place, character in enumerate(text):
        if character == "-" and "-" in {text[place - 1] if place else "", text[place + 1 : place + 2]}:
            kinds[place] = "separator"
    found, start = [], None
    for place in range(len(text) + 1):
        inside = place < len(text) and kinds[place] not in {"space", "separator"}
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            first, last = start, place
            while first < last and kinds[first] == "mark":
                first += 1
            while last > first and kinds[last - 1] == "mark":
                last -= 1
            if "letter" in kinds[first:last]:
                found.append((first, last))
            start = None
    return [text[first : last + keeps_period(text, first, last)] for first, last in found]


def keeps_period(text: str, first: int, last: int) -> bool:
    if text[last : last + 1] != "." or last + 1 >= len(text) or kind(text[last + 1]) != "space":
        return False
    pieces = text[first:last].split(".")
    letters = all(piece and all(unicodedata.category(c)[0] == "L" for c in piece) for piece in pieces)
    short = len(pieces) > 1 or len(text[first:last]) == 1
    return (letters and short) or text[first:last].lower() in word_list("abbreviations")


ODD = st.text(
    st.sampled_from("aB1 .,'’-–(\"“)$%&é日\u0301\u00a0\t…İß_") | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


@examples(300)
@given(st.lists(ODD, max_size=5))
def test_words_are_those_of_the_slow_reference(texts):
    assert strings_of(texts) == [slow_words(text) for text in texts]


@examples(100)
@given(st.lists(ODD, max_size=5))
def test_follows_space_means_white_space_alone(texts):
    words = Words.of(CodePoints.of(pa.array(texts, pa.string())))
    joined = "".join(texts)
    for index, follows in enumerate(words.follows_space.tolist()):
        between = joined[words.flat_ends[index - 1] : words.flat_starts[index]] if index else ""
        same_row = index > 0 and words.rows[index] == words.rows[index - 1]
        assert follows == (same_row and between != "" and all(kind(c) == "space" for c in between))


def free_words(text: str) -> set[str]:
    words = Words.of(CodePoints.of(pa.array([text])))
    return {
        word
        for word, free in zip(words.strings.to_pylist(), may_be_replaced(words, None), strict=True)
        if free
    }


STAYS = [
    ("They sat in the drawing room until ten.", "room"),  # an entry of WordNet
    ("The ferns took root near the wall.", "root"),  # an inflected one
    ("We saw two birds of prey there.", "birds"),
    ("They met at the Grand hotel there.", "hotel"),  # beside a capital
    ('She wrote "a large house" on the card.', "house"),
    ("She said 'a large house' and left.", "house"),
    ("The house was sold in , and burned.", "house"),  # a template's gap
    ("The house of the  mayor burned.", "house"),  # two spaces
]
FREE = [
    ("They sat in the cold room until ten.", "room"),
    ("The hotel stood near the dogs' kennels and the cats' home.", "kennels"),
    ("It was the house they lived in.", "house"),
    ("It cost 1,500.50 in all, and the house burned.", "house"),
    ('"Yes," he said and sold the house.', "house"),
]


@pytest.mark.parametrize(("text", "word"), STAYS + FREE)
def test_what_stands_together_or_is_quoted_or_broken_stays(text, word):
    assert (word in free_words(text)) == ((text, word) in FREE)


def test_quotations_that_begin_or_end_elsewhere():
    for text, inside in (('so it was," he said.', "so it was"), ("He said, “so it was", "so it was")):
        quoted = is_quoted(CodePoints.of(pa.array([text])))
        place = text.index(inside)
        assert quoted[place : place + len(inside)].all()
        assert not quoted[text.index("said")]


def test_gaps_are_told_from_sentences():
    broken = [
        "He was born in , and left.",
        "It held () of them.",
        "It is longer than .",
        "A  b.",
        "Of the, and so.",
    ]
    broken += ["the hero of , really .", "a plot in , said the maker ."]
    whole = [
        "It is what we came for.",
        "At 3.5 km, he stopped.",
        "He came in, and left.",
        "So (as he said) it is.",
        "a good film , really .",  # as treebanks have it
    ]
    expected = [True] * len(broken) + [False] * len(whole)
    assert has_gap(CodePoints.of(pa.array(broken + whole))).tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "No sword was found.",
        "The guard had never seen a sword.",
        "If a sword is found, call him.",
        "He came without a sword.",
        "It was the longest sword.",
        "Only the sword was sold.",
        "Was the sword sold?",
    ],
)
def test_the_wider_noun_is_not_put_where_it_does_not_follow(text):
    words = Words.of(CodePoints.of(pa.array([text])))
    place = next(i for i, word in enumerate(words.strings.to_pylist()) if word.startswith("sword"))
    assert not entails_wider(words, None)[place]


BOTH = """
The DT det 2 det 2
guard NN nsubj 3 nsubj 3
drew VBD ROOT 0 root 0
a DT det 5 det 5
sword NN dobj 3 obj 3
and CC cc 3 cc 8
did VBD aux 8 aux 8
see VB conj 3 conj 3
no DT det 10 det 10
spear NN dobj 8 obj 8
. . punct 3 punct 3
"""


@pytest.mark.parametrize("scheme", ["clear", "universal"])
def test_a_negation_turns_its_clause_and_no_other(scheme):
    text = "The guard drew a sword and did see no spear."
    rows = parsed_rows([text], [row_of(text, BOTH, scheme)], [0])
    words = Words.of(rows.code_points)
    upward = dict(zip(words.strings.to_pylist(), entails_wider(words, rows.parses), strict=True))
    assert upward["sword"] and not upward["spear"]


def test_a_bare_plural_that_a_clause_is_about_is_said_of_all():
    text = "Wolves fear men."
    parse = "Wolves NNS nsubj 2 nsubj 2\nfear VBP ROOT 0 root 0\nmen NNS dobj 2 obj 2\n. . punct 2 punct 2\n"
    rows = parsed_rows([text], [row_of(text, parse, "universal")], [0])
    assert entails_wider(Words.of(rows.code_points), rows.parses).tolist() == [False, True, True]


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
def test_counts_of_a_rate(amount, maximum, expected):
    words = np.array([1, 10, 11, 29, 0])
    assert word_edits.counts_of(words, 0.1, amount, maximum).tolist() == expected
    assert word_edits.counts_of(words, 0.0, amount, maximum).tolist() == [0] * 5
    # A rate times a number may come out a hair above a whole number.
    everything = np.arange(1, 200) * 10
    assert (word_edits.counts_of(everything, 0.1, amount, 0) == everything // 10).all()


@pytest.mark.parametrize("amount", word_edits.AMOUNTS)
@pytest.mark.parametrize("maximum", [0, 2])
@pytest.mark.parametrize("rate", [0.0, 0.15, 0.5, 1.0])
def test_choice_is_that_of_the_slow_reference(amount, maximum, rate):
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
def test_removal_of_plain_words_is_that_of_the_slow_reference(texts, data):
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
        ("The big, bad wolf", {1, 2}, "The wolf"),
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
        ('A hill (high, "Blue") burned.', {2, 3}, "A hill burned."),
        ('They pass their "old(er)" trees.', {2, 3, 4}, "They pass trees."),
        ('He called it "bad," and left.', {3, 4}, "He called it left."),
        ('"Oddly," said Anna.', {0}, "Said Anna."),
        # A straight mark that closes is not one that opens.
        ('The "ABC" of first aid', {2}, 'The "ABC" first aid'),
        ('Her "Koto" song, while he slept', {2}, 'Her "Koto", while he slept'),
        ('She "never" laughed', {0}, '"Never" laughed'),
        ('The book—"the red one"—burned', {2}, 'The book—"red one"—burned'),
        ('the "first," old, and new', {2}, 'the "first," and new'),
    ],
)
def test_removal_leaves_clean_text(text, gone, expected):
    words = words_of([text])
    removed = np.array([place in gone for place in range(len(words))])
    assert apply_edits(words.texts, remove_words(words, removed)).to_pylist() == [expected]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.6, 1.0])
def test_deletion_leaves_a_word_and_takes_the_right_number(rate):
    words = words_of(TEXTS)
    removed = deletions(words, np.arange(len(TEXTS)), KEY, rate, "ceil", 0)
    gone = np.bincount(words.rows[removed], minlength=len(TEXTS))
    expected = np.minimum(
        word_edits.counts_of(words.counts, rate, "ceil", 0), np.maximum(words.counts - 1, 0)
    )
    assert gone.tolist() == expected.tolist()


@pytest.mark.parametrize("part", ["window", "gap"])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_crop_is_one_stretch(part, rate):
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


@pytest.mark.parametrize("distance", ["any", "neighbour"])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_swaps_are_those_of_the_slow_reference(distance, rate):
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


def test_repetitions_are_drawn_evenly_up_to_their_bound():
    uniforms = np.linspace(0, 1, 1000, endpoint=False)
    counts = repeat_counts(np.full(1000, 20), uniforms, 0.32, 10)
    shares = Counter(counts.tolist())
    assert set(shares) == set(range(6))
    assert set(shares.values()) <= {166, 167}
    assert repeat_counts(np.array([1000]), np.array([0.999]), 0.32, 10).tolist() == [9]
    assert set(repeat_counts(np.full(1000, 1), uniforms, 0.32, 10).tolist()) == {0, 1}


AN = ["apple", "hour", "honest", "heir", "unimportant", "FBI", "8", "11", "80th", "umbrella"]
A = ["river", "university", "European", "one", "one-time", "useful", "unit", "UN", "7", "10", "house", ""]


@pytest.mark.parametrize("word", AN + A)
def test_which_words_have_an_before_them(word):
    assert begins_with_vowel_sound(word) == (word in AN)


def test_places_in_the_row_are_what_an_edit_list_takes():
    texts = pa.array(["a grey heron waits", "so do we"])
    code_points = CodePoints.of(texts)
    words = Words.of(code_points)
    last = words.offsets[1:] - 1
    edits = EditList()
    edits.replace(
        words.rows[last], words.row_starts[last], words.row_ends[last], ["X"], np.zeros(2, np.int64)
    )
    assert apply_edits(code_points, edits.edits()).to_pylist() == ["a grey heron X", "so do X"]
