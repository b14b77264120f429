"""Whole runs on the tiny store: what is encoded, watched, stopped and written."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from eval.encoding.encoder import load_encoder
from train.cli import main
from train.data.order import is_held_out
from train.data.reader import Reader
from train.data.texts import NO_TEXT
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.machine.threads import has_fast_bf16
from train.model.model import Model
from train.model.start import start
from train.objectives.contrastive import ContrastiveObjective
from train.outputs.log import read_log
from train.plan import _numbers as plan_numbers
from train.prepare import Run
from train.run import open_columns, train
from train.watching.evaluate import held_out_pairs, pair_retrieval
from train.watching.watch import DivergedError, Watch

QUICK = {"batch": 16, "max_length": 16, "learning_rate": 1e-3, "evaluate_every": 0}


def go(store, encoder, out, **values):
    return train(Run(make_recipe(QUICK | values), store, str(encoder), out), join())


def grids(store, encoder, steps=1, **values):
    """Text grids of the first steps, with the texts of the store by their own ids."""
    recipe = make_recipe(QUICK | values)
    loaded = load_encoder(encoder)
    objective = ContrastiveObjective(recipe, loaded.tokenizer, join())
    opened, stages = open_columns(store, objective, loaded.tokenizer, join())
    reader = Reader(opened, stages, batch=recipe.batch, seed=recipe.seed)
    batches = list(reader.epoch(0))[:steps]
    return batches, [objective.prepare(batch, step) for step, batch in enumerate(batches)]


def test_una_adds_its_negatives_and_their_copies_every_alpha_steps(tiny_store, tiny_encoder):
    values = {"loss": "nt-xent", "negatives": ("una",), "alpha": 3}
    _, prepared = grids(tiny_store, tiny_encoder, 7, **values)
    assert [item.texts.shape[1] for item in prepared] == [4, 2, 2, 4, 2, 2, 4]
    first = prepared[0].texts
    assert (first[:, 0] == first[:, 1]).all()
    assert (first[:, 2] == first[:, 3]).all()
    assert (first[:, 2] != first[:, 0]).all()


def test_columns_encode_a_negative_once(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, negatives=("una", "aa"), negative_layout="columns")
    texts = prepared[0].texts
    assert texts.shape == (16, 4)
    missing = texts[:, 2] == NO_TEXT
    np.testing.assert_array_equal(missing.numpy(), batches[0].row_ids % 3 == 0)  # where una is unchanged
    encoded = sum(len(item.places) for item in prepared[0].slices)
    assert encoded == int((texts != NO_TEXT).sum())  # what is not there costs nothing


def test_an_unchanged_positive_is_the_anchor_and_proportion_thins_out(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("aa",))
    for batch, item in zip(batches, prepared, strict=True):
        same = (item.texts[:, 0] == item.texts[:, 1]).numpy()
        np.testing.assert_array_equal(same, batch.row_ids % 2 == 0)
    _, none = grids(tiny_store, tiny_encoder, 9, positives=("aa",), proportion=0.0)
    assert all((item.texts[:, 0] == item.texts[:, 1]).all() for item in none)
    _, half = grids(tiny_store, tiny_encoder, 9, positives=("aa",), proportion=0.5)
    changed = sum(int((item.texts[:, 0] != item.texts[:, 1]).sum()) for item in half)
    everything = sum(int((item.texts[:, 0] != item.texts[:, 1]).sum()) for item in prepared)
    assert 0.25 < changed / everything < 0.75


def test_a_mix_draws_each_positive_about_equally(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 9, positives=("una", "pi", "self"))
    cells = {name: [ids for b in batches for ids in b.columns[name]] for name in ("una", "pi", "corpus")}
    ids = torch.cat([item.texts for item in prepared])
    same = int((ids[:, 0] == ids[:, 1]).sum())
    fallback = sum(u is None for u in cells["una"]) / 3 + sum(p is None for p in cells["pi"]) / 3
    expected = len(ids) / 3 + fallback
    assert abs(same - expected) < 4 * math.sqrt(len(ids) / 4)


def test_equal_texts_get_equal_ids_and_no_loss_between_them(tiny_store, tiny_encoder):
    batches, prepared = grids(tiny_store, tiny_encoder, 10)
    ids = torch.cat([item.texts[:, 0] for item in prepared])
    rows = np.concatenate([batch.row_ids for batch in batches])
    by_row = dict(zip(rows.tolist(), ids.tolist(), strict=True))
    assert by_row[3] == by_row[149]  # the store's one repeated text
    assert by_row[3] != by_row[4]


def test_training_lowers_the_loss(tiny_store, tiny_encoder, tmp_path):
    outcome = go(
        tiny_store, tiny_encoder, tmp_path, epochs=6, log_every=1, loss="nt-xent", negatives=("una",)
    )
    losses = [event["loss"] for event in read_log(tmp_path / "log.jsonl")]
    assert outcome.steps == len(losses) == 60
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])


@pytest.mark.skipif(not has_fast_bf16(), reason="this CPU has no fast bf16, so the trainer would use fp32")
def test_bf16_and_fp32_go_the_same_way(tiny_store, tiny_encoder, tmp_path):
    losses = {}
    for precision in ("fp32", "bf16"):
        go(tiny_store, tiny_encoder, tmp_path / precision, log_every=1, precision=precision, dropout=0.0)
        losses[precision] = [event["loss"] for event in read_log(tmp_path / precision / "log.jsonl")]
    np.testing.assert_allclose(losses["bf16"], losses["fp32"], rtol=0.05)
    assert losses["bf16"] != losses["fp32"]


def test_bf16_falls_back_where_the_cpu_has_none(tiny_store, tiny_encoder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("train.run.has_fast_bf16", lambda: False)
    for precision in ("fp32", "bf16"):
        go(tiny_store, tiny_encoder, tmp_path / precision, log_every=1, precision=precision, steps=3)
    assert "fp32 is used" in capsys.readouterr().err
    logs = [[e["loss"] for e in read_log(tmp_path / p / "log.jsonl")] for p in ("fp32", "bf16")]
    assert logs[0] == logs[1]


def test_best_and_last_retrieval_and_early_stopping(tiny_store, tiny_encoder, tmp_path):
    outcome = go(
        tiny_store, tiny_encoder, tmp_path, held_out=0.3, evaluate_every=1, patience=2, epochs=50, log_every=1
    )
    scores = [e for e in read_log(tmp_path / "log.jsonl") if e["event"] == "dev"]
    values = [event["pair_retrieval"] for event in scores]
    best = int(np.argmax(values))
    assert outcome.steps == len(values) == best + 3  # two evaluations without a better one
    assert outcome.scores["best"]["pair_retrieval"] == max(values)
    again = go(
        tiny_store, tiny_encoder, tmp_path, held_out=0.3, evaluate_every=1, patience=2, epochs=50, log_every=1
    )
    assert again.steps == outcome.steps  # a run that patience ended is not taken up again
    assert {"alignment", "uniformity"} <= scores[0].keys()
    assert (tmp_path / "best/model.safetensors").is_file()
    assert (tmp_path / "last/README.md").is_file()


def test_held_out_rows_are_not_trained_on(tiny_store, tiny_encoder, tmp_path):
    pairs = held_out_pairs(Store.open(tiny_store), 0.3, ("aa",))
    texts = Store.open(tiny_store).read("corpus")["text"].to_pylist()
    held = np.flatnonzero(is_held_out(np.arange(150), 0.3)).tolist()
    assert {first for first, second in pairs if second == f"does {first}"} == {
        texts[r] for r in held if r % 2
    }
    outcome = go(tiny_store, tiny_encoder, tmp_path, held_out=0.3)
    assert outcome.steps == math.ceil((150 - len(held)) / 16)


def test_pair_retrieval_of_perfect_and_useless_encoders():
    pairs = [(f"a{i}", f"b{i}") for i in range(20)]

    class Perfect:
        def encode(self, texts):
            return np.stack([np.eye(20)[int(text[1:])] for text in texts])

    class Useless:
        def encode(self, texts):
            return np.ones((len(texts), 4))

    assert pair_retrieval(pairs)(Perfect())["pair_retrieval"] == 1.0
    assert pair_retrieval(pairs)(Useless())["pair_retrieval"] == 1 / 20


def test_without_any_dev_score_it_says_what_to_do(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(UsageError, match=r"held_out=0\.1"):
        go(tiny_store, tiny_encoder, tmp_path, evaluate_every=5)


def test_nan_stops_with_an_explanation_and_keeps_the_checkpoint(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(DivergedError, match="Lower learning_rate"):
        go(
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


def test_collapse_is_a_tiny_loss_with_a_falling_score():
    watch = Watch()
    watch.check(0.5, 1)
    assert watch.score(0.7, 10)
    assert not watch.score(0.5, 20)  # falling, but the loss is no sign of a shortcut
    for step in range(21, 121):
        watch.check(1e-5, step)
    assert not watch.score(0.68, 30)
    with pytest.raises(DivergedError, match="collapse"):
        watch.score(0.6, 40)
    assert Watch.from_json(json.loads(json.dumps(watch.as_json()))) == watch


def test_the_dry_runs_memory_counts_a_running_mean_and_its_queue(tiny_encoder):
    def numbers(recipe):
        settings = load_recipe(recipe)
        encoder = start(str(tiny_encoder), settings, torch.device("cpu"))
        return encoder.model, plan_numbers(Model(encoder.model, "cls", settings))

    model, of_simcse = numbers("simcse")
    running_mean = sum(item.numel() for item in (*model.parameters(), *model.buffers()))
    assert numbers("esimcse")[1] == of_simcse + running_mean + 160 * (model.config.hidden_size + 1)


def test_more_processes_than_gpus_is_refused(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="--nproc-per-node 1"):
        join()


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
        assert list((tmp_path / f"run/seed-{seed}/tensorboard").iterdir())
    code, said = run("--set", "batch=0")
    assert code == 2
    assert "must be above 0" in said.err
    code, said = run("--dry-run", "--set", "max_length=65")
    assert code == 2
    assert "max_length = 65: tiny reads at most 64 tokens" in said.err


def test_embedding_is_the_same_before_and_after_saving(tiny_store, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    go(tiny_store, tiny_encoder, tmp_path, pooling="cls")
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
