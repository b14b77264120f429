"""Methods against slow references and libraries, and in whole runs."""

import dataclasses
import itertools
import json
import math
from collections import Counter
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import AnglELoss, CoSENTLoss
from torch import nn

from augment_cli import api
from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.tiny_encoders import SENTENCES
from tests.helpers.training import check_gradients, cos, draw, logged_run, logged_steps, options, quick_run
from tests.helpers.vector_stages import add_vectors
from train.additions import find, make_views
from train.additions.base import Row
from train.cli import main
from train.data.order import is_held_out
from train.data.texts import NO_TEXT
from train.extras.nearest import nearest
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.methods.adapt.vectors import CachedVectors
from train.methods.cosent.angle_addition import angle_similarity
from train.methods.cosent.cosent_addition import column_of, cosent
from train.methods.distil import vocabulary
from train.methods.distil.distil import averages, distil, make_tokenizer, projection, regress, teacher_vectors
from train.methods.distil.settings import Settings
from train.methods.esimcse.momentum_addition import Momentum
from train.methods.esimcse.momentum_addition import Settings as Queue
from train.methods.esimcse.repetition_addition import Settings as Repetition
from train.methods.esimcse.repetition_addition import repeat
from train.methods.gist.guide_addition import too_alike
from train.methods.meaning.turned_addition import Settings as Turns
from train.methods.meaning.turned_addition import ToldApart, Turned, own_contrast
from train.methods.pca_jitter.pca_jitter_addition import jitter, layer_module
from train.model.start import start
from train.objectives.contrastive import contrast
from train.outputs.log import read_log
from train.prepare import Run, plan

NAMES = ("cosent", "angle")
LOSSES = {"cosent": CoSENTLoss, "angle": AnglELoss}
SCORES = np.array([0.9, 0.1, 0.5, 0.5, 0.0, 1.0, 0.3])  # two are equal


def slow(name, z, scores, scale):
    """The definition in loops: log(1 + Σ exp(s_j − s_i)) over score i > score j."""

    def similarity(x, y):
        if name == "cosent":
            return cos(x, y)
        half = len(x) // 2
        u, v = (np.array([complex(*pair) for pair in zip(w[:half], w[half:], strict=True)]) for w in (x, y))
        quotients = (u * v.conj()) / (np.linalg.norm(u) * np.linalg.norm(v))
        return abs(float(quotients.real.sum() + quotients.imag.sum()))

    values = [scale * similarity(x, y) for x, y in z]
    pairs = itertools.permutations(range(len(z)), 2)
    return math.log1p(sum(math.exp(values[j] - values[i]) for i, j in pairs if scores[i] > scores[j]))


def with_scores(addition, batch, scores):
    """The addition with scores as its column, and the batch as rows whose positive is a text of its own."""
    addition.scores = torch.tensor(scores)
    return batch


@pytest.mark.parametrize("dimension", [4, 5])
@pytest.mark.parametrize("name", NAMES)
def test_the_term_and_its_gradient_are_the_librarys(name, dimension, taught):
    z, scores = draw(7, 2, dimension), SCORES
    addition, batch = taught(name, z, z, np.arange(14).reshape(7, 2), {}, {"positives": ["una"]})
    value = torch.tensor(z, requires_grad=True)
    term = addition.loss(with_scores(addition, dataclasses.replace(batch, embeddings=value), scores))
    term.backward()
    theirs = torch.tensor(z, requires_grad=True)
    library = LOSSES[name](torch.nn.Identity(), scale=20.0)
    loss = library.compute_loss_from_embeddings(list(theirs.unbind(1)), torch.tensor(scores))
    loss.backward()
    assert term.item() == pytest.approx(loss.item(), rel=1e-12)
    np.testing.assert_allclose(value.grad, theirs.grad, rtol=1e-9, atol=1e-12)
    assert addition.noted == {"pairs": 7.0}


@pytest.mark.parametrize("name", NAMES)
def test_the_term_and_its_gradient_are_the_definitions(name, taught):
    z = draw(5, 2, 4)
    addition, batch = taught(name, z, z, np.arange(10).reshape(5, 2), {"scale": 3.0}, {"positives": ["una"]})
    check_gradients(
        lambda value: addition.loss(
            with_scores(addition, dataclasses.replace(batch, embeddings=value), SCORES)
        ),
        lambda moved: slow(name, moved, SCORES[:5], 3.0),
        [z],
        atol=1e-7,
    )


def test_rows_that_are_no_pairs_count_nowhere(taught):
    z, texts = draw(7, 2, 4), np.arange(14).reshape(7, 2)
    texts[6] = -1  # padding
    scores = SCORES.copy()
    scores[1] = np.nan  # no score
    addition, batch = taught("cosent", z, z, texts, {}, {"positives": ["una"]})
    labels = batch.labels.clone()
    labels[2, 1] = -1  # the anchor again
    term = addition.loss(with_scores(addition, dataclasses.replace(batch, labels=labels), scores))
    left = [0, 3, 4, 5]
    assert term.item() == pytest.approx(slow("cosent", z[left], scores[left], 20.0), rel=1e-12)
    assert addition.noted == {"pairs": 4.0}


def test_scores_that_do_not_differ_teach_nothing():
    similarities = torch.tensor([3.0, 1.0], requires_grad=True)
    for scores in ([0.5, 0.5], [0.5, torch.nan], [torch.nan, torch.nan]):
        loss = cosent(similarities, torch.tensor(scores))
        (gradient,) = torch.autograd.grad(loss, similarities)
        assert loss.item() == 0 and gradient.tolist() == [0, 0]


def test_large_similarities_do_not_overflow():
    loss = cosent(torch.tensor([-2e4, 2e4]), torch.tensor([1.0, 0.0]))
    assert loss.item() == 4e4


def test_without_a_column_the_scores_are_the_cosines_of_cached_vectors(taught):
    z, teacher = draw(6, 2, 4), draw(6, 2, 3, seed=1)
    settings = {"column": ""}
    addition, batch = taught(
        "cosent", z, teacher, np.arange(12).reshape(6, 2), settings, {"positives": ["una"]}
    )
    known = [cos(*pair) for pair in teacher]
    assert addition.loss(batch).item() == pytest.approx(slow("cosent", z, known, 20.0), rel=1e-12)


def test_the_angle_does_not_depend_on_lengths():
    first, second = torch.tensor(draw(5, 6)), torch.tensor(draw(5, 6, seed=1))
    torch.testing.assert_close(angle_similarity(first, second), angle_similarity(3 * first, 0.2 * second))


@pytest.fixture(scope="module")
def scored_pairs(tmp_path_factory):
    """Pairs of one's own with gold scores, two of them without, in a store as `ingest` leaves it."""
    folder = tmp_path_factory.mktemp("pairs") / "store"
    others = [*SENTENCES[:48], *SENTENCES[60:110], None, SENTENCES[3]]
    scores = [f"{1.0 if row < 48 else 0.1 * (row % 3)}" for row in range(98)] + ["0.7", None]
    anchors = [f"{text} Indeed." for text in SENTENCES[:48]] + SENTENCES[:52]
    table = pa.table({"text": anchors, "positive": others, "score": scores})
    pq.write_table(table, folder.with_name("pairs.parquet"))
    pairs = {"keep_columns": ("score",), "positive_columns": ("positive",)}
    api.ingest_corpus(folder.with_name("pairs.parquet"), folder, text_column="text", **pairs)
    return folder


def test_a_column_is_read_as_numbers(scored_pairs):
    numbers = column_of(Store.open(scored_pairs), "score")
    assert numbers.shape == (100,) and numbers[97].item() == pytest.approx(0.1)
    assert numbers[98].item() == pytest.approx(0.7) and numbers[99].isnan()


@pytest.mark.parametrize(
    ("column", "message"),
    [("gold", "is not there; pairs with scores are read with"), ("text", "is not a number everywhere")],
)
def test_a_column_without_scores_is_refused_before_the_first_step(
    scored_pairs, tiny_encoder, column, message
):
    recipe = load_recipe("cosent", [f"cosent.column={column}"])
    run = Run(recipe, scored_pairs, str(tiny_encoder), scored_pairs.parent / "run")
    with pytest.raises(UsageError, match=f"the field '{column}' of the corpus {message}"):
        plan(run, join())


@pytest.mark.parametrize("name", NAMES)
def test_a_run_learns_the_order_of_scores(name, scored_pairs, tiny_encoder, tmp_path):
    values = {"steps": 14, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0, "head": "none"}
    values |= {"positives": ["positive"], "labels": "kind", "batch": 25, name: {}}
    _, events = logged_run(scored_pairs, tiny_encoder, tmp_path / "run", values)
    steps = [event for event in events if event["event"] == "step"]
    terms = [event[f"{name}_loss"] for event in steps]
    assert np.mean(terms[-4:]) < np.mean(terms[:3]) - 0.1
    assert sum(event[f"{name}_pairs"] for event in steps[:4]) == 98  # an epoch, but for the two without


def test_a_run_takes_the_scores_of_cached_vectors(store_copy, tiny_encoder, tmp_path):
    for of, seed in (("corpus", 1), ("una", 2), ("una.1", 3)):
        add_vectors(store_copy, of, draw(150, 4, seed=seed))
    values = {"steps": 2, "contrastive_weight": 0.0, "positives": ["una"], "labels": "kind"}
    result, events = logged_run(
        store_copy, tiny_encoder, tmp_path / "run", values | {"cosent": {"column": ""}}
    )
    assert all(event["cosent_pairs"] > 5 for event in events if event["event"] == "step")
    assert set(result.facts["data"]) == {
        *("corpus", "una", "una.1"),
        *("vectors", "vectors-una", "vectors-una.1"),
    }


TEXTS_TO_CUT = ["The river flows through the town.", "A man plays the guitar.", "rivers and towns"]


@pytest.fixture(scope="module")
def teacher(tiny_encoder):
    return load_encoder(tiny_encoder)


@pytest.fixture(scope="module")
def store(tiny_store):
    return Store.open(tiny_store)


# --- vocabulary


@pytest.fixture(scope="module")
def own(teacher):
    return vocabulary.wordpiece(teacher.tokenizer.backend_tokenizer, vocabulary.own(teacher.tokenizer))


def test_known_texts_are_cut_as_the_teacher_cuts_them(teacher, own):
    for text in TEXTS_TO_CUT:
        expected = teacher.tokenizer.tokenize(text)
        assert own.backend_tokenizer.encode(text).tokens == [token for token in expected if token != "[UNK]"]


@given(st.text(max_size=60))
def test_no_text_has_an_unknown_token(own, text):
    assert own.unk_token_id not in own.backend_tokenizer.encode(text).ids


def test_a_cut_vocabulary_keeps_the_frequent_and_every_character(teacher, store):
    whole = make_tokenizer(teacher, store, Settings())
    small = make_tokenizer(teacher, store, Settings(size=250))
    assert 252 <= len(small) < len(whole)
    single = {token for token in whole.get_vocab() if len(token.removeprefix("##")) == 1}
    assert single <= set(small.get_vocab()) and "the" in small.get_vocab()
    assert small.unk_token_id not in small.backend_tokenizer.encode("the quizzical zebra").ids


def test_whole_words_are_added_the_most_frequent_first(teacher, store):
    with_words = make_tokenizer(teacher, store, Settings(words=3))
    added = list(
        with_words.get_vocab().keys() - make_tokenizer(teacher, store, Settings()).get_vocab().keys()
    )
    assert len(added) == 3
    for word in added:
        assert with_words.backend_tokenizer.encode(word).tokens == [word]
        assert len(teacher.tokenizer.tokenize(word)) > 1


def test_a_learned_vocabulary_is_the_corpus_s(teacher, store):
    learned = make_tokenizer(teacher, store, Settings(vocabulary="learned", size=200))
    assert 200 <= len(learned) < 260  # and the characters that were not learned within words
    assert not set(learned.get_vocab()) <= set(teacher.tokenizer.get_vocab())
    ids = vocabulary.teacher_ids(teacher.tokenizer, ["the", "##zzq"], [2], [3])
    assert ids[0] == [2, teacher.tokenizer.get_vocab()["the"], 3]
    assert ids[1] == [2, *teacher.tokenizer("zzq", add_special_tokens=False)["input_ids"], 3]


# --- regression


def test_regression_equals_the_dense_solution():
    draws = np.random.default_rng(0)
    size, width, ridge = 30, 4, 0.05
    ids = [list(draws.integers(0, size - 5, draws.integers(0, 9))) for _ in range(200)]  # some are empty
    targets, start = draws.normal(size=(200, width)), draws.normal(size=(size, width))
    weights = draws.uniform(0.2, 1, size)
    a = np.zeros((200, size))
    for row, tokens in enumerate(ids):
        for token in tokens:
            a[row, token] += 1 / len(tokens)
    np.testing.assert_allclose(averages(ids, size).toarray(), a, rtol=1e-5)
    scaled = a * weights
    first = scaled @ start
    scale = (first * targets).sum() / (first**2).sum()
    change = np.linalg.solve(scaled.T @ scaled + ridge * np.eye(size), scaled.T @ (targets - scale * first))
    expected = weights[:, None] * (scale * start + change)
    found = regress(averages(ids, size), targets, start, weights, ridge, iterations=60)
    np.testing.assert_allclose(found.table, expected, atol=2e-3)
    np.testing.assert_allclose(found.table[-5:], scale * (weights[:, None] * start)[-5:], rtol=1e-4)
    explained = 1 - ((a @ expected - targets) ** 2).sum() / (targets**2).sum()
    assert found.explained == pytest.approx(explained, abs=1e-3)


def test_projection_keeps_the_directions_of_largest_variance():
    vectors = np.random.default_rng(1).normal(size=(300, 3)) * [1, 5, 2] + [9, 9, 9]
    found = projection(vectors, 2)(vectors)
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(0), [vectors[:, 1].std(), vectors[:, 2].std()], rtol=0.05)


# --- the whole way


def test_a_table_is_the_teacher_s_tokens_whitened_and_weighted(teacher, store):
    found, facts = distil(teacher, store, Settings(dimension=16))
    assert isinstance(found, StaticEncoder) and facts["tokens"] == len(found.tokenizer)
    tokens = found.tokenizer.convert_ids_to_tokens(list(range(len(found.tokenizer))))
    vectors = teacher.encode_ids(list(_as_read(teacher, tokens)))
    counted = np.zeros(len(tokens))
    for text in _texts(store):
        for number in found.tokenizer.backend_tokenizer.encode(text).ids:
            counted[number] += 1
    share = counted / counted.sum()
    table = transforms.fit(vectors, 16, share)(vectors) * (1e-3 / (1e-3 + share))[:, None]
    table[:2] = 0  # padding and unknown
    got = found.model.embedding.weight.detach().numpy()
    # Directions may have the other sign.
    np.testing.assert_allclose(got @ got.T, table @ table.T, atol=2e-2)


def _as_read(teacher, tokens):
    known = teacher.tokenizer.get_vocab()
    for token in tokens:
        plain = token.removeprefix("##")
        inner = (
            [known[token]]
            if token in known
            else teacher.tokenizer(plain, add_special_tokens=False)["input_ids"]
        )
        yield [known["[CLS]"], *inner, known["[SEP]"]]


def _texts(store):
    return [
        text
        for part in range(len(store.parts))
        for text in store.read_part("corpus", part)["text"].to_pylist()
    ]


def test_kept_vectors_are_used_and_others_refused(teacher, tiny_encoder, store_copy):
    settings = Settings(dimension=16, regress=100)
    before = teacher_vectors(teacher, Store.open(store_copy), settings, lambda line: None)
    with Session(store_copy, Engine(1)) as session:
        session.embed(parameters=EmbedParameters(model=str(tiny_encoder), precision="fp32"))
    said = []
    after = teacher_vectors(teacher, Store.open(store_copy), settings, said.append)
    assert "read from vectors" in said[0] and before[0] == after[0] and len(before[0]) == 100
    np.testing.assert_allclose(before[1], after[1], atol=2e-3)
    found, facts = distil(teacher, Store.open(store_copy), settings)
    plain, _ = distil(teacher, Store.open(store_copy), Settings(dimension=16, postprocess="pca"))
    assert facts["sentences"] == 100 and 0.3 < facts["explained"] <= 1
    texts, targets = before

    def agreement(encoder):
        vectors = encoder.encode(texts)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        centred = targets - targets.mean(0)
        centred = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        above = np.triu_indices(len(texts), 1)
        return np.corrcoef((vectors @ vectors.T)[above], (centred @ centred.T)[above])[0, 1]

    assert agreement(found) > agreement(plain) + 0.1
    teacher_of_others = load_encoder(tiny_encoder)
    teacher_of_others.digest = "another"
    with pytest.raises(UsageError, match="another encoder"):
        teacher_vectors(teacher_of_others, Store.open(store_copy), settings, lambda line: None)


def test_one_call_from_python_is_the_command(tiny_store, tiny_encoder, tmp_path):
    from train.methods.distil.distil import distil_to

    settings = Settings(dimension=8)
    facts = distil_to(tmp_path / "called", tiny_store, str(tiny_encoder), settings, precision="fp32")
    command = ["distil", "--store", str(tiny_store), "--teacher", str(tiny_encoder), "--dimension", "8"]
    with pytest.raises(SystemExit):
        main([*command, "--precision", "fp32", "--out", str(tmp_path / "commanded")])
    called, commanded = (load_encoder(tmp_path / name) for name in ("called", "commanded"))
    assert called.digest == commanded.digest
    assert facts["tokens"] == len(called.tokenizer)
    with pytest.raises(UsageError, match="exists"):
        distil_to(tmp_path / "called", tiny_store, str(tiny_encoder))


def test_the_command_writes_a_folder_with_its_card(tiny_store, tiny_encoder, tmp_path, capsys):
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "static"
    command = ["distil", "--store", str(tiny_store), "--teacher", str(tiny_encoder), "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--dimension", "8", "--half"])
    assert ended.value.code == 0
    assert load_encoder(out).encode(["the river"]).shape == (1, 8)
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "--dimension 8" in card and "| tokens |" in card
    assert json.loads((out / "config.json").read_text())["embedding_dtype"] == "float16"
    texts = ["the river", "a", ""]
    assert not load_encoder(out).modules
    whole = tmp_path / "whole"
    with pytest.raises(SystemExit):
        main([*command[:-1], str(whole), "--dimension", "8"])
    lengths = np.linalg.norm(load_encoder(whole).encode(texts), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0], atol=1e-6)
    for folder in (out, whole):  # no number is lost in the library either
        vectors = SentenceTransformer(str(folder), device="cpu").encode(texts)
        np.testing.assert_allclose(vectors, load_encoder(folder).encode(texts), atol=1e-3)
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == UsageError.exit_code and "exists" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["nearest", str(out), "--store", str(tiny_store)])
    assert capsys.readouterr().out.count("nearest, cosine") == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"vocabulary": "new"}, "--vocabulary new: choose one of own, learned"),
        ({"words": -1}, "--words -1: must be at least 0"),
        ({"ridge": 0.0}, "--ridge 0.0: must be above 0"),
    ],
)
def test_settings_are_checked(values, message):
    with pytest.raises(UsageError, match=message):
        Settings(**values)


def test_what_cannot_be_distilled_is_said(teacher, store):
    static, _ = distil(teacher, store, Settings(dimension=8))
    with pytest.raises(UsageError, match="is a static encoder; name a transformer"):
        distil(static, store, Settings())
    with pytest.raises(UsageError, match="the teacher's vectors have 32"):
        distil(teacher, store, Settings(dimension=64))
    with pytest.raises(UsageError, match="write --dimension 0"):
        distil(teacher, store, Settings(dimension=8, postprocess="none"))


def test_neighbours_are_other_texts():
    texts = ["a", "b", "b", "c"]
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.6, 0.8]])
    assert nearest(texts, vectors, 2) == [("b", "c", pytest.approx(0.8)), ("b", "c", pytest.approx(0.8))]


MARGIN = 0.05


def masked(guide, margin=MARGIN):
    """The pairs (row, side), (row, side) that do not meet, by the definition."""
    views = [(row, side) for row in range(len(guide)) for side in (0, 1)]
    return {
        (u, v)
        for u in views
        for v in views
        if u[0] != v[0] and cos(guide[u], guide[v]) > cos(guide[u[0], 0], guide[u[0], 1]) - margin
    }


def reference(z, guide, loss, tau, negatives=0):
    """The loss of rows of an anchor, a positive and negatives, in loops; shape of z: (B, views, h)."""
    rows, out = range(len(z)), masked(guide)

    def term(columns, right):
        terms = [math.exp(value / tau) for value in columns]
        return -math.log(math.exp(right / tau) / sum(terms))

    losses = []
    if loss == "nt-xent":
        views = [(i, v) for i in rows for v in range(z.shape[1])]
        for u in views:
            partner = (u[0], u[1] ^ 1)
            met = [v for v in views if v != u and (u, v) not in out]
            losses.append(term([cos(z[u], z[v]) for v in met], cos(z[u], z[partner])))
        return float(np.mean(losses))
    for i in rows:
        met = [(j, 1) for j in rows if ((i, 0), (j, 1)) not in out]
        met += [(j, 2 + k) for j in rows for k in range(negatives)]
        losses.append(term([cos(z[i, 0], z[v]) for v in met], cos(z[i, 0], z[i, 1])))
    if loss == "symmetric":
        for j in rows:
            # On the way back the entries of the way there decide.
            back = [i for i in rows if ((i, 0), (j, 1)) not in out]
            losses.append(term([cos(z[i, 0], z[j, 1]) for i in back], cos(z[j, 0], z[j, 1])))
    return float(np.mean(losses))


def guide_of(rows, seed=5):
    """Vectors of anchors and positives, shape (rows, 2, 3), of length 1: some pairs are alike, some not."""
    anchors = draw(rows, 3, seed=seed)
    guide = np.stack([anchors, anchors + 0.7 * draw(rows, 3, seed=seed + 1)], axis=1)
    return guide / np.linalg.norm(guide, axis=-1, keepdims=True)


def mask_of(guide, margin=MARGIN, real=None):
    real = torch.ones(len(guide), dtype=torch.bool) if real is None else real
    return too_alike(torch.from_numpy(guide[:, 0]), torch.from_numpy(guide[:, 1]), real, margin)


def test_the_mask_is_that_of_the_definition():
    guide = guide_of(9)
    mask = mask_of(guide)
    place = {(row, side): row + 9 * side for row in range(9) for side in (0, 1)}
    expected = {(place[u], place[v]) for u, v in masked(guide)}
    assert {tuple(pair) for pair in mask.nonzero().tolist()} == expected
    assert 10 < len(expected) < 150
    assert mask_of(guide, 0.5).sum() > mask.sum() > mask_of(guide, 0.0).sum()
    real = torch.arange(9) < 7
    padded = mask_of(guide, real=real)
    assert torch.equal(padded, mask & real.repeat(2)[:, None] & real.repeat(2))


@pytest.mark.parametrize(
    ("loss", "views"), [("info-nce", 2), ("info-nce", 4), ("symmetric", 2), ("nt-xent", 2), ("nt-xent", 4)]
)
def test_value_and_gradient_of_the_masked_loss(loss, views):
    z, guide = draw(6, views, 4), guide_of(6)
    texts = torch.arange(6 * views).reshape(6, views)
    recipe = make_recipe({"loss": loss, "temperature": 0.5})
    (actual,) = check_gradients(
        lambda value: contrast(recipe, value, texts, [], [mask_of(guide)]),
        lambda moved: reference(moved, guide, loss, 0.5, views - 2),
        [z],
    )
    assert actual < contrast(recipe, torch.tensor(z), texts, []) - 1e-6


def test_vectors_are_those_of_the_row_and_of_the_draw_of_the_epoch(store_copy):
    corpus, first, second = (draw(150, 4, seed=seed).astype(np.float16) for seed in (1, 2, 3))
    for of, vectors in [("corpus", corpus), ("una", first), ("una.1", second)]:
        add_vectors(store_copy, of, vectors)
    guide = CachedVectors(Store.open(store_copy), ("self", "una"), "", 1)
    assert guide.stages == ("vectors", "vectors-una", "vectors-una.1")
    for row in (0, 39, 40, 149, 3):
        for positive, epoch, vectors in [(-1, 0, corpus), (1, 0, first), (1, 1, second), (1, 2, first)]:
            for actual, expected in zip(guide.pair(row, positive, epoch), (corpus, vectors), strict=True):
                wide = expected[row].astype(np.float64)
                np.testing.assert_allclose(actual, wide / np.linalg.norm(wide), rtol=1e-12)
        assert len(guide.kept) <= guide.groups


def test_a_run_masks_by_the_cached_vectors_and_remembers_them(store_copy, tiny_encoder, tmp_path):
    same = np.ones((150, 4))  # a guide that finds everything alike: no negative is left, and nothing to learn
    add_vectors(store_copy, "corpus", same, "blind")
    settings = {"steps": 2, "guide": {"vectors": "blind", "margin": 0.5}}
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "blind", settings)
    assert [event["loss"] for event in events if "loss" in event] == [0.0, 0.0]
    assert set(result.facts["data"]) == {"corpus", "vectors-blind"}


def test_a_guide_without_vectors_is_an_error_before_the_first_step(store_copy, tiny_encoder, tmp_path):
    recipe = make_recipe({"guide": {}, "positives": ["una"], "labels": "kind"})
    run = Run(recipe, store_copy, str(tiny_encoder), tmp_path / "run")
    with pytest.raises(UsageError, match="has no vectors of 'corpus'"):
        plan(run, join())
    add_vectors(store_copy, "corpus", draw(150, 4))
    with pytest.raises(UsageError, match="has no vectors of 'una'"):
        plan(run, join())
    add_vectors(store_copy, "una", draw(150, 4), model="other")
    add_vectors(store_copy, "una.1", draw(150, 4))
    with pytest.raises(MixError, match="they differ in model"):
        plan(run, join())


def test_a_row_without_a_vector_is_named(store_copy):
    vectors = draw(150, 4)
    vectors[60:] = np.nan  # as `embed --rows 60` leaves them
    add_vectors(store_copy, "corpus", vectors)
    guide = CachedVectors(Store.open(store_copy), ("self",), "", 4)
    guide.pair(59, -1, 0)
    with pytest.raises(BadInputError, match="no vector of row 60; remove the stage and embed all rows"):
        guide.pair(60, -1, 0)


def test_labels_say_which_positive_a_row_has(choose_views):
    anchor, una = [2, 10, 3], [2, 9, 3]
    for positive, which in [(anchor, -1), (una, -1)]:  # the recipe of `choose_views` knows no stage
        assert choose_views("guide", [anchor, positive], {"una": una}, row_id=7, epoch=3)[1] == [7, which, 3]


@pytest.fixture
def guided_store(store_copy):
    """A store with a guide's vectors of the corpus and of both draws of its positives."""
    for of, seed in (("corpus", 1), ("una", 2), ("una.1", 3)):
        add_vectors(store_copy, of, draw(150, 4, seed=seed))
    return store_copy


def losses(events):
    """The loss of each step that is logged."""
    return {event["step"]: event["loss"] for event in events if "loss" in event}


@pytest.mark.slow
def test_two_ranks_mask_what_one_does(guided_store, tiny_encoder, tmp_path, run_train):
    changes = ["batch=16", "steps=6", "evaluate_every=0", "dropout=0.0", "log_every=1", "precision=float64"]
    changes += ['positives=["una"]', "labels=kind", "guide.margin=0.5", "learning_rate=1e-3"]
    actual = []
    for ranks in (1, 2):
        out = tmp_path / str(ranks)
        common = ["--store", guided_store, "--encoder", tiny_encoder, "--out", out]
        done = run_train("gist", *common, *options(*changes), ranks=ranks)
        assert done.returncode == 0, done.stderr[-2000:]
        actual.append(list(losses(logged_steps(out)).values()))
    assert len(actual[0]) == 6
    np.testing.assert_allclose(actual[0], actual[1], rtol=1e-7)


def turned_reference(anchors, positives, turned, there, temperature):
    losses = []
    for a, p, own, is_there in zip(anchors, positives, turned, there, strict=True):
        pair = math.exp(cos(a, p) / temperature)
        others = [[math.exp(cos(u, n) / temperature) for n in own[is_there]] for u in (a, p)]
        losses.append(np.mean([math.log((pair + sum(side)) / pair) for side in others]))
    return np.array(losses)


def test_the_loss_is_the_slow_one_and_so_is_its_gradient():
    values = [draw(6, 4, seed=0), draw(6, 4, seed=1), draw(6, 3, 4, seed=2)]
    there = np.arange(18).reshape(6, 3) % 4 != 0
    there[5] = False  # a row without a turned sentence
    losses = check_gradients(
        lambda *inputs: own_contrast(*inputs, torch.tensor(there), 0.5),
        lambda *moved: turned_reference(*moved, there, 0.5),
        values,
        atol=1e-7,
    )
    assert losses[5] == 0


def test_rows_without_turned_sentences_and_padding_do_not_count(make_addition, make_batch):
    values = draw(4, 4, 3)
    texts = torch.arange(16).reshape(4, 4)
    texts[1, 3] = texts[2, 2] = texts[2, 3] = NO_TEXT
    texts[3] = NO_TEXT
    batch = make_batch(values, texts=texts, own=slice(2, 4))
    term = make_addition("turned", stages=("negation",), count=2, temperature=0.1).loss(batch)
    there = (texts[:, 2:] != NO_TEXT).numpy()
    slow = turned_reference(values[:2, 0], values[:2, 1], values[:2, 2:], there[:2], 0.1)
    assert term.item() == pytest.approx(slow.mean(), rel=1e-12)


RECIPE = make_recipe({"positives": ["rephrase", "voice"], "head": "none", "turned": {"stages": ["negation"]}})
STAGES = ("negation", "antonym", "swap", "number")
ids = {name: np.array([number, 7, 8]) for number, name in enumerate(("corpus", "rephrase", "voice", *STAGES))}


def chosen(texts, row_id=0, epoch=0, **settings):
    views = Turned.views(Turns(stages=STAGES, **settings), RECIPE)
    row = Row(row_id, epoch, [ids["corpus"], ids["corpus"]], lambda stage: texts.get(stage), (0, 0))
    found, labels = views.choose(row)
    assert labels == [] and len(found) == 2 + views.count
    name = {tuple(value): key for key, value in ids.items()}
    return [name[tuple(text)] if text is not None else None for text in found]


def test_a_row_draws_its_positive_and_some_of_its_turned_sentences():
    names = ("rephrase", "voice", *STAGES)
    many = [chosen({name: ids[name] for name in names}, row_id=row, count=2) for row in range(60)]
    assert {views[1] for views in many} == {"rephrase", "voice"}
    assert {name for views in many for name in views[2:]} == set(STAGES)
    assert all(len(set(views)) == 4 for views in many)
    texts = {name: ids[name] for name in names}
    assert chosen(texts, 3, 1) == chosen(texts, 3, 1) != chosen(texts, 3, 2)


def test_a_partner_comes_first_and_a_change_that_was_cut_off_is_left_out():
    texts = {name: ids[name] for name in ("rephrase", "voice", *STAGES)}
    for row in range(20):
        views = chosen(texts, row, partners=("voice:swap,antonym",))
        assert views[:4] == ["corpus", "voice", "swap", "antonym"]
    cut = texts | {"negation": ids["corpus"], "antonym": ids["voice"]}
    assert set(chosen(cut, partners=("voice:swap",))[2:]) == {"swap", "number", None}
    assert chosen({}) == ["corpus", "corpus", None, None, None]


def test_the_recipe_reads_what_the_recipe_of_augmentations_makes():
    from augment_cli.runs.recipe import load
    from train.methods.adapt.columns import MEANING, text_columns

    recipe = load_recipe("minimal-pairs")
    assert set(text_columns(recipe)) <= {entry.stage for entry in load(MEANING)}
    # The regression looks up the vector of the positive that was drawn, so it chooses after it.
    assert [type(views).__name__ for views in make_views(recipe)] == ["_Turned", "_OtherTexts", "PairLabels"]


def test_the_dev_score_counts_held_out_rows_that_are_told_apart(tiny_store):
    recipe = make_recipe(
        {"positives": ["aa", "self"], "held_out": 0.3, "head": "none", "turned": {"stages": ["pi"]}}
    )
    store = Store.open(tiny_store)
    (test,) = Turned.dev_tests(Turns(("pi",)), recipe, store)
    texts = {stage: store.read(stage)["text"].to_pylist() for stage in ("corpus", "aa", "pi")}
    held = np.flatnonzero(is_held_out(np.arange(150), 0.3))
    assert test.rows == [
        (texts["corpus"][row], [texts["aa"][row]], [texts["pi"][row]])
        for row in held
        if texts["aa"][row] and texts["pi"][row]
    ]
    assert not Turned.dev_tests(Turns(("pi",)), make_recipe({"positives": ["aa"], "head": "none"}), store)


def test_a_run_logs_the_cosines_of_held_out_rows(tiny_store, tiny_encoder, tmp_path):
    values = {"positives": ["aa"], "head": "none", "turned": {"stages": ["pi"]}, "held_out": 0.3, "steps": 2}
    quick_run(tiny_store, tiny_encoder, tmp_path, **values, watching={"dev": "method"}, evaluate_every=2)
    logged = [event for event in read_log(tmp_path / "log.jsonl") if event["event"] == "cosines"]
    assert [event["step"] for event in logged] == [0, 2]
    for event in logged:
        for kind in ("paraphrases", "turned sentences"):
            assert len(event[kind]) == 101 and event[kind] == sorted(event[kind])


def test_all_paraphrases_are_nearer_than_all_that_is_turned():
    test = ToldApart([("a", ["near", "mid"], ["far"]), ("a", ["near", "far"], ["mid", "far"])])
    angles = {"a": 0.0, "near": 0.1, "mid": 0.5, "far": 1.0}

    class Encoder:
        def encode(self, texts):
            return np.array([[math.cos(angles[text]), math.sin(angles[text])] for text in texts])

    measured = test.measure(Encoder())
    assert test.scores(measured, {}) == {"told_apart": 0.5}
    cosines = {kind: np.arccos(each).round(6).tolist() for kind, each in test.cosines(measured).items()}
    assert cosines == {"paraphrases": [0.1, 0.5, 0.1, 1.0], "turned sentences": [1.0, 0.5, 1.0]}
    many = ToldApart(test.rows[:1] * 50)
    apart, mixed = ([np.array(row)] * 50 for row in ([0.9, 0.8, 0.7], [0.9, 0.7, 0.8]))
    assert many.gain(mixed, apart)[0] == 1


def reference_jitter(hidden, alpha, noise):
    """By the d × d covariance, one sentence at a time."""
    norm = np.linalg.norm(hidden)
    if len(hidden) == 1:  # one token varies in no direction
        return hidden
    values, vectors = np.linalg.eigh(np.cov(hidden / norm, rowvar=False))
    added = np.zeros(hidden.shape[1])
    for k in range(min(hidden.shape)):
        value, vector = values[-1 - k], vectors[:, -1 - k]
        if value < 1e-14:  # a direction without variance adds nothing
            continue
        vector = vector * np.sign(vector[np.abs(vector).argmax()])
        added += alpha[k] * value * vector
    return hidden + norm * (added.sum() if noise == "scalar" else added)


@pytest.mark.parametrize("noise", ["vector", "scalar"])
@pytest.mark.parametrize("d", [3, 12])
def test_the_small_gram_matrix_gives_the_same_noise(noise, d):
    lengths = [6, 4, 1, 6]
    hidden, alpha = draw(4, 6, d), draw(4, 8, seed=1)
    mask = torch.tensor([[1] * n + [0] * (6 - n) for n in lengths])
    actual = jitter(torch.tensor(hidden), mask, torch.tensor(alpha), noise).numpy()
    for row, n in enumerate(lengths):
        expected = reference_jitter(hidden[row, :n], alpha[row], noise)
        np.testing.assert_allclose(actual[row, :n], expected, atol=1e-10)
        np.testing.assert_array_equal(actual[row, n:], hidden[row, n:])
        if n > 1:
            assert np.abs(actual[row, :n] - hidden[row, :n]).max() > 1e-4


def test_the_noise_is_a_constant_to_the_gradient():
    hidden = torch.tensor(draw(2, 5, 4), requires_grad=True)
    weights = torch.tensor(draw(2, 5, 4, seed=1))
    actual = jitter(hidden, torch.ones(2, 5), torch.ones(2, 5).double())
    (actual * weights).sum().backward()
    assert torch.equal(hidden.grad, weights)


def test_sigma_follows_its_schedule(make_addition, tiny_encoder):
    encoder = load_encoder(tiny_encoder).model

    def sigmas(schedule, level=2.0):
        addition = jitter_addition(make_addition, encoder, schedule=schedule, level=level)
        addition.steps = 100
        return [addition.sigma(step, np.random.default_rng(step)) for step in range(100)]

    assert set(sigmas("constant")) == {0.02}
    stepwise = sigmas("stepwise")
    assert [round(100 * sigma) for sigma in stepwise[::10]] == list(range(1, 11))
    assert stepwise == sorted(stepwise)
    assert {round(100 * sigma) for sigma in sigmas("random")} == set(range(1, 11))
    continuous = sigmas("continuous")
    assert continuous[0] == 0.01
    assert continuous[50] == pytest.approx(0.06)


def jitter_addition(make_addition, encoder, **values):
    class Host:
        def __init__(self):
            self.recipe = make_recipe({"batch": 8})
            self.encoder = encoder

    return make_addition("pca_jitter", model=Host(), **({"layer": 1} | values))


def test_alpha_is_drawn_by_row_and_step(make_addition, tiny_encoder):
    encoder = load_encoder(tiny_encoder).model
    one = jitter_addition(make_addition, encoder, level=10.0)
    each = jitter_addition(make_addition, encoder, level=10.0, draws="each")
    assert (one.alpha(0) == one.alpha(0)[:, :1]).all()
    np.testing.assert_array_equal(one.alpha(3), one.alpha(3))
    assert not np.allclose(one.alpha(3), one.alpha(4))
    many = np.concatenate([each.alpha(step).reshape(-1) for step in range(20)])
    assert many.std() == pytest.approx(0.1, rel=0.05)
    assert abs(many.mean()) < 4 * 0.1 / math.sqrt(len(many))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_only_positives_are_jittered_after_the_chosen_layer(make_addition, tiny_encoder, layer):
    from train.data.padding import Slice

    encoder = load_encoder(tiny_encoder).model
    addition = jitter_addition(make_addition, encoder, layer=layer, level=100.0)

    host = SimpleNamespace(encoder=encoder)
    ids = torch.tensor([[2, 30, 40, 50, 3]] * 3)
    item = Slice(torch.arange(3), ids, torch.ones_like(ids))

    def states():
        actual = []
        # Hooks of our own, which see what earlier hooks made of an output.
        handles = [
            layer_module(encoder, number).register_forward_hook(
                lambda module, inputs, output: actual.append(
                    output[0] if isinstance(output, tuple) else output
                )
            )
            for number in range(3)
        ]
        with torch.no_grad():
            last = encoder(input_ids=ids, attention_mask=item.mask).last_hidden_state
        for handle in handles:
            handle.remove()
        assert torch.equal(last, actual[-1])
        return actual

    plain = states()
    with addition.encoding(host, item, torch.tensor([0, 0, 5]), torch.tensor([0, 1, 1]), 0):
        changed = states()
    for number, (a, b) in enumerate(zip(plain, changed, strict=True)):
        assert torch.equal(a[0], b[0])  # the anchor
        assert torch.equal(a[1:], b[1:]) == (number < layer)
    assert not torch.allclose(changed[layer][1], changed[layer][2])  # rows have draws of their own
    alpha = torch.tensor(addition.alpha(0))[[0, 0, 5]] * torch.tensor([[0], [1], [1]])
    expected = jitter(plain[layer].double(), item.mask, alpha)
    torch.testing.assert_close(changed[layer].double(), expected, atol=1e-5, rtol=1e-5)
    assert all(torch.equal(a, b) for a, b in zip(plain, states(), strict=True))  # the hook is gone


def test_a_layer_that_is_not_there_is_named(tiny_encoder):
    encoder = load_encoder(tiny_encoder).model
    with pytest.raises(UsageError, match="layers 0 to 2"):
        layer_module(encoder, 3)
    with pytest.raises(UsageError, match="knows BERT"):
        layer_module(torch.nn.Linear(2, 2), 0)


def encode(x, encoder):
    return encoder(x)


class Tiny(nn.Module):
    """Stands for an encoder: one layer, and a dropout that would show."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.dropout = nn.Linear(3, 4).double(), nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.layer(x))


class Host:
    """What `Momentum` asks of a model."""

    def __init__(self):
        self.encoder, self.head_dimension, self.dtype = Tiny(), 4, torch.float64


def test_the_running_mean_and_its_queue(make_batch):
    host, rate = Host(), 0.9
    addition = Momentum(Queue(rate=rate, queue=5), host).train()
    assert not addition.encoder.training
    mean = host.encoder.layer.weight.detach().numpy().copy()
    queue, names = [], []
    for step in range(4):
        with torch.no_grad():
            host.encoder.layer.weight += torch.tensor(draw(4, 3, seed=step))
        x = torch.tensor(draw(3, 3, seed=10 + step))
        texts = torch.tensor([[step * 10 + row, 99] for row in range(3)])
        if step == 2:
            texts[1] = NO_TEXT  # padding never enters
        batch = make_batch(draw(3, 2, 4), texts=texts, head=torch.tanh)
        assert addition.negatives(batch)[1].tolist() == [*names, *[NO_TEXT] * 5][:5]
        with torch.no_grad():
            addition.on_step_end(batch, partial(encode, x))
        mean = rate * mean + (1 - rate) * host.encoder.layer.weight.detach().numpy()
        np.testing.assert_allclose(addition.encoder.layer.weight, mean, rtol=1e-12)
        bias = host.encoder.layer.bias.detach().numpy()
        new = [np.tanh(row @ mean.T + bias) for row in x.numpy()]
        kept = [row for row in range(3) if texts[row, 0] >= 0]
        queue = [*(new[row] for row in kept), *queue][:5]
        names = [*(int(texts[row, 0]) for row in kept), *names][:5]
    vectors, ids = addition.negatives(batch)
    np.testing.assert_allclose(vectors, np.stack(queue), rtol=1e-12)
    assert ids.tolist() == names
    assert not vectors.requires_grad
    assert not list(filter(lambda p: p.requires_grad, addition.parameters()))


def test_checkpoint_tensors_hold_running_mean_and_queue():
    names = Momentum(Queue(queue=5), Host()).state_dict().keys()
    assert names == {"vectors", "texts", "encoder.layer.weight", "encoder.layer.bias"}


@given(
    st.lists(st.integers(10, 500), max_size=30, unique=True),
    st.floats(0.05, 1.0),
    st.sampled_from(["code", "paper"]),
    st.integers(0, 2**32),
)
def test_repetition_doubles_words_in_place_and_nothing_else(words, rate, count, seed):
    ids = np.array([2, *words, 3])
    setting = Repetition(rate=rate, count=count)
    longer = repeat(ids, setting, (1, 1), np.random.default_rng(seed))
    share = int(rate * len(ids))
    most = min(10, share) - 1 if count == "code" else max(2, share)
    assert 0 <= len(longer) - len(ids) <= min(max(most, 0), len(words))
    assert (longer == 2).sum() == (longer == 3).sum() == 1
    counts = Counter(longer.tolist())
    assert set(counts.values()) <= {1, 2}
    assert list(dict.fromkeys(longer.tolist())) == ids.tolist()
    assert longer.tolist() == [word for word in ids.tolist() for _ in range(counts[word])]


def test_how_many_are_repeated_follows_the_code_or_the_paper():
    ids = np.arange(10, 42)
    counts = {
        count: Counter(
            len(repeat(ids, Repetition(rate=0.32, count=count), (1, 1), np.random.default_rng(seed))) - 32
            for seed in range(3000)
        )
        for count in ("code", "paper")
    }
    assert set(counts["code"]) == set(range(10))  # min(10, ⌊0.32 · 32⌋) values, from 0
    assert set(counts["paper"]) == set(range(11))  # 0 to max(2, ⌊0.32 · 32⌋)
    for actual in counts.values():
        expected = 3000 / len(actual)
        assert all(abs(n - expected) < 5 * math.sqrt(expected) for n in actual.values())


def test_the_positive_is_repeated_the_same_in_every_epoch(choose_views):
    anchor = [2, *range(10, 40), 3]
    views = [choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row)[0] for row in range(50)]
    assert all(first == anchor and negative == [2, 3] for first, _, negative in views)
    assert len({len(positive) for _, positive, _ in views}) > 5
    assert views == [
        choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row, epoch=1)[0] for row in range(50)
    ]
    again = [
        choose_views("repetition", [anchor, anchor, [2, 3]], row_id=row, epoch=1, redraw=True)[0]
        for row in range(50)
    ]
    assert again != views


@pytest.mark.parametrize("count", ["code", "paper"])
def test_repeated_texts_have_to_fit_the_encoder(tiny_encoder, count):
    values = {"rate": 0.5, "count": count}
    chooser = find("repetition").views(Repetition(**values), make_recipe({}))
    lengths = [
        len(repeat(np.arange(20), Repetition(**values), (1, 1), np.random.default_rng(n))) for n in range(300)
    ]
    assert max(lengths) == chooser.longest(20)
    for length in (3, 64 - (9 if count == "code" else 21)):
        start(tiny_encoder, make_recipe({"max_length": length, "repetition": values}), torch.device("cpu"))
    for length in (64 - (8 if count == "code" else 20), 64):
        with pytest.raises(UsageError, match=f"max_length = {length} .*tiny reads at most 64 tokens"):
            start(
                tiny_encoder, make_recipe({"max_length": length, "repetition": values}), torch.device("cpu")
            )
