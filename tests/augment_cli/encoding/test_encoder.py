"""Encoding: against transformers one sentence at a time, batches, length limits, precision."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.encoding.encoder import batches_by_tokens
from augment_cli.encoding.fast.bert import linear
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import MODES, pool
from augment_cli.errors import UsageError


def one_at_a_time(encoder, texts, mode):
    rows = []
    for text in texts:
        batch = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=encoder.max_length)
        with torch.no_grad():
            states = encoder.model(**batch, output_hidden_states=True).hidden_states
        rows.append(pool(states, batch["attention_mask"], mode)[0].numpy())
    return np.stack(rows)


@pytest.mark.parametrize("mode", MODES)
def test_encoding_equals_transformers_one_sentence_at_a_time(plain_model, sentences, mode):
    encoder = load_encoder(plain_model, pooling=mode)
    expected = one_at_a_time(encoder, sentences, mode)
    np.testing.assert_allclose(encoder.encode(sentences, batch_tokens=40), expected, atol=2e-5)


@pytest.mark.parametrize(
    ("precision", "mode", "apart"),
    [("fp32", "mean", 1e-5), ("fp32", "first-last+cls", 1e-5), ("bf16", "max", 0.15)],
)
def test_layers_without_padding_are_the_models_own(
    plain_model, sentences, monkeypatch, precision, mode, apart
):
    encoder = load_encoder(plain_model, pooling=mode, precision=precision)
    with monkeypatch.context() as patch:
        patch.setattr("augment_cli.encoding.encoder.is_known", lambda model: False)
        expected = encoder.encode(sentences, batch_tokens=60)
    monkeypatch.setattr(encoder.model, "forward", None)  # is not called
    np.testing.assert_allclose(encoder.encode(sentences, batch_tokens=60), expected, atol=apart)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_linear_layer_takes_any_number_of_rows(dtype):
    torch.manual_seed(0)
    weight, bias = torch.randn(48, 32, dtype=dtype), torch.randn(48, dtype=dtype)
    with torch.inference_mode():
        layer = linear(weight, bias)
        for rows in (1, 7, 2048, 3000):
            x = torch.randn(rows, 32, dtype=dtype)
            torch.testing.assert_close(layer(x), torch.nn.functional.linear(x, weight, bias))


def test_equal_texts_are_encoded_once_and_order_does_not_matter(plain_model, sentences):
    encoder = load_encoder(plain_model)
    seen = []
    vectors = encoder.encode([*sentences, *sentences], progress=seen.append)
    assert sum(seen) == len(set(sentences))
    np.testing.assert_array_equal(vectors[: len(sentences)], vectors[len(sentences) :])
    np.testing.assert_allclose(encoder.encode(sentences[::-1])[::-1], vectors[: len(sentences)], atol=1e-5)
    np.testing.assert_array_equal(encoder.encode(sentences), encoder.encode(sentences))


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 120))
def test_batches_hold_every_sentence_once_within_the_limit(lengths, limit):
    lengths = sorted(lengths, reverse=True)
    batches = list(batches_by_tokens(lengths, limit))
    assert [row for batch in batches for row in batch] == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch.start] <= limit


def test_empty_text_is_its_special_tokens_and_nothing_gives_nothing(plain_model):
    encoder = load_encoder(plain_model)
    empty, blank = encoder.encode(["", "  "])
    np.testing.assert_array_equal(empty, blank)
    np.testing.assert_allclose(empty, one_at_a_time(encoder, [""], "mean")[0], atol=2e-6)
    assert encoder.encode([]).shape == (0, 32)


def test_empty_text_without_special_tokens_is_a_zero_vector(plain_model):
    encoder = load_encoder(plain_model)
    encoder.tokenizer.backend_tokenizer.post_processor = None
    vectors = encoder.encode(["", "the dog"])
    encoder.tokenizer = None
    assert not vectors[0].any()
    assert np.isfinite(vectors).all()


def test_length_limit_cuts_and_unlimited_does_not(plain_model):
    long, short = "the old man plays the guitar in the house", "the old man"
    cut = load_encoder(plain_model, max_length=5)
    first, second = cut.encode([long, short])
    np.testing.assert_allclose(first, second, atol=1e-6)
    first, second = load_encoder(plain_model).encode([long, short])
    assert np.abs(first - second).max() > 0.01
    for length in (65, 0):
        with pytest.raises(UsageError, match="takes 1 to 64 tokens"):
            load_encoder(plain_model, max_length=length)


def test_bf16_is_near_fp32_but_not_the_same(plain_model, sentences):
    exact = load_encoder(plain_model).encode(sentences)
    rough = load_encoder(plain_model, precision="bf16").encode(sentences)
    assert rough.dtype == np.float32
    difference = np.abs(exact - rough).max()
    assert 0 < difference < 0.1


def test_a_model_in_training_mode_is_encoded_without_dropout_and_left_in_it(plain_model, sentences):
    loaded = load_encoder(plain_model)
    expected = loaded.encode(sentences)
    loaded.model.train()
    np.testing.assert_array_equal(loaded.encode(sentences), expected)
    assert loaded.model.training


def test_texts_must_be_strings(plain_model):
    with pytest.raises(UsageError, match="text 1 is a NoneType, not a string; give a list of strings"):
        load_encoder(plain_model).encode(["the dog", None])
