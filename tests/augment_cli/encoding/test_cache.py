"""The embedding cache: keyed by all that matters, damage named, never used for a model in training."""

import json
import zipfile

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


def flipped(path):
    """One bit is another."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def spoiled_header(path):
    """The header of an array, which is Python, has brackets that nothing closes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    data = members["vectors.npy"]
    end = data.index(b"\n")
    members["vectors.npy"] = data[:10] + b"(" * (end - 10) + data[end:]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def encrypted(path):
    """The bit that says so is set, in both of the zip's headers."""
    raw = bytearray(path.read_bytes())
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)


def narrower(path):
    """Vectors of another width, as of another encoder."""
    with np.load(path) as arrays:
        digests, vectors = arrays["digests"], arrays["vectors"]
    np.savez(path, digests=digests, vectors=vectors[:, :-1])


@pytest.mark.parametrize("spoil", [flipped, spoiled_header, encrypted, narrower])
def test_a_spoiled_cache_file_is_named_in_one_line_and_never_used(spoil, plain_model, sentences, tmp_path):
    expected = load_encoder(plain_model).encode(sentences, cache=tmp_path)
    (path,) = tmp_path.rglob("*.npz")
    spoil(path)
    with pytest.raises(BadInputError, match=f"{path.name} is damaged .* delete it") as raised:
        load_encoder(plain_model).encode(sentences, cache=tmp_path)
    assert "\n" not in str(raised.value)
    path.unlink()
    again = load_encoder(plain_model).encode(sentences, cache=tmp_path)
    np.testing.assert_allclose(again, expected, atol=1e-5)


def test_a_model_in_training_has_no_digest_and_is_never_cached(plain_model, tmp_path):
    loaded = load_encoder(plain_model)
    live = Encoder(loaded.model, loaded.tokenizer, pooling="cls", max_length=32)
    assert live.encode(["the dog"]).shape == (1, 32)
    with pytest.raises(UsageError, match="no model digest"):
        live.encode(["the dog"], cache=tmp_path)
