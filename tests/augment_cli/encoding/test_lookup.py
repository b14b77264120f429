"""Lookup: against a slow reference, read back as it was written, and what it refuses."""

import json
import zlib

import numpy as np
import pytest

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.lookup import Lookup
from augment_cli.errors import BadInputError, UsageError
from tests.helpers.places import REPOSITORY

STATIC = REPOSITORY / "data" / "models" / "static"
WORDS = ["river", "boat", "heron", "bank", "loan", "money", "tree", "leaf", "root", "train"]
TEXTS = [f"The {one} and the {other} number {number}." for number, one in enumerate(WORDS) for other in WORDS]


class Known(Encoder):
    """An encoder with a random vector for each text."""

    def encode(self, texts, **options):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(6) for seed in seeds]).astype(np.float32)


def length_one(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def test_a_text_is_moved_by_the_mean_of_its_ten_nearest():
    encoder = Known(None, None)
    texts = [f"w{number}" for number in range(30)]  # no word stands in two texts
    lookup = Lookup.fit([(encoder, 1.0)], texts)
    vectors = [length_one(vector) for vector in encoder.encode(texts)]
    mean = np.mean(vectors, axis=0)
    for text, found in zip(["x", "y"], lookup.encode(["x", "y"]), strict=True):
        own = length_one(length_one(encoder.encode([text])[0]) - mean)
        order = sorted(range(len(texts)), key=lambda row: -float(lookup.keys[row] @ own))[:10]
        np.testing.assert_allclose(found, length_one(own + lookup.keys[order].mean(axis=0)), atol=1e-5)


def test_what_is_alike_becomes_more_alike():
    encoder = load_encoder(STATIC)
    lookup = Lookup.fit([(encoder, 1.0)], TEXTS)
    river = [f"The river and the boat number {number}." for number in (71, 72)]
    other = ["The loan and the money number 73."]

    def closeness(encode):
        first, second, third = (length_one(vector) for vector in encode([*river, *other]))
        return first @ second - first @ third

    assert closeness(lookup.encode) > closeness(encoder.encode)


def test_it_is_read_back_as_it_was_written(tmp_path):
    lookup = Lookup.fit([(load_encoder(STATIC), 1.0)], TEXTS)
    lookup.save(tmp_path / "lookup", [STATIC])
    again = load_encoder(tmp_path / "lookup")
    said = ["The heron waits."]
    np.testing.assert_allclose(again.encode(said), lookup.encode(said), atol=1e-6)
    assert again.dimension == lookup.dimension == again.encode(["x"]).shape[1]
    assert again.digest and again.cache_key()["digest"] == again.digest


@pytest.mark.parametrize(
    "change",
    [{"encoders": ["../elsewhere"]}, {"encoders": 3}, {"weights": []}, {"words": ["one"]}, {"words": None}],
)
def test_a_damaged_folder_is_refused(tmp_path, change):
    Lookup.fit([(load_encoder(STATIC), 1.0)], TEXTS).save(tmp_path / "lookup", [STATIC])
    file = tmp_path / "lookup" / "lookup.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(BadInputError, match="does not load as a lookup"):
        load_encoder(tmp_path / "lookup")


def test_one_text_has_no_neighbours():
    with pytest.raises(UsageError, match="at least two texts"):
        Lookup.fit([(load_encoder(STATIC), 1.0)], ["alone"])


def test_chinese_texts_are_counted_by_letters():
    import augment_cli

    encoder = augment_cli.load_encoder("static")
    lookup = augment_cli.Lookup.fit([(encoder, 1.0)], ["河流穿过城镇", "河流很长", "桥很旧了", "今天下雨"])
    assert {"河", "流", "很"} == set(lookup.words)
