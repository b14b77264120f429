"""The page to judge on: it is blind, holds what it saves, and is nothing that a text says."""

import html
import json
import re

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.pages.judging import asked_of, render, saved_as, write_judging
from augment_cli.reports import verdicts
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.augment_cli.pages.test_report import Page
from tests.helpers.made_pages import hostile_store


def sampled(store, stages=("una", "una.1"), count=4):
    return [one for stage in stages for one in verdicts.sample(store, stage, count)]


def lines_of(page):
    return [json.loads(html.unescape(line)) for line in re.findall(r'data-line="([^"]+)"', page)]


def test_a_page_holds_the_rows_in_random_order_and_saves_what_is_read(store, tmp_path):
    judgements = sampled(store)
    write_judging(store, tmp_path / "first.html", judgements, seed=1)
    assert saved_as(tmp_path / "first.html") == "first.judged.jsonl"
    lines = lines_of((tmp_path / "first.html").read_text("utf-8"))
    assert len(lines) == 8
    (tmp_path / "saved.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    read = verdicts.read([tmp_path / "saved.jsonl"])
    assert read != judgements and sorted(read, key=str) == sorted(judgements, key=str)
    assert lines_of(render(store, judgements, "x", 1)) == lines != lines_of(render(store, judgements, "x", 2))


def test_whose_a_row_is_stands_nowhere_that_is_shown_before_the_verdict(store):
    page = render(store, sampled(store), "rows.judged.jsonl", 0)
    shown = re.sub(r'<p class="origin about" hidden>[^<]+</p>', "", re.sub(r' data-line="[^"]+"', "", page))
    assert "una" not in shown.replace("unavailable", "") and page.count("hidden>una") == 8
    assert "Show the stage and rule of a row once it is judged" in shown
    # What good means, for the labels that are there.
    assert "Should say something else: good says something else" in shown
    assert "Should say the same" not in shown


def test_of_what_is_neither_the_page_says_what_it_is_to_its_original(store):
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("word-deletion"))
    opened = Store.open(store.path)
    page = render(opened, sampled(opened, ["word-deletion"]), "x", 0)
    asked = asked_of(opened, "word-deletion")
    assert (
        asked.startswith("neither positive nor negative: ") and page.count(f", {html.escape(asked)}</p>") == 4
    )
    assert "Neither positive nor negative: good is what the augmentation is for" in page


def test_every_element_has_a_name_and_the_policy_knows_the_script(store):
    page = Page(render(store, sampled(store), "rows.judged.jsonl", 0))
    groups = [attrs["aria-label"] for tag, attrs in page.elements if attrs.get("role") == "group"]
    notes = [attrs["aria-label"] for tag, attrs in page.elements if attrs.get("type") == "text"]
    assert len(set(groups)) == len(set(notes)) == 8
    assert len(page.ids) == len(set(page.ids))
    named = [attrs["aria-labelledby"] for _, attrs in page.elements if "aria-labelledby" in attrs]
    assert set(named) <= set(page.ids)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not any(name.startswith("on") or name == "style" for _, attrs in page.elements for name in attrs)


def test_a_corpus_can_do_nothing_to_the_page(tmp_path):
    store = hostile_store(tmp_path)
    text = render(store, sampled(store, ["una"], 40), "x", 0)
    assert "\u202e" not in text and not any(tag == "img" for tag, _ in Page(text).elements)
    assert any("\u202e" in line["original"] for line in lines_of(text))


def test_a_page_replaces_none_but_its_kind(store, tmp_path):
    augment_cli.report(store, tmp_path / "report.html")
    with pytest.raises(UsageError, match="was not written by this command"):
        write_judging(store, tmp_path / "report.html", sampled(store))
    write_judging(store, tmp_path / "rows.html", sampled(store))
    write_judging(store, tmp_path / "rows.html", sampled(store, count=2))


def test_the_command_mixes_stages(store, tmp_path, command):
    names = ("una", "una.1", "--store", store.path)
    done = command("judge", *names, "-n", "3", "--html", tmp_path / "rows.html")
    assert done.returncode == 0 and "6 rows to judge" in done.stdout and "rows.judged.jsonl" in done.stdout
    assert len(lines_of((tmp_path / "rows.html").read_text("utf-8"))) == 6
    assert command("judge", *names, "-n", "3", "--write", tmp_path / "rows.jsonl").returncode == 0
    assert len(verdicts.read([tmp_path / "rows.jsonl"])) == 6
    assert command("judge", *names, "--html", "a.html", "--write", "b").returncode == 2
    assert command("judge", "--read", tmp_path / "rows.jsonl", "--html", "a.html").returncode == 2
    assert len(augment_cli.judge(["una", "una.1"], store, count=2, html=tmp_path / "rows.html")) == 4
