"""The command end to end: from a file of sentences to the document, and on from where it was stopped."""

import json

import pytest

from benchmarks.reproduce.command import main

SETTINGS = '"pooling=mean", "batch=8", "max_length=16", "evaluate_every=2", "steps=2", "threads=1"'


@pytest.fixture
def command(tmp_path, tiny_encoder, data_folder, small_grid, monkeypatch):
    """Run the command on forty sentences and a tiny encoder; returns the results' folder."""
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("".join(f"The {word} bridge is number {n}.\n" for n in range(8) for word in
                                 ("old", "new", "long", "low", "wooden")), encoding="utf-8")  # fmt: skip
    text = small_grid.read_text(encoding="utf-8")
    text = text[: text.index("[profile.cpu]")] + text[text.index("[evaluation.sts]") :]
    text = text.replace('tasks = ["stsb-dev", "stsb"]', 'tasks = ["stsb-dev"]')
    text = text.replace('rows = ["simcse"]', 'rows = ["translated"]')
    profile = f"""[profile.cpu]
about = "a test"
encoder = "{tiny_encoder}"
corpus = ["{sentences}"]
rows = 40
seeds = [42, 0]
scaled = true
pooling = "mean"
score_precision = "fp32"
seconds = 10
set = [{SETTINGS}]
"""
    grid = tmp_path / "grid.toml"
    grid.write_text(profile + text, encoding="utf-8")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")

    def run(action, rows, *more):
        folders = [
            part for name in ("results", "runs", "docs") for part in (f"--{name}", str(tmp_path / name))
        ]
        main([action, "--rows", rows, "--grid", str(grid), "--data", str(data_folder), *folders, *more])
        return tmp_path / "results" / "cpu"

    return run


@pytest.mark.slow
def test_from_sentences_to_the_document_and_on_from_there(command, tmp_path, capsys):
    results = command("run", "no-training,simcse", "--seeds", "42")
    assert "2 missing" in capsys.readouterr().out
    found = {path.name.split("-42-")[0]: path for path in results.glob("*-sts.json")}
    assert set(found) == {"no-training", "simcse"}
    scores = json.loads(found["simcse"].read_text())["scores"]
    (training,) = results.glob("simcse-*-training.json")
    trained = json.loads(training.read_text())
    assert trained["scores"]["steps"] == 2 and set(trained["data"]) == {"corpus"}
    # The dev score that chose the checkpoint, and the one measured afterwards from the exported encoder.
    assert scores["stsb-dev"] == pytest.approx(trained["scores"]["best"], abs=1e-3)
    document = (tmp_path / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert f"| SimCSE [1] | no training | 1 | {100 * scores['stsb-dev']:.2f} |" in document

    # Killed after the training, before its scoring: the training is not repeated.
    times = training.stat().st_mtime_ns
    found["simcse"].unlink()
    command("run", "no-training,simcse", "--seeds", "42")
    assert "1 done, 1 missing" in capsys.readouterr().out
    assert training.stat().st_mtime_ns == times
    assert json.loads(found["simcse"].read_text())["scores"]["stsb-dev"] == scores["stsb-dev"]

    # The encoder is gone, and so is a score: trained again, it comes to the same.
    command("plan", "simcse", "--seeds", "42")
    assert "1 done, 0 missing" in capsys.readouterr().out
    found["simcse"].unlink()
    training.unlink()
    command("run", "simcse", "--seeds", "42", "--remove-encoders")
    assert json.loads(found["simcse"].read_text())["scores"]["stsb-dev"] == scores["stsb-dev"]
    assert not list((tmp_path / "runs" / "cpu").glob("simcse-*"))


@pytest.mark.slow
def test_two_at_a_time_give_the_same_and_stages_are_made_on_the_way(command, capsys):
    results = command("run", "simcse,augmented", "--jobs", "2")
    assert "4 missing" in capsys.readouterr().out
    assert len(list(results.glob("*-sts.json"))) == 4
    (path,) = results.glob("augmented-0-*-training.json")
    assert set(json.loads(path.read_text())["data"]) == {"corpus", "una-random"}
    (path,) = results.glob("simcse-42-*-sts.json")
    together = json.loads(path.read_text())["scores"]["stsb-dev"]
    for old in results.glob("simcse-42-*"):
        old.unlink()
    command("run", "simcse", "--seeds", "42")
    assert json.loads(path.read_text())["scores"]["stsb-dev"] == together


def test_an_unknown_profile_is_named(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        command("plan", "simcse", "--profile", "tpu")
    assert stopped.value.code == 2
    assert "'tpu'; there are: cpu" in capsys.readouterr().err
