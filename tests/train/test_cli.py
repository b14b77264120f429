"""The command: dry run, seeds, wrong settings."""

import json

import pytest

from train.cli import main


def test_dry_run_seeds_and_plot(tiny_store, tiny_encoder, tmp_path, capsys):
    common = [
        "simcse",
        "--store",
        str(tiny_store),
        "--encoder",
        str(tiny_encoder),
        "--out",
        str(tmp_path / "run"),
    ]
    common += ["--set", "batch=16", "--set", "evaluate_every=0", "--set", "log_every=1"]

    def run(*more):
        with pytest.raises(SystemExit) as exit_:
            main([*common, *more])
        return exit_.value.code, capsys.readouterr()

    code, said = run("--dry-run")
    assert code == 0
    assert "150 an epoch" in said.out.replace(",", "")
    assert "memory" in said.out
    assert not (tmp_path / "run").exists()
    code, said = run(
        "--seeds", "1,2", "--set", "evaluate_every=5", "--set", "held_out=0.2", "--data", str(tmp_path)
    )
    assert code == 0
    assert "best pair_retrieval" in said.out
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["seeds"] == [1, 2]
    for seed in (1, 2):
        card = (tmp_path / f"run/seed-{seed}/best/README.md").read_text()
        assert "over seeds 1, 2" in card
        assert (tmp_path / f"run/seed-{seed}/run.png").stat().st_size > 10_000
        assert "<svg" in (tmp_path / f"run/seed-{seed}/run.html").read_text("utf-8")
        assert list((tmp_path / f"run/seed-{seed}/tensorboard").iterdir())
    code, said = run("--set", "batch=0")
    assert code == 2
    assert "must be above 0" in said.err
    code, said = run("--dry-run", "--set", "max_length=65")
    assert code == 2
    assert "max_length = 65: tiny reads at most 64 tokens" in said.err
