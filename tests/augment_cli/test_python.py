"""The Python interface as a newcomer meets it: names, help, examples, errors, a store with methods."""

import doctest
import importlib
import inspect
import logging
import re
import shutil
import sys
import types

import pandas
import polars
import pyarrow as pa
import pytest

import augment_cli
from augment_cli import errors
from augment_cli.contract.operation import DECLARED
from augment_cli.errors import BadInputError, MixError, UsageError, UserError
from augment_cli.errors.python_words import in_python
from augment_cli.process.reporter import Bars, Logged, reporter_for_python

SENTENCES = [
    "The river flows through the old town.",
    "A heron waits by the bridge.",
    "The keeper opened the heavy door.",
    "Rain fell on the market all day.",
    "The children counted seven boats.",
    "An old map hung beside the window.",
]
FUNCTIONS = [name for name in augment_cli.__all__ if inspect.isroutine(getattr(augment_cli, name))]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("python") / "store"
    augment_cli.ingest_corpus(store=path, texts=SENTENCES)
    augment_cli.run("una", path, jobs=1)
    return path


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A folder with a copy of the store as `store`, and its sentences as a file."""
    shutil.copytree(made, tmp_path / "store")
    (tmp_path / "sentences.txt").write_text("\n".join(SENTENCES) + "\n")
    (tmp_path / "words.txt").write_text("river 0.1 0.2\nheron 0.3 0.1\nthe 0.0 0.1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_name_is_shown_typed_and_explained():
    assert dir(augment_cli) == sorted(augment_cli.__all__)
    source = inspect.getsource(augment_cli)
    assert "from augment_cli.api import *" in source
    source += inspect.getsource(augment_cli.api)
    for name in set(augment_cli.__all__) - {"__version__"}:  # what a type checker and an editor read
        module = re.search(rf"from ([\w.]+) import {name} as {name}\n", source)[1]
        assert getattr(importlib.import_module(module), name) and getattr(augment_cli, name)
    for name in FUNCTIONS:
        assert ">>> " in inspect.getdoc(getattr(augment_cli, name)) or name in ("publish", "fetch"), name


SLOW = ("parse", "run_recipe", "mine")  # they load spaCy or scipy


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in FUNCTIONS]
)
def test_the_examples_of_a_function_run(name, here):
    parser = doctest.DocTestParser()
    examples = parser.get_doctest(inspect.getdoc(getattr(augment_cli, name)), {}, name, None, None)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert results.failed == 0


@pytest.mark.slow
def test_the_examples_of_the_package_run(here):
    shutil.rmtree("store")
    parser = doctest.DocTestParser()
    examples = parser.get_doctest(augment_cli.__doc__, {}, "augment_cli", None, None)
    results = doctest.DocTestRunner().run(examples)
    assert results.failed == 0 and results.attempted > 3


def test_a_mistyped_name_gets_its_likely_meaning(here):
    for call, meant in (
        (lambda: augment_cli.run("unna"), "'una'"),
        (lambda: augment_cli.run("una", raduis=3), "'radius'"),
        (lambda: augment_cli.stats("unaa"), "'una'"),
        (lambda: augment_cli.run_recipe("defualt"), "'default'"),
        (lambda: augment_cli.mine("store", range_maxx=3), "'range_max'"),
        (lambda: augment_cli.inspect("una", reason="no_tokn"), ""),
    ):
        with pytest.raises(UserError, match=f"Did you mean {meant}" if meant else "has the reason"):
            call()
    with pytest.raises(AttributeError, match="Did you mean 'inspect'"):
        augment_cli.inspct  # noqa: B018
    assert errors.did_you_mean("xyz", ["una"]) == ""


def test_errors_name_parameters_not_options(here):
    with pytest.raises(UsageError) as caught:
        augment_cli.ingest_corpus(store="more", texts=pandas.DataFrame({"title": ["x"]}))
    assert "text_column=" in str(caught.value) and "--" not in str(caught.value)
    with pytest.raises(MixError) as refused:
        augment_cli.run("una", radius=9, background="none")
    assert "--" not in str(refused.value) and "background='always'" in str(refused.value)
    assert "`augment_cli.remove('una', store='store')`" in str(refused.value)
    with pytest.raises(UsageError, match="draws = 0: give a number from 1"):
        augment_cli.augment(["x"], "una", store="store", draws=0)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("give --overwrite, which", "give overwrite=, which"),
        ("Use the same settings (--min-df 1)", "Use the same settings (min_df=1)"),
        ("--name NAME", "stage=NAME"),
        ("--no-quoting reads it", "quoting=False reads it"),
        ("`augment-cli una --radius 1% --name x`", "`augment_cli.run('una', radius='1%', stage='x')`"),
        ("`augment-cli doctor`", "`augment-cli doctor`"),
        (
            "Use the same settings (--avoid none --seed 7 --include-self), or",
            "Use the same settings (avoid='none', seed=7, include_self=True), or",
        ),
        ("its own 92 (`--background none` does without).", "its own 92 (`background='none'` does without)."),
        ("`augment-cli remove a b --store s`", "`augment_cli.remove(['a', 'b'], store='s')`"),
        ("a line -- and a dash", "a line -- and a dash"),
    ],
)
def test_words_of_the_command_become_words_of_python(message, expected):
    function = "run" if "name" in message.lower() else ""
    assert in_python(message, function).replace(", name='x'", ", stage='x'") == expected


def test_data_frames_and_missing_sentences_are_augmented(here):
    given = ["The river flows.", None, "A heron waits by the old bridge."]
    expected = augment_cli.augment(given, "una", store="store")
    assert expected["original"].to_pylist() == given
    assert expected["text"].to_pylist()[1] is None and expected["reason"].to_pylist()[1] == "missing"
    plain = augment_cli.augment(["The river flows.", "", given[2]], "una", store="store")
    assert expected["text"].to_pylist()[::2] == plain["text"].to_pylist()[::2]
    wrong = r"no column 'text', it has \['title'\]; name one with text_column="
    for table in (pandas.DataFrame, polars.DataFrame, pa.table):
        frame = table({"title": given})
        assert augment_cli.augment(frame, "una", store="store", text_column="title").equals(expected)
        with pytest.raises(UsageError, match=wrong):
            augment_cli.augment(frame, "una", store="store")
    for series in (pandas.Series(given), polars.Series(given), pa.array(given)):
        assert augment_cli.augment(series, "una", store="store").equals(expected)


def test_progress_and_notes_go_to_the_logger_where_nobody_looks_on(tmp_path, caplog):
    assert isinstance(reporter_for_python(), Logged) and not isinstance(reporter_for_python(), Bars)
    with caplog.at_level(logging.INFO, "augment_cli"):
        augment_cli.ingest_corpus(store=tmp_path / "store", texts=[*SENTENCES, ""], max_rejects=1)
        augment_cli.run("una", tmp_path / "store", jobs=1)
    assert "una: made, 6 rows" in caplog.messages
    assert any("shipped table" in line for line in caplog.messages)
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] != []


def test_a_terminal_gets_bars(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    reporter = reporter_for_python()
    assert isinstance(reporter, Bars)
    with reporter.progress("una", 10) as show:
        show(4)
        show(6)
    reporter.warn("mind \x1b")
    shown = capsys.readouterr()
    assert "una" in shown.err and "Note: mind ␛" in shown.err and shown.out == ""


# --- choosing rows


def test_rows_are_chosen_by_reason_by_text_and_by_truth(here):
    augment_cli.ingest_corpus(
        store="pairs", texts=pa.table({"text": SENTENCES, "topic": ["a", "b"] * 3}), keep_columns=["topic"]
    )
    rows = augment_cli.inspect("corpus", "pairs", where="topic == b and line > 2")
    assert [row["row_id"] for row in rows] == [3, 5]
    rows = augment_cli.inspect("corpus", "pairs", where="topic != 'a' and text >= 'Rain'")
    assert [row["row_id"] for row in rows] == [3]
    augment_cli.ingest_corpus(store="few", texts=["river", "The river flows."], max_rejects=1)
    augment_cli.run("word-deletion", "few", jobs=1)
    (row,) = augment_cli.inspect("word-deletion", "few", reason="too_few_words")
    assert row["original"] == "river" and row["text"] is None
    with pytest.raises(UsageError, match=r"has the reason 'too_few'; there are too_few_words\. Did you mean"):
        augment_cli.inspect("word-deletion", "few", reason="too_few")
    with pytest.raises(UsageError, match="have no reasons"):
        augment_cli.inspect("corpus", "few", reason="too_few_words")
    with pytest.raises(UsageError, match="'replaced' of 'una' holds numbers, and 'many' is not one"):
        augment_cli.inspect("una", where="replaced > many and row_id == x")


def test_run_reads_a_corpus_and_the_store_says_what_it_holds(tmp_path):
    (tmp_path / "in.txt").write_text("The big dog sleeps.\nA heron waits by the river.\n")
    store = augment_cli.run("crop", tmp_path / "store", corpus=tmp_path / "in.txt", jobs=1)
    assert store.frame("crop").height == 2
    assert repr(store) == f"Store('{tmp_path / 'store'}': 2 rows; rejects, corpus, crop)"
    (store.path / "crop/part-00000.parquet").unlink()
    assert "crop (unfinished)" in repr(store)


def test_words_are_augmented_without_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = augment_cli.augment(["The big dog sleeps."], "synonym")
    assert result["text"][0].as_py() != "The big dog sleeps."
    with pytest.raises(BadInputError, match="no store here"):  # it needs a term table
        augment_cli.augment(["The big dog sleeps."], "una")
    with pytest.raises(BadInputError, match="elsewhere: no store here"):  # one was named
        augment_cli.augment(["The big dog sleeps."], "synonym", store="elsewhere")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("function", "known"),
    [("ingest_corpus", "text_column"), ("fit", "tokenizer"), ("score", "model"), ("pack_table", "margin")],
)
def test_an_unknown_keyword_is_named_with_those_there_are_before_anything_is_made(tmp_path, function, known):
    given = {"corpus": [tmp_path]} if function == "ingest_corpus" else {}
    with pytest.raises(UsageError, match=rf"{function}: has no parameter 'rnge'; it has .*{known}"):
        getattr(augment_cli, function)(store=tmp_path / "store", rnge=3, **given)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("call", ["fit", "parse", "embed", "mine", "run_recipe", "run"])
def test_the_sample_is_taken_only_where_it_is_named(tmp_path, call):
    given = {"name": "negation"} if call == "run" else {}
    with pytest.raises(UsageError, match=r"no corpus there, and none is named; .*augment_cli\.SAMPLE"):
        getattr(augment_cli, call)(store=tmp_path / "st2", **given)
    assert not (tmp_path / "st2").exists()


def test_one_name_in_the_place_of_a_list_is_not_spelt_out(tmp_path):
    path = tmp_path / "store"
    (tmp_path / "in.txt").write_text("The big dog sleeps.\nA heron waits by the river.\n")
    augment_cli.run("crop", path, corpus=str(tmp_path / "in.txt"), jobs=1)
    with pytest.raises(UsageError, match="labels='kind' takes it"):
        augment_cli.pack_table(path, positives="crop", negatives=[], jobs=1)
    more = {"carry": "row_id", "labels": "kind", "jobs": 1}
    packed = augment_cli.pack_table(path, positives="crop", negatives=[], **more)
    assert packed.frame("pack").columns == ["anchor", "positive", "row_id"]
    assert augment_cli.score(path, "crop", columns="length_ratio", jobs=1).has("scores-crop")
    assert [row["row_id"] for row in augment_cli.inspect("crop", path, rows=1)] == [1]
    assert len(augment_cli.status(path, str(tmp_path / "in.txt"))) == 5
    with pytest.raises(UsageError, match="stages='una': name different stages"):
        augment_cli.fit(path, stages="una")
    kept = augment_cli.ingest_corpus(
        texts=[{"text": "A heron waits.", "topic": "water"}], store=tmp_path / "kept", keep_columns="topic"
    )
    assert kept.read == 1 and "topic" in augment_cli.open_store(tmp_path / "kept").frame("corpus").columns


def test_every_operation_on_a_store_is_a_method():
    on_stores = {one for one in DECLARED if "store" in inspect.signature(one).parameters}
    methods = [one for one in vars(augment_cli.Store).values() if hasattr(one, "__wrapped__")]
    assert len(on_stores) >= 22 and {method.__wrapped__ for method in methods} == on_stores
    assert not any("store" in inspect.signature(method).parameters for method in methods)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: augment_cli.inspect("store", "una"), r"Store\.open\('store'\)\.inspect\('una'\)"),
        (lambda: augment_cli.inspect(augment_cli.open_store("store"), "una"), r"inspect\('una'\)"),
        (lambda: augment_cli.stats(augment_cli.open_store("store")), r"Store\.open\('store'\)\.stats\(\)"),
        (lambda: augment_cli.run("store", "crop"), r"Store\.open\('store'\)\.run\('crop'\)"),
        (lambda: augment_cli.run("new", "crop"), r"first, then the store: run\('crop', 'new'\)"),
        (lambda: augment_cli.run("default", "store"), r"is a recipe; call run_recipe\('default', 'store'\)"),
        (lambda: augment_cli.score("una", "store"), r"Store\.open\('store'\)\.score\('una'\)"),
        (lambda: augment_cli.augment("crop", ["The river flows."]), r"augment\(texts, 'crop'\)"),
    ],
)
def test_a_wrong_order_is_said_in_one_line(here, call, said):
    before = set(here.iterdir())
    with pytest.raises(UsageError, match=said) as refused:
        call()
    assert "\n" not in str(refused.value) and set(here.iterdir()) == before


def test_a_refused_corpus_binds_no_store(tmp_path):
    with pytest.raises(errors.IncompleteError, match="3 of 4"):
        augment_cli.ingest_corpus(texts=["", "A heron waits.", "", ""], store=tmp_path / "store")
    store = augment_cli.Store.open(tmp_path / "store")
    assert len(store.inspect("rejects")) == 3  # to be looked at
    with pytest.raises(BadInputError, match=r"^texts: no sentence could be read"):
        store.ingest(texts=["", ""])
    assert store.ingest(texts=SENTENCES).kept == 6 and store.rows == 6
    store.run("crop", jobs=1)
    with pytest.raises(MixError, match="nothing was changed"):  # work is never replaced
        store.ingest(texts=["Another sentence."])


class Shell:
    """What a notebook's IPython is to us."""

    def __init__(self, monkeypatch):
        self.shown = []
        shell = type("ZMQInteractiveShell", (), {})()
        display = types.SimpleNamespace(display=self.display)
        module = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
        monkeypatch.setitem(sys.modules, "IPython", module)
        shell.display_formatter = types.SimpleNamespace(formatters={"text/html": self})

    def display(self, content, display_id):
        self.shown.append([content._repr_html_()])
        return types.SimpleNamespace(update=lambda new, at=self.shown[-1]: at.append(new._repr_html_()))

    def for_type(self, kind, show):
        self.show = show


def test_a_notebook_gets_one_bar_and_nothing_on_stderr(here, monkeypatch, capsys, recwarn):
    shell = Shell(monkeypatch)
    augment_cli.run("crop", "store", jobs=1)
    assert len(shell.shown) == 1 and shell.shown[0][-1] == ""
    assert any("<progress" in one for one in shell.shown[0])
    augment_cli.ingest_corpus(store="other", texts=[*SENTENCES, ""], max_rejects=1)
    assert sum("Note: 1 of 7 lines set aside" in one for line in shell.shown for one in line) == 1
    captured = capsys.readouterr()
    assert captured.err == captured.out == "" and not recwarn.list


def test_results_show_themselves_with_what_changed_marked(here, monkeypatch):
    shell = Shell(monkeypatch)
    store = augment_cli.Store.open("store")
    rows = store.inspect("una")._repr_html_()
    assert "<ins" in rows and "&lt;ins" not in rows
    assert "una" in store._repr_html_() and "6 rows" in store._repr_html_()
    assert "<td" in store.stats()._repr_html_() and "fingerprint" not in store.status()._repr_html_()
    page = store.report(out="page.html")
    assert "<iframe" in page._repr_html_() and page["stages"] == ["una"]
    table = augment_cli.augment(["The big <dog> sleeps."], "word-deletion", rate=0.5)
    assert "<del" in shell.show(table) and "&lt;" in shell.show(table) and "<dog>" not in shell.show(table)
    assert shell.show(pa.table({"text": ["x"]})) is None
