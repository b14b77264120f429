"""Training pairs: the rules of `rephrase`, all of them at once, on parsed sentences."""

from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.english.rephrasing.lexicon import shipped_synonyms
from augment_cli.models import shipped_pipeline
from augment_cli.parsing.tables import parse_texts
from data.builds.paraphraser import pairs, questions
from data.builds.paraphraser.sentence import sentences

TEXTS = [
    "The town bought tea and coffee because of the storm.",
    "The bridge was painted by two men in March.",
    "He wanted to learn Latin at school.",
    "She slept.",
]


@cache
def parsed() -> pa.Table:
    """As `parses` writes a part."""
    import spacy

    texts = pa.array(TEXTS)
    return parse_texts(spacy.load(shipped_pipeline()), texts).append_column("text", texts)


def test_every_rule_at_once() -> None:
    assert pairs.paraphrases(parsed(), {("buy", "VERB"): ("purchase",)}).to_pylist() == [
        "The town purchased coffee and tea due to the storm.",
        "Two men painted the bridge in March.",
        "He wished to learn Latin at school.",
        "She slept.",
    ]


def test_pairs_are_those_that_differ_enough(tmp_path: Path) -> None:
    pq.write_table(parsed(), tmp_path / "parses-0000.parquet")
    made = list(pairs.from_parses(tmp_path, {}))
    assert [source for source, _ in made] == [TEXTS[0], TEXTS[1], TEXTS[2]]
    assert all(pairs.change(*pair) >= pairs.CHANGE for pair in made)


def test_sentences_are_the_parse() -> None:
    first = next(sentences(parsed()))
    assert [token.text for token in first.tokens][:4] == ["The", "town", "bought", "tea"]
    assert first.tokens[2].lemma == "buy" and first.tokens[2].head == 2
    assert first.block(1) == (0, 2)


def test_phrases_for_questions() -> None:
    verbs, nouns = questions.phrases(sentences(parsed()))
    assert verbs == ["learn Latin at school"]
    assert nouns == ["tea and coffee"]


def test_corrected_table(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text(
        "a\tNOUN\tb\t0.95\nc\tVERB\td\t0.95\ne\tVERB\tf\t0.99\nhuge\tADJ\tx\t0.95\n", encoding="utf-8"
    )
    (tmp_path / "rejected.txt").write_text("a/N\ne/N\n", encoding="utf-8")
    table = pairs.read_synonyms(tmp_path / "table.tsv", tmp_path)
    assert table == {("c", "VERB"): ("d",), ("e", "VERB"): ("f",)} | shipped_synonyms()
    assert table["huge", "ADJ"] == ("enormous",)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("a b c", "a b c", 0.0), ("a b", "c d", 1.0), ("a b c", "a x c", 0.5), ("", "", 0.0)],
)
def test_change(source: str, target: str, expected: float) -> None:
    assert pairs.change(source, target) == pytest.approx(expected)
