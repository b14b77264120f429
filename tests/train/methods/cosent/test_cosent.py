"""CoSENT and AnglE are the library's in value and gradient, and train on pairs with scores."""

import dataclasses
import itertools
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sentence_transformers.sentence_transformer.losses import AnglELoss, CoSENTLoss

from augment_cli import api
from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from tests.helpers.cached_vectors import add_vectors
from tests.helpers.tiny_encoders import SENTENCES
from tests.helpers.training import check_gradients, cos, draw, logged_run
from train.loading import load_recipe
from train.machine.distributed import join
from train.methods.cosent.angle_addition import angle_similarity
from train.methods.cosent.cosent_addition import column_of, cosent
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
