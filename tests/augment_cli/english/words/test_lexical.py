"""Replacement through WordNet: readings, relations, draws, against slow references; slips that were read."""

import dataclasses
import re
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.augmentations.augcse.lexical_noun import noun_relation
from augment_cli.engine.engine import Engine
from augment_cli.english.words import lexical
from augment_cli.english.words.lexical import DOMINANT_SHARE, LEAST_COUNT, LEAST_WEIGHT, antonyms, synonyms
from augment_cli.english.words.readings import reading_of_each_word, readings, token_of_each_word
from augment_cli.resources import word_list, word_table
from augment_cli.resources.wordnet import ADJECTIVE, NOUN, PART_LETTERS, TAGS, VERB, load_wordnet
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.hand_parses import SCHEMES, SENTENCES, parse_rows, row_of
from tests.helpers.in_memory import augment, entry_of, words_of

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
        ("a large house", 1, "large", ADJECTIVE),
        ("to demand it", 1, "demand", VERB),
        ("the demand grew", 1, "demand", NOUN),
        ("mice ran", 0, "mouse", NOUN),
    ],
)
def test_readings_follow_frequency_and_the_word_on_the_left(text, word, lemma, part):
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
def test_doubtful_words_names_and_function_words_are_left_alone(text, word):
    assert reading_of_each_word(words_of([text]))[word] == -1


def test_synonyms_are_those_of_the_slow_reference():
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


def test_inflection_is_kept():
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
        (lambda: hypernyms(10), "nickel", NOUN, "NN", "coin"),  # not in every sentence
        (lambda: synonyms("any"), "examples", NOUN, "NNS", "informations"),  # no plural
    ],
)
def test_what_reads_badly_is_not_put_in(relation, word, part, tag, never):
    assert never not in targets(relation(), word, part, tag)


def test_listed_words_are_words_of_wordnet():
    """A typing error in a list would leave a pair in, or out, without a word."""
    wordnet = load_wordnet()
    known = set(zip(wordnet.lemmas.to_pylist(), wordnet.entry_parts.tolist(), strict=True))
    avoided, kinds, pairs = map(word_table, ("avoided_pairs", "noun_kinds", "plain_synonyms"))
    assert {row[0] for row in avoided} == {"synonym", "antonym", "hypernym", "hyponym"}
    assert {relation for relation, _, _ in kinds} == {"hypernym", "hyponym", "both"}
    listed = [(letter, *lemmas) for _, letter, *lemmas in avoided]
    listed += [(PART_LETTERS[NOUN], kind, *members.split()) for _, kind, members in kinds]
    listed += [(letter, word, *others.split()) for letter, word, others in pairs]
    assert {(lemma, PART_LETTERS.index(letter)) for letter, *lemmas in listed for lemma in lemmas} <= known
    for rows, key in ((avoided, 3), (pairs, 2)):
        assert len({row[:key] for row in rows}) == len(rows)


def test_only_listed_pairs_of_nouns_that_wordnet_has_are_exchanged():
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


def test_every_target_serves_all_tags_of_its_form():
    wordnet = load_wordnet()
    for relation in (synonyms("frequent"), synonyms("any"), antonyms(), hypernyms(10), hyponyms(10)):
        owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
        bits = readings().bits[owners].astype(int)
        bits = np.where(bits & TAGS["NN"], bits & ~TAGS["NNS"], bits)
        assert (wordnet.form_first[relation.targets] & bits == bits).all()
        assert (relation.weights > 0).all()
        words = set(wordnet.forms.take(pa.array(relation.targets)).to_pylist())
        assert not words & {*word_list("function_words"), *word_list("avoided_words")}


def test_draws_follow_the_weights():
    offsets, others = np.array([0, 0, 3, 4]), np.array([7, 8, 9, 5], np.int32)
    relation = lexical.Relation(offsets, others, np.array([1.0, 2, 1, 3]))
    uniforms = np.linspace(0, 1, 400, endpoint=False)
    drawn = relation.draw(np.full(400, 1), uniforms)
    assert np.bincount(drawn).tolist() == [0] * 7 + [100, 200, 100]
    assert relation.draw(np.array([2, 2]), np.array([0.0, 1 - 2**-53])).tolist() == [5, 5]
    assert lexical.draw_first(relation).targets.tolist() == [8, 5]


def test_one_antonym_is_put_in_or_an_odd_number_or_all():
    texts = ["He bought a cheap car in a dirty garage."] * 20
    one = augment("antonym", texts)
    assert set(one["replaced"].to_pylist()) == {1}
    assert len(set(one["text"].to_pylist())) == 2  # either of them
    assert set(augment("antonym", texts, several="drop")["replaced"].to_pylist()) == {0}
    assert set(augment("antonym", texts, several="all")["replaced"].to_pylist()) == {2}


def test_insertions_are_counted_and_leave_the_words_in_order():
    text = "The large students quickly built a big house near the old town."
    for row in augment("random-insertion", [text] * 30, rate=0.3).to_pylist():
        assert row["inserted"] == 3
        assert sum(len(edit["replacement"].split()) for edit in row["edits"]) == 3
        remaining = iter(row["text"].split())
        assert all(any(word.strip(".") == other.strip(".") for other in remaining) for word in text.split())


def test_synonyms_of_nouns_and_verbs_share_most_of_what_the_word_means():
    wordnet, relation = load_wordnet(), synonyms("frequent")
    owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
    sources, targets = readings().entries[owners], wordnet.form_entries[relation.targets]
    judged = np.isin(wordnet.entry_parts[sources], [NOUN, VERB])
    pairs = {(int(a), int(b)) for a, b in zip(sources[judged], targets[judged], strict=True)}
    assert len(pairs) > 300
    for source, target in sorted(pairs)[::25]:  # by the definition, pair by pair
        own = range(*wordnet.entry_senses[source : source + 2])
        theirs = set(wordnet.sense_synsets[slice(*wordnet.entry_senses[target : target + 2])].tolist())
        shared = sum(wordnet.sense_shares[sense] for sense in own if wordnet.sense_synsets[sense] in theirs)
        assert shared >= DOMINANT_SHARE - 1e-6
    lemmas = wordnet.lemmas.to_pylist()
    names = {(lemmas[a], lemmas[b]) for a, b in pairs}
    assert ("buy", "purchase") in names and ("show", "demonstrate") not in names


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("demand", {"demand": ("demand", VERB)}),
        ("supply", {"supply": ("supply", NOUN), "demand": ("demand", NOUN)}),
        ("put", {"put": ("put", VERB)}),
        ("code", {"began": ("begin", VERB)}),  # a compound stays together
        ("carry", {"tents": ("tent", NOUN)}),  # and a verb with its particle
        ("green", {}),  # the parse says that it is a name
        ("well-known", {"story": ("story", NOUN), "well-known": ("well-known", ADJECTIVE)}),
    ],
)
def test_readings_follow_the_parse(name, found, scheme):
    text = SENTENCES[name]["text"]
    words, wordnet = words_of([text]), load_wordnet()
    parses = parse_rows([text], [row_of(**SENTENCES[name], scheme=scheme)])
    read = reading_of_each_word(words, parses=parses)
    known = np.flatnonzero(read >= 0)
    entries = readings().entries[read[known]]
    lemmas = [wordnet.lemmas[int(entry)].as_py() for entry in entries]
    pairs = list(zip(lemmas, wordnet.entry_parts[entries].tolist(), strict=True))
    assert dict(zip(words.lower[1].take(words.lower[0][known]).to_pylist(), pairs, strict=True)) == found


def test_every_word_finds_its_token():
    chosen = [SENTENCES[name] for name in ("well-known", "supply")]
    texts, rows = [one["text"] for one in chosen], [row_of(**one, scheme="clear") for one in chosen]
    words, parses = words_of(texts), parse_rows(texts, rows)
    tokens, known = token_of_each_word(words, parses)
    forms = [parses.forms.values[code] for code in parses.forms.codes[tokens[known]].tolist()]
    assert forms == [word for word in words.strings.to_pylist() if word != "well-known"]
    assert known.tolist() == [True, False, True, True, True, True]


def test_tags_other_than_those_of_penn_leave_the_part_of_speech():
    text, row = "supply and demand", row_of(**SENTENCES["supply"], scheme="universal")
    parses = parse_rows([text], [row | {"tags": ["S", "CC", "S"]}])
    read = reading_of_each_word(words_of([text]), parses=parses)
    assert load_wordnet().entry_parts[readings().entries[read[[0, 2]]]].tolist() == [NOUN, NOUN]


def test_tables_are_those_of_a_slow_reference():
    wordnet, table = load_wordnet(), readings()
    names, forms = list(TAGS), np.array(wordnet.forms.to_pylist(), object)
    for spelling in ("put", "walked", "demand", "better", "sheep", "lives"):
        number = table.numbers[spelling]
        same = np.flatnonzero(forms == spelling)
        for place, tag in enumerate(names):
            able = [form for form in same.tolist() if wordnet.form_bits[form] & TAGS[tag]]
            reading = table.by_tag[place, number]
            if not able:
                assert reading == -1
                continue
            best = max(able, key=lambda form: (wordnet.entry_counts[wordnet.form_entries[form]], -form))
            assert (table.forms[reading], table.bits[reading]) == (best, TAGS[tag])


def test_a_tag_tells_which_inflection_to_keep():
    """`put` may be three forms; a past tense is all that its synonym has to serve."""
    text, parse = SENTENCES["put"].values()
    parses = parse_rows([text], [row_of(text, parse, "clear")])
    relation, words = synonyms("frequent"), words_of([text])
    plain, tagged = reading_of_each_word(words)[1], reading_of_each_word(words, parses=parses)[1]
    counts = np.diff(relation.offsets)
    assert counts[plain] == 0 and counts[tagged] > 0
    made = augment("synonym", [text], rate=0.1, occurrences="all", parses=parses)["text"].to_pylist()
    assert made == ["She placed it there."]
    assert augment("synonym", [text], rate=0.1)["text"].to_pylist() == [None]


def test_a_stage_goes_on_as_it_was_begun(tmp_path):
    """`auto` reads the parse where there is one, and never makes a stage anew because one has come."""
    texts = ["Supply and demand grew.", "The students quickly built a big house."]
    (tmp_path / "corpus.txt").write_text("\n".join(texts) + "\n", "utf-8")
    run = make_run("synonym", rate=1.0)
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "corpus.txt"])
        session.augment(run)
        session.parse()
        session.augment(run)
        session.augment(run, "later")
        store = session.store
        settings = {stage: store.stage(stage).settings for stage in ("synonym", "later")}
        assert settings["synonym"]["parameters"]["parts_of_speech"] == "words"
        assert settings["later"]["parameters"]["parts_of_speech"] == "parse"
        assert "parses" in settings["later"]["inputs"] and "parses" not in settings["synonym"]["inputs"]
        for stage, choice in (("synonym", "words"), ("later", "parse")):
            asked = dataclasses.replace(run.parameters, parts_of_speech=choice)
            again = augment_texts(texts, store, dataclasses.replace(run, parameters=asked))
            assert again["text"].to_pylist() == store.read(stage)["text"].to_pylist()


@pytest.mark.parametrize("name", ["crop", "word-deletion", "random-mixture"])
def test_nothing_leaves_a_space_before_a_mark_or_marks_around_nothing(name):
    texts = [
        "They work for the Players Association (the PA).",
        'He calls it the "Three Colors" trilogy, too.',
        'A raven ("Corvus corax") and a hill (called "Blue Top") were painted.',
        'He called it "bad," and she wrote "V"("S") on a [("very")] small card.',
    ]
    for seed in range(60):
        for text in filter(None, augment(name, texts, seed=seed, rate=0.5)["text"].to_pylist()):
            assert not re.search(r"""[(\[][\s,"]*[)\]]|(?<![\w"])"[\s,]*"(?![\w"])""", text)
            assert "  " not in text and not text.endswith(" ")
            assert name == "random-mixture" or (" ." not in text and " ," not in text)
