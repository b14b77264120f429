"""Phrases, numbers, vectors, places: against slow references and num2words."""

import gzip
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from augment_cli.augmentations.augcse.embedding_neighbour import neighbours, read_vectors
from augment_cli.augmentations.augcse.geographic_name import cities, find_places
from augment_cli.english.words import PhraseTable
from augment_cli.errors import UsageError
from augment_cli.resources import shipped_digest, word_list, word_table
from augment_cli.text import numbers
from tests.helpers.in_memory import augment, words_of
from tests.helpers.properties import examples

PHRASES = ["a", "a b", "a b c", "b b", "c a", "d"]
TOKENS = st.lists(st.sampled_from(["a", "b", "c", "d", "A", "x", "a,"]), max_size=9)


@examples(200)
@given(rows=st.lists(TOKENS, max_size=4))
def test_matches_are_those_of_the_slow_reference(rows):
    words = words_of([" ".join(row) for row in rows])
    found = PhraseTable(PHRASES).find(words)
    expected = []
    for row, tokens in enumerate(rows):
        place = 0
        while place < len(tokens):
            best = None
            for number, phrase in enumerate(PHRASES):
                length = len(phrase.split())
                window = tokens[place : place + length]
                plain = [token.lower().strip(",") for token in window]
                if plain == phrase.split() and not any("," in token for token in window[:-1]):
                    best = (length, number) if best is None or length > best[0] else best
            if best:
                first = int(words.offsets[row]) + place
                expected.append((first, first + best[0] - 1, best[1]))
                place += best[0]
            else:
                place += 1
    assert (
        list(zip(found.first.tolist(), found.last.tolist(), found.phrases.tolist(), strict=True)) == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1984", "nineteen eighty-four"),
        ("1905", "nineteen oh five"),
        ("2009", "two thousand and nine"),
        ("1,984", "one thousand, nine hundred and eighty-four"),
        ("1980s", "nineteen eighties"),
        ("21st", "twenty-first"),
        ("3.14", "three point one four"),
        ("0.5%", "zero point five percent"),
        ("£2.05", "two pounds and five pence"),
        ("$3.5bn", "three point five billion dollars"),
        ("3/4", "three quarters"),
        ("10:05", "ten oh five"),
        ("9:00", "nine o'clock"),
        ("12-year-old", "twelve-year-old"),
        ("555-0199", None),
        ("007", None),
        ("10km", None),
        ("1/13", None),
        ("9" * 40, None),
    ],
)
def test_numbers_in_words(text, expected):
    assert numbers.in_words(text) == expected


def test_numbers_are_those_of_num2words():
    draws = np.random.default_rng(0)
    some = [*range(1200), *(int(10 ** draws.uniform(3, 15)) for _ in range(500))]
    for number in some:
        assert numbers.cardinal(number) == num2words(number)
        assert numbers.ordinal(number) == num2words(number, to="ordinal")
    for number in range(1100, 2100):
        assert numbers.year(number) == num2words(number, to="year").replace("oh-", "oh ")


@pytest.fixture
def vectors(tmp_path):
    file = tmp_path / "vectors.txt"
    rows = {"river": (1, 0), "River": (1, 0.01), "stream": (0.9, 0.2), "boat": (0, 1), "ship": (0.1, 0.9)}
    file.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in rows.items()), "utf-8")
    return file


def test_neighbours_are_those_of_the_slow_reference(tmp_path):
    draws = np.random.default_rng(3)
    table = draws.normal(size=(40, 5)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    words = [f"w{number}" for number in range(40)]
    np.save(tmp_path / "v.npy", table)
    (tmp_path / "v.txt").write_text("\n".join(words) + "\n")
    _, nearest = neighbours(str(tmp_path / "v.npy"), "one", 0, 4)
    cosines = table @ table.T
    for row in range(40):
        others = np.argsort(-cosines[row], kind="stable").tolist()
        others.remove(row)
        assert nearest[row].tolist() == others[:4]


def test_every_form_of_vectors_reads_the_same(vectors, tmp_path):
    words, table = read_vectors(str(vectors))
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1, rtol=1e-6)
    with_header = tmp_path / "header.txt.gz"
    with_header.write_bytes(gzip.compress(b"5 2\n" + vectors.read_bytes()))
    np.save(tmp_path / "array.npy", table)
    (tmp_path / "array.txt").write_text("\n".join(words.to_pylist()) + "\n")
    for path in (with_header, tmp_path / "array.npy"):
        other_words, other = read_vectors(str(path))
        assert other_words.equals(words)
        np.testing.assert_allclose(other, table, rtol=1e-6)
    assert len(read_vectors(str(vectors), limit=2)[0]) == 2


@pytest.mark.parametrize("content", ["", "river one two\n", "river 1 2\nboat 1\n", "river 1 nan\n"])
def test_files_that_hold_no_vectors_are_named(content, tmp_path):
    (tmp_path / "bad.txt").write_text(content)
    with pytest.raises(UsageError, match=r"bad\.txt"):
        read_vectors(str(tmp_path / "bad.txt"))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full((2, 3), 1 + 2j), "complex128"),
        (np.array([["a", "b"], ["c", "d"]]), "<U1"),
        (np.array([[True, False], [True, True]]), "bool"),
        (np.full((2, 2), 1e300), "not finite"),
        (np.zeros((2, 2, 2)), "shape"),
        (np.zeros((3, 2)), "2 words"),
    ],
)
def test_arrays_that_hold_no_vectors_are_named(array, words, tmp_path):
    np.save(tmp_path / "bad.npy", array)
    (tmp_path / "bad.txt").write_text("river\nboat\n")
    with pytest.raises(UsageError, match=rf"bad\.npy: .*{words}"):
        read_vectors(str(tmp_path / "bad.npy"))


@pytest.mark.parametrize("pipe", ["bad.npy", "bad.txt"])
def test_a_pipe_in_place_of_vectors_is_not_waited_for(tmp_path, pipe):
    np.save(tmp_path / "bad.npy", np.ones((2, 2)))
    (tmp_path / pipe).unlink(missing_ok=True)
    os.mkfifo(tmp_path / pipe)
    with pytest.raises(UsageError, match="not a file"):
        read_vectors(str(tmp_path / "bad.npy"))


def test_embedding_neighbours(vectors):
    options = {"vectors": str(vectors), "rate": 1.0, "top": 1}
    rows = augment("embedding-neighbour", ["The River and a boat.", "Nothing."], **options).to_pylist()
    assert rows[0]["text"] == "The Stream and a ship."
    assert rows[1]["reason"] == "no_eligible_token"
    inserted = augment("embedding-neighbour", ["A boat!"], action="insert", **options).to_pylist()[0]
    assert inserted["text"] == "A boat ship!"
    with pytest.raises(UsageError, match="--vectors"):
        augment("embedding-neighbour", ["A boat."])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in Paris, France", ["Paris"]),
        ("In New Delhi and Tokyo.", ["New Delhi", "Tokyo"]),
        ("Paris Hilton", []),
        ("New Paris", []),
        ("the paris mode", []),
        ("London-based; London's", []),
    ],
)
def test_places_are_names_of_their_own(text, found):
    words = words_of([text])
    matches = find_places(words, cities())
    spans = zip(words.flat_starts[matches.first], words.flat_ends[matches.last], strict=True)
    assert [text[start:end] for start, end in spans] == found


RULES = {
    "colour_families": "f02aad0c05cb",
    "contractions": "6677e6f77585",
    "grammar_words": "108170d845d0",
    "kinds_of_numbers": "433037ab4314",
    "number_series": "06eb7ebbf653",
    "place_facts": "15f6a4c513d0",
    "rule_words": "139ed067de47",
    "uses_without_opposite": "aad397f1c53c",
}


@pytest.mark.parametrize("name", RULES)
def test_a_list_that_is_part_of_a_rule_changes_with_its_version(name):
    # Like the code of a rule, such a list is in no fingerprint: raise the version of what reads it
    assert shipped_digest(f"words/{name}.txt").startswith(RULES[name])


def test_word_lists_hold_what_their_readers_expect():
    assert all(len(row) == 3 for row in word_table("discourse_markers"))
    kinds = {"comma", "opening", "bare", "clause", "target"}
    assert {row[2] for row in word_table("discourse_markers")} == kinds
    assert all(len(row) == 2 for row in word_table("gendered_words"))
    lists = ("function_words", "colours", "colour_terms", "abbreviations", "male_names", "female_names")
    for name in (*lists, "kin_terms", "mass_nouns", "vague_nouns", "avoided_words"):
        words = word_list(name)
        assert len(set(words)) == len(words), name
        assert all(word == word.lower() for word in words)
    assert not set(word_list("male_names")) & set(word_list("female_names"))


@pytest.mark.parametrize(
    ("name", "there", "back", "text", "expected"),
    [
        (
            "gender-swap", {}, {},
            "He and his sister saw her brother, the king, himself; the queen saw him.",
            "She and her brother saw his sister, the queen, herself; the king saw her.",
        ),
        (
            "contraction", {"direction": "contract"}, {"direction": "expand"},
            "They do not know that I am late, and she will not wait.",
            "They don't know that I'm late, and she'll not wait.",
        ),
    ],
)  # fmt: skip
def test_there_and_back_is_the_sentence_again(name, there, back, text, expected):
    (once,) = augment(name, [text], **there)["text"].to_pylist()
    assert once == expected
    assert augment(name, [once], **back)["text"].to_pylist() == [text]
