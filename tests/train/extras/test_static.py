"""Static encoders, several corpora, a run as a page and in a tracker; commands that change encoders."""

import re
import shutil
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder, StaticTable, word_table, write_folder
from augment_cli.encoding.words_apart import NEGATION_WEIGHT, negation_weights
from augment_cli.errors import MissingError, MixError, UsageError
from augment_cli.ingest import IngestOptions, ingest
from augment_cli.store.store import Store
from tests.helpers.properties import examples
from tests.helpers.tiny_encoders import SENTENCES, make_tiny_encoder
from tests.helpers.training import assert_same_bits, ended_before, logged_run
from train.data.order import PADDING_ROW, is_held_out
from train.data.padding import Bag, Slice
from train.data.reader import Reader
from train.extras import plot
from train.extras.encoders import nearest
from train.extras.weights import Corpus, Weighting, weighting
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.model import Model, start
from train.objectives.contrastive import ContrastiveObjective
from train.optimizer import clip, make_optimizer, set_learning_rate
from train.outputs.log import Tracker
from train.prepare import Run, open_columns, plan
from train.recipe import Recipe

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
    values = {"loss": "symmetric", "batch": 12, "max_length": 16, "precision": "float64", "clip": 0.05}
    values |= {"pooling": "mean", "temperature": 0.5, "learning_rate": 0.01}
    recipe = make_recipe(STATIC | values)
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


@pytest.fixture(scope="module")
def two_corpora(tmp_path_factory):
    """50 rows of news/a.txt, then 30 of talk.txt; parts hold both."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "news").mkdir()
    (folder / "news" / "a.txt").write_text("\n".join(SENTENCES[:50]) + "\n", encoding="utf-8")
    (folder / "talk.txt").write_text("\n".join(SENTENCES[50:80]) + "\n", encoding="utf-8")
    store = Store.create(folder / "store")
    with store.lock():
        ingest(store, [folder / "news" / "a.txt", folder / "talk.txt"], IngestOptions(part_rows=32))
    return store


def rows_of(reader, epoch, first=0):
    return [batch.row_ids for batch in reader.epoch(epoch, first)]


def weighted(weights, seed=1, **settings):
    return Recipe(corpus_weights=weights, seed=seed, **settings)


def counts_of(rows, size):
    rows = np.concatenate(rows)
    return np.bincount(rows[rows != PADDING_ROW], minlength=size)


def test_rows_with_a_text_of_a_stage_come_as_often_as_the_stage_says(two_corpora):
    rows = {"voice": np.arange(80) % 8 == 0, "chain": np.arange(80) % 20 == 0}
    weights = weighted({"stage:voice": 2, "stage:chain": 5, "talk.txt": 3})
    times = weighting(two_corpora, weights, None, lambda stage: {stage: rows[stage]}).times(0)
    expected = [
        (3 if row >= 50 else 1) * (5 if rows["chain"][row] else 2 if rows["voice"][row] else 1)
        for row in range(80)
    ]
    assert times.tolist() == expected
    half = weighted({"stage:voice": 0.5})
    times = weighting(two_corpora, half, None, lambda stage: {stage: rows[stage]}).times(0)
    assert times[rows["voice"]].sum() == 5 and (times[~rows["voice"]] == 1).all()


def test_weights_count_the_rows_that_may_be_used_alone(two_corpora):
    keep = np.arange(80) % 3 > 0
    found = weighting(two_corpora, weighted({"news/*": 1.5}, 7, held_out=0.2), keep)
    usable = keep & ~is_held_out(np.arange(80), 0.2)
    times = found.times(0)
    assert (times[~usable] == 0).all()
    assert times[:50].sum() == usable[:50].sum() + round(usable[:50].sum() / 2)
    assert (times[50:] == usable[50:]).all()
    with pytest.raises(UsageError, match=r"no row comes from 'talk.txt'; .* news/a.txt, talk.txt"):
        weighting(two_corpora, weighted({"*.txt": 1, "talk.txt": 1}))  # a pattern that is never reached


@examples(25)
@given(st.data())
def test_any_weights_give_the_same_rows_on_ranks_and_after_a_stop(data):
    one, other, batch, ranks = (data.draw(st.integers(1, most)) for most in (60, 40, 17, 3))
    first, second = data.draw(st.floats(0, 3)), data.draw(st.floats(0, 3))
    size, seed = one + other, data.draw(st.integers(0, 99))
    found = Weighting(
        (Corpus("a", first, np.arange(one)), Corpus("b", second, np.arange(one, size))), size, seed
    )
    store = SimpleNamespace(parts=[(0, one), (one, other)])
    readers = [
        Reader(store, {}, batch=batch, seed=seed, workers=0, weighting=found, rank=rank, ranks=ranks)
        for rank in range(ranks)
    ]
    total = Counter()
    epochs = data.draw(st.integers(1, 4))
    for epoch in range(epochs):
        steps = [np.concatenate(parts) for parts in zip(*(rows_of(r, epoch) for r in readers), strict=True)]
        assert sum(map(len, steps)) == -(-found.count // batch) * batch
        counts = counts_of([np.zeros(0, np.int64), *steps], size)
        assert counts.sum() == found.count
        np.testing.assert_array_equal(counts, found.times(epoch))
        total += Counter(dict(enumerate(counts.tolist())))
        middle = data.draw(st.integers(0, len(steps)))
        whole = Reader(store, {}, batch=batch, seed=seed, workers=0, weighting=found)
        for actual, expected in zip(rows_of(whole, epoch, middle), steps[middle:], strict=True):
            np.testing.assert_array_equal(actual, expected)
    # Over several epochs, too, no row of a corpus comes more often than another by more than one.
    for rows in (range(one), range(one, size)):
        often = [total[row] for row in rows]
        assert max(often) - min(often) <= 1


def test_training_takes_the_steps_that_weights_make_and_a_run_keeps_its_weights(
    two_corpora, tiny_encoder, tmp_path
):
    values = {"corpus_weights": {"talk.txt": 2.5, "news/*": 0.1}}
    outcome, _ = logged_run(two_corpora.path, tiny_encoder, tmp_path, values)
    assert outcome.steps == -(-(75 + 5) // 16)
    with pytest.raises(MixError, match="corpus_weights"):
        logged_run(two_corpora.path, tiny_encoder, tmp_path, {"corpus_weights": {"talk.txt": 2.0}})
    run = Run(make_recipe({"epochs": 1} | values), two_corpora.path, str(tiny_encoder), tmp_path)
    told = plan(run, join())
    assert "talk.txt: 30 rows, 75 an epoch" in told
    assert "80 an epoch (0 left out)" in told


@pytest.mark.parametrize("weight", ["-1", "nan", "'much'", "true"])
def test_a_weight_is_a_number_that_makes_sense(weight):
    with pytest.raises(UsageError, match=r"corpus_weights: 'a.txt' = .* how often a row"):
        load_recipe("simcse", [f"corpus_weights={{ 'a.txt' = {weight} }}"])
    assert load_recipe("simcse", ["corpus_weights.a.b.txt=2"]).corpus_weights == {"a.b.txt": 2}
    assert "corpus_weights" not in load_recipe("simcse").as_json()


def as_page(name, events):
    """The page, whose cells are not called anything."""
    return re.sub(r'<td data-name="[^"]+"', "<td", plot.as_page(name, events))


EVENTS = [
    {"event": "before", "step": 0, "stsb_dev": 0.5},
    *(
        {"event": "step", "step": n, "loss": 2.0 / n, "learning_rate": 0.1, "waited": 0.0}
        for n in range(1, 1001)
    ),
    {"event": "warning", "step": 7, "message": "<i>low\u202e, `eval`"},
    {"event": "dev", "step": 500, "stsb_dev": 0.625},
    {"event": "dev", "step": 1000, "stsb_dev": 0.6},
]


def test_it_has_loss_rate_scores_and_warnings():
    page = as_page("una", EVENTS)
    assert (
        page.count("<svg") == 3 and "1,000 optimiser steps." in page and "<h1>Training run una</h1>" in page
    )
    assert "loss from 2 to 0.002" in page and "stsb_dev from 0.5 to 0.6" in page
    assert "<td>0.5000</td><td>0.6250</td><td>0.6000</td>" in page
    assert "step 7: &lt;i&gt;low&lt;U+202E&gt;, <code>eval</code>" in page and "<i>low" not in page
    assert "Verdict:" not in page
    judged = [*EVENTS, {"event": "verdict", "step": 1000, "outcome": "better", "message": "better <b>"}]
    assert "1,000 optimiser steps. Verdict: better &lt;b&gt;." in as_page("una", judged)
    assert "<code>best/</code> is its encoder" in as_page("una", judged)
    within_noise = [*EVENTS, judged[-1] | {"outcome": "same"}]
    assert "<code>best/</code> is the starting encoder" in as_page("una", within_noise)
    assert len(page) < 60_000  # a thousand steps are a few hundred points


def test_each_measure_has_an_axis_and_best_is_the_step_that_the_first_decides():
    scored = [
        {"event": "before", "step": 0, "stsb_dev": 0.5, "median_rank": 285.0},
        {"event": "dev", "step": 10, "stsb_dev": 0.7, "median_rank": 30.0},
        {"event": "dev", "step": 20, "stsb_dev": 0.6, "median_rank": 300.0},
    ]
    page = as_page("una", scored)
    assert page.index("Dev score stsb_dev, which decides what is best") < page.index("Dev score median_rank<")
    assert "best step (10)" in page and "the upright line marks the best step, 10" in page
    assert "<td>285.0000</td><td>30.0000</td><td>300.0000</td>" in page  # of step 10, not its own maximum


def test_cosines_are_drawn_before_and_at_the_best_step():
    def cosines(step, low):
        return {"event": "cosines", "step": step, "turned": [low, low + 0.1], "paraphrases": [0.9, 0.92]}

    scored = [{"event": "before", "step": 0, "a": 0.1}, {"event": "dev", "step": 9, "a": 0.4}]
    events = [*scored, cosines(0, 0.8), cosines(9, 0.5), cosines(12, 0.1)]
    page = as_page("una", events)
    assert page.count("<svg") == 2
    assert "texts before: turned: the middle one is 0.85; paraphrases: the middle one is 0.91" in page
    assert "at the best step, 9: turned: the middle one is 0.55" in page
    assert "<svg" not in as_page("una", [*scored, cosines(0, float("nan"))])


@pytest.fixture
def library(monkeypatch):
    """Stands for both libraries; keeps what was called."""
    calls = []

    def keep(name):
        return lambda *arguments, **named: calls.append((name, arguments, named))

    module = SimpleNamespace(init=keep("init"), log=keep("log"), finish=keep("finish"))
    for name in ("trackio", "wandb"):
        monkeypatch.setitem(sys.modules, name, module)
    return calls


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_a_run_is_tracked_offline(name, library, tiny_store, tiny_encoder, tmp_path):
    out = tmp_path / "runs" / "mine"
    _, events = logged_run(tiny_store, tiny_encoder, out, {"steps": 2, "tracker": name})
    assert [call[0] for call in library] == ["init", "log", "log", "finish"]
    begun = library[0][2]
    assert (begun["project"], begun["name"], begun["config"]["batch"]) == ("augment-cli", "runs/mine", 16)
    assert begun.get("mode") == ("offline" if name == "wandb" else None)
    assert begun.get("dir") == (str(out) if name == "wandb" else None)
    for (_, (numbers,), named), event in zip(library[1:3], events, strict=True):
        assert named == {"step": event["step"]}
        assert numbers == {
            f"step/{key}": value for key, value in event.items() if key not in ("event", "step")
        }


def test_a_library_that_is_not_installed_is_an_error_that_names_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(MissingError, match=r"^trackio is needed.*, or --set tracker=none"):
        Tracker("trackio", tmp_path, {})
    with pytest.raises(UsageError, match="tracker = 'tensorbord'; choose one of none, trackio, wandb"):
        make_recipe({"tracker": "tensorbord"})


TEXTS = ["The shop is not open.", "The shop is open.", "It isn't here, and nobody came."]


def test_neighbours_are_other_texts():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.6, 0.8]])
    found = nearest(["a", "b", "b", "c"], vectors, 2)
    assert found == [("b", "c", pytest.approx(0.8)), ("b", "c", pytest.approx(0.8))]


@pytest.fixture
def trained(tiny_encoder, tmp_path):
    folder = shutil.copytree(tiny_encoder, tmp_path / "trained")
    weights = load_file(folder / "model.safetensors")
    weights = {name: 2 * values + 1 for name, values in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_each_weight_is_that_share_of_the_way(tiny_encoder, trained, tmp_path, ended):
    out = tmp_path / "out"
    code, said = ended("interpolate", tiny_encoder, trained, "--share", "0.25", "--out", out)
    assert code == 0 and "0.25 of the way" in said
    before, after = (load_file(folder / "model.safetensors") for folder in (tiny_encoder, out))
    shared = before.keys() & after.keys()
    assert len(shared) > 30
    for name in shared:
        np.testing.assert_allclose(after[name], 1.25 * before[name] + 0.25, atol=1e-6, err_msg=name)


def test_ends_another_encoder_and_a_folder_that_is_there_are_refused(tiny_encoder, trained, tmp_path, ended):
    for share in ("0", "1", "-0.5", "nan"):
        code, said = ended("interpolate", tiny_encoder, trained, "--share", share, "--out", tmp_path / "out")
        assert code == UsageError.exit_code and "must be above 0 and below 1" in said
    other = make_tiny_encoder(tmp_path / "other", layers=3)
    code, said = ended("interpolate", other, trained, "--out", tmp_path / "out")
    assert code == MixError.exit_code and "other weights" in said
    assert not (tmp_path / "out").exists()
    code, said = ended("interpolate", tiny_encoder, trained, "--out", trained)
    assert code == UsageError.exit_code and "exists" in said


class Tokens(list):
    def convert_ids_to_tokens(self, ids):
        return [self[one] for one in ids]


@pytest.mark.parametrize(
    ("tokens", "heavy"),
    [
        (("[CLS]", "the", "not", "##not", "Not", "note", "isn", "'"), ("not", "Not", "isn")),
        (("<s>", "▁the", "▁not", "not", "▁No", "no"), ("▁not", "▁No")),
        (("<s>", "Ġthe", "Ġnever", "never"), ("Ġnever",)),
    ],
)
def test_negations_weigh_more_where_they_begin_a_word(tokens, heavy):
    weights = negation_weights(Tokens(tokens))
    assert weights.dtype == np.float32
    expected = [NEGATION_WEIGHT if token in heavy else 1 for token in tokens]
    np.testing.assert_array_equal(weights, expected)


def test_the_folder_is_sentence_transformers_own(tmp_path, ended):
    out = tmp_path / "out"
    code, said = ended("pooling", "minilm", "negations:mean", "--out", out)
    assert not code and "negations:mean" in said
    ours = load_encoder(out)
    assert ours.pooling == "negations:mean"
    vectors = ours.encode(TEXTS)
    library = SentenceTransformer(str(out), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(vectors, library, atol=1e-5)
    np.testing.assert_allclose(load_encoder("minilm", pooling="negations:mean").encode(TEXTS), vectors)
    plain = load_encoder("minilm").encode(TEXTS)
    np.testing.assert_allclose(vectors[1], plain[1], atol=1e-6)  # it denies nothing
    assert vectors[0] @ vectors[1] < plain[0] @ plain[1] - 0.05


def test_a_pooling_that_no_folder_can_name_and_a_folder_that_is_there_are_refused(tmp_path, ended):
    for pooling, out, message in (
        ("first-last+cls", tmp_path / "out", "cannot be stored"),
        ("negation:mean", tmp_path / "out", "token weights are idf, sif, negations"),
        ("negations:mean", tmp_path, "exists"),
    ):
        code, said = ended("pooling", "minilm", pooling, "--out", out)
        assert code == UsageError.exit_code and message in said
