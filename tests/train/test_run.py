"""Whole runs on the tiny store: what is learned, watched, stopped, written and printed, fast or not."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from transformers import BertConfig, BertModel

from augment_cli.encoding.fast import bert as packed
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.words_apart import count_store
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.neural import fast
from augment_cli.neural.runtime import has_fast_bf16
from augment_cli.store.store import Store
from tests.helpers.training import logged_run, logged_steps, quick_run
from train.loading import make_recipe
from train.model import Model
from train.outputs.log import Speed, read_log
from train.recipe import Recipe
from train.watching.early_stopping import DivergedError

PT = {"format": "pt"}


_BF16 = pytest.mark.skipif(not has_fast_bf16(), reason="the trainer would use fp32")


@pytest.mark.parametrize("low", [pytest.param("bf16", marks=_BF16), "fp16"])
def test_sixteen_bits_and_fp32_go_the_same_way(tiny_store, tiny_encoder, tmp_path, low):
    losses = {}
    for precision in ("fp32", low):
        values = {"log_every": 1, "precision": precision, "dropout": 0.0}
        quick_run(tiny_store, tiny_encoder, tmp_path / precision, **values)
        losses[precision] = [event["loss"] for event in logged_steps(tmp_path / precision)]
    np.testing.assert_allclose(losses[low], losses["fp32"], rtol=0.05)
    assert losses[low] != losses["fp32"]


def test_a_step_whose_scaled_gradient_overflows_is_left_out(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    def make(recipe, ranks):
        return torch.amp.GradScaler("cpu", init_scale=2.0**100)

    monkeypatch.setattr("train.objectives.contrastive.make_scaler", make)
    settings = {"log_every": 1, "precision": "fp16", "steps": 3, "schedule": "constant"}
    quick_run(tiny_store, tiny_encoder, tmp_path, **settings)
    assert not np.isfinite([event["norm"] for event in logged_steps(tmp_path)]).any()
    after, before = (load_file(f / "model.safetensors") for f in (tmp_path / "last", tiny_encoder))
    assert all((after[name] == before[name]).all() for name in after)


def test_bf16_falls_back_where_the_cpu_has_none(tiny_store, tiny_encoder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("train.run.has_fast_bf16", lambda: False)
    for precision in ("fp32", "bf16"):
        quick_run(tiny_store, tiny_encoder, tmp_path / precision, log_every=1, precision=precision, steps=3)
    assert "fp32 is used" in capsys.readouterr().err
    logs = [[e["loss"] for e in logged_steps(tmp_path / p)] for p in ("fp32", "bf16")]
    assert logs[0] == logs[1]


def test_best_and_last_retrieval_and_early_stopping(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    # Of so few pairs every gain is within noise.
    monkeypatch.setattr("train.watching.evaluate.PairRetrieval.gain", lambda *_: (0.1, 0.01, 0.2))
    settings = {"held_out": 0.3, "evaluate_every": 1, "patience": 2, "epochs": 50, "log_every": 1}
    outcome = quick_run(tiny_store, tiny_encoder, tmp_path, **settings)
    scores = [e for e in read_log(tmp_path / "log.jsonl") if e["event"] in ("before", "dev")]
    values = [event["pair_retrieval"] for event in scores]  # the starting encoder's first
    best = int(np.argmax(values))
    assert outcome.best_step == best
    assert outcome.steps == len(values) - 1 == best + 2  # two evaluations without a better one
    assert outcome.scores["best"]["pair_retrieval"] == max(values)
    again = quick_run(tiny_store, tiny_encoder, tmp_path, **settings)
    assert again.steps == outcome.steps  # a run that patience ended is not taken up again
    assert {"alignment", "uniformity"} <= scores[0].keys()


def test_a_gain_is_that_of_the_exported_encoders_and_encodes_nothing_again(
    tiny_store, tiny_encoder, tmp_path, monkeypatch
):
    compared, better = [], itertools.count()

    def gain(test, before, after):
        for folder, measured in ((tiny_encoder, before), (tmp_path / "best", after)):
            np.testing.assert_array_equal(measured, test.measure(load_encoder(folder)))
            compared.append(folder)
        return 0.1, 0.01, 0.2

    monkeypatch.setattr("train.watching.evaluate.PairRetrieval.gain", gain)
    monkeypatch.setattr("train.watching.evaluate.PairRetrieval.scores", lambda *_: {"dev": next(better)})
    monkeypatch.setattr("train.watching.evaluate.load_encoder", None)
    run = quick_run(tiny_store, tiny_encoder, tmp_path, held_out=0.3, evaluate_every=1, steps=3)
    assert run.best_step == 3
    assert len(compared) == 2


class ScriptedTest:
    """A dev test that has its scores, and what the best gained, from the test."""

    cosines = ()

    def __init__(self, scores, gain=(0.09, 0.01, 0.2)):
        self.scores, self.interval, self.seen, self.asked = iter(scores), gain, [], []

    def __call__(self, encoder, before):
        self.seen.append((encoder.pooling, encoder.weights is None, encoder.encode(["One sentence."])))
        return {"dev": next(self.scores)}

    def keep(self, when):
        pass

    def gain(self, folders, device):
        self.asked.append([load_encoder(folders[when]).digest for when in ("before", "best")])
        return self.interval


@pytest.fixture
def scripted(monkeypatch):
    """Give the next runs such a test, one after the other."""

    def give(*scores, **more):
        tests = []

        def make(*_):
            tests.append(ScriptedTest(scores, **more))
            return tests[-1]

        monkeypatch.setattr("train.run.dev_test", make)
        return tests

    return give


def test_the_starting_encoder_comes_out_where_nothing_beats_it(
    tiny_store, tiny_encoder, tmp_path, scripted, capsys
):
    scripted(0.7, 0.6, 0.7, 0.5)  # before training, then steps 1 to 3; a draw is no better
    outcome = quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=1, steps=3)
    assert outcome.best_step == 0
    assert [outcome.scores[when]["dev"] for when in ("before", "best", "last")] == [0.7, 0.7, 0.5]
    for path in Path(tiny_encoder).rglob("*.*"):
        name = path.relative_to(tiny_encoder)
        assert path.name == "README.md" or (tmp_path / "best" / name).read_bytes() == path.read_bytes()
    said = "beat the starting encoder in no evaluation (dev 0.7000 before, 0.5000 at the end)"
    verdict = read_log(tmp_path / "log.jsonl")[-1]
    assert (verdict["event"], verdict["step"], verdict["outcome"]) == ("verdict", 3, "worse")
    assert said in verdict["message"] and "all 3 steps were made" in verdict["message"]
    assert verdict["message"] in capsys.readouterr().err
    assert verdict["message"] in (tmp_path / "best/README.md").read_text(encoding="utf-8")


def test_a_changed_pooling_competes_with_the_encoder_as_it_was_given(
    tiny_store, tiny_encoder, tmp_path, scripted
):
    tests = scripted(0.7, 0.6)
    quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=1, steps=1, pooling="idf:mean")
    seen = tests[0].seen
    given = load_encoder(tiny_encoder)
    assert [kind[:2] for kind in seen] == [(given.pooling, True), ("idf:mean", False)]
    best = load_encoder(tmp_path / "best")
    assert best.digest == given.digest and best.pooling == given.pooling
    for vectors in (seen[0][2], best.encode(["One sentence."])):
        np.testing.assert_array_equal(vectors, given.encode(["One sentence."]))
    cards = {kind: (tmp_path / kind / "README.md").read_text("utf-8") for kind in ("best", "last")}
    assert f"| pooling | {given.pooling} |" in cards["best"] and "| pooling | idf:mean |" in cards["last"]


@pytest.fixture
def collapsing(scripted, monkeypatch):
    """Dev scores of a run whose loss has nothing left to teach."""
    monkeypatch.setattr("train.watching.early_stopping.COLLAPSED_LOSS", 1e3)
    return scripted


@pytest.mark.parametrize(
    ("scores", "outcome", "best_step"), [([0.7, 0.6, 0.5], "worse", 0), ([0.7, 0.8, 0.5], "better", 1)]
)
def test_a_collapse_ends_the_run_with_the_best_so_far(
    tiny_store, tiny_encoder, tmp_path, collapsing, scores, outcome, best_step
):
    collapsing(*scores)
    run = {"evaluate_every": 1, "steps": 9}
    result = quick_run(tiny_store, tiny_encoder, tmp_path, **run)
    assert (result.steps, result.stopped_by, result.best_step) == (2, 0, best_step)
    *_, verdict = read_log(tmp_path / "log.jsonl")
    assert verdict["outcome"] == outcome
    assert "stopped at step 2 by a collapse; next: the same command with" in verdict["message"]
    assert "--set learning_rate=0.0005 or other positives" in verdict["message"]
    card = (tmp_path / "best/README.md").read_text("utf-8")
    assert "Warning of the run: collapse. The loss is" in card and verdict["message"] in card
    digest = load_encoder(tiny_encoder).digest
    assert (load_encoder(tmp_path / "best").digest == digest) == (best_step == 0)
    assert quick_run(tiny_store, tiny_encoder, tmp_path, **run).steps == 2  # and is not taken up again
    assert [event["event"] for event in read_log(tmp_path / "log.jsonl")].count("verdict") == 1


def test_a_collapse_of_a_new_encoder_is_an_error(tiny_store, tiny_encoder, tmp_path, collapsing):
    (tmp_path / "new").mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(tiny_encoder) / name, tmp_path / "new")
    collapsing(0.1, 0.6, 0.5)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    values = {"evaluate_every": 1, "steps": 9, "new_encoder": small}
    with pytest.raises(DivergedError, match=r"step 2: collapse.* kept in best/"):
        quick_run(tiny_store, tmp_path / "new", tmp_path / "run", **values)


def test_a_trained_encoder_that_is_better_comes_out_and_nothing_is_said(
    tiny_store, tiny_encoder, tmp_path, scripted, capsys
):
    scripted(0.7, 0.6, 0.8, 0.75)
    outcome = quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=1, steps=3)
    assert outcome.best_step == 2
    assert outcome.scores["best"] == {"dev": 0.8}
    said = capsys.readouterr().err
    better = "better than the starting encoder by 0.0900 (95 %: +0.0100 to +0.2000; dev 0.7000 before, "
    assert f"{better}0.8000 at step 2)" in said and "no evaluation" not in said


def test_a_gain_within_noise_gives_the_starting_encoder_back(tiny_store, tiny_encoder, tmp_path, scripted):
    tests, start = scripted(0.7, 0.6, 0.71, 0.65, gain=(0.01, -0.01, 0.03)), load_encoder(tiny_encoder).digest
    for _ in range(2):  # and says the same when it is called once more
        outcome = quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=1, steps=3)
        assert outcome.best_step == 0
        assert outcome.scores["best"] == outcome.scores["before"] == {"dev": 0.7}
        verdict = read_log(tmp_path / "log.jsonl")[-1]
        assert verdict["outcome"] == "same"
        assert "what step 2 gained is within noise (95 %: -0.0100 to +0.0300; dev" in verdict["message"]
        assert verdict["message"] in (tmp_path / "best/README.md").read_text("utf-8")
        assert load_encoder(tmp_path / "best").digest == start
    ((given, best),) = tests[0].asked
    assert given == start != best


@pytest.mark.parametrize(
    ("texts", "settings", "said"),
    [
        (["One sentence."], {}, "zero in all 4 steps: no batch held two texts"),
        (None, {"objective": "mlm", "mask_rate": 0.0}, "raise mask_rate (0)"),
        (None, {"temperature": 1e30}, "temperature (1e+30) is too high"),
    ],
)
def test_a_training_that_learns_nothing_says_so(
    tiny_store, tiny_encoder, tmp_path, build_store, texts, settings, said
):
    store = tiny_store if texts is None else build_store(tmp_path, texts)
    learned = quick_run(store, tiny_encoder, tmp_path / "run", steps=4, log_every=1, **settings)
    *events, verdict = read_log(tmp_path / "run/log.jsonl")
    assert verdict["outcome"] == "same" and "nothing was learned" in verdict["message"]
    assert said in verdict["message"] and learned.facts["verdict"] == verdict["message"]
    warned = [event["step"] for event in events if event["event"] == "warning"]
    assert warned == [3]


@pytest.mark.parametrize(("value", "said"), [(0, "all texts the same vector"), (np.nan, "hold NaN")])
def test_a_start_of_zeros_learns_nothing_and_one_with_nan_is_refused(
    tiny_store, tiny_encoder, tmp_path, value, said
):
    encoder = Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))
    weights = load_file(encoder / "model.safetensors")
    save_file({name: array * value for name, array in weights.items()}, encoder / "model.safetensors", PT)
    expected = pytest.raises(BadInputError, match=said) if value else contextlib.nullcontext()
    with expected:
        assert said in quick_run(tiny_store, encoder, tmp_path / "run", steps=2).facts["verdict"]


def test_without_any_dev_score_it_says_what_to_do(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(UsageError, match=r"held_out=0\.1"):
        quick_run(tiny_store, tiny_encoder, tmp_path, evaluate_every=5)
    facts = quick_run(tiny_store, tiny_encoder, tmp_path, steps=2).facts
    assert facts["verdict"].startswith("the starting encoder has no dev score to compare with; all 2 steps")
    assert read_log(tmp_path / "log.jsonl")[-1]["outcome"] == "unknown"


def test_nan_stops_with_an_explanation_and_keeps_the_checkpoint(tiny_store, tiny_encoder, tmp_path):
    with pytest.raises(DivergedError, match="Lower learning_rate"):
        more = {"clip": 0.0, "epochs": 3, "checkpoint_every": 1, "log_every": 1, "head": "none"}
        quick_run(tiny_store, tiny_encoder, tmp_path, learning_rate=1e38, **more)
    (kept,) = (tmp_path / "checkpoints").iterdir()
    assert kept.name == "step-0000001"  # whose update is what broke the next
    assert np.isfinite(read_log(tmp_path / "log.jsonl")[-1]["loss"])


def test_a_pooling_with_token_weights_is_trained_and_saved_with_them(tiny_store, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    quick_run(tiny_store, tiny_encoder, tmp_path / "run", pooling="idf:mean", steps=3)
    ours = load_encoder(tmp_path / "run/last")
    assert ours.pooling == "idf:mean"
    counts = count_store(Store.open(tiny_store), ours.tokenizer)
    np.testing.assert_allclose(ours.weights.numpy(), counts.weights("idf"), rtol=1e-6)
    texts = ["One sentence.", "Another, somewhat longer sentence."]
    library = SentenceTransformer(str(tmp_path / "run/last"), device="cpu")
    np.testing.assert_allclose(library.encode(texts), ours.encode(texts), atol=1e-6)
    # Trained again, with the weights that came along.
    quick_run(tiny_store, tmp_path / "run/last", tmp_path / "again", steps=1)
    assert load_encoder(tmp_path / "again/last").pooling == "idf:mean"


def test_the_time_left_is_that_of_the_later_steps_and_of_the_evaluations():
    seconds = {"before": 40, "first": 30, "later": 2}
    with patch("time.perf_counter", return_value=0.0) as clock:
        speed = Speed(0)
        with speed.paused():
            clock.return_value += seconds["before"]
        for step, _ in enumerate(speed.waiting_for(range(10)), start=1):
            clock.return_value += seconds["first" if step == 1 else "later"]
            left = speed.left(50, 3)
    assert left == 50 * seconds["later"] + 3 * seconds["before"]


@pytest.fixture(autouse=True)
def switch(monkeypatch):
    monkeypatch.setattr(fast, "_wanted", True)
    monkeypatch.setattr(fast, "_said", set())


@pytest.mark.parametrize(
    "values",
    [
        {"loss": "info-nce", "negatives": ("una",), "head": "none"},
        {"loss": "nt-xent", "negatives": ("una",), "pooling": "cls", "gradient_cache": 5},
        {"head": "none", "frozen": 0.5},
    ],
    ids=["columns", "pool", "frozen"],
)
def test_both_ways_train_the_same_encoder_without_dropout(
    tiny_store, tiny_encoder, tmp_path, monkeypatch, values
):
    more = values | {"steps": 6, "dropout": 0.0, "precision": "float64"}
    _, events = logged_run(tiny_store, tiny_encoder, tmp_path / "fast", more)
    monkeypatch.setattr("train.model.encode", None)  # nothing of it is called
    monkeypatch.setattr("train.losses.fast.surprise", None)
    _, others = logged_run(tiny_store, tiny_encoder, tmp_path / "plain", more | {"fast": False})
    mine, plain = ([event["loss"] for event in some] for some in (events, others))
    np.testing.assert_allclose(mine, plain, rtol=1e-9)
    trained, other = (load_file(tmp_path / way / "last/model.safetensors") for way in ("fast", "plain"))
    assert trained.keys() == other.keys()
    for name, array in trained.items():
        np.testing.assert_allclose(array, other[name], rtol=1e-5, atol=1e-7, err_msg=name)
    before = load_file(tiny_encoder / "model.safetensors")
    stayed = {name for name, array in trained.items() if np.array_equal(array, before[name])}
    frozen = {name for name in trained if name.startswith(("embeddings.", "encoder.layer.0."))}
    assert frozen <= stayed if "frozen" in values else len(frozen & stayed) < 3  # key.bias has no gradient


def test_only_a_training_without_it_says_so(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    """Checkpoints from before there was the setting are continued; one made in the other way is refused."""
    assert "fast" not in Recipe().as_json()
    assert make_recipe({"fast": False}).as_json()["fast"] is False
    quick_run(tiny_store, tiny_encoder, tmp_path / "ours", steps=2)
    quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2, fast=False)

    def settings(name):
        (state,) = (tmp_path / name / "checkpoints").glob("*/state.json")
        return json.loads(state.read_text())["settings"]

    assert "fast" not in settings("ours")
    assert settings("plain")["fast"] is False
    with pytest.raises(MixError, match=r"made with fast = False.* \(--set fast=false\)"):
        quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2)
    monkeypatch.setenv("AUGMENT_FAST", "0")  # the same as the setting
    quick_run(tiny_store, tiny_encoder, tmp_path / "plain", steps=2)
    with pytest.raises(MixError, match="now False"):
        quick_run(tiny_store, tiny_encoder, tmp_path / "ours", steps=2)


def test_layers_that_have_changed_are_left_to_transformers(capsys):
    config = BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    model = BertModel(config)
    assert packed.is_known(model)
    del model.encoder.layer[0].attention.self.scaling
    assert not packed.is_known(model)
    assert not packed.is_known(model)
    assert not Model(model, "mean", make_recipe({})).packs
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("BERT's layers: the library's own, slower code is used") and "scaling" in line
