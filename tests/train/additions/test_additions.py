"""Additions in whole runs: settings, learning on real sentences, rows left out, whitening."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from eval.encoding import whitening
from eval.encoding.loading import load_encoder
from train import components
from train.additions import find
from train.data.order import is_held_out
from train.data.reader import Reader, changed_rows
from train.draws import draw_key
from train.loading import RECIPES, load_recipe, make_recipe
from train.machine.distributed import join
from train.model.model import Model
from train.model.start import start
from train.optimizer import make_optimizer
from train.outputs import checkpoint
from train.outputs.log import read_log
from train.outputs.whiten import spaced_texts, store_whitened
from train.prepare import Run
from train.recipe import Recipe
from train.run import open_columns, train

SHORT = {"batch": 16, "max_length": 16, "evaluate_every": 0, "log_every": 1, "pooling": "mean", "threads": 1}


def go(store, encoder, out, values):
    outcome = train(Run(make_recipe(SHORT | values), store, str(encoder), out), join())
    return outcome, read_log(out / "log.jsonl")


# --- settings


@pytest.mark.parametrize("name", components.names("additions"))
def test_every_addition_says_what_its_settings_are(name):
    kind = find(name)
    assert kind.__doc__
    settings = kind.settings_class
    for field in settings.__dataclass_fields__:
        assert re.search(rf"^    ([a-z_, ]+, )?{field}(, [a-z_, ]+)? : ", settings.__doc__, re.MULTILINE), (
            field
        )
    for key, choices in kind.choices.items():
        assert getattr(settings(), key) in choices


def test_every_addition_has_a_recipe():
    used = {name for path in RECIPES.glob("*.toml") for name in load_recipe(path.stem).additions}
    assert used == set(components.names("additions"))


def test_settings_of_a_table():
    recipe = load_recipe("simcse", ["momentum.queue=7", "repetition.rate=0.2"])
    assert recipe.additions["momentum"] == {"rate": 0.995, "queue": 7}
    assert list(recipe.additions) == ["momentum", "repetition"]  # in order of their names, whoever named them
    assert load_recipe("esimcse", ["momentum.queue=7"]).additions["momentum"]["queue"] == 7
    again = make_recipe(json.loads(json.dumps(recipe.as_json())))
    assert again == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("momentum.lenght=3", r"\[momentum\]: unknown setting 'lenght'; known: rate, queue"),
        ("momentum.queue=many", r"\[momentum\]: queue = 'many' should be a whole number"),
        ("momentun.queue=3", r"unknown setting 'momentun.queue'; known: .*\[momentum\]"),
        ("momentum=3", r"\[momentum\]: should be a table"),
    ],
)
def test_wrong_settings_of_a_table_are_named(change, message):
    with pytest.raises(UsageError, match=message):
        load_recipe("simcse", [change])


def test_additions_need_the_contrastive_objective():
    with pytest.raises(UsageError, match='needs objective "contrastive"'):
        load_recipe("mlm", ["momentum.queue=3"])


def test_an_addition_takes_no_part_in_what_others_draw(tiny_encoder):
    """Heads are the same with and without additions, so that rows of a table differ in the method alone."""
    states = []
    for values in ({}, {"discriminator": {"stages": ["una"]}}):
        recipe = make_recipe(values)
        encoder = start(tiny_encoder, recipe, torch.device("cpu"))
        torch.manual_seed(1)
        states.append(Model(encoder.model, "cls", recipe).head.state_dict())
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name])


# --- learning


LEARNING = {
    "discriminator": {
        "loss": "symmetric", "head": "batch-norm",
        "discriminator": {"stages": ["una", "pi", "aa"], "weight": 1.0, "alpha": 1.0, "dropout": 0.0},
    },
    "neighbourhood": {
        "loss": "nt-xent", "head": "relu", "temperature": 0.2, "head_rate_scale": 3.0,
        "neighbourhood": {"neighbours": 4, "radius": 1.0},
    },
    "soft_negative": {"soft_negative": {"stage": "pi", "weight": 1.0}},
    "esimcse": {"repetition": {}, "momentum": {"queue": 40}},
    "gaussian_negatives": {"gaussian_negatives": {"count": 48}},
    "latent_augmentation": {"latent_augmentation": {"kind": "linear", "strength": 0.5}},
    "pca_jitter": {"pca_jitter": {"layer": 1, "schedule": "constant", "level": 10.0}},
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNING)
def test_an_addition_changes_what_is_learned(tiny_store, tiny_encoder, tmp_path, name):
    tables = set(LEARNING[name]) & set(components.names("additions"))
    assert tables
    for table in tables:
        learned = []
        without = {key: value for key, value in LEARNING[name].items() if key != table}
        if table == "pca_jitter":  # a hooked encoder rounds otherwise, so: no noise, but the hook
            without[table] = LEARNING[name][table] | {"level": 0.0}
        for number, values in enumerate((LEARNING[name], without)):
            out = tmp_path / f"{table}-{number}"
            go(tiny_store, tiny_encoder, out, {"learning_rate": 1e-3, "steps": 3, "dropout": 0.0} | values)
            learned.append(load_file(out / "best/model.safetensors"))
        assert any(not torch.equal(learned[0][key], learned[1][key]) for key in learned[0]), table


@pytest.mark.parametrize(
    "name",
    ["discriminator", *(pytest.param(n, marks=pytest.mark.slow) for n in LEARNING if n != "discriminator")],
)
def test_a_short_run_lowers_its_own_losses(tiny_store, tiny_encoder, tmp_path, name):
    values = {"learning_rate": 3e-3, "epochs": 4, "schedule": "constant"} | LEARNING[name]
    _, events = go(tiny_store, tiny_encoder, tmp_path, values)
    assert len(events) == 40
    for key in (key for key in events[0] if key.endswith("loss")):
        first, last = (np.mean([event[key] for event in part]) for part in (events[:10], events[-10:]))
        assert last < 0.9 * first, key
    # The watch for a collapse follows the contrastive loss; a further term need not come near zero.
    running = events[0]["loss"]
    for event in events[1:]:
        running = 0.9 * running + 0.1 * event["loss"]
    state = checkpoint.read_state(checkpoint.checkpoints(tmp_path / "checkpoints")[-1])
    assert state["watch"]["loss"] == pytest.approx(running)


@pytest.mark.slow
def test_the_encoder_hides_what_the_discriminator_looks_for(tiny_store, tiny_encoder, tmp_path):
    """With the gradient reversed the discriminator ends up knowing less than with it passed on."""
    last = {}
    for alpha in (-1.0, 1.0):
        values = {
            "loss": "symmetric", "head": "batch-norm", "learning_rate": 2e-3, "epochs": 8,
            "schedule": "constant",
            "discriminator": {"stages": ["una", "pi", "aa"], "weight": 1.0, "alpha": alpha},
        }  # fmt: skip
        _, events = go(tiny_store, tiny_encoder, tmp_path / str(alpha), values)
        last[alpha] = np.mean([event["discriminator_loss"] for event in events[-20:]])
    assert last[-1.0] > last[1.0] + 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        ("simcse", {}),
        ("simcse-ntxent", {}),
        ("una", {}),
        ("una-columns", {}),
        ("sda", {}),
        ("paraphrase", {"positives": ("aa",)}),
        ("paraphrase-una", {"positives": ("aa",)}),
        ("mix", {"positives": ("pi", "aa")}),
        ("simcse-mlm", {}),
        ("mlm", {}),
        ("vascl-simcse", {"chunk": 16}),
        ("augcse", {"discriminator": {"stages": ("una", "pi", "aa"), "weight": 5e-3}}),
        ("vascl", {"chunk": 16}),
        ("esimcse", {}),
        ("sncse", {"soft_negative": {"stage": "pi"}}),
        ("gsinfonce", {}),
        ("modals", {}),
        ("pca-jitter", {}),
        ("single-positive", {}),
        ("single-negative", {"negatives": ("una",), "only_changed": ("una",)}),
    ],
)
def test_every_recipe_runs_on_the_shipped_encoder(tiny_store, tmp_path, recipe, changes):
    values = load_recipe(recipe, ["soft_negative.stage=pi"] if recipe == "sncse" else []).as_json()
    tables = values.pop("additions")
    for name, table in changes.items():
        if isinstance(table, dict):
            tables[name] = tables[name] | table
        else:
            values[name] = table
    values |= {"batch": 32, "steps": 3, "threads": 1, "evaluate_every": 0, "log_every": 1} | tables
    shipped = RECIPES.parent.parent / "data/models/encoder"
    outcome = train(Run(make_recipe(values), tiny_store, str(shipped), tmp_path), join())
    assert outcome.steps == 3
    assert (tmp_path / "last/model.safetensors").is_file()
    names = {event for event in read_log(tmp_path / "log.jsonl")[-1] if event.endswith("loss")}
    with_terms = {"discriminator", "neighbourhood", "soft_negative"} & tables.keys()
    expected = {f"{name}_loss" for name in with_terms}
    expected |= {"mlm_loss"} if recipe in ("mlm", "simcse-mlm") else set()
    assert names == expected | (set() if recipe == "mlm" else {"loss"})


# --- rows left out


def test_only_changed_rows_are_trained_on(tiny_store, tiny_encoder, tmp_path):
    store = Store.open(tiny_store)
    keep = changed_rows(store, ["aa", "pi"])
    np.testing.assert_array_equal(keep, [bool(row % 2) and bool(row % 5) for row in range(150)])
    assert changed_rows(store, []) is None
    tokenizer = load_encoder(tiny_encoder).tokenizer
    opened, stages = open_columns(
        tiny_store, SimpleNamespace(columns=("corpus", "aa"), once=()), tokenizer, join()
    )
    reader = Reader(opened, stages, batch=16, seed=1, window=3, held_out=0.2, keep=keep)
    seen = np.concatenate([batch.row_ids for batch in reader.epoch(0)])
    expected = np.flatnonzero(keep & ~is_held_out(np.arange(150), 0.2))
    assert sorted(seen[seen >= 0]) == expected.tolist()
    outcome, _ = go(tiny_store, tiny_encoder, tmp_path, {"positives": ("aa",), "only_changed": ("aa", "pi")})
    assert outcome.steps == -(-int(keep.sum()) // 16)


# --- whitening


def test_whitening_is_stored_with_the_model(tiny_store, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    values = {"epochs": 0, "whiten": 100, "whiten_dimension": 8}
    outcome, _ = go(tiny_store, tiny_encoder, tmp_path, values)
    assert outcome.steps == 0
    texts = Store.open(tiny_store).read("corpus")["text"].to_pylist()
    chosen = spaced_texts(Store.open(tiny_store), 100)
    assert len(chosen) == 100
    assert (chosen[0], chosen[-1]) == (texts[0], texts[-1])
    plain, white = load_encoder(tmp_path / "best"), load_encoder(tmp_path / "whitened")
    vectors = white.encode(chosen)
    assert vectors.shape == (100, 8)
    np.testing.assert_allclose(vectors.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(vectors.T, bias=True), np.eye(8), atol=1e-2)
    expected = whitening.fit(plain.encode(chosen), 8)(plain.encode(texts[:5]))
    np.testing.assert_allclose(white.encode(texts[:5]), expected, atol=1e-4)
    library = SentenceTransformer(str(tmp_path / "whitened"), device="cpu")
    np.testing.assert_allclose(library.encode(texts[:5]), expected, atol=1e-4)
    before = (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes()
    store_whitened(tmp_path / "best", tmp_path / "whitened", Store.open(tiny_store), 100, 8)  # once more
    assert (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes() == before


def test_spaced_texts_are_spread_over_the_corpus(tiny_store):
    store = Store.open(tiny_store)
    texts = store.read("corpus")["text"].to_pylist()
    assert spaced_texts(store, 10_000) == texts
    assert spaced_texts(store, 4) == [texts[row] for row in (0, 50, 99, 149)]


def test_the_papers_settings():
    augcse, vascl, esimcse = (load_recipe(name) for name in ("augcse", "vascl", "esimcse"))
    assert (augcse.loss, augcse.head, augcse.batch, augcse.learning_rate) == (
        "symmetric", "batch-norm", 128, 2e-5,
    )  # fmt: skip
    table = augcse.additions["discriminator"]
    assert (table["weight"], table["alpha"], table["positive"], table["dropout"]) == (5e-3, -1.0, "self", 0.2)
    assert len(table["stages"]) == 6  # 8-2-Aug
    assert (vascl.schedule, vascl.epochs, vascl.clip) == ("constant", 5, 0.0)
    assert (esimcse.batch, esimcse.additions["momentum"]["queue"]) == (64, 160)
    sncse = load_recipe("sncse").additions["soft_negative"]
    assert (sncse["least"], sncse["most"], sncse["weight"]) == (0.1, 0.3, 1e-3)
    assert Recipe().additions == {}


def test_head_and_additions_have_a_rate_of_their_own(tiny_encoder):
    recipe = make_recipe({"head_rate_scale": 100.0, "discriminator": {"stages": ["una"]}, "momentum": {}})
    encoder = start(tiny_encoder, recipe, torch.device("cpu"))
    model = Model(encoder.model, "cls", recipe)
    groups = make_optimizer(model, recipe).param_groups
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    scales = {names[id(p)]: group["scale"] for group in groups for p in group["params"]}
    assert {name.split(".")[0] for name, scale in scales.items() if scale == 100.0} == {"head", "additions"}
    assert {name.split(".")[0] for name, scale in scales.items() if scale == 1.0} == {"encoder"}
    assert not any("momentum" in name for name in scales)  # it follows, and is not trained


def test_the_first_step_moves_each_group_by_its_rate(tiny_store, tiny_encoder, tmp_path):
    go(tiny_store, tiny_encoder, tmp_path, {"steps": 1, "learning_rate": 1e-3, "head_rate_scale": 10.0})
    recipe = make_recipe(SHORT)
    encoder = start(tiny_encoder, recipe, torch.device("cpu"))
    torch.manual_seed(draw_key(recipe.seed, "heads"))
    before = Model(encoder.model, "mean", recipe).state_dict()
    after = load_file(checkpoint.checkpoints(tmp_path / "checkpoints")[-1] / "model.safetensors")
    # Adam's first step is the rate times the gradient's sign, but for gradients next to nothing.
    moved = {name: float((after[name] - before[name]).abs().max()) for name in after}
    assert moved["head.dense.weight"] == pytest.approx(1e-2, rel=1e-2)
    assert moved["encoder.encoder.layer.0.output.dense.weight"] == pytest.approx(1e-3, rel=1e-2)
