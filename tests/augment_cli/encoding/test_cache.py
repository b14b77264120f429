"""The embedding cache: keyed by all that matters, damage named, never used for a model in training."""

import json

import numpy as np
import pytest

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, UsageError


def test_cache_answers_without_the_model_and_is_keyed_by_all_that_matters(plain_model, sentences, tmp_path):
    encoder = load_encoder(plain_model)
    first = encoder.encode(sentences[:40], cache=tmp_path)
    encoder.model = None  # any further use of the model fails
    np.testing.assert_array_equal(encoder.encode(sentences[:40], cache=tmp_path), first)
    with pytest.raises(AttributeError):
        encoder.encode(["something else"], cache=tmp_path)
    keys = [json.dumps(load_encoder(plain_model).cache_key())]
    for changed in ({"pooling": "cls"}, {"max_length": 8}, {"precision": "bf16"}):
        keys.append(json.dumps(load_encoder(plain_model, **changed).cache_key()))
    assert len(set(keys)) == 4
    again = load_encoder(plain_model)
    grown = again.encode(sentences, cache=tmp_path)
    np.testing.assert_allclose(grown, again.encode(sentences), atol=1e-5)


def test_a_damaged_cache_file_is_named(plain_model, sentences, tmp_path):
    load_encoder(plain_model).encode(sentences, cache=tmp_path)
    (path,) = tmp_path.rglob("*.npz")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(BadInputError, match=f"{path.name} is damaged .* delete it"):
        load_encoder(plain_model).encode(sentences, cache=tmp_path)


def test_a_model_in_training_has_no_digest_and_is_never_cached(plain_model, tmp_path):
    loaded = load_encoder(plain_model)
    live = Encoder(loaded.model, loaded.tokenizer, pooling="cls", max_length=32)
    assert live.encode(["the dog"]).shape == (1, 32)
    with pytest.raises(UsageError, match="no model digest"):
        live.encode(["the dog"], cache=tmp_path)
