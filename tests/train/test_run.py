"""Whole runs on the tiny store: what is learned, watched, stopped and written."""

from pathlib import Path

import numpy as np
import pytest

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from tests.helpers.training import quick_run
from train.machine.threads import has_fast_bf16
from train.outputs.log import read_log
from train.watching.watch import DivergedError


def test_training_lowers_the_loss(tiny_store, tiny_encoder, tmp_path):
    outcome = quick_run(
        tiny_store, tiny_encoder, tmp_path, epochs=6, log_every=1, loss="nt-xent", negatives=("una",)
    )
    losses = [event["loss"] for event in read_log(tmp_path / "log.jsonl")]
    assert outcome.steps == len(losses) == 60
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])


@pytest.mark.skipif(not has_fast_bf16(), reason="this CPU has no fast bf16, so the trainer would use fp32")
def test_bf16_and_fp32_go_the_same_way(tiny_store, tiny_encoder, tmp_path):
    losses = {}
    for precision in ("fp32", "bf16"):
        quick_run(
            tiny_store, tiny_encoder, tmp_path / precision, log_every=1, precision=precision, dropout=0.0
        )
        losses[precision] = [event["loss"] for event in read_log(tmp_path / precision / "log.jsonl")]
    np.testing.assert_allclose(losses["bf16"], losses["fp32"], rtol=0.05)
    assert losses["bf16"] != losses["fp32"]


def test_bf16_falls_back_where_the_cpu_has_none(tiny_store, tiny_encoder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("train.run.has_fast_bf16", lambda: False)
    for precision in ("fp32", "bf16"):
        quick_run(tiny_store, tiny_encoder, tmp_path / precision, log_every=1, precision=precision, steps=3)
    assert "fp32 is used" in capsys.readouterr().err
    logs = [[e["loss"] for e in read_log(tmp_path / p / "log.jsonl")] for p in ("fp32", "bf16")]
    assert logs[0] == logs[1]


def test_best_and_last_retrieval_and_early_stopping(tiny_store, tiny_encoder, tmp_path):
    outcome = quick_run(
        tiny_store, tiny_encoder, tmp_path, held_out=0.3, evaluate_every=1, patience=2, epochs=50, log_every=1
    )
    scores = [e for e in read_log(tmp_path / "log.jsonl") if e["event"] == "dev"]
    values = [event["pair_retrieval"] for event in scores]
    best = int(np.argmax(values))
    assert outcome.steps == len(values) == best + 3  # two evaluations without a better one
    assert outcome.scores["best"]["pair_retrieval"] == max(values)
    again = quick_run(
        tiny_store, tiny_encoder, tmp_path, held_out=0.3, evaluate_every=1, patience=2, epochs=50, log_every=1
    )
    assert again.steps == outcome.steps  # a run that patience ended is not taken up again
    assert {"alignment", "uniformity"} <= scores[0].keys()
    assert (tmp_path / "best/model.safetensors").is_file()
    assert (tmp_path / "last/README.md").is_file()


def test_without_any_dev_score_it_says_what_to_do(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(UsageError, match=r"held_out=0\.1"):
        quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=5)


def test_nan_stops_with_an_explanation_and_keeps_the_checkpoint(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(DivergedError, match="Lower learning_rate"):
        quick_run(
            tiny_store,
            tiny_encoder,
            tmp_path,
            learning_rate=1e38,
            clip=0.0,
            epochs=3,
            checkpoint_every=1,
            log_every=1,
            head="none",
        )
    (kept,) = (tmp_path / "checkpoints").iterdir()
    assert kept.name == "step-0000001"  # whose update is what broke the next
    assert np.isfinite(read_log(tmp_path / "log.jsonl")[-1]["loss"])


def test_embedding_is_the_same_before_and_after_saving(tiny_store, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    quick_run(tiny_store, tiny_encoder, tmp_path, pooling="cls")
    texts = ["One sentence.", "Another, somewhat longer sentence."]
    ours = load_encoder(tmp_path / "last")
    assert ours.pooling == "cls"
    library = SentenceTransformer(str(tmp_path / "last"), device="cpu")
    np.testing.assert_allclose(library.encode(texts), ours.encode(texts), atol=1e-6)
    assert not any("head" in name or "dense_head" in name for name in _tensor_names(tmp_path / "last"))


def _tensor_names(folder: Path):
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", "pt") as file:
        return list(file.keys())
