"""A run's folder that cannot be written: said before anything is loaded; a full disk: in our words."""

import errno
import itertools
import json
import math
import os
import resource
import shutil
import sys

import pytest
import torch

from augment_cli.errors import BadInputError, MixError, UsageError
from tests.helpers.file_faults import Crash, Faults, injected
from tests.helpers.training import quick_run
from train import outputs
from train.extras.plot import plot
from train.outputs.log import Log, read_log

WILD = [1e99, -1e99, math.inf, -math.inf, math.nan, 2**63 - 1, 0.5]


@pytest.fixture
def refused(tmp_path, ended):
    """The exit code and the line of a run with `tmp_path / "run"`, which has neither store nor encoder."""
    none = tmp_path / "none"
    return lambda out=tmp_path / "run": ended("simcse", "--store", none, "--encoder", none, "--out", out)


@pytest.mark.parametrize(("name", "out"), [("run", "run"), ("run/checkpoints", "run"), ("file", "file/run")])
def test_a_file_where_a_folder_must_be(tmp_path, refused, name, out):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("a file")
    code, line = refused(tmp_path / out)
    assert code == 4 and f"{file}: is not a folder" in line


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        *((name, os.mkdir, "is a folder, where a file is written") for name in ("log.jsonl", "run.html")),
        ("summary.json", os.mkfifo, "is a pipe or a device, where a file is written"),
        *((name, os.mkfifo, "is not a folder") for name in ("last", "best", "whitened", "tensorboard")),
    ],
)
def test_what_is_of_another_kind_than_it_must_be(tmp_path, refused, name, make, said):
    (tmp_path / "run").mkdir()
    make(tmp_path / "run" / name)
    code, line = refused()
    assert code == 4 and f"{name}: {said}" in line


@pytest.mark.parametrize("name", ["run", "run/checkpoints"])
def test_a_folder_that_may_not_be_written(tmp_path, refused, monkeypatch, name):
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    access = os.access  # root may write anywhere, so the answer is changed and not the folder
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path / name and access(path, mode))
    code, line = refused()
    assert code == 6 and f"{tmp_path / name}: may not be written" in line


@pytest.mark.skipif(sys.platform != "linux", reason="the limit's error has another number elsewhere")
def test_a_disk_that_takes_no_more(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError) as caught:
            outputs.write_tensors({"x": torch.zeros(10_000)}, tmp_path / "model.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG and caught.value.filename == str(tmp_path / "model.safetensors")


EVENT = {"event": "step", "step": 1, "loss": 0.5, "learning_rate": 0.1}


@pytest.mark.parametrize(
    "line",
    [
        "[1]",
        '{"event": "step"}',
        "[" * 100_000,
        "\udcff\udcfe\x00",
        '{"event": "warning", "step": 1, "message": "\\ud800"}',
        '{"event": "verdict", "step": 1, "message": "better"}',
        '{"event": ["step"], "step": 1, "learning_rate": 0.1}',
        '{"event": "step", "step": 1, "loss": 1}',
        '{"event": "step", "step": 1, "learning_rate": "x"}',
        '{"event": "step", "step": 1, "learning_rate": 0.1, "loss": 1' + "0" * 400 + "}",
        '{"event": "step", "step": 1, "learning_rate": 0.1, "loss": 1e308}',
        '{"event": "cosines", "step": 1, "turned": [0.5, "x"]}',
    ],
)
def test_a_damaged_log_ends_where_the_damage_begins(tmp_path, line):
    event = json.dumps(EVENT).encode()
    (tmp_path / "log.jsonl").write_bytes(
        b"\n".join([event, line.encode("utf-8", "surrogateescape"), event, b""])
    )
    assert read_log(tmp_path / "log.jsonl") == [EVENT]


def test_numbers_that_no_picture_has_room_for(tmp_path):
    wild = [{"event": "step", "step": n, "learning_rate": 0.1, "loss": x} for n, x in enumerate(WILD)]
    wild += [{"event": "dev", "step": 2**63 - 1, "stsb_dev": x} for x in WILD]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in wild))
    assert len(read_log(tmp_path / "log.jsonl")) == len(wild)
    assert plot(tmp_path).is_file()


@pytest.mark.parametrize("inside", ["", "runs/first"])
def test_a_run_is_not_put_into_a_store(inside, tiny_store, tmp_path):
    store = tmp_path / "store"
    shutil.copytree(tiny_store, store)
    with pytest.raises(UsageError, match=r"is a store, .* choose another --out"):
        outputs.check_folder(store / inside)
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    outputs.check_folder(tmp_path / "run")
    assert not (tmp_path / "run").exists()  # a sound folder is not touched


def test_a_log_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "precious.txt").write_text("mine\n")
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "precious.txt")
    with pytest.raises(BadInputError, match=r"log.jsonl: is a link"):
        Log(tmp_path, 0, 2)
    assert (tmp_path / "precious.txt").read_text() == "mine\n"


def test_a_kill_while_the_log_is_put_in_order_loses_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr("train.outputs.log._tensorboard", lambda *arguments: None)
    first = Log(tmp_path, 0, 3)
    for step in (1, 2, 3):
        first.write("step", step, {"learning_rate": 0.1})
    first.close()
    for number in itertools.count(1):
        faults = Faults(number)
        try:
            with injected(faults):
                Log(tmp_path, 2, 3).close()
        except Crash:
            assert [event["step"] for event in read_log(tmp_path / "log.jsonl")] in ([1, 2], [1, 2, 3])
        if not faults.was_hit:
            break
    assert number > 3
    again = Log(tmp_path, 2, 3)
    again.write("step", 3, {"learning_rate": 0.2})
    again.close()
    assert [event["step"] for event in read_log(tmp_path / "log.jsonl")] == [1, 2, 3]


def test_two_trainings_do_not_write_into_one_folder(tiny_store, tiny_encoder, tmp_path):
    other = Log(tmp_path, 0, 2)
    other.write("step", 1, {"learning_rate": 0.1})
    with pytest.raises(MixError, match=r"another training is writing there; .* another --out"):
        quick_run(tiny_store, tiny_encoder, tmp_path, steps=2)
    assert [event["step"] for event in read_log(tmp_path / "log.jsonl")] == [1]  # nothing of it is touched
    other.close()
    assert quick_run(tiny_store, tiny_encoder, tmp_path, steps=2).steps == 2
