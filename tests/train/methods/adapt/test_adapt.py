"""Adaptation and RankCSE: terms against slow references, columns that are made, runs that gain nothing."""

import dataclasses
import itertools
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from augment_cli import api
from augment_cli.errors import UsageError
from augment_cli.models.digest import model_digest
from augment_cli.resources import SAMPLE
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from eval.measures.geometry import unit
from tests.helpers.commands import typed
from tests.helpers.made_stores import store_of
from tests.helpers.places import REPOSITORY
from tests.helpers.tiny_encoders import make_tiny_encoder
from tests.helpers.training import check_gradients, cos, draw, logged_run, options, sentence
from tests.helpers.vector_stages import add_vectors
from train.additions import find
from train.cli import _for_kind
from train.loading import load_recipe, make_recipe
from train.methods.adapt.columns import make_columns, missing, named, set_name, teachers
from train.outputs.log import read_log
from train.watching.evaluate import Neighbourhoods

ENCODER = str(REPOSITORY / "data" / "models" / "encoder")  # one that has something to lose
STATIC = str(REPOSITORY / "data" / "models" / "static")
OWN = set_name(ENCODER)
QUICK = ["batch=16", "max_length=16", "steps=4", "evaluate_every=2", "threads=1"]
TAU, TEACHER = 0.5, 0.3  # those of `slow_list_net`
TEMPERATURES = {"temperature": TAU, "teacher_temperature": TEACHER}


@pytest.fixture
def bare(tmp_path):
    return store_of(tmp_path, map(sentence, range(240)), part_rows=120).path


def command(recipe, store, out, changes):
    words = [recipe, "--store", store, "--encoder", ENCODER, "--out", out, *options(*changes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("train.cli._data", lambda: None)
        done = typed("train", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_what_is_missing_is_listed_in_the_order_it_is_made(bare):
    bare = Store.open(bare)
    mined = ["negatives=mined-vectors", "positives=self,synonym", "decay.vectors=start"]
    _, recipe = named(load_recipe("adapt-contrastive", mined), ENCODER)
    vectors = [f"vectors-{OWN}{stage}" for stage in ("", "-synonym", "-mined-vectors")]
    assert missing(recipe, bare, OWN) == ["synonym", "mined-vectors", *vectors]
    _, recipe = named(load_recipe("minimal-pairs"), ENCODER)
    texts = [*recipe.positives, "passage", *recipe.additions["turned"]["stages"]]
    vectors = [
        f"vectors-{OWN}{stage}" for stage in ("", *(f"-{name}" for name in (*recipe.positives, "passage")))
    ]
    assert missing(recipe, bare, OWN) == [*texts, *vectors]
    assert missing(load_recipe("simcse"), bare, OWN) == []
    with pytest.raises(UsageError, match="no stage 'rephrased', and no augmentation of that name"):
        make_columns(load_recipe("adapt-contrastive", ["positives=rephrased"]), bare.path, ENCODER)


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "steps"), [(0.0, 4), (10.0, 0)])
def test_a_teacher_is_made_and_taught_where_the_words_confirm_it(bare, tmp_path, monkeypatch, kept, steps):
    out = tmp_path / "run"
    monkeypatch.setattr("augment_cli.vectors.combine.kept_weight", lambda *_: kept)
    told = command("adapt", bare, out, QUICK)
    reason = "nothing was trained: the texts' words do not confirm the groups that the encoder sees"
    for said in (told, (out / "best/README.md").read_text("utf-8")):
        assert (reason in said) == (not steps)
    assert read_log(out / "log.jsonl")[-1]["step"] == steps
    if not steps:
        assert model_digest(out / "best") == model_digest(Path(ENCODER))
    store = Store.open(bare)
    settings = store.stage(f"vectors-combined-{OWN}").settings["parameters"]
    assert (settings["combined"], settings["weights"]) == ([OWN, "static"], "1,0.5")
    assert missing(named(load_recipe("adapt"), ENCODER)[1], store, OWN) == []
    assert json.loads((out / "summary.json").read_text())["scores"]["before neighbours"]
    # Another encoder has vectors and a teacher of its own beside these.
    assert "vectors-combined-static" in make_columns(load_recipe("adapt"), bare, STATIC, jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "ratio", "outcome"), [(0.0, 0.97, "better"), (0.0, 0.94, "worse"), (0.3, 0.97, "worse")]
)
def test_where_the_words_confirm_all_groups_the_dev_score_may_fall_a_little(
    bare, tmp_path, monkeypatch, kept, ratio, outcome
):
    monkeypatch.setattr("augment_cli.vectors.combine.kept_weight", lambda *_: kept)
    scores = Neighbourhoods.scores
    monkeypatch.setattr(
        Neighbourhoods,
        "scores",
        lambda self, found, before: scores(self, found, before) | {"neighbours": ratio if before else 1.0},
    )
    monkeypatch.setattr(Neighbourhoods, "gain", lambda *_: (ratio - 1, ratio - 1.1, ratio - 0.9))
    out = tmp_path / "run"
    told = command("adapt", bare, out, QUICK)
    assert read_log(out / "log.jsonl")[-1]["outcome"] == outcome
    assert ("as the texts' words confirm the groups that it was taught" in told) == (outcome == "better")
    assert (model_digest(out / "best") == model_digest(Path(ENCODER))) == (outcome == "worse")


def test_who_teaches():
    texts = ["The river flows past the old mill."]
    assert teachers(ENCODER, texts) == {OWN: (ENCODER, 1.0), "static": (STATIC, 0.5)}
    for others in ("中国经济增长超过预期", "Les électeurs sont divisés pour le vote des députés."):
        assert teachers(ENCODER, [others]) == {OWN: (ENCODER, 1.0)}
    helped = teachers(STATIC, texts)
    assert helped["static"] == (STATIC, 0.5)
    assert set(helped) <= {"static", "minilm"}  # where it is installed


# Eight of one sentence stand for a corpus; Romanian has no sentences here, and keywords tell no language.
CORPORA = {
    "de": "Der Zug nach {} fährt nicht mit den anderen Wagen.",
    "fr": "Les trains pour {} ne partent jamais quand il neige beaucoup.",
    "zh": "开往{}的列车今天从七号站台发车。",
    "en": "The train for {} was not where the others are.",
    "keywords": "{} {} train station platform delay ticket",
    "ro": "{}: trenurile vechi opresc acum lângă fabrica părăsită dincolo",
}


@pytest.mark.parametrize("language", CORPORA)
def test_general_sentences_are_of_the_texts_language(tmp_path, capsys, language):
    towns = ("Bonn", "Wien", "Linz", "Graz", "Bern", "Genf", "Rom", "Prag")
    texts = [CORPORA[language].replace("{}", town) for town in towns]
    path = tmp_path / "store"
    api.ingest_corpus(store=path, texts=texts)
    make_columns(load_recipe("simcse", ["positives=random-sentence"]), path, ENCODER, jobs=1)
    name = f"sentences.{language}.txt" if language in ("de", "es", "fr", "zh") else SAMPLE.name
    assert f"general sentences to keep to: the shipped {name}\n" in capsys.readouterr().err
    drawn = api.open_store(path).frame("random-sentence")["text"].to_list()
    assert set(drawn) <= set(SAMPLE.with_name(name).read_text("utf-8").splitlines())
    store = Store.open(path)
    usual, made = make_run("random-sentence").settings(store), store.stage("random-sentence").settings
    assert (made["fingerprint"] == usual.fingerprint) == (name == SAMPLE.name)


@pytest.mark.parametrize(
    ("recipe", "encoder", "rate"),
    [
        ("adapt", STATIC, 0.03),
        ("adapt", 5, 8e-5),
        ("adapt", 6, 4e-5),
        ("adapt", 7, 4e-5),
        ("minimal-pairs", 5, 5e-4),
        ("minimal-pairs", 6, 5e-4),
        ("minimal-pairs", 7, 1e-4),
    ],
)
def test_static_shallow_and_deep_encoders_have_learning_rates_of_their_own(tmp_path, recipe, encoder, rate):
    if isinstance(encoder, int):
        encoder = str(make_tiny_encoder(tmp_path / "encoder", encoder))
    for changes, expected in (([], rate), (["learning_rate=0.01"], 0.01)):
        assert _for_kind(load_recipe(recipe, changes), encoder, changes).learning_rate == expected


def slow_term(z, known, texts, there):
    """The loss of lists of the last view, of the rows that are there."""
    student, right = (np.array([[cos(x[i, -1], x[j, -1]) for j in there] for i in there]) for x in (z, known))
    left_out = np.array([[i == j or texts[i, -1] == texts[j, -1] for j in there] for i in there])
    return pytest.approx(slow_list_net(student, right, left_out).mean(), rel=1e-9)


def test_the_term_of_a_batch(taught):
    z, known = draw(6, 3, 4), draw(6, 3, 5, seed=1)  # anchors, positives, other texts
    texts = np.arange(18).reshape(6, 3)
    texts[4, 2] = texts[1, 2]  # two rows with one text stand in no list of each other
    texts[3, 2] = -1  # a row that brings none
    addition, batch = taught("agreement", z, known, texts, TEMPERATURES, {"agreement": {}}, first=2)
    assert addition.loss(batch).item() == slow_term(z, known, texts, [0, 1, 2, 4, 5])


def test_the_term_on_vectors_is_each_ones_distance_beside_that_of_two_texts(taught):
    z, known = draw(6, 3, 4), draw(6, 3, 4, seed=1)
    texts = np.arange(18).reshape(6, 3)
    texts[3, 2] = -1
    addition, batch = taught("agreement", z, known, texts, {"on": "vectors"}, {"agreement": {}}, first=2)
    there = (0, 1, 2, 4, 5)
    slow = [1 - cos(z[i, 2], known[i, 2]) for i in there]
    spread = np.mean([1 - cos(known[i, 2], known[j, 2]) for i in there for j in there if i != j])
    assert addition.loss(batch).item() == pytest.approx(np.mean(slow) / spread, rel=1e-6)


@pytest.mark.parametrize("on", ["similarities", "vectors"])
def test_how_high_all_cosines_are_changes_nothing(taught, on):
    texts = np.arange(18).reshape(6, 3)
    z, known = (unit(draw(18, 4, seed=seed)).reshape(6, 3, 4) for seed in (0, 1))

    def loss(height):
        higher = (np.pad(vectors, [(0, 0), (0, 0), (0, 1)], constant_values=height) for vectors in (z, known))
        addition, batch = taught("agreement", *higher, texts, {"on": on}, {"agreement": {}}, first=2)
        return addition.loss(batch).item()

    assert loss(2.0) == pytest.approx(loss(3.0), rel=1e-4)


def test_some_rows_bring_their_other_text(choose_views):
    def chosen(row_id, epoch, **settings):
        texts = {"random-sentence": [101, 8, 102]}
        (_, other), labels = choose_views("agreement", [[101, 5, 102]], texts, row_id, epoch, **settings)
        assert labels == [row_id, 0, epoch]
        return other

    brought = [chosen(row, 0) for row in range(400)]
    assert 100 < sum(other == [101, 8, 102] for other in brought) < 200  # three of eight
    assert brought.count(None) == 400 - sum(other == [101, 8, 102] for other in brought)
    assert [chosen(row, 1) for row in range(400)] != brought
    assert all(chosen(row, 0, share=1.0) for row in range(20))


def test_a_run_keeps_what_the_start_says(store_copy, tiny_encoder, tmp_path):
    api.run("random-sentence", store_copy, jobs=1)
    for stage in ("corpus", "random-sentence"):
        api.embed(store_copy, stage, name="start", model=tiny_encoder, jobs=1)
    add_vectors(store_copy, "corpus", draw(150, 4), "teacher")
    values = {"steps": 20, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0}
    taught = {"teacher": {"temperature": 0.2, "teacher_temperature": 0.2}}

    def terms(weight):
        more = {"agreement": {"weight": weight, "share": 1.0}}
        out = tmp_path / f"run-{weight}"
        result, events = logged_run(store_copy, tiny_encoder, out, values | taught | more)
        assert {"random-sentence", "vectors-start"} < set(result.facts["data"])
        return [event["agreement_loss"] for event in events if "agreement_loss" in event]

    without, kept = terms(0.0), terms(5.0)
    assert kept[0] == without[0]  # the entropy of what the start says, before the first step
    gaps = [much - little for much, little in zip(without, kept, strict=True)]
    assert np.mean(gaps[2:]) > 0.003  # 0.01 where it was written; rounding differs between processors


@pytest.mark.parametrize(("apart", "expected"), [(0.1, "by its spread"), (2.0, 1.0)])
def test_a_students_temperature_goes_by_the_spread_of_the_start(store_copy, apart, expected):
    api.run("random-sentence", store_copy, jobs=1)
    vectors = apart * draw(150, 4)
    vectors[:, 0] += 1  # the common part of narrow ones
    add_vectors(store_copy, "random-sentence", vectors, "start")
    add_vectors(store_copy, "corpus", draw(150, 4), "teacher")
    recipe = make_recipe({"teacher": {}, "agreement": {}})
    addition = find("teacher")(find("teacher").settings_class(), SimpleNamespace(recipe=recipe))
    addition.on_train_begin(Store.open(store_copy))
    if expected == "by its spread":
        cosines = [cos(one, other) for one, other in itertools.permutations(vectors, 2)]
        expected = max(1 - np.mean(cosines), 0.05) / 0.8
    assert addition.scale == pytest.approx(expected, rel=1e-2)  # vectors are stored in halves


def test_teacher_the_term_of_a_batch(taught):
    z, teacher = draw(6, 1, 4), draw(6, 1, 3, seed=1)
    texts = np.arange(6).reshape(6, 1)
    texts[4] = texts[1]  # two rows with one text stand in no list of each other
    addition, batch = taught("teacher", z, teacher, texts, TEMPERATURES)
    labels = batch.labels.clone()
    labels[:, 1] = -1  # the anchor again: nothing beside it has vectors
    batch = dataclasses.replace(batch, labels=labels)
    assert addition.loss(batch).item() == slow_term(z, teacher, texts, range(6))


def lists(left_out):
    return [[j for j in range(len(row)) if not row[j]] for row in left_out]


def softmax(values):
    terms = [math.exp(value) for value in values]
    return [term / sum(terms) for term in terms]


def slow_list_net(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        own, right = (
            softmax([s[i, j] / tau for j in row]) for s, tau in ((student, TAU), (teacher, TEACHER))
        )
        losses.append(-sum(q * math.log(p) for q, p in zip(right, own, strict=True)))
    return np.array(losses)


def slow_list_mle(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        order, likelihood = sorted(row, key=lambda j: -teacher[i, j]), 1.0
        for place, j in enumerate(order):
            rest = sum(math.exp(student[i, k] / TAU) for k in order[place:])
            likelihood *= math.exp(student[i, j] / TAU) / rest
        losses.append(-math.log(likelihood))
    return np.array(losses)


def slow_consistency(student, teacher, left_out):
    losses = []
    for i, row in enumerate(lists(left_out)):
        p, q = (softmax([side[i, j] / TAU for j in row]) for side in (student, teacher))
        m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        losses.append(sum(a * math.log(a / c) / 2 for side in (p, q) for a, c in zip(side, m, strict=True)))
    return np.array(losses)


def reference_run(z, teacher, texts, settings):
    """The term of a batch of anchors and positives, shape (B, 2, d), in loops."""
    rows = range(len(z))
    student = np.array([[cos(z[i, 0], z[j, 1]) for j in rows] for i in rows])
    known = np.array([[cos(teacher[i, 0], teacher[j, 1]) for j in rows] for i in rows])
    left_out = np.array([[bool(set(texts[i]) & set(texts[j])) and i != j for j in rows] for i in rows])
    if not settings.get("own"):
        left_out |= np.eye(len(z), dtype=bool)
    slow = slow_list_net if settings.get("form", "list-net") == "list-net" else slow_list_mle
    both = slow_consistency(student, student.T, left_out)
    return float(np.mean(slow(student, known, left_out) + settings.get("consistency", 0) * both))


@pytest.mark.parametrize(
    "settings", [{}, {"own": True}, {"form": "list-mle"}, {"form": "list-mle", "consistency": 2.0}]
)
def test_ranking_the_term_of_a_batch(settings, taught):
    z, teacher = draw(6, 2, 4), draw(6, 2, 3, seed=1)
    texts = np.arange(12).reshape(6, 2)
    texts[4, 0] = texts[1, 0]  # two rows with one text stand in no list of each other
    addition, batch = taught("ranking", z, teacher, texts, settings | TEMPERATURES)
    check_gradients(
        lambda value: addition.loss(dataclasses.replace(batch, embeddings=value, z=value)),
        lambda moved: reference_run(moved, teacher, texts, settings),
        [z],
        atol=1e-7,
        rtol=1e-9,
    )
