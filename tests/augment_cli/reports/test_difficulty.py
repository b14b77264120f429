"""How hard negatives are, by the shipped static encoder."""

import json
import shutil

import numpy as np
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.pages.report import write_report
from augment_cli.reports import comparison
from augment_cli.reports.comparison import Difficulty, difficulty_of, is_negative
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store

_WHO = "A baker,My uncle,The pilot,Our nurse,That singer,Some judge,One farmer,The poet"
_WHAT = (
    "sold bread at dawn,mended a broken radio,landed in thick fog,bandaged the arm,forgot the last verse,"
    "closed the case,ploughed the lower field,wrote about the sea,bought two old maps,"
    "fell asleep on the train"
)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Negatives that are near, far, and mined ones; a positive."""
    folder = tmp_path_factory.mktemp("compared")
    lines = [f"{who} {what}." for who in _WHO.split(",") for what in _WHAT.split(",")]
    rows = [
        {"text": line, "near": line.replace(".", ", or not."), "far": lines[n * 37 % 80]}
        for n, line in enumerate(lines, 1)
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Session(folder / "store", Engine(1)) as session:
        options = IngestOptions(text_column="text", negative_columns=("near", "far"))
        session.ingest([folder / "in.jsonl"], options)
        session.augment(make_run("random-sentence"))
        session.augment(make_run("word-deletion"))
    return Store.open(folder / "store")


def test_near_negatives_are_harder_than_random_and_random_ones_are_not(compared):
    near, far = (difficulty_of(compared, name) for name in ("near", "random-sentence"))
    assert near.is_hard and near.words.startswith("harder than random: mean cosine 0.")
    assert not far.is_hard and far.words.startswith("as easy as random")
    assert far.cosine == pytest.approx(far.random, abs=0.15) and near.rows == 80
    assert not difficulty_of(compared, "far").is_hard
    assert Difficulty(0.4, 0.1, 0.5, 99).words.startswith("hardly harder than random")


def test_only_negatives_have_a_difficulty(compared, monkeypatch):
    names = ("near", "word-deletion", "corpus")
    assert [is_negative(compared, name) for name in names] == [True, False, False]
    assert "difficulty" not in augment_cli.stats("word-deletion", compared)
    assert augment_cli.stats("near", compared)["difficulty"]["words"] == difficulty_of(compared, "near").words
    monkeypatch.setattr(comparison, "shipped_encoder", lambda: None)  # without torch
    assert difficulty_of(compared, "near") is None


def test_an_encoder_to_which_all_sentences_are_alike_says_nothing(compared, monkeypatch):
    class Alike:
        def encode(self, texts):
            return np.ones((len(texts), 4), np.float32)

    monkeypatch.setattr(comparison, "shipped_encoder", Alike)
    assert difficulty_of(compared, "near") is None


def test_the_command_and_the_page_say_it(compared, tmp_path, command):
    shown = command("stats", "near", "--store", compared.path)
    assert "harder than random: mean cosine" in " ".join(shown.stdout.split())
    table = command("stats", "--store", compared.path).stdout
    assert "random-sentence: as easy as random: mean" in table and "word-deletion: " not in table
    write_report(compared, tmp_path / "report.html")
    assert "Difficulty: as easy as random" in (tmp_path / "report.html").read_text("utf-8")


def test_of_a_damaged_part_the_other_numbers_are_said(compared, tmp_path):
    shutil.copytree(compared.path, tmp_path / "store")
    store = Store.open(tmp_path / "store")
    part = store.part_path("random-sentence", 0)
    data = bytearray(part.read_bytes())
    data[10:40] = bytes(30)
    part.write_bytes(data)
    entry = augment_cli.stats("random-sentence", store)
    assert entry["rows"] == 80 and "difficulty" not in entry
