"""The command from end to end, on a small model and synthetic sets of every protocol."""

import gzip
import json

import pytest

from augment_cli.api import ingest_corpus
from augment_cli.encoding.encoder import Encoder
from eval.tasks import load_registry
from tests.helpers.commands import typed


def run(*arguments, code=0):
    done = typed("eval", *arguments)
    assert done.returncode == code, done.stderr
    return done


def common(world):
    return ["--data", world / "data", "--registry", world / "tasks.toml", "--out", world / "out", "--jobs", 1]


def test_every_protocol_from_one_encoding_to_results_on_disk(world, plain_model, sentences, monkeypatch):
    encoded = []
    original = Encoder.encode

    def counted(self, texts, **more):
        encoded.append(texts)
        return original(self, texts, **more)

    monkeypatch.setattr(Encoder, "encode", counted)
    printed = run(plain_model, *common(world), "--tasks", "toy", "--json")
    assert len(encoded) == 1  # one call for all tasks
    assert len(encoded[0]) == len(set(encoded[0]))
    (model,) = json.loads(printed.stdout)
    registry = load_registry(world / "tasks.toml")
    assert set(model["scores"]) == set(registry)
    for name, task in registry.items():
        assert model["scores"][name]["main_score"] == model["scores"][name][task.metric]
        assert "not checked against a digest" in printed.stderr
    folder = next((world / "out" / "plain").iterdir())
    assert (folder / "similarity.png").read_bytes().startswith(b"\x89PNG")
    assert (world / "out" / "scores.png").stat().st_size > 5000
    assert json.loads((folder / "encoder.json").read_text())["pooling"] == "mean"
    assert "# toy" in (world / "out" / "table.md").read_text()


@pytest.mark.slow
def test_settings_are_named_in_the_folder_and_two_models_are_compared(world, plain_model, old_layout):
    options = [*common(world), "--tasks", "sts,mr", "--no-plots", "--no-cache"]
    run(plain_model, f"other={old_layout}", *options)
    run(plain_model, *options, "--whiten", "--pooling", "first-last", "--max-length", 9)
    run(plain_model, *options, "--precision", "bf16", "--no-truncation")
    kinds = {path.name[13:] for path in (world / "out" / "plain").iterdir()}
    assert kinds == {"mean-64-fp32", "first-last-9-fp32-whitened", "mean-64-bf16"}
    assert [path.name[13:] for path in (world / "out" / "other").iterdir()] == ["cls-12-fp32"]
    a, b = (next((world / "out" / name).glob("*-fp32")) for name in ("plain", "other"))
    assert "95 % interval" in run("compare", a, b, "--resamples", 50).stdout


def test_missing_data_stop_the_run_before_anything_is_encoded_unless_told_to_skip(world, plain_model):
    (world / "data" / "x" / "mr.tsv.gz").unlink()
    (world / "data" / "x" / "cola.tsv.gz").unlink()
    error = run(plain_model, *common(world), "--tasks", "sts,mr,cola", code=6).stderr
    assert "MR: " in error
    assert "COLA: " in error
    assert "--skip-missing" in error
    assert not (world / "out").exists()
    printed = run(plain_model, *common(world), "--tasks", "sts,mr,cola", "--skip-missing", "--no-plots")
    assert printed.stderr.count("skipped: ") == 2
    assert "STS spearman" in printed.stderr


def test_wrong_use_is_explained(world, plain_model):
    scored = [plain_model, *common(world), "--tasks", "sts"]
    for words, said in (
        (["table", "--format", "xml"], "--format xml: choose one of screen"),
        ([plain_model], "give --data DIR, --labelled FILE, --beir FOLDER, --minimal-pairs or several"),
        ([*scored, "--tasks", "nope"], "unknown task 'nope'"),
        ([*scored, "--precision", "fp16"], "--precision fp16: choose one of fp32, bf16, both"),
        ([*scored, "--max-length", 5, "--no-truncation"], "give one"),
        ([*scored, "--pooling", "x"], "unknown pooling"),
        ([*scored, "--tasks", "mr", "--classifier", "svm"], "logistic-regression, senteval-torch, senteval-"),
    ):
        assert said in run(*words, code=2).stderr
    assert "--allow-download" in run("no-such-model", *scored[1:], code=6).stderr


def test_leaks_of_a_real_store_are_reported(world, sentences):
    pairs = gzip.decompress((world / "data" / "sts" / "a.tsv.gz").read_bytes()).decode().split("\n")[1:3]
    known = pairs[0].split("\t")[2]
    corpus = world / "corpus.txt"
    corpus.write_text("something else\n" + known.upper() + " !!\nyet another line\n")
    ingest_corpus(corpus, world / "store")
    options = ["--data", world / "data", "--registry", world / "tasks.toml", "--tasks", "sts"]
    (leak,) = json.loads(run("leaks", world / "store", *options, "--json").stdout)
    assert (leak["task"], leak["exact"], leak["normalised"]) == ("sts", 0, 1)
    assert leak["examples"] == [[known, 1]]
    assert "row 1" in run("leaks", world / "store", *options).stdout


def test_tasks_are_listed():
    assert "sick_test.tsv.gz" in run("tasks").stdout
    assert len(json.loads(run("tasks", "--json").stdout)) == len(load_registry())


def test_what_bf16_does_to_each_score_is_shown(world, plain_model):
    options = [*common(world), "--tasks", "sts,cola", "--no-plots"]
    printed = run(f"m={plain_model}", *options, "--precision", "both").stderr
    line = next(line for line in printed.split("\n") if "STS fp32" in line)
    exact, rough, difference = (float(line.replace(",", "").split()[i]) for i in (3, 5, 6))
    assert difference == pytest.approx(rough - exact, abs=2e-4)
    assert "COLA fp32" in printed
    assert "--precision both" in run(f"n={plain_model}", *options, "--precision", "bf16").stderr
