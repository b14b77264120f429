"""The command: dry run, seeds, wrong settings."""

import json
import re
import shutil

import pytest

from augment_cli.store.store import Store
from tests.helpers.training import options
from train.run import train


def test_dry_run_seeds_and_plot(tiny_store, tiny_encoder, tmp_path, ended):
    out = tmp_path / "run"
    common = ["simcse", "--store", tiny_store, "--encoder", tiny_encoder, "--out", out]
    common += options("batch=16", "evaluate_every=0", "log_every=1")
    code, said = ended(*common, "--dry-run")
    assert code == 0
    assert re.search(r"^loss +info-nce$", said, re.M) and re.search(r"^memory +", said, re.M)
    assert "150 an epoch" in said
    assert not out.exists()
    evaluated = options("evaluate_every=5", "held_out=0.2")
    code, said = ended(*common, "--seeds", "1,2", "--data", tmp_path, *evaluated)
    assert code == 0
    assert "best pair_retrieval" in said
    assert json.loads((out / "summary.json").read_text())["seeds"] == [1, 2]
    for folder in (out / "seed-1", out / "seed-2"):
        assert "over seeds 1, 2" in (folder / "best/README.md").read_text()
        assert (folder / "run.png").stat().st_size > 10_000
        assert "<svg" in (folder / "run.html").read_text("utf-8")
        assert list((folder / "tensorboard").iterdir())
    code, said = ended("plot", out / "seed-1")
    assert code == 0 and said.endswith("run/seed-1/run.html\n")
    code, said = ended(*common, "--set", "steps=1", "batch=0")  # several settings behind one option
    assert code == 2 and "--set batch=0: batch = 0 must be at least 1" in said
    code, said = ended(*common, "--dry-run", "--set", "max_length=65")
    assert code == 2 and "max_length = 65: tiny reads at most 64 tokens" in said


def test_an_error_shows_what_was_typed_and_does_not_obey_it(ended):
    code, shown = ended("distil", "--out", "out", "--precision", "fp16")
    assert code == 2 and "--precision fp16: choose one of auto" in shown
    code, shown = ended("simcse", "--no\x1b[31m\u202ex")
    assert code == 2 and r"--no\x1b[31m<U+202E>x" in shown and "\x1b" not in shown


def test_what_is_finished_says_so_at_once_and_only_where_all_is_the_same(
    store_copy, tiny_encoder, tmp_path, ended, monkeypatch
):
    trained = []
    command = ["simcse", "--store", store_copy, "--encoder", tiny_encoder, "--out", tmp_path / "run"]
    command += options("batch=16", "evaluate_every=0", "steps=2")

    def training(run, ranks):
        trained.append(run)
        return train(run, ranks)

    def again(*more):
        with monkeypatch.context() as patch:
            patch.setattr("train.run.train", training)
            code, said = ended(*command, *more)
        made = len(trained)
        trained.clear()
        assert not code and ("finished before" in said) == (not made)
        return made

    assert [again(), again(), again("--set", "log_every=1")] == [1, 0, 1]
    assert [again("--seeds", "42,43"), again("--seeds", "42,43"), again("--seeds", "43,42")] == [2, 0, 2]
    shutil.rmtree(tmp_path / "run/seed-43/best")
    assert [again("--seeds", "43,42"), again("--seeds", "43,42")] == [2, 0]
    shutil.rmtree(next((tmp_path / "run/seed-42/checkpoints").iterdir()))
    assert [again("--seeds", "43,42"), again("--seeds", "43,42")] == [2, 0]
    store = Store.open(store_copy)
    with store.lock():
        store.remove("una")
    assert again("--seeds", "43,42") == 2  # whatever changes in the store, the run itself looks at it


def test_too_little_memory_is_said_with_a_remedy(ended, monkeypatch):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr("train.cli._run", fail)
    code, shown = ended("simcse")
    assert code == 6
    assert shown.startswith("error: train simcse: this machine has not enough memory; choose a smaller batch")
    assert "gradient_cache=64" in shown and "Traceback" not in shown


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--store", "nowhere"], 4, "nowhere: no store here"),
        (["--encoder", "nowhere"], 6, "--encoder nowhere: not on this machine"),
        (["--set", "only_changed=nowhere"], 2, "nowhere"),
    ],
)
def test_missing_inputs_are_named(tiny_store, tiny_encoder, tmp_path, ended, arguments, code, words):
    place = ["--store", tiny_store, "--encoder", tiny_encoder, "--out", tmp_path / "run"]
    found, said = ended("simcse", *place, *arguments)
    assert found == code and said.startswith("error: ") and words in said


def test_a_file_in_the_folder_of_one_seed(tiny_store, tmp_path, ended):
    (tmp_path / "run/seed-2").mkdir(parents=True)
    (tmp_path / "run/seed-2/last").write_text("a file")
    code, said = ended("simcse", "--store", tiny_store, "--out", tmp_path / "run", "--seeds", "1,2")
    assert code == 4 and "seed-2/last: is not a folder" in said
