"""Silver trees: sampling, what is left out, and going on after a stop."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from data.builds.pipeline import silver
from data.builds.pipeline.treebank import Sentence


def chain(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Annotate: every word hangs on the one before, but a sentence that starts with "loop" has no root."""
    answers = []
    for sentence in sentences:
        size = len(sentence.words)
        heads = [max(0, i - 1) for i in range(size)]
        if sentence.words[0] == "loop":
            heads[0] = 1
        answers.append(
            Sentence(
                text=sentence.text,
                words=sentence.words,
                spaces=sentence.spaces,
                lemmas=sentence.words,
                pos=["NOUN"] * size,
                tags=["NN"] * size,
                morphs=[""] * size,
                heads=heads,
                deps=["ROOT"] + ["dep"] * (size - 1),
            )
        )
    return answers


LINES = [f"sentence number {i} is here" for i in range(9)] + ["loop without a root", "too short"[:3]]


def read(path: Path) -> list[str]:
    """Return the lower-cased texts of a file."""
    return [doc.text.lower() for doc in DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silver, "CHUNK", 4)


@pytest.mark.usefixtures("small_chunks")
def test_only_trees_are_written(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    outcomes = list(silver.write_silver(nlp, LINES, chain, tmp_path, seed=1))
    assert [(path.name, kept, given) for path, kept, given in outcomes] == [
        ("silver-000.spacy", 4, 4),
        ("silver-001.spacy", 4, 4),
        ("silver-002.spacy", 1, 3),
    ]
    texts = [text for path in sorted(tmp_path.iterdir()) for text in read(path)]
    assert texts == LINES[:9]
    first = next(DocBin().from_disk(tmp_path / "silver-000.spacy").get_docs(nlp.vocab))
    assert [token.head.i for token in first] == [0, 0, 1, 2, 3]


@pytest.mark.usefixtures("small_chunks")
def test_goes_on_after_a_stop_with_the_same_result(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    list(silver.write_silver(nlp, LINES, chain, whole, seed=1))
    next(silver.write_silver(nlp, LINES, chain, stopped, seed=1))
    (stopped / "silver-001.part").write_bytes(b"half")
    outcomes = list(silver.write_silver(nlp, LINES, chain, stopped, seed=1))
    assert [kept for _, kept, _ in outcomes] == [-1, 4, 1]
    for path in whole.iterdir():
        assert read(path) == read(stopped / path.name)


def test_sample_is_even_and_repeatable(tmp_path: Path) -> None:
    paths = []
    for name in "ab":
        paths.append(tmp_path / f"{name}.txt.gz")
        with gzip.open(paths[-1], "wt", encoding="utf-8") as file:
            file.writelines(f"{name}{i}\n" for i in range(100))
    lines = silver.sample_lines(paths, 31, seed=5)
    assert lines == silver.sample_lines(paths, 31, seed=5)
    assert len(set(lines)) == 31
    assert sorted(sum(line.startswith(name) for line in lines) for name in "ab") == [15, 16]


def test_lower_changes_words_alone() -> None:
    sentence = chain([Sentence("A Bee", words=["A", "Bee"], spaces=[True, False])])[0]
    lowered = silver.lower(sentence)
    assert (lowered.words, lowered.text) == (["a", "bee"], "a bee")
    assert lowered.lemmas == ["A", "Bee"]
