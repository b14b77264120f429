"""Replacement through WordNet: readings, relations, draws, against references that go word by word."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.augmentations.augcse.lexical_noun import noun_relation
from augment_cli.english.words import lexical
from augment_cli.english.words.lexical import LEAST_COUNT, LEAST_WEIGHT, antonyms, synonyms
from augment_cli.english.words.readings import reading_of_each_word, readings
from augment_cli.resources import word_list, word_table
from augment_cli.resources.wordnet import ADJECTIVE, NOUN, PART_LETTERS, TAGS, VERB, load_wordnet
from tests.helpers.in_memory import augment, words_of
from tests.helpers.wordnet_entries import entry_of

hypernyms, hyponyms = (partial(noun_relation, name) for name in ("hypernym", "hyponym"))


def form_number(form: str, part: int, tag: str) -> int:
    wordnet = load_wordnet()
    same = np.flatnonzero(np.array(wordnet.forms.to_pylist(), object) == form)
    bits = wordnet.form_bits[same] & TAGS[tag] > 0
    found = same[bits & (wordnet.entry_parts[wordnet.form_entries[same]] == part)]
    return int(found[0])


def targets(relation: lexical.Relation, form: str, part: int, tag: str) -> dict[str, float]:
    wordnet, number = load_wordnet(), form_number(form, part, tag)
    span = slice(relation.offsets[number], relation.offsets[number + 1])
    names = [wordnet.forms[int(other)].as_py() for other in relation.targets[span]]
    return dict(zip(names, relation.weights[span].tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "word", "lemma", "part"),
    [
        ("They walked home", 1, "walk", VERB),
        ("the walks were long", 1, "walk", NOUN),
        ("a large house", 1, "large", ADJECTIVE),
        ("to demand it", 1, "demand", VERB),
        ("the demand grew", 1, "demand", NOUN),
        ("mice ran", 0, "mouse", NOUN),
    ],
)
def test_readings_follow_frequency_and_the_word_on_the_left(
    text: str, word: int, lemma: str, part: int
) -> None:
    wordnet = load_wordnet()
    reading = reading_of_each_word(words_of([text]))[word]
    entry = readings().entries[reading]
    assert (wordnet.lemmas[int(entry)].as_py(), wordnet.entry_parts[entry]) == (lemma, part)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("supply and demand", 2),  # noun or verb?
        ("in the May sun", 2),
        ("the Green party", 1),
        ("Penny came", 0),
        ("IT HELPS", 1),
        ("of the", 1),
        ("qqq", 0),
    ],
)
def test_doubtful_words_names_and_function_words_are_left_alone(text: str, word: int) -> None:
    assert reading_of_each_word(words_of([text]))[word] == -1


def test_synonyms_are_those_of_the_slow_reference() -> None:
    """For some words: every pair of senses in one synset, weighed by hand, but for the avoided pairs."""
    wordnet, relation = load_wordnet(), synonyms("frequent")
    rows = [row for row in word_table("avoided_pairs") if row[0] == "synonym"]
    avoided = {(row[2], other) for row in rows for other in row[3:]}
    for lemma, part, tag in [("large", ADJECTIVE, "JJ"), ("nation", NOUN, "NN"), ("begin", VERB, "VB")]:
        entry = entry_of(wordnet, lemma, part)
        expected: dict[int, float] = {}
        for sense in range(wordnet.entry_senses[entry], wordnet.entry_senses[entry + 1]):
            groups, synset = wordnet.synset_senses, wordnet.sense_synsets[sense]
            for other in groups.values[groups.offsets[synset] : groups.offsets[synset + 1]].tolist():
                target = int(wordnet.sense_entries[other])
                if target != entry and min(wordnet.sense_counts[[sense, other]]) >= LEAST_COUNT:
                    weight = wordnet.sense_shares[sense] * wordnet.sense_shares[other]
                    expected[target] = expected.get(target, 0) + weight
        likely = {wordnet.lemmas[e].as_py(): w for e, w in expected.items() if w >= LEAST_WEIGHT}
        likely = {word: weight for word, weight in likely.items() if (lemma, word) not in avoided}
        found = targets(relation, lemma, part, tag)
        assert found == pytest.approx({word: w for word, w in likely.items() if word in found})
        assert set(likely) - set(found) <= {word for word in likely if " " in word or len(word) < 3}
        assert found


def test_inflection_is_kept() -> None:
    assert "pupils" in targets(synonyms("frequent"), "students", NOUN, "NNS")
    assert "started" in targets(synonyms("frequent"), "begun", VERB, "VBN")
    assert "smaller" in targets(antonyms(), "larger", ADJECTIVE, "JJR")
    assert "weapons" in targets(hypernyms(10), "swords", NOUN, "NNS")
    assert "cars" in targets(hyponyms(10), "vehicles", NOUN, "NNS")


@pytest.mark.parametrize(
    ("relation", "word", "part", "tag", "never"),
    [
        (lambda: synonyms("frequent"), "state", NOUN, "NN", "province"),
        (lambda: antonyms(), "modern", ADJECTIVE, "JJ", "nonmodern"),
        (lambda: hypernyms(10), "founder", NOUN, "NN", "symptom"),
        (lambda: hyponyms(10), "religion", NOUN, "NN", "yoga"),
        (lambda: hypernyms(10), "activity", NOUN, "NN", "act"),  # too vague
        (lambda: hypernyms(10), "eyes", NOUN, "NNS", "organs"),  # no kind of thing that is told apart
        (lambda: hypernyms(10), "nickel", NOUN, "NN", "coin"),  # not in every sentence
        (lambda: hyponyms(10), "vehicles", NOUN, "NNS", "missiles"),  # not on the list
        (lambda: hyponyms(10), "man", NOUN, "NN", "gentleman"),  # says the same
        (lambda: synonyms("any"), "examples", NOUN, "NNS", "informations"),  # no plural
        (lambda: hypernyms(10), "examples", NOUN, "NNS", "informations"),
    ],
)
def test_what_reads_badly_is_not_put_in(
    relation: Callable[[], lexical.Relation], word: str, part: int, tag: str, never: str
) -> None:
    assert never not in targets(relation(), word, part, tag)


def test_avoided_pairs_are_pairs_of_wordnet() -> None:
    """A typing error in the list would leave a pair in without a word."""
    wordnet = load_wordnet()
    known = set(zip(wordnet.lemmas.to_pylist(), wordnet.entry_parts.tolist(), strict=True))
    rows = word_table("avoided_pairs")
    assert {row[0] for row in rows} == {"synonym", "antonym", "hypernym", "hyponym"}
    for _, letter, *lemmas in rows:
        assert {(lemma, PART_LETTERS.index(letter)) for lemma in lemmas} <= known
    assert len({row[:3] for row in rows}) == len(rows)


def test_listed_kinds_and_synonyms_are_words_of_wordnet() -> None:
    """A typing error in a list would leave a pair out without a word."""
    wordnet = load_wordnet()
    known = set(zip(wordnet.lemmas.to_pylist(), wordnet.entry_parts.tolist(), strict=True))
    kinds = word_table("noun_kinds")
    assert {relation for relation, _, _ in kinds} == {"hypernym", "hyponym", "both"}
    assert {(noun, NOUN) for _, kind, members in kinds for noun in (kind, *members.split())} <= known
    pairs = word_table("plain_synonyms")
    for letter, word, others in pairs:
        assert {(lemma, PART_LETTERS.index(letter)) for lemma in (word, *others.split())} <= known
    assert len({row[:2] for row in pairs}) == len(pairs)


def test_only_listed_pairs_of_nouns_that_wordnet_has_are_exchanged() -> None:
    wordnet = load_wordnet()
    lemmas = wordnet.lemmas.to_pylist()
    listed = {
        (relation, kind, member)
        for relation, kind, members in word_table("noun_kinds")
        for member in members.split()
    }
    for name, relation in (("hypernym", hypernyms(10)), ("hyponym", hyponyms(10))):
        owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
        sources = [lemmas[entry] for entry in readings().entries[owners].tolist()]
        others = [lemmas[wordnet.form_entries[form]] for form in relation.targets.tolist()]
        assert len(set(zip(sources, others, strict=True))) > 100
        for one, other in zip(sources, others, strict=True):
            kind, member = (other, one) if name == "hypernym" else (one, other)
            assert {(name, kind, member), ("both", kind, member)} & listed
    nearer = {int(form) for form in hypernyms(1).targets}
    assert nearer < {int(form) for form in hypernyms(10).targets}


def test_every_target_serves_all_tags_of_its_form() -> None:
    wordnet = load_wordnet()
    for relation in (synonyms("frequent"), synonyms("any"), antonyms(), hypernyms(10), hyponyms(10)):
        owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
        bits = readings().bits[owners].astype(int)
        bits = np.where(bits & TAGS["NN"], bits & ~TAGS["NNS"], bits)
        assert (wordnet.form_first[relation.targets] & bits == bits).all()
        assert (relation.weights > 0).all()
        words = set(wordnet.forms.take(pa.array(relation.targets)).to_pylist())
        assert not words & {*word_list("function_words"), *word_list("avoided_words")}


def test_draws_follow_the_weights() -> None:
    offsets, others = np.array([0, 0, 3, 4]), np.array([7, 8, 9, 5], np.int32)
    relation = lexical.Relation(offsets, others, np.array([1.0, 2, 1, 3]))
    uniforms = np.linspace(0, 1, 400, endpoint=False)
    drawn = relation.draw(np.full(400, 1), uniforms)
    assert np.bincount(drawn).tolist() == [0] * 7 + [100, 200, 100]
    assert relation.draw(np.array([2, 2]), np.array([0.0, 1 - 2**-53])).tolist() == [5, 5]
    assert lexical.draw_first(relation).targets.tolist() == [8, 5]


def test_replacements_touch_nothing_else() -> None:
    texts = ["  The students  quickly\tbuilt (a big) “house”…  "]
    row = augment("synonym", texts, rate=1.0, senses="any").to_pylist()[0]
    assert row["replaced"] == 4 or row["replaced"] == 5
    text = row["text"]
    assert text.startswith("  The ")
    assert text.endswith("”…  ")
    assert "\t" in text and "(a " in text


def test_rates_and_limits() -> None:
    texts = ["The large students quickly built a big house and a small boat near the old airplane."] * 50
    one = augment("synonym", texts, rate=0.05)["replaced"].to_pylist()
    assert set(one) == {1}
    some = augment("synonym", texts, rate=0.2, senses="any")["replaced"].to_pylist()
    assert set(some) == {4}
    few = augment("synonym", texts, rate=0.2, maximum=2, senses="any")["replaced"].to_pylist()
    assert set(few) == {2}
    coin = augment("synonym", texts, rate=0.5, amount="coin", maximum=0, senses="any")["replaced"].to_pylist()
    assert len(set(coin)) > 2


def test_one_antonym_is_put_in_or_an_odd_number_or_all() -> None:
    texts = ["He bought a cheap car in a dirty garage."] * 20
    one = augment("antonym", texts)
    assert set(one["replaced"].to_pylist()) == {1}
    assert len(set(one["text"].to_pylist())) == 2  # either of them
    assert set(augment("antonym", texts, several="drop")["replaced"].to_pylist()) == {0}
    assert set(augment("antonym", texts, several="all")["replaced"].to_pylist()) == {2}


def test_insertions_are_counted_and_leave_the_words_in_order() -> None:
    text = "The large students quickly built a big house near the old town."
    for row in augment("random-insertion", [text] * 30, rate=0.3).to_pylist():
        assert row["inserted"] == 3
        assert sum(len(edit["replacement"].split()) for edit in row["edits"]) == 3
        remaining = iter(row["text"].split())
        assert all(any(word.strip(".") == other.strip(".") for other in remaining) for word in text.split())
