"""Tokenisers by name, the plug-in point, and what importing the package loads."""

import subprocess
import sys
from importlib import metadata

import pyarrow as pa
import pytest

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from augment_cli.tokenization import get_tokenizer
from tests.helpers.places import REPOSITORY


def test_names_and_versions():
    assert get_tokenizer("treebank").name == "treebank"
    assert get_tokenizer("nltk").name == "nltk"
    assert metadata.version("nltk") in get_tokenizer("nltk").version
    assert metadata.version("nltk") in get_tokenizer("treebank").version
    assert get_tokenizer("nltk").version != get_tokenizer("treebank").version


def test_unknown_name_lists_the_choices():
    with pytest.raises(UsageError, match=r"'spacy'.*treebank, nltk, characters, or package\.module:callable"):
        get_tokenizer("spacy")


@pytest.mark.parametrize(
    "name", ["tests.helpers.plugin_tokenizers:by_bar", "tests.helpers.plugin_tokenizers:ByBar"]
)
def test_a_plugin_is_called(name):
    tokenizer = get_tokenizer(name)
    assert (tokenizer.name, tokenizer.version) == (name, "7")
    tokens = tokenizer(pa.array(["A b|c", "", "D"]))
    assert tokens.terms.to_pylist() == ["a b", "c", "", "d"]
    assert tokens.row_offsets.tolist() == [0, 2, 3, 4]
    assert tokens.starts.tolist() == [0, 4, 0, 0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module_here:f", "No module named 'no_such_module_here'"),
        ("tests.helpers.plugin_tokenizers:nothing", "no attribute 'nothing'"),
        (":f", "package.module:callable"),
        (".mytok:f", "package.module:callable"),
        ("tests.helpers.plugin_tokenizers:", "package.module:callable"),
        ("tests.helpers.plugin_tokenizers:unversioned", "attribute `version`"),
        ("tests.helpers.plugin_tokenizers:__name__", "must be a callable"),
    ],
)
def test_a_plugin_that_is_none(name, message):
    with pytest.raises(UsageError, match=message):
        get_tokenizer(name)


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        ("returns_list", ["a|b", "c"], "returned list instead of"),
        ("loses_a_row", ["a|b", "c"], r"for 2 texts and 1 terms; \(3, 1, 1\)"),
        ("counts_bytes", ["é|c"], r"'c' at 3:4 of the text 'é\|c'; spans are code points \(not bytes\)"),
        ("overlaps", ["a|b"], r"the token 'b' at 2:3 of the text 'a\|b'; .*without overlap"),
    ],
)
def test_a_plugin_with_a_wrong_answer(name, texts, message):
    with pytest.raises(UsageError, match=message):
        get_tokenizer(f"tests.helpers.plugin_tokenizers:{name}")(pa.array(texts))


def test_the_example_of_a_tokenizer(tmp_path, process):
    (tmp_path / "my_tokens.py").write_text((REPOSITORY / "examples/tokenizer/by_space.py").read_text("utf-8"))
    (tmp_path / "in.txt").write_text("小猫 喝 牛奶\nÉté Hiver ,\n")
    arguments = ["fit", "--corpus", "in.txt", "--tokenizer", "my_tokens:by_space"]
    fitted = process(*arguments, cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{REPOSITORY}")
    assert fitted.returncode == 0, fitted.stderr
    store = Store.open(tmp_path / "store")
    assert set(store.read("terms")["term"].to_pylist()) == {"小猫", "喝", "牛奶", "été", "hiver", ","}
    assert store.stage("terms").settings["resources"]["tokenizer"] == "1"


def test_ordinary_text_never_loads_nltk():
    code = (
        "import sys, pyarrow as pa; from augment_cli.tokenization import get_tokenizer; "
        "print(sorted({'nltk', 'regex', 'torch', 'spacy'} & set(sys.modules))); "
        "get_tokenizer('treebank')(pa.array(['\"It\\'s Ünal\\u00a0—\\u2009Σ,\" she said.'])); "
        "print('nltk' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split("\n")[:2] == ["[]", "False"]


def test_letters_of_scripts_without_spaces_are_terms():
    tokens = get_tokenizer("characters")(pa.array(["The 长江 is Größer, v2", ""]))
    assert tokens.terms.to_pylist() == ["the", "长", "江", "is", "größer", "v2"]
    assert tokens.starts.tolist() == [0, 4, 5, 7, 10, 18]
    assert tokens.row_offsets.tolist() == [0, 6, 6]
