"""The shipped sample corpus: clean unique lines, of the languages and lengths that its README promises."""

import unicodedata
from importlib.resources import files

import pytest

from augment_cli.languages import language_codes

SAMPLE = files("augment_cli") / "sample"


NAMES = ("sentences.txt", "sentences.de.txt", "sentences.es.txt", "sentences.fr.txt", "sentences.zh.txt")


def lines_of(name):
    return (SAMPLE / name).read_bytes().decode("utf-8").removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def sentences():
    return lines_of("sentences.txt")


def test_there_are_enough_sentences_and_the_readme_says_how_many(sentences):
    assert len(sentences) >= 1000
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"{len(lines_of(name)):,} sentences" in readme for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_clean_and_all_different(name):
    lines = lines_of(name)
    assert (SAMPLE / name).read_bytes().endswith(b"\n")
    assert len({line.casefold() for line in lines}) == len(lines)
    assert [s for s in lines if not s or s != s.strip() or "  " in s or not s.isprintable()] == []
    assert [s for s in lines if unicodedata.normalize("NFC", s) != s] == []


@pytest.mark.parametrize("name", NAMES[1:])
def test_lines_of_other_languages_are_told_as_such(name):
    assert language_codes(lines_of(name)) == [name.split(".")[1]]
