"""Which form of which entry a word is: by hand-made parses, against a reference that goes form by form."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.english.words.lexical import synonyms
from augment_cli.english.words.readings import reading_of_each_word, readings, token_of_each_word
from augment_cli.resources.wordnet import ADJECTIVE, NOUN, TAGS, VERB, load_wordnet
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.helpers.hand_parses import SCHEMES, parse_rows, row_of
from tests.helpers.in_memory import augment, words_of

DEMAND = """
They PRP nsubj 2 nsubj 2
demand VBP ROOT 0 root 0
it PRP dobj 2 obj 2
. . punct 2 punct 2
"""
SUPPLY = """
supply NN ROOT 0 root 0
and CC cc 1 cc 3
demand NN conj 1 conj 1
"""
PUT = """
She PRP nsubj 2 nsubj 2
put VBD ROOT 0 root 0
it PRP dobj 2 obj 2
there RB advmod 2 advmod 2
. . punct 2 punct 2
"""
CODE = """
The DT det 3 det 3
source NN compound 3 compound 3
code NN nsubj 4 nsubj 4
began VBD ROOT 0 root 0
. . punct 4 punct 4
"""
CARRY = """
They PRP nsubj 2 nsubj 2
set VBD ROOT 0 root 0
up RP prt 2 compound:prt 2
tents NNS dobj 2 obj 2
. . punct 2 punct 2
"""
GREEN = """
the DT det 3 det 3
green NNP compound 3 compound 3
party NNP ROOT 0 root 0
"""
WELL_KNOWN = """
a DT det 5 det 5
well RB advmod 4 advmod 4
- HYPH punct 4 punct 4
known VBN amod 5 amod 5
story NN ROOT 0 root 0
"""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("text", "parse", "found"),
    [
        ("They demand it.", DEMAND, {"demand": ("demand", VERB)}),
        ("supply and demand", SUPPLY, {"supply": ("supply", NOUN), "demand": ("demand", NOUN)}),
        ("She put it there.", PUT, {"put": ("put", VERB)}),
        ("The source code began.", CODE, {"began": ("begin", VERB)}),  # a compound stays together
        ("They set up tents.", CARRY, {"tents": ("tent", NOUN)}),  # and a verb with its particle
        ("the green party", GREEN, {}),  # the parse says that it is a name
        (
            "a well-known story",
            WELL_KNOWN,
            {"story": ("story", NOUN), "well-known": ("well-known", ADJECTIVE)},
        ),
    ],
)
def test_readings_follow_the_parse(
    text: str, parse: str, found: dict[str, tuple[str, int]], scheme: str
) -> None:
    words, wordnet = words_of([text]), load_wordnet()
    parses = parse_rows([text], [row_of(text, parse, scheme)])
    read = reading_of_each_word(words, parses=parses)
    known = np.flatnonzero(read >= 0)
    entries = readings().entries[read[known]]
    lemmas = [wordnet.lemmas[int(entry)].as_py() for entry in entries]
    pairs = list(zip(lemmas, wordnet.entry_parts[entries].tolist(), strict=True))
    assert dict(zip(words.lower[1].take(words.lower[0][known]).to_pylist(), pairs, strict=True)) == found


def test_every_word_finds_its_token() -> None:
    texts = ["a well-known story", "supply and demand"]
    rows = [row_of(texts[0], WELL_KNOWN, "clear"), row_of(texts[1], SUPPLY, "clear")]
    words, parses = words_of(texts), parse_rows(texts, rows)
    tokens, known = token_of_each_word(words, parses)
    forms = [parses.forms.values[code] for code in parses.forms.codes[tokens[known]].tolist()]
    assert forms == [word for word in words.strings.to_pylist() if word != "well-known"]
    assert known.tolist() == [True, False, True, True, True, True]


def test_tags_other_than_those_of_penn_leave_the_part_of_speech() -> None:
    text = "supply and demand"
    row = row_of(text, SUPPLY, "universal")
    parses = parse_rows([text], [row | {"tags": ["S", "CC", "S"]}])
    read = reading_of_each_word(words_of([text]), parses=parses)
    assert load_wordnet().entry_parts[readings().entries[read[[0, 2]]]].tolist() == [NOUN, NOUN]


def test_tables_are_those_of_a_slow_reference() -> None:
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


def test_a_tag_tells_which_inflection_to_keep() -> None:
    """`put` may be three forms; a past tense is all that its synonym has to serve."""
    text = "She put it there."
    parses = parse_rows([text], [row_of(text, PUT, "clear")])
    relation, words = synonyms("frequent"), words_of([text])
    plain, tagged = reading_of_each_word(words)[1], reading_of_each_word(words, parses=parses)[1]
    counts = np.diff(relation.offsets)
    assert counts[plain] == 0 and counts[tagged] > 0
    made = augment("synonym", [text], rate=0.1, occurrences="all", parses=parses)["text"].to_pylist()
    assert made == ["She placed it there."]
    assert augment("synonym", [text], rate=0.1)["text"].to_pylist() == [None]


def test_a_stage_goes_on_as_it_was_begun(tmp_path: Path) -> None:
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
