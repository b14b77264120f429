"""The switch of the fast ways, and what happens where a library has changed."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers

from augment_cli.neural import fast
from augment_cli.neural.fast import beam_search
from augment_cli.neural.fast.attention import share_beams
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import ModelFolder
from tests.helpers.tiny_models import SENTENCES


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(fast, "_said", set())


def outputs(folder, returned=2):
    """What a model writes, and the attention that it ended up with."""
    model = Seq2Seq(ModelFolder(Path(folder), "0" * 64), Decoding(beams=4, returned=returned))
    ids, _ = model.read(SENTENCES[:8])
    return model.write(ids, 0, range(8)), model._model.config._attn_implementation


def test_the_environment_and_the_setting_turn_it_off(monkeypatch):
    assert fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "0")
    assert not fast.is_on()
    fast.use(True)
    assert not fast.is_on()
    monkeypatch.setenv("AUGMENT_FAST", "1")
    assert fast.is_on()
    monkeypatch.setattr(fast, "_wanted", True)
    fast.use(False)
    assert not fast.is_on()


def test_what_is_missing_is_said_once(capsys):
    assert fast.has("products", torch, "nn.Linear", "Tensor")
    assert fast.has("products", "torch.nn", "Linear")
    assert capsys.readouterr().err == ""
    assert not fast.has("products", torch, "nn.Linear", "nn.NoSuchLayer")
    assert not fast.has("products", "torch.no_such_module")
    assert not fast.has("attention", "torch.no_such_module", "forward")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("products: the library's own, slower code is used") and "NoSuchLayer" in first
    assert second.startswith("attention: ") and "no_such_module" in second


def test_the_variable_is_read_by_every_process():
    """It decides in a worker, too, which knows of nothing but its environment."""
    program = "from augment_cli.neural import fast; print(fast.is_on())"
    for value, expected in (("0", "False"), ("1", "True")):
        done = subprocess.run(
            [sys.executable, "-c", program], env={"AUGMENT_FAST": value}, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == expected


def test_off_means_the_librarys_search_and_attention_with_the_same_outputs(model, monkeypatch):
    expected, attention = outputs(model("pegasus"))
    assert attention == "augment_cli_shared_beams"
    monkeypatch.setenv("AUGMENT_FAST", "0")
    monkeypatch.setattr(beam_search, "_Search", None)  # is not used
    found, attention = outputs(model("pegasus"))
    assert attention == "sdpa"
    assert found == expected
    assert len({one.text for some in found for one in some}) > 8


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        ("transformers.integrations.sdpa_attention", "sdpa_attention_forward"),
        ("transformers.masking_utils", "sdpa_mask"),
    ],
)
def test_attention_without_what_it_reads_is_the_models_own(model, monkeypatch, capsys, owner, name):
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(model("pegasus"))
    library = importlib.import_module(owner)
    monkeypatch.setattr(library, name, getattr(library, name))  # a lazy module's attribute, now its own
    monkeypatch.delattr(library, name)
    assert not share_beams(network)
    assert network.config._attn_implementation == "sdpa"
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("attention of many beams: ") for line in lines) == 1


def test_a_search_without_what_it_reads_is_the_librarys_own(model, monkeypatch, capsys):
    expected, _ = outputs(model("pegasus"))
    monkeypatch.setattr(beam_search, "_READ", ("_eos_token_tensor", "_renamed_tensor"))
    monkeypatch.setattr(beam_search, "_Search", None)  # is not used
    found, _ = outputs(model("pegasus"))
    assert found == expected
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("beam search: ") and "_renamed_tensor" in line for line in lines) == 1
