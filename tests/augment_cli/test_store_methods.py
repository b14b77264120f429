"""A store with methods, arguments in a wrong order, and what results look like in a notebook."""

import inspect
import sys
import types

import pyarrow as pa
import pytest

import augment_cli
from augment_cli.errors import BadInputError, IncompleteError, MixError, UsageError

SENTENCES = [
    "The river flows through the old town.",
    "A heron waits by the bridge.",
    "The keeper opened the heavy door.",
    "Rain fell on the market all day.",
    "The children counted seven boats.",
    "An old map hung beside the window.",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with a store of six sentences and `una`."""
    monkeypatch.chdir(tmp_path)
    augment_cli.run("una", "store", texts=SENTENCES, jobs=1)
    return tmp_path


# --- a store with methods


def test_a_store_has_the_operations_as_methods(here):
    store = augment_cli.Store.open("store")
    assert [row["row_id"] for row in store.inspect("una", n=3)] == [
        row["row_id"] for row in augment_cli.inspect("una", "store", count=3)
    ]
    assert store.stats("una") == augment_cli.stats("una", "store")
    assert store.run("crop", jobs=1) is store and store.has("crop")
    assert store.fit(min_df=2, name="frequent") is store and store.frame("una").height == 6
    assert store.pack(positives=["corpus"], negatives=["una"]).frame("pack").height
    assert store.remove(["pack"]) == [] and "pack" not in store.stages()
    assert store.augment(["The river flows."], "una").num_rows == 1
    with pytest.raises(UsageError, match="has no parameter 'rnge'"):
        store.mine(rnge=3)
    assert isinstance(augment_cli.run_recipe("augcse-4-no-models", store).store, augment_cli.Store)


def test_every_operation_on_a_store_is_a_method():
    from augment_cli.contract.operation import DECLARED

    on_stores = [one for one in DECLARED if "store" in inspect.signature(one).parameters]
    assert len(on_stores) >= 22
    for function in on_stores:
        names = {function.__name__, vars(function)["command"].replace("-", "_")} - {""}
        (method,) = {getattr(augment_cli.Store, name, None) for name in names if _made(name, function)}
        assert "store" not in inspect.signature(method).parameters


def _made(name, function):
    return getattr(getattr(augment_cli.Store, name, None), "__wrapped__", None) is function


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
        (lambda: augment_cli.report("page.html", "store"), r"\.report\('page\.html'\)"),
        (lambda: augment_cli.augment("crop", ["The river flows."]), r"augment\(texts, 'crop'\)"),
    ],
)
def test_a_wrong_order_is_said_in_one_line(here, call, said):
    with pytest.raises(UsageError, match=said) as refused:
        call()
    assert "\n" not in str(refused.value) and [one.name for one in here.iterdir()] == ["store"]


def test_a_refused_corpus_binds_no_store(tmp_path):
    with pytest.raises(IncompleteError, match="3 of 4"):
        augment_cli.ingest_corpus(texts=["", "A heron waits.", "", ""], store=tmp_path / "store")
    store = augment_cli.Store.open(tmp_path / "store")
    assert len(store.inspect("rejects")) == 3  # to be looked at
    with pytest.raises(BadInputError, match=r"^texts: no sentence could be read"):
        store.ingest(texts=["", ""])
    assert store.ingest(texts=SENTENCES).kept == 6 and store.rows == 6
    store.run("crop", jobs=1)
    with pytest.raises(MixError, match="nothing was changed"):  # work is never replaced
        store.ingest(texts=["Another sentence."])


# --- in a notebook


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
    assert (
        "<ins" in store.inspect("una")._repr_html_() and "&lt;ins" not in store.inspect("una")._repr_html_()
    )
    assert "una" in store._repr_html_() and "6 rows" in store._repr_html_()
    assert "<td" in store.stats()._repr_html_() and "fingerprint" not in store.status()._repr_html_()
    page = store.report(out="page.html")
    assert "<iframe" in page._repr_html_() and page["stages"] == ["una"]
    table = augment_cli.augment(["The big <dog> sleeps."], "word-deletion", rate=0.5)
    assert "<del" in shell.show(table) and "&lt;" in shell.show(table) and "<dog>" not in shell.show(table)
    assert shell.show(pa.table({"text": ["x"]})) is None
