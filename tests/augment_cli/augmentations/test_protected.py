"""Addresses, handles, hashtags, tags, entities, markers and one's own patterns survive every word edit."""

from typing import Any

import pyarrow as pa
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.runs.again import command_of
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.text.untouched import protecting
from tests.helpers.made_stores import store_of

SPANS = [
    "https://example.org/old-house?q=red&big=1#top",
    "www.example.com/a_b",
    "t.co/xYz12",
    "ann.lee@big-house.example.org",
    "@old_house",
    "#RedRiver2020",
    "<b>",
    "</b>",
    "<a href='big house'>",
    "</>",
    "&amp;",
    "&#8217;",
    "[COL]",
    "[VAL]",
]
TEXTS = [
    f"The airplane near {span} was almost big, and the red rug {span} (see {span}) moved rapidly."
    for span in SPANS
]
TEXTS += [f"{span} the airplane rapidly hid an old rug although the big house was red" for span in SPANS]
OPTIONS: dict[str, dict[str, Any]] = {
    "word-deletion": {"rate": 0.8, "maximum": 0},
    "random-swap": {"rate": 0.9},
    "word-repetition": {"rate": 1.0},
    "random-mixture": {"rate": 0.6},
    "synonym": {"rate": 1.0},
    "random-insertion": {},
    "una": {"beta": "1", "radius": "1000", "positions": "random"},
    "uda": {"beta": "1", "positions": "random"},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("protected"), TEXTS, "una").path


@pytest.mark.parametrize("name", OPTIONS)
def test_no_edit_of_words_cuts_into_them(store, name):
    rows = augment_cli.augment(TEXTS, name, store=store, draws=5, **OPTIONS[name]).to_pylist()
    changed = [row for row in rows if row["text"] is not None]
    assert len(changed) > len(TEXTS)
    for row in changed:
        for span in SPANS:
            assert row["text"].count(span) == row["original"].count(span), (row["original"], row["text"])


@pytest.mark.parametrize(
    "text", ["a < b and c > d", "I <3 it", "R&B; C#, #1", "He said: and/or, 3.5/4", "an e.g. word", "[sic]"]
)
def test_what_only_looks_like_one_is_not(text):
    assert protecting(pa.array([text])).protected is None


def test_patterns_of_one_s_own_are_protected_and_part_of_the_stage(tmp_path):
    lines = [f"the code AB-{n} means that the big house {n} is old" for n in range(30)]
    store = store_of(tmp_path, lines, make_run("word-deletion", rate=0.7, protect=r"code \w+-\d+"))
    texts = [text for text in store.read("word-deletion")["text"].to_pylist() if text]
    assert len(texts) > 20 and all("code AB-" in text for text in texts)
    assert command_of(store, "word-deletion").endswith(r"--protect 'code \w+-\d+'")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("word-deletion", rate=0.7, protect=r"code \w+-\d+"))
        with pytest.raises(MixError, match="protect"):
            session.augment(make_run("word-deletion", rate=0.7))
    with pytest.raises(UsageError, match="--protect '\\(': is not a regular expression"):
        make_run("word-deletion", protect="(")
