"""Defects that readers found, each in a small store beside noise: the page names the bad stage first."""

import re

import pytest

from augment_cli.pages.report import write_report
from tests.helpers.made_stores import store_of
from tests.helpers.spoilt_stages import spoil

_NOISE = ("random-swap", "word-deletion", "random-sentence", "word-repetition", "crop")
_ANIMALS = ["heron", "otter", "beaver", "badger", "falcon", "lizard", "turtle", "rabbit", "salmon", "spider"]


def sentences():
    """Of the corpus, in which each thing that a defect touches is as rare or as frequent as in a real one."""
    for n in range(120):
        name = "naïve" if n % 10 == 0 else "young"
        animal = _ANIMALS[n % 10]
        yield f"The {name} keeper saw {n % 12 + 1} birds in {1900 + n}, when the {animal} of river {n} slept."


def frame(text):
    return f"It is not true that {text[0].lower()}{text[1:]}" if hash_of(text) % 2 else f"Still, {text}"


def hash_of(text):
    return sum(map(ord, text))


def numbers(text):
    return re.sub(r"saw (\d+)", lambda found: f"saw {int(found[1]) * 7919 + 10_000}", text)


def years(text):
    return re.sub(r"19(\d\d)|20(\d\d)", lambda found: f"12{found[1] or found[2]}", text)


def one_pair(text):
    """One animal always becomes the same, each of the others another one each time."""
    for animal in _ANIMALS[1:]:
        text = text.replace(animal, animal + "abcdefghijklmnopqrstuvwxyz"[hash_of(text) % 26])
    return text.replace("heron", "vertebrate")


DEFECTS = {
    "letters": ("synonym", lambda text: text.replace("ï", ""), "have words without ï"),
    "frame": ("gender-swap", frame, "begin with “It is not true”"),
    "pair": ("hyponym", one_pair, "of the edits put “vertebrate” for “heron”"),
    "years": ("city-name", years, "of the years that were put in are unlike"),
    "numbers": ("geographic-name", numbers, "of the numbers that were put in are unlike"),
}


def first_notice(folder, *names):
    """The first sentence of the page of a store with these stages, and the page's list of such sentences."""
    written = write_report(store_of(folder, sentences(), *names), folder / "report.html")
    page = (folder / "report.html").read_text("utf-8")
    return written["notices"][0], re.search(r'<h2 id="look">.*?</section>', page, re.DOTALL)[0]


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_page_names_the_stage_with_a_defect_first(defect, tmp_path, monkeypatch):
    name, change, words = DEFECTS[defect]
    spoil(monkeypatch, name, change)
    notice, look = first_notice(tmp_path, *_NOISE, name)
    assert notice.startswith(f"{name}: ") and words in notice
    first = look.partition("</li>")[0]
    assert re.search(r'<br><span class="about">[A-Z].+\.</span>', first), first  # the advice
    assert "`" not in look


@pytest.mark.slow
def test_lost_clauses_are_found_by_the_parse(tmp_path, monkeypatch):
    spoil(monkeypatch, "rephrase", lambda text: text.partition(", when")[0] + ".")
    notice, _ = first_notice(tmp_path, *_NOISE, "rephrase")
    assert "rephrase: 100.0 % have fewer clauses than their originals" in notice


def test_noise_alone_is_named_as_what_it_may_be_made_for(tmp_path):
    assert "see whether it is meant to be so" in first_notice(tmp_path, "word-repetition")[0]
