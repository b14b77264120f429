"""Additions: settings that are refused, terms that a run learns alone, terms against references, low rank."""

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from augment_cli.encoding import transforms
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MixError, UsageError
from augment_cli.store.store import Store
from tests.helpers.training import (
    assert_same_bits,
    check_gradients,
    cos,
    draw,
    ended_before,
    logged_run,
    quick_run,
    reference_info_nce,
)
from tests.helpers.vector_stages import add_vectors
from train.data import NO_SENTENCE, NO_TEXT
from train.loading import make_recipe
from train.methods.low_rank.low_rank_addition import LowRank
from train.methods.low_rank.low_rank_addition import Settings as Ranks
from train.methods.mlm.masked_language import MaskedHead, Masking
from train.methods.modals.latent_augmentation_addition import Settings, augment
from train.methods.sncse.soft_negative_addition import bidirectional_margin
from train.methods.whitening import spaced_texts, store_whitened
from train.objectives.contrastive import contrast

AUGMENTED = {"stages": ["una"], "positive": "augmented"}
PARTNERS = {"stages": ["negation"], "partners": ["self:swap"]}
OTHER_POSITIVES = {"discriminator": {"stages": ["una"]}, "loss": "symmetric"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"contrastive_weight": 0}, "contrastive_weight = 0 leaves nothing to learn"),
        ({"cosent": {}}, r"\[cosent\] needs positives of other texts than the anchors"),
        ({"decay": {}}, r"\[decay\] needs negatives, and a loss that takes them as columns"),
        ({"positives": ["pi"], "discriminator": AUGMENTED}, "takes the place of positives"),
        ({"guide": {"margin": -0.1}}, r"\[guide\]: margin = -0.1 must be at least 0"),
        ({"guide": {}} | OTHER_POSITIVES, "which chooses other positives"),
        ({"loss": "nt-xent", "momentum": {}}, r"\[momentum\] adds columns"),
        ({"momentum": {"rate": 1.5}}, r"rate = 1.5 must be at most 1"),
        ({"batch": 16, "neighbourhood": {"neighbours": 16}}, "at most batch − 1 = 15"),
        ({"head": "batch-norm", "neighbourhood": {}}, "batch-norm"),
        ({"compile": True, "pca_jitter": {}}, "does not go with compile"),
        ({"ranking": {"teacher_temperature": 0}}, r"\[ranking\]: teacher_temperature = 0.0 must be above 0"),
        ({"ranking": {}} | OTHER_POSITIVES, "which chooses other positives"),
        ({"repetition": {"rate": 0}}, "rate = 0"),
        ({"soft_negative": {}}, "needs a stage"),
        ({"soft_negative": {"stage": "dn", "least": 0.5}}, "least must not be above most"),
        ({"head": "none", "turned": {}}, r"turned.*needs stages"),
        ({"turned": PARTNERS}, "partners: 'swap' is not read; it may name self, negation"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, message):
    with pytest.raises(UsageError, match=message):
        make_recipe(values)


TEACHER = {"vectors": "teacher", "temperature": 0.2, "teacher_temperature": 0.2}


@pytest.mark.parametrize(
    ("name", "table", "is_learned"),
    [
        ("teacher", TEACHER, lambda first, last: last < first - 0.05),
        ("ranking", TEACHER, lambda first, last: last < first - 0.05),
        ("cosine_regression", {"vectors": "teacher"}, lambda first, last: last < 0.8 * first),
    ],
)
def test_a_term_may_be_all_that_a_run_learns(store_copy, tiny_encoder, tmp_path, name, table, is_learned):
    add_vectors(store_copy, "corpus", draw(150, 5 if name == "cosine_regression" else 4), "teacher")
    values = {"steps": 20, "contrastive_weight": 0.0, "learning_rate": 3e-3, "dropout": 0.0, name: table}
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "run", values)
    terms = [event[f"{name}_loss"] for event in events if f"{name}_loss" in event]
    assert is_learned(np.mean(terms[:3]), np.mean(terms[-9:]))
    if name == "teacher":  # which reads each text once: there are no two views whose loss could be said
        assert not any("loss" in event for event in events)
    assert set(result.facts["data"]) == {"corpus", "vectors-teacher"}


WIDTH = 0.3


def slow(s, known, one_sided):
    if one_sided and s > known:
        return 0.0
    return -s * math.exp(-((s - known) ** 2) / (2 * WIDTH**2))


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_loss_with_decayed_hard_negatives(one_sided, taught):
    z, teacher = draw(6, 3, 4), draw(6, 3, 3, seed=1)
    texts = np.arange(18).reshape(6, 3)
    texts[2, 2] = -1  # a row without a hard negative
    recipe = {"negatives": ["una"], "temperature": 0.5}
    settings = {"width": WIDTH, "one_sided": one_sided}
    addition, batch = taught("decay", z, teacher, texts, settings, recipe, first=2)
    logit_bias = addition.logit_bias(batch, 3)
    actual = contrast(make_recipe(recipe), torch.tensor(z), torch.tensor(texts), [], [], [logit_bias])
    excluded, bias = np.zeros((6, 12), bool), np.zeros((6, 12))
    excluded[:, 6 + 2] = True
    for i in range(6):
        bias[i, 6 + i] = slow(cos(z[i, 0], z[i, 2]), cos(teacher[i, 0], teacher[i, 2]), one_sided) / 0.5
    losses = reference_info_nce(z[:, 0], np.concatenate([z[:, 1], z[:, 2]]), excluded, 0.5, bias)
    assert actual.item() == pytest.approx(losses.mean(), rel=1e-10)


def test_a_run_reads_the_negatives_vectors(store_copy, tiny_encoder, tmp_path):
    values = {"steps": 2, "negatives": ["una"], "decay": {"width": 1e6}}
    with pytest.raises(UsageError, match="has no vectors of 'corpus'"):
        logged_run(store_copy, tiny_encoder, tmp_path / "none", values)
    for of in ("corpus", "una", "una.1"):
        add_vectors(store_copy, of, np.ones((150, 4)))
    result, events = logged_run(store_copy, tiny_encoder, tmp_path / "run", values)
    assert set(result.facts["data"]) >= {"vectors", "vectors-una", "vectors-una.1"}
    del values["decay"]
    _, plain = logged_run(store_copy, tiny_encoder, tmp_path / "plain", values)
    # So wide a bell takes the whole logit of each row's own negative away.
    assert events[0]["loss"] < plain[0]["loss"]


def test_gaussian_negatives(make_addition, make_batch):
    addition = make_addition("gaussian_negatives", count=5000)
    torch.manual_seed(1)
    vectors, ids = addition.negatives(make_batch(draw(3, 2, 4)))
    assert vectors.shape == (5000, 4)
    assert vectors.dtype == torch.float64
    assert (ids == NO_SENTENCE).all()
    torch.testing.assert_close(vectors.T.cov(), torch.eye(4).double(), atol=0.1, rtol=0)
    assert vectors.mean(0).abs().max() < 0.06


def reference(anchors, positives, soft, least=0.1, most=0.3):
    losses = []
    for a, p, s in zip(anchors, positives, soft, strict=True):
        difference = cos(a, s) - cos(a, p)
        losses.append(max(0.0, difference + least) + max(0.0, -difference - most))
    return np.array(losses)


def test_margin_and_gradient():
    inputs = [draw(12, 4, seed=seed) for seed in range(3)]
    inputs[2][:4] = inputs[1][:4] + 0.3 * draw(4, 4, seed=7)  # some inside the band or near it
    check_gradients(lambda *values: bidirectional_margin(*values, 0.1, 0.3), reference, inputs, atol=1e-8)


def test_rows_without_a_soft_negative_do_not_count(make_addition, make_batch):
    values = draw(5, 3, 4)
    values[3, 2] = 0
    texts = torch.arange(15).reshape(5, 3)
    texts[3, 2] = NO_TEXT  # none for this row
    texts[4] = NO_TEXT  # padding
    z = torch.tensor(values, requires_grad=True)
    term = make_addition("soft_negative", stage="dn").loss(make_batch(values, z, texts=texts))
    assert term.item() == pytest.approx(reference(*values[:3].transpose(1, 0, 2)).mean(), rel=1e-12)
    term.backward()
    assert not z.grad[3:].any()
    assert z.grad[:3].any()


def test_the_soft_negative_is_a_view_of_its_own(choose_views):
    anchor, negated = [2, 10, 3], [2, 9, 10, 3]
    actual, _ = choose_views("soft_negative", [anchor, anchor], {"dn": negated}, stage="dn")
    assert actual == [anchor, anchor, negated]
    for none in ({}, {"dn": anchor}):  # missing, or no other text than the sentence where that was cut
        assert choose_views("soft_negative", [anchor, anchor], none, stage="dn")[0] == [anchor, anchor, None]


def slow_similarities(u, t, real):
    rows = [i for i in range(len(u)) if real[i]]
    return np.array(
        [np.mean([(cos(u[i], u[j]) - cos(t[i], t[j])) ** 2 for j in rows]) for i in range(len(u))]
    )


def slow_vectors(u, t, real):
    rows = [t[i] for i in range(len(t)) if real[i]]
    spread = np.mean([1 - cos(a, b) for a, b in itertools.permutations(rows, 2)])
    return np.array([(1 - cos(a, b)) / spread for a, b in zip(u, t, strict=True)])


@pytest.mark.parametrize(("on", "slow"), [("similarities", slow_similarities), ("vectors", slow_vectors)])
def test_a_regression_is_the_mean_over_anchors_and_positives(on, slow, taught):
    z, teacher, texts = draw(6, 2, 4), draw(6, 2, 4, seed=1), np.arange(12).reshape(6, 2)
    texts[5] = -1  # padding
    addition, batch = taught("cosine_regression", z, teacher, texts, {"on": on})
    real = np.arange(6) < 5
    check_gradients(
        lambda value: addition.loss(dataclasses.replace(batch, embeddings=value, z=value)),
        lambda moved: np.mean([slow(moved[:, view], teacher[:, view], real)[:5] for view in (0, 1)]),
        [z],
        atol=1e-7,
        rtol=1e-10,
    )


def test_vectors_of_another_length_cannot_be_regressed_on(taught):
    texts = np.arange(12).reshape(6, 2)
    parts = draw(6, 2, 4), draw(6, 2, 3, seed=1), texts
    addition, batch = taught("cosine_regression", *parts, {"on": "vectors"})
    with pytest.raises(MixError, match="the teacher's have 3 numbers, the encoder's 4"):
        addition.loss(batch)


LAMBDA = 0.3


def latent(kind, z, real=None, seed=4, **values):
    value = torch.tensor(z, requires_grad=True)
    real = torch.ones(len(z), dtype=torch.bool) if real is None else torch.tensor(real)
    torch.manual_seed(seed)
    return value, augment(value, real, Settings(kind=kind, strength=LAMBDA, **values))


def moves(kind, z, **values):
    """(z̃ − z) / λ of each row."""
    value, changed = latent(kind, z, **values)
    return ((changed - value) / LAMBDA).detach().numpy()


def test_extrapolation():
    z, real = draw(6, 4), np.arange(6) < 5
    expected = z[:5] - z[:5].mean(axis=0)
    np.testing.assert_allclose(moves("extrapolation", z, real=real)[:5], expected, rtol=1e-9)


def test_gaussian():
    z = draw(4000, 3) * np.array([0.5, 1.0, 4.0]) + 7
    noise = moves("gaussian", z) / z.std(axis=0)
    assert np.abs(noise.mean(axis=0)).max() < 0.08
    np.testing.assert_allclose(np.cov(noise.T), np.eye(3), atol=0.1)
    assert not np.allclose(moves("gaussian", z), moves("gaussian", z, seed=5))


def test_linear_is_a_difference_of_two_others():
    z = draw(7, 4)
    seen = set()
    for seed in range(30):
        for row, move in enumerate(moves("linear", z, seed=seed)):
            pairs = [(a, b) for a in range(7) for b in range(7) if a != b and np.allclose(z[a] - z[b], move)]
            assert len(pairs) == 1
            assert row not in pairs[0]
            seen.add((row, *pairs[0]))
    assert len(seen) > 100  # of 7 · 6 · 5 = 210


@pytest.mark.parametrize("choice", ["closest", "farthest"])
def test_interpolation_goes_towards_one_of_the_sample(choice):
    z = draw(12, 4) + 3
    centred = z - z.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    likeness = centred @ centred.T
    np.fill_diagonal(likeness, -np.inf if choice == "closest" else np.inf)
    best = likeness.argmax(axis=1) if choice == "closest" else likeness.argmin(axis=1)
    actual = z + moves("interpolation", z, sample=1.0, choice=choice)  # all of the pool is looked at
    np.testing.assert_allclose(actual, z[best], rtol=1e-9)
    one = z + moves("interpolation", z, sample=0.05, choice=choice)  # one member, whichever
    which = [[k for k in range(12) if np.allclose(z[k], row)] for row in one]
    assert all(len(k) == 1 and k[0] != row for row, k in enumerate(which))
    assert len({k[0] for k in which}) > 3


@pytest.mark.parametrize("kind", ["interpolation", "linear"])
def test_padding_is_in_no_pool_and_no_row_in_its_own(kind):
    z = draw(5, 4)
    z[2:] = 1e6
    real = np.array([True, True, False, False, False])
    for seed in range(10):
        value, changed = latent(kind, z, real, seed=seed)
        assert changed[:2].abs().max() < 100
    alone = np.array([True, False, False, False, False])
    value, changed = latent(kind, z, alone)
    assert torch.equal(changed[0], value[0])


@pytest.mark.parametrize("kind", ["interpolation", "extrapolation", "linear", "gaussian"])
def test_the_gradient_goes_through_the_sentence_alone(kind):
    z = draw(6, 4)
    value, changed = latent(kind, z)
    weights = torch.tensor(draw(6, 4, seed=1))
    (changed * weights).sum().backward()
    factor = {"interpolation": 1 - LAMBDA, "extrapolation": 1 + LAMBDA}.get(kind, 1.0)
    torch.testing.assert_close(value.grad, factor * weights)


def test_only_the_positive_is_changed(make_addition, make_batch):
    values = draw(6, 3, 4)
    changed = make_addition("latent_augmentation", kind="extrapolation").change(make_batch(values)).numpy()
    np.testing.assert_array_equal(changed[:, [0, 2]], values[:, [0, 2]])
    assert (changed[:, 1] != values[:, 1]).all()


def test_whitening_is_stored_with_the_model(tiny_store, tiny_encoder, tmp_path):
    values = {"epochs": 0, "whiten": 100, "whiten_dimension": 8}
    logged_run(tiny_store, tiny_encoder, tmp_path, values)
    store = Store.open(tiny_store)
    texts, chosen = store.read("corpus")["text"].to_pylist(), spaced_texts(store, 100)
    assert spaced_texts(store, 4) == [texts[row] for row in (0, 50, 99, 149)]
    plain = load_encoder(tmp_path / "best")
    expected = transforms.fit(plain.encode(chosen), 8)(plain.encode(texts[:5]))
    np.testing.assert_allclose(load_encoder(tmp_path / "whitened").encode(texts[:5]), expected, atol=1e-4)
    before = (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes()
    store_whitened(tmp_path / "best", tmp_path / "whitened", store, 100, 8)  # once more
    assert (tmp_path / "whitened/2_Dense/model.safetensors").read_bytes() == before


RATE = 0.15


class Words:
    """A tokenizer of `[PAD]`, `[CLS]`, `[SEP]`, `[MASK]` and words from 5 on."""

    mask_token_id, pad_token_id, all_special_ids = 4, 0, range(5)

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": [2, 5, 3] if add_special_tokens else [5]}


def masking(size=1000):
    return Masking(make_recipe({"objective": "mlm", "mask_rate": RATE, "seed": 3}), Words(size))


def texts_of(count, length=30):
    return [np.random.default_rng(row).integers(5, 1000, size=length) for row in range(count)]


def undo(items, count):
    originals, hidden = [None] * count, [None] * count
    for item in items:
        ids, flags = item.inputs.ids.clone(), torch.zeros_like(item.inputs.ids, dtype=torch.bool)
        ids.view(-1)[item.hidden], flags.view(-1)[item.hidden] = item.targets, True
        for row, place in enumerate(item.inputs.places.tolist()):
            keep = item.inputs.mask[row].bool()
            originals[place], hidden[place] = ids[row][keep].tolist(), flags[row][keep].tolist()
    return originals, hidden


def test_targets_are_the_originals_and_special_tokens_are_never_hidden():
    texts = [*texts_of(20), np.arange(5, 8), np.zeros(0, dtype=np.int64)]
    originals, hidden = undo(masking().hide(texts, 0, slice(0, 22), 22, 3), 22)
    for text, original, flags in zip(texts, originals, hidden, strict=True):
        assert original == [2, *text.tolist(), 3]
        assert not flags[0]
        assert not flags[-1]


def test_rates_of_hiding_masking_replacing_keeping():
    hidden = masked = kept = total = 0
    for step in range(40):
        texts = texts_of(64)
        total += sum(map(len, texts))
        for item in masking().hide(texts, step, slice(0, 64), 64, 2):
            seen = item.inputs.ids.reshape(-1)[item.hidden]
            hidden += len(seen)
            masked += int((seen == 4).sum())
            kept += int((seen == item.targets).sum())
    assert hidden / total == pytest.approx(RATE, abs=4 * math.sqrt(RATE * (1 - RATE) / total))
    assert masked / hidden == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / hidden))
    assert kept / hidden == pytest.approx(0.1 + 0.1 / 995, abs=4 * math.sqrt(0.09 / hidden))


def test_ranks_hide_what_one_process_hides_and_steps_differ():
    texts = texts_of(10)
    whole = undo(masking().hide(texts, 5, slice(0, 10), 10, 2), 10)[1]
    halves = [undo(masking().hide(texts[part], 5, part, 10, 1), 5)[1] for part in (slice(0, 5), slice(5, 10))]
    assert halves[0] + halves[1] == whole
    assert undo(masking().hide(texts, 6, slice(0, 10), 10, 2), 10)[1] != whole


def test_head_is_the_sum_of_negative_log_likelihoods():
    torch.manual_seed(0)
    words = torch.nn.Embedding(50, 8, dtype=torch.float64)
    head = MaskedHead(8, 50, words).double()
    states = torch.randn(3, 6, 8, dtype=torch.float64)
    item = masking(50).hide([np.arange(5, 9)] * 3, 1, slice(0, 3), 3, 1)[0]
    picked = states.reshape(-1, 8)[item.hidden]
    with torch.no_grad():
        logits = head.norm(torch.nn.functional.gelu(head.dense(picked))) @ words.weight.T + head.bias
    expected = sum(
        float(torch.logsumexp(row, 0) - row[target]) for row, target in zip(logits, item.targets, strict=True)
    )
    assert len(item.targets) > 0
    assert float(head(states, item.hidden, item.targets).detach()) == pytest.approx(expected, rel=1e-12)


SETTINGS = {"low_rank": {"rank": 2}, "learning_rate": 1e-2, "steps": 4}


def test_the_exported_encoder_is_the_start_and_differences_of_low_rank(tiny_store, tiny_encoder, tmp_path):
    quick_run(tiny_store, tiny_encoder, tmp_path / "run", **SETTINGS)
    before = load_encoder(tiny_encoder).model.state_dict()
    after = load_file(tmp_path / "run/last/model.safetensors")
    assert after.keys() <= before.keys()
    changed = {name for name, tensor in after.items() if not np.array_equal(tensor, before[name].numpy())}
    assert changed and all("layer" in name and name.endswith(".weight") for name in changed)
    for name in changed:
        assert np.linalg.matrix_rank(after[name] - before[name].numpy(), tol=1e-5) <= 2
    with pytest.raises(UsageError, match="no linear layers"):
        LowRank(Ranks(), SimpleNamespace(encoder=torch.nn.Embedding(3, 2)))


def test_a_resumed_run_makes_the_same(tiny_store, tiny_encoder, tmp_path):
    settings = SETTINGS | {"watching": {"checkpoint_every": 2}}
    quick_run(tiny_store, tiny_encoder, tmp_path / "whole", **settings)
    with ended_before(3, KeyboardInterrupt):
        quick_run(tiny_store, tiny_encoder, tmp_path / "ended", **settings)
    quick_run(tiny_store, tiny_encoder, tmp_path / "ended", **settings)
    assert_same_bits(tmp_path / "whole", tmp_path / "ended")
