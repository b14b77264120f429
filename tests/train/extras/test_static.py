"""Static encoders in training: what is refused, what a step does, that a run continues to the bit."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder, StaticTable, word_table, write_folder
from augment_cli.errors import UsageError
from tests.helpers.training import assert_same_bits, ended_before, logged_run
from train.data.padding import Bag, Slice
from train.data.reader import Reader
from train.extras.static import Optimizer
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.model.model import Model, start
from train.objectives.contrastive import ContrastiveObjective
from train.optimizer import clip, make_optimizer, set_learning_rate
from train.prepare import Run, open_columns, prepare_model

STATIC = {"positives": ("aa", "pi"), "head": "none", "learning_rate": 1e-4}


@pytest.fixture(scope="module")
def static(tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("static") / "model"
    write_folder(word_table(load_encoder(tiny_encoder), "table"), folder)
    return folder


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "no dropout: a sentence and itself get one vector"),
        ({"negatives": ["una"]}, "nothing to learn from that pair"),
        ({"positives": ["pi"], "proportion": 0.0}, "nothing to learn from that pair"),
        ({"positives": ["pi"], "mlm_weight": 0.1}, "cannot tell hidden tokens"),
        ({"positives": ["pi"], "pooling": "cls"}, "pools by mean alone"),
        ({"positives": ["pi"], "gradient_cache": 4}, "no gradient_cache"),
        ({"positives": ["pi"], "weight_decay": 0.1}, "no weight_decay"),
        ({"positives": ["pi"], "pca_jitter": {}}, "which has no layers"),
    ],
)
def test_recipes_that_make_no_sense_are_refused_with_the_reason(static, values, message):
    with pytest.raises(UsageError, match=message):
        start(static, make_recipe(values), torch.device("cpu"))


def test_recipes_that_change_the_positive_are_not_refused(static):
    for values in ({"repetition": {}}, {"positives": ["self", "pi"]}, {"positives": ["pi"], "momentum": {}}):
        assert isinstance(start(static, make_recipe(values), torch.device("cpu")), StaticEncoder)
    assert isinstance(start(static, load_recipe("static"), torch.device("cpu")), StaticEncoder)


@pytest.mark.parametrize("more", [{}, {"head": "tanh", "pooling": "sif:mean", "momentum": {"queue": 20}}])
def test_a_killed_run_continues_to_the_bit_and_exports_what_it_evaluates(tiny_store, static, tmp_path, more):
    values = STATIC | {"steps": 6, "checkpoint_every": 2} | more
    logged_run(tiny_store, static, tmp_path / "whole", values)
    with ended_before(5, KeyboardInterrupt):
        logged_run(tiny_store, static, tmp_path / "killed", values)
    logged_run(tiny_store, static, tmp_path / "killed", values)
    assert_same_bits(tmp_path / "whole", tmp_path / "killed")
    before = load_encoder(static).model.embedding.weight.detach().numpy()
    if not more:  # rows that no text had stay as they were
        first = load_file(tmp_path / "whole/last/model.safetensors")["embeddings"]
        moved = (first != before).any(axis=1)
        assert 0 < moved.sum() < len(moved)
    card = (tmp_path / "whole/best/README.md").read_text(encoding="utf-8")
    assert "model2vec" in card and "AutoModel" not in card


@pytest.mark.parametrize("bags", [False, True])
def test_steps_are_those_of_a_dense_table(tiny_store, static, bags):
    """Some clipped steps, some rows without a positive, against autograd on a matrix of token counts."""
    recipe = make_recipe(
        {
            "positives": ("aa", "pi"),
            "head": "none",
            "loss": "symmetric",
            "batch": 12,
            "max_length": 16,
            "precision": "float64",
            "clip": 0.05,
            "learning_rate": 0.01,
            "pooling": "mean",
            "temperature": 0.5,
        }
    )
    encoder, ranks = start(static, recipe, torch.device("cpu")), join()
    model = Model(encoder.model, "mean", recipe).train()
    objective = ContrastiveObjective(recipe, encoder.tokenizer, ranks, bags)
    store, stages = open_columns(tiny_store, objective, encoder.tokenizer, ranks, {})
    batches = list(Reader(store, stages, batch=12, seed=1).epoch(0))
    optimizer = make_optimizer(model, recipe)
    set_learning_rate(optimizer, 0.01)
    table = next(model.parameters()).detach().clone().requires_grad_()
    sums = torch.zeros(len(table), dtype=table.dtype)
    for step in (0, 1, len(batches) - 1):  # the last one has padding
        views, _ = objective.views.choose(batches[step], step)
        means = torch.zeros(len(views), len(table), dtype=table.dtype)
        for place, ids in enumerate(views):
            for token in [] if ids is None else ids:
                means[place, token] += 1 / len(ids)
        texts = [None if ids is None else tuple(ids) for ids in views]
        rows = [row for row in range(12) if texts[2 * row] is not None]
        vectors = torch.nn.functional.normalize(means @ table, dim=1)
        logits = vectors[0::2] @ vectors[1::2].T / 0.5
        pairs = [{*texts[2 * row : 2 * row + 2]} for row in rows]
        meet = torch.tensor([[one is other or not one & other for other in pairs] for one in pairs])
        logits = logits[rows][:, rows].masked_fill(~meet, float("-inf"))
        loss = -(logits.log_softmax(1).diagonal() + logits.log_softmax(0).diagonal()).mean() / 2
        (gradient,) = torch.autograd.grad(loss, table)
        norm = gradient.norm()
        prepared = objective.prepare(batches[step], step)
        assert {type(piece) for piece in prepared.slices} == {Bag if bags else Slice}
        metrics = objective.backward(model, prepared, step)
        assert metrics["loss"] == pytest.approx(float(loss.detach()), rel=1e-9)
        assert clip(model, 0.05) == pytest.approx(float(norm), rel=1e-9)
        optimizer.step()
        gradient *= min(1.0, 0.05 / (float(norm) + 1e-6))
        sums += (gradient**2).mean(dim=1)
        met = gradient.any(dim=1)
        with torch.no_grad():
            table[met] -= 0.01 * gradient[met] / (sums[met].sqrt() + 1e-10)[:, None]
    torch.testing.assert_close(next(model.parameters()).detach(), table.detach(), rtol=1e-9, atol=1e-12)


def test_only_a_table_gets_its_texts_in_a_bag(tiny_store, tiny_encoder, static, tmp_path):
    for encoder, bags in ((static, True), (tiny_encoder, False)):
        run = Run(make_recipe({"positives": ("aa",)}), tiny_store, str(encoder), tmp_path)
        assert prepare_model(run, join()).objective.bags == bags


@pytest.mark.parametrize(("rows", "again"), [([1, 3], False), ([3, 1], True), ([1, 1], True)])
def test_a_gradient_in_order_is_not_sorted_again(monkeypatch, rows, again):
    parameter = torch.nn.Parameter(torch.zeros(5, 2))
    parameter.grad = sparse_gradient(rows, torch.ones(2, 2), (5, 2))
    asked = []
    whole = torch.Tensor.coalesce

    def watched(gradient):
        asked.append(gradient)
        return whole(gradient)

    monkeypatch.setattr(torch.Tensor, "coalesce", watched)
    expected = whole(parameter.grad).to_dense()
    clip(torch.nn.ParameterList([parameter]), 0.0)
    assert bool(asked) == again
    assert parameter.grad.is_coalesced() and torch.equal(parameter.grad.to_dense(), expected)


def sparse_gradient(rows, values, size):
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, size, check_invariants=False)


def test_rows_move_as_a_loop_over_rows_says():
    generator = torch.Generator().manual_seed(1)
    table = torch.nn.Parameter(torch.randn(6, 4, generator=generator, dtype=torch.float64))
    plain = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    optimizer = Optimizer([{"params": [table, plain], "scale": 1.0}], lr=0.1, weight_decay=0.0, fused=True)
    expected, sums = table.detach().clone().numpy(), np.zeros(6)
    for rows in ([1, 4, 1], [4, 0, 2]):  # a row may come twice
        values = torch.randn(3, 4, generator=generator, dtype=torch.float64)
        table.grad, plain.grad = sparse_gradient(rows, values, table.shape), torch.ones_like(plain)
        optimizer.step()
        dense = np.zeros((6, 4))
        for row, value in zip(rows, values.numpy(), strict=True):
            dense[row] += value
        for row in set(rows):
            sums[row] += (dense[row] ** 2).mean()
            expected[row] -= 0.1 * dense[row] / np.sqrt(sums[row])
    np.testing.assert_allclose(table.detach().numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(plain.detach().numpy(), 0.8, rtol=1e-6)  # Adam's: the rate a step


def test_a_sparse_gradient_is_limited_as_a_dense_one():
    model = torch.nn.ParameterList(
        [torch.nn.Parameter(torch.zeros(5, 3)), torch.nn.Parameter(torch.zeros(2))]
    )
    values = torch.arange(9.0).view(3, 3)
    found = []
    for sparse in (True, False):
        gradient = sparse_gradient([1, 3, 1], values, (5, 3))
        model[0].grad, model[1].grad = (gradient if sparse else gradient.to_dense()), torch.ones(2)
        norm = clip(model, 0.5)
        found.append((norm, model[0].grad.to_dense(), model[1].grad))
    assert found[0][0] == pytest.approx(found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1])
    torch.testing.assert_close(found[0][2], found[1][2])


@pytest.mark.parametrize("bags", [[[3, 1, 3], [], [5], [1, 1, 1, 0]], [[], []], [[2]]])
def test_the_gradient_of_the_table_is_that_of_torch_with_each_row_once(bags):
    generator = torch.Generator().manual_seed(4)
    table = StaticTable(torch.randn(7, 5, generator=generator, dtype=torch.float64))
    weights = torch.rand(7, generator=generator, dtype=torch.float64)
    plain = table.embedding.weight.detach().clone().requires_grad_()
    ids = torch.tensor([number for bag in bags for number in bag], dtype=torch.int64)
    lengths = torch.tensor([len(bag) for bag in bags])
    given = torch.randn(len(bags), 5, generator=generator, dtype=torch.float64)
    found = table(ids, lengths.cumsum(0) - lengths, weights)
    means = [
        (weights[bag][:, None] * plain[bag]).sum(0) / max(1, len(bag))
        for bag in map(torch.tensor, bags)
        if len(bag)
    ]
    torch.testing.assert_close(found[lengths > 0], torch.stack(means) if means else plain[:0])
    assert not found[lengths == 0].any()
    (found * given).sum().backward()
    gradient = table.embedding.weight.grad
    assert gradient.is_sparse
    rows = gradient._indices()[0]
    assert rows.tolist() == sorted(set(ids.tolist()))
    dense = torch.zeros_like(plain)
    for bag, vector in zip(bags, given, strict=True):
        for number in bag:
            dense[number] += weights[number] * vector / len(bag)
    torch.testing.assert_close(gradient.to_dense(), dense)
