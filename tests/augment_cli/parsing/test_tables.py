"""What `parse_texts` keeps of a Doc, and what it does with text nobody would call a sentence."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
import spacy
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from augment_cli.errors import UsageError
from augment_cli.parsing import tables
from augment_cli.parsing.pipelines import find_pipeline, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.store.parquet import PARSES, read_parquet, write_parquet
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import CodePoints
from tests.helpers.properties import examples

TEXTS = [
    "The heron waits. Boats don't stop here.",
    "  Two  spaces,\ta tab\r\nand İstanbul 🙂🙂 e\u0301 日本語 ",
    "",
    "waits",
    "_ _",
]


@pytest.fixture(scope="module")
def nlp(pipeline):
    return load_pipeline(find_pipeline(pipeline))


def expected_of(doc):
    """What the table should hold of a Doc, by spaCy's documented token attributes."""
    return {
        "starts": [token.idx for token in doc],
        "ends": [token.idx + len(token.text) for token in doc],
        "whitespace": [bool(token.whitespace_) for token in doc],
        "lemmas": [token.lemma_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "tags": [token.tag_ for token in doc],
        "morphs": [str(token.morph) for token in doc],
        "deps": [token.dep_ for token in doc],
        "heads": [token.head.i for token in doc],
        "sentence_starts": [token.is_sent_start for token in doc],
    }


def test_every_attribute_is_the_docs_also_after_parquet(nlp, tmp_path):
    table = parse_texts(nlp, pa.array(TEXTS), np.arange(5) + 70)
    write_parquet(tmp_path / "part.parquet", PARSES, [table])
    rows = read_parquet(tmp_path / "part.parquet").to_pylist()
    for number, (row, doc) in enumerate(zip(rows, nlp.pipe(TEXTS), strict=True)):
        assert row == {"row_id": 70 + number} | expected_of(doc)
    assert rows[0]["lemmas"][:3] == ["the", "heron", "wait"]
    assert sum(rows[0]["sentence_starts"]) >= 1 and len(set(rows[0]["heads"])) > 1


def test_the_default_components_of_hand_made_docs():
    """No model at all: a component that sets what we say, including several roots in a row."""

    @Language.component("by_hand")
    def by_hand(doc: Doc) -> Doc:
        return Doc(
            doc.vocab,
            words=["a", "_", "c", "d"],
            spaces=[True, True, False, False],
            heads=[1, 1, 3, 3],
            deps=["det", "ROOT", "x:y", "ROOT"],
            tags=["T", "", "_", "é"],
            pos=["DET", "NOUN", "X", ""],
            lemmas=["a", "_", "", "D"],
            morphs=["", "A=b|C=d", "", ""],
        )

    nlp = spacy.blank("en")
    nlp.add_pipe("by_hand")
    assert parse_texts(nlp, pa.array(["a _ cd"])).to_pylist() == [
        {
            "row_id": 0,
            "starts": [0, 2, 4, 5],
            "ends": [1, 3, 5, 6],
            "whitespace": [True, True, False, False],
            "lemmas": ["a", "_", "", "D"],
            "pos": ["DET", "NOUN", "X", ""],
            "tags": ["T", "", "_", "é"],
            "morphs": ["", "A=b|C=d", "", ""],
            "deps": ["det", "ROOT", "x:y", "ROOT"],
            "heads": [1, 1, 3, 3],
            "sentence_starts": [True, False, True, False],
        }
    ]


def assert_sound(texts, table):
    """Tokens and the white space after them give the text again; heads stay in their row."""
    assert table.schema.equals(PARSES)
    for text, row in zip(texts, table.to_pylist(), strict=True):
        tokens = [text[start:end] for start, end in zip(row["starts"], row["ends"], strict=True)]
        spaces = [" " if space else "" for space in row["whitespace"]]
        assert "".join(token + space for token, space in zip(tokens, spaces, strict=True)) == text
        assert all(0 <= head < len(tokens) for head in row["heads"])
        assert all(tokens) and row["sentence_starts"][:1] in ([], [True])
        for position in range(len(tokens)):  # following heads ends at a root
            for _ in tokens:
                position = row["heads"][position]
            assert row["heads"][position] == position


ODD_CHARACTERS = st.sampled_from("a bB.,'\u0301\u200d🙂日İ\t\r\n\x00\x07\ufeff\u2028\u00a0")
ODD_TEXTS = ["", " ", "\r\n", "don't", "x" * 3_000, "word " * 400, ". " * 300, "👩‍👩‍👧 ok"]
ODD = st.lists(
    st.text(ODD_CHARACTERS | st.characters(exclude_categories=["Cs"])) | st.sampled_from(ODD_TEXTS),
    max_size=6,
)


@examples(40, HealthCheck.function_scoped_fixture)
@given(texts=ODD)
def test_odd_input_never_raises_and_gives_the_text_again(nlp, texts):
    table = parse_texts(nlp, pa.array(texts, pa.string()))
    assert_sound(texts, table)
    rows = ParseRows.from_table(table, CodePoints.of(pa.array(texts, pa.string())))
    forms = [rows.forms.values[code] for code in rows.forms.codes]
    assert forms == [
        text[start:end]
        for text, row in zip(texts, table.to_pylist(), strict=True)
        for start, end in zip(row["starts"], row["ends"], strict=True)
    ]


def test_a_text_beyond_spacys_own_limit(nlp):
    text = "The heron waits." + "\n" * 1_000_000
    assert_sound([text], parse_texts(nlp, pa.array([text])))


@pytest.mark.parametrize(("rows", "characters"), [(1, 10), (3, 10**6), (128, 90)])
def test_a_row_does_not_depend_on_its_batch(nlp, monkeypatch, rows, characters):
    texts = [*TEXTS, *(f"Boat {n} waits{' here' * (n % 9)}." for n in range(50))]
    expected = parse_texts(nlp, pa.array(texts))
    monkeypatch.setattr(tables, "BATCH_TEXTS", rows)
    monkeypatch.setattr(tables, "BATCH_CHARACTERS", characters)
    assert parse_texts(nlp, pa.array(texts)).equals(expected)


def test_batches_keep_every_text_and_their_limits(monkeypatch):
    monkeypatch.setattr(tables, "BATCH_TEXTS", 3)
    monkeypatch.setattr(tables, "BATCH_CHARACTERS", 10)
    texts = ["a" * length for length in (4, 4, 4, 11, 1, 1, 1, 1, 0)]
    batches = list(tables._batches(texts))
    assert [len(batch) for batch in batches] == [2, 1, 1, 3, 2]
    assert [text for batch in batches for text in batch] == texts


def test_new_words_leave_nothing_behind(nlp):
    before = len(nlp.vocab.strings)
    parse_texts(nlp, pa.array([f"unheard{n}of" for n in range(300)]))
    assert len(nlp.vocab.strings) == before


def test_a_tokenizer_that_alters_the_text_is_refused():
    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.replace("colour", "color").split(" "))
    with pytest.raises(UsageError, match=r"do not give the text again \(from 'ur of it'"):
        parse_texts(nlp, pa.array(["the colour of it"]))


def test_torch_has_its_threads_back_afterwards(nlp):
    import torch

    before = torch.get_num_threads()
    parse_texts(nlp, pa.array(["The heron waits."]))
    assert torch.get_num_threads() == before


def test_components_that_no_rule_reads_are_not_loaded(pipeline, nlp):
    source = find_pipeline(pipeline)
    assert source.disabled == ("ner",)
    assert nlp.component_names == ["tok2vec", "tagger", "morphologizer", "trainable_lemmatizer", "parser"]


def test_loaded_once(pipeline):
    source = find_pipeline(pipeline)
    first = load_pipeline(source)
    assert load_pipeline(dataclasses.replace(source)) is first
