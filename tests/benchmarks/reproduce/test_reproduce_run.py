"""The command end to end: from a file of sentences to scores, and on from where it was stopped."""

import json

import pytest

from benchmarks.reproduce.command import main
from benchmarks.reproduce.work import OWN


@pytest.fixture
def command(tmp_path, tiny_encoder, data_folder, small_grid, monkeypatch):
    """Run the command on forty sentences and a tiny encoder; returns the results' file."""
    sentences = tmp_path / "sentences.txt"
    words = ("old", "new", "long", "low", "wooden")
    lines = [f"The {word} bridge is number {n}.\n" for n in range(8) for word in words]
    sentences.write_text("".join(lines), encoding="utf-8")
    text = small_grid.read_text(encoding="utf-8")
    text = text.replace('"encoder"', f'"{tiny_encoder}"').replace('"sentences.txt"', f'"{sentences}"')
    grid = tmp_path / "grid.toml"
    grid.write_text(text, encoding="utf-8")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")

    def run(action, rows, *more):
        folders = ["--results", str(tmp_path / "results"), "--runs", str(tmp_path / "runs")]
        given = ["--grid", str(grid), "--data", str(data_folder), "--profile", "small"]
        main([action, "--rows", rows, *given, *folders, *more])
        return tmp_path / "results" / "small.jsonl"

    return run


def lines_of(path):
    """The results by row, seed and evaluation."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(line["row"], line["seed"], line["evaluation"]): line for line in lines}


def forget(path, row, *evaluations):
    """Delete the lines of a row and of some evaluations, or of all."""
    kept = [
        line
        for (name, _, evaluation), line in lines_of(path).items()
        if name != row or (evaluations and evaluation not in evaluations)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")


def dev_score(path, row, seed=42):
    return lines_of(path)[row, seed, "sts"]["scores"]["stsb-dev"]


@pytest.mark.slow
def test_from_sentences_to_scores_and_on_from_there(command, tmp_path, capsys):
    results = command("run", "no-training,simcse", "--seeds", "42")
    assert "2 missing" in capsys.readouterr().out
    lines = lines_of(results)
    assert {key for key in lines if key[2] == "sts"} == {("no-training", 42, "sts"), ("simcse", 42, "sts")}
    trained, score = lines["simcse", 42, "training"], dev_score(results, "simcse")
    assert trained["scores"]["steps"] == 2 and set(trained["data"]) == {"corpus"}
    # The dev score that chose the checkpoint, and the one measured afterwards from the exported encoder.
    assert score == pytest.approx(trained["scores"]["best"], abs=1e-3)
    assert -1 <= lines["simcse", 42, "sts"]["scores"][OWN] <= 1

    # Trained once more, it comes to the same, and the results stay; another number is found out.
    before = results.read_bytes()
    command("repeat", "simcse", "--seeds", "42")
    said = capsys.readouterr().out
    expected = f"simcse 42: recorded {100 * score:.2f}, again {100 * score:.2f}, identical in all digits\n"
    assert expected in said and said.startswith("trains and scores simcse 42 anew: about 1 min")
    assert results.read_bytes() == before
    results.write_bytes(before.replace(f'"stsb-dev": {score}'.encode(), b'"stsb-dev": 0.999'))
    with pytest.raises(SystemExit):
        command("repeat", "simcse", "--seeds", "42")
    assert "recorded 99.90" in (said := capsys.readouterr().out) and "identical" not in said
    results.write_bytes(before)

    # Killed after the training, before its scoring: the training is not repeated.
    forget(results, "simcse", "sts")
    command("run", "no-training,simcse", "--seeds", "42")
    assert "1 done, 1 missing" in capsys.readouterr().out
    assert lines_of(results)["simcse", 42, "training"] == trained  # with the seconds it took
    assert dev_score(results, "simcse") == score

    # The encoder is gone, and so is a score: trained again, it comes to the same.
    command("plan", "simcse", "--seeds", "42")
    assert "1 done, 0 missing" in capsys.readouterr().out
    forget(results, "simcse", "sts", "training")
    command("run", "simcse", "--seeds", "42", "--remove-encoders")
    assert dev_score(results, "simcse") == score
    assert not list((tmp_path / "runs" / "small").glob("simcse-*"))


@pytest.mark.slow
def test_a_row_of_which_nothing_is_left_is_recorded_and_the_rest_goes_on(command, monkeypatch):
    from benchmarks.reproduce import work
    from train.prepare import NoRowsError

    train = work.train

    def without_rows(run, group):
        if run.recipe.seed == 42:
            raise NoRowsError("no row is left")
        return train(run, group)

    monkeypatch.setattr(work, "train", without_rows)
    lines = lines_of(command("run", "simcse"))
    assert lines["simcse", 42, "training"]["scores"]["failed"] == "no row is left"
    assert ("simcse", 42, "sts") not in lines and ("simcse", 0, "sts") in lines


@pytest.mark.slow
def test_two_at_a_time_give_the_same_and_stages_are_made_on_the_way(command, capsys):
    results = command("run", "simcse,augmented", "--jobs", "2")
    assert "4 missing" in capsys.readouterr().out
    lines = lines_of(results)
    assert sum(evaluation == "sts" for _, _, evaluation in lines) == 4
    assert set(lines["augmented", 0, "training"]["data"]) == {"corpus", "una-random"}
    together = dev_score(results, "simcse")
    forget(results, "simcse")
    command("run", "simcse", "--seeds", "42")
    assert dev_score(results, "simcse") == together


def test_a_corpus_that_is_not_there_is_asked_for_before_anything_is_made(command, tmp_path, capsys):
    (tmp_path / "sentences.txt").unlink()
    with pytest.raises(SystemExit) as stopped:
        command("repeat", "simcse", "--seeds", "42")
    said = capsys.readouterr().err
    assert stopped.value.code == 6 and "sentences.txt: no such file; --data (DATA= with make)" in said
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        ("repeat simcse --seeds 42", 6, "nothing is recorded of these rows"),
        ("plan simcse --profile tpu", 2, "'tpu'; there are: small"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_made(command, tmp_path, capsys, typed, code, words):
    with pytest.raises(SystemExit) as stopped:
        command(*typed.split())
    assert stopped.value.code == code and words in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
