"""CoSENT and AnglE against the library, and their scores in whole runs."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sentence_transformers.sentence_transformer.losses import AnglELoss, CoSENTLoss

from augment_cli import api
from augment_cli.errors import UsageError
from tests.helpers.tiny_encoders import SENTENCES
from tests.helpers.training import cos, draw, logged_run
from train.loading import load_recipe
from train.machine.distributed import join
from train.methods.cosent.cosent_addition import cosent
from train.prepare import Run, plan

LOSSES = {"cosent": CoSENTLoss, "angle": AnglELoss}
SCORES = np.array([0.9, 0.1, 0.5, 0.5, 0.0, 1.0, 0.3])  # two are equal


def librarys(name, z, scores):
    """The library's loss of pairs (B, 2, d), and its gradient."""
    vectors = torch.tensor(z, requires_grad=True)
    library = LOSSES[name](torch.nn.Identity(), scale=20.0)
    loss = library.compute_loss_from_embeddings(list(vectors.unbind(1)), torch.tensor(scores))
    loss.backward()
    return loss.item(), vectors.grad


@pytest.mark.parametrize("dimension", [4, 5])
@pytest.mark.parametrize("name", LOSSES)
def test_the_term_and_its_gradient_are_the_librarys(name, dimension, taught):
    z = draw(7, 2, dimension)
    addition, batch = taught(name, z, z, np.arange(14).reshape(7, 2), {}, {"positives": ["una"]})
    addition.scores = torch.tensor(SCORES)
    value = torch.tensor(z, requires_grad=True)
    term = addition.loss(dataclasses.replace(batch, embeddings=value))
    term.backward()
    loss, gradient = librarys(name, z, SCORES)
    assert term.item() == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(value.grad, gradient, rtol=1e-9, atol=1e-12)
    assert addition.noted == {"pairs": 7.0}


def test_rows_that_are_no_pairs_count_nowhere(taught):
    z, texts = draw(7, 2, 4), np.arange(14).reshape(7, 2)
    texts[6] = -1  # padding
    scores = SCORES.copy()
    scores[1] = np.nan  # no score
    addition, batch = taught("cosent", z, z, texts, {}, {"positives": ["una"]})
    addition.scores = torch.tensor(scores)
    batch.labels[2, 1] = -1  # the anchor again
    left = [0, 3, 4, 5]
    expected, _ = librarys("cosent", z[left], scores[left])
    assert addition.loss(batch).item() == pytest.approx(expected, rel=1e-12)
    assert addition.noted == {"pairs": 4.0}


def test_scores_that_do_not_differ_teach_nothing_and_large_similarities_do_not_overflow():
    similarities = torch.tensor([3.0, 1.0], requires_grad=True)
    for scores in ([0.5, 0.5], [0.5, torch.nan], [torch.nan, torch.nan]):
        loss = cosent(similarities, torch.tensor(scores))
        (gradient,) = torch.autograd.grad(loss, similarities)
        assert loss.item() == 0 and gradient.tolist() == [0, 0]
    assert cosent(torch.tensor([-2e4, 2e4]), torch.tensor([1.0, 0.0])).item() == 4e4


def test_without_a_column_the_scores_are_the_cosines_of_cached_vectors(taught):
    z, teacher = draw(6, 2, 4), draw(6, 2, 3, seed=1)
    texts, settings = np.arange(12).reshape(6, 2), {"column": ""}
    addition, batch = taught("cosent", z, teacher, texts, settings, {"positives": ["una"]})
    expected, _ = librarys("cosent", z, [cos(*pair) for pair in teacher])
    assert addition.loss(batch).item() == pytest.approx(expected, rel=1e-12)


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


@pytest.mark.parametrize("name", LOSSES)
def test_a_run_learns_the_order_of_scores(name, scored_pairs, tiny_encoder, tmp_path):
    values = {"steps": 14, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0, "head": "none"}
    values |= {"positives": ["positive"], "labels": "kind", "batch": 25, name: {}}
    _, events = logged_run(scored_pairs, tiny_encoder, tmp_path / "run", values)
    steps = [event for event in events if event["event"] == "step"]
    terms = [event[f"{name}_loss"] for event in steps]
    assert np.mean(terms[-4:]) < np.mean(terms[:3]) - 0.1
    assert sum(event[f"{name}_pairs"] for event in steps[:4]) == 98  # an epoch, but for the two without
