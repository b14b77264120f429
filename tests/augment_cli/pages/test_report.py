"""The report page and the page to judge on: what they say, and what a hostile corpus can do to them."""

import base64
import dataclasses
import hashlib
import html
import html.parser
import itertools
import json
import re

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.pages import report as pages
from augment_cli.pages.facts import facts_of, stages_of
from augment_cli.pages.judging import asked_of, render, saved_as, write_judging
from augment_cli.pages.report import LIMIT, write_report
from augment_cli.reports import verdicts
from augment_cli.reports.report import stats
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.made_stores import hostile_store, made, store_of


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements, self.ids, self.inline, self.content, self._open = [], [], {}, "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        self._open = tag

    def handle_data(self, data):
        if self._open in ("style", "script"):
            self.inline[self._open] = self.inline.get(self._open, "") + data
        else:
            self.content += data

    def handle_endtag(self, tag):
        self._open = None


def written(store, tmp_path):
    entry = write_report(store, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert entry["bytes"] == len(text.encode())
    return text, Page(text)


def test_the_page_needs_nothing_but_itself_and_its_policy_says_so(store, tmp_path):
    text, page = written(store, tmp_path)
    assert "No cosines yet: augment-cli score" in page.content
    assert not re.search(r"(?:src|href|action)=\"(?!#)", text)
    assert "http" not in page.inline["style"] and "@import" not in page.inline["style"]
    policy = next(attrs["content"] for tag, attrs in page.elements if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none';")
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.inline[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not any(
        "style" in attrs or any(name.startswith("on") for name in attrs) for _, attrs in page.elements
    )


def test_it_can_be_read_by_a_screen_reader(store, tmp_path):
    _, page = written(store, tmp_path)
    tags = [tag for tag, _ in page.elements]
    assert {"main", "header", "h1", "table", "th"} <= set(tags) and tags.count("h1") == 1
    assert len(page.ids) == len(set(page.ids))
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(attrs.get("aria-label") for tag, attrs in page.elements if tag == "svg")
    named = [attrs["aria-labelledby"] for _, attrs in page.elements if "aria-labelledby" in attrs]
    assert named and set(named) <= set(page.ids)
    assert ("html", {"lang": "en"}) in page.elements


def test_a_corpus_can_do_nothing_to_the_page(tmp_path):
    text, page = written(hostile_store(tmp_path), tmp_path)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not any(tag == "img" for tag, _ in page.elements)
    assert "\u202e" not in text and "<U+202E>" in page.content
    assert "onerror=alert(2)>" in page.content and "{{ house }}" in page.content


def test_its_numbers_are_those_of_stats(store):
    assert stages_of(store) == ["una", "una.1"]
    one, numbers = facts_of(store, "una"), stats(store, "una")
    named = ("rows", "changed", "replaced_share")
    assert [one.rows, one.changed, one.realised] == [numbers[name] for name in named]
    assert one.counted == one.changed and 0 < one.distinct <= one.counted
    assert sum(count for _, _, count in one.replaced) <= numbers["edits"]
    for some in one.examples.values():
        for example in some:
            text = example.original
            for edit in reversed(example.edits):
                text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
            assert text == example.text


def test_what_stands_out_comes_from_several_stages_and_not_from_what_a_stage_is_made_for(tmp_path):
    store = made(tmp_path, ["stop", "halt", "stop", "halt"], radius=1, beta=1.0, background="none")
    plain = dataclasses.replace(
        facts_of(store, "una"), asked=None, signs={}, copies=0, changed=50, reasons={}, sampled=100
    )

    def said(**of_stages):
        stages = [dataclasses.replace(plain, name=name, **values) for name, values in of_stages.items()]
        return [(notice.stage, notice.text) for notice in pages.notices_of(store, stages)]

    assert said(quiet={}) == []
    # Rows beyond `--rows` are no rows that a rule left alone.
    assert said(model={"reasons": {"beyond_limit": 9_000, "same_words": 50}}) == []
    few = {"reasons": {"beyond_limit": 9_000, "no_subject": 450}}
    assert said(rule=few) == [
        ("rule", "changes 10.0 % of the rows that it was run on; most others: the main verb has no subject")
    ]
    # A few rows more or less would turn such a share.
    assert said(small={"signs": {"have a word twice in a row": 1}, "sampled": 29}) == []
    assert len(said(small={"signs": {"have a word twice in a row": 1}, "sampled": 30})) == 1
    # A sign of most rows is what the stage does, and comes last; two of a stage come before its third.
    twice = {"signs": {"have a word twice in a row": 97}}
    loud = {"signs": {"a": 40, "b": 30, "c": 20}}
    quieter = {"signs": {"d": 1}}
    assert [text for _, text in said(repeat=twice, loud=loud, quieter=quieter)] == [
        "40.0 % a",
        "30.0 % b",
        "1.0 % d",
        "97.0 % have a word twice in a row; see whether it is meant to be so",
        "20.0 % c",
    ]
    # A sign that several stages have is said of one of them, before all others have been heard.
    of_several = {"first": loud, "second": {"signs": {"a": 39}}, "third": quieter}
    assert [text for _, text in said(**of_several)][2:] == ["1.0 % d", "39.0 % a", "20.0 % c"]


def test_lines_that_were_set_aside_are_said_with_their_reasons(tmp_path):
    lines = ["the river flows", "the river flows", "the house stands", "", "the river flows"]
    written_page = write_report(store_of(tmp_path, lines, "crop", deduplicate="exact"), tmp_path / "r.html")
    assert "rejects: 60.0 % of the lines were set aside (3: 2 duplicate, 1 empty)" in written_page["notices"]
    assert "Lines that were set aside: 3." in (tmp_path / "r.html").read_text("utf-8")


def test_a_page_stays_below_its_limit_whatever_the_texts(tmp_path, monkeypatch):
    store = made(tmp_path, [f"river {n} " * 400 for n in range(20)], radius=4)
    text, _ = written(store, tmp_path)
    assert len(text.encode()) < LIMIT
    # With less room it has fewer examples, and at last none.
    monkeypatch.setattr(pages, "LIMIT", 27_000)
    fewer, _ = written(store, tmp_path)
    assert 0 < fewer.count("data-row=") < text.count("data-row=")
    monkeypatch.setattr(pages, "LIMIT", 1)
    assert "data-row=" not in written(store, tmp_path)[0]


def test_of_more_stages_than_fit_a_page_shows_some_and_says_so(store, tmp_path, monkeypatch):
    _, whole = written(store, tmp_path)
    monkeypatch.setattr(pages, "LIMIT", 1)
    _, page = written(store, tmp_path)
    assert "stage-2" in whole.ids and "do not fit" not in whole.content
    assert "stage-1" in page.ids and "stage-2" not in page.ids
    assert "do not fit on this page: 1;" in page.content


def test_the_command_writes_it_and_says_what_stands_out(store, tmp_path, command):
    (tmp_path / "new").mkdir()
    with pytest.raises(UsageError, match="no augmentation has been made here yet; run `augment-cli una`"):
        write_report(store_of(tmp_path / "new", ["the river flows"]), tmp_path / "r.html")
    done = command("report", "--store", store.path, "--out", tmp_path / "r.html")
    assert done.returncode == 0 and "2 stages; open it in a browser" in done.stdout
    assert (tmp_path / "r.html").read_bytes().startswith(b"<!doctype html>")
    asked = ("report", "--store", store.path, "--out")
    entry = json.loads(command(*asked, tmp_path / "r.html", "--json").stdout)
    assert entry["stages"] == ["una", "una.1"] and entry["bytes"] < LIMIT
    assert command(*asked, tmp_path).returncode == 2


def test_a_run_of_a_recipe_writes_it_with_the_seconds_and_says_where_it_is(tmp_path, command):
    (tmp_path / "in.txt").write_text("\n".join(f"the river {n} flows by house {n}" for n in range(40)))
    (tmp_path / "few.toml").write_text('[[run]]\naugmentation = "crop"\n')
    asked = ("run", "few.toml", "--corpus", "in.txt", "--report")
    assert command(*asked, "nowhere/page.html").returncode == 6
    assert not (tmp_path / "store").exists()  # said before anything is made
    done = command(*asked, "page.html")
    assert done.returncode == 0 and "in a browser: page.html" in done.stdout
    assert ">seconds</th>" in (tmp_path / "page.html").read_text("utf-8")
    assert command("report", "--out", "page.html").returncode == 0  # a store keeps no times
    assert ">seconds</th>" not in (tmp_path / "page.html").read_text("utf-8")


def test_of_spoiled_texts_there_is_no_page_but_the_reason(store, tmp_path, command):
    part = store.part_path("una", 1)
    data = bytearray(part.read_bytes())
    data[40:60] = bytes(20)  # within the first column
    part.write_bytes(data)
    done = command("report", "--store", store.path, "--out", tmp_path / "r.html")
    assert done.returncode == 4 and part.name in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_stage_with_a_part_cut_off_is_named_first(store, tmp_path):
    part = store.part_path("una", 1)
    part.write_bytes(part.read_bytes()[:-40])
    entry = write_report(Store.open(store.path), tmp_path / "r.html")
    assert entry["stages"] == ["una.1"]
    assert entry["notices"][0].startswith("una: is not complete, or a part of it is gone")


def test_contents_and_notices_lead_to_the_examples_by_their_headings(tmp_path):
    store = made(tmp_path, ["stop", "halt"] * 15, radius=1, beta=1.0, background="none")
    text, _ = written(store, tmp_path)
    links = re.findall(r'<a href="#([\w-]+)">([^<]+)</a>', text)
    assert ("stage-1", "Examples of una") in links and ("look", "Look here") in links
    ids = set(re.findall(r'id="([\w-]+)"', text))
    assert {target for target, _ in links} <= ids
    headings = dict(re.findall(r'<h2 id="([\w-]+)">([^<]+)</h2>', text))
    # Titles, not "here".
    assert all(headings[target] == title for target, title in links if target in headings)
    look = re.search(r'<h2 id="look">.*?</section>', text, re.DOTALL)[0]
    assert '<a href="#stage-1">Examples of una</a>' in look


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
    assert asked.startswith("neither positive nor negative: ")
    assert page.count(f", {html.escape(asked)}</p>") == 4
    assert "Neither positive nor negative: good is what the augmentation is for" in page


def test_a_corpus_can_do_nothing_to_the_page_to_judge_on(tmp_path):
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
