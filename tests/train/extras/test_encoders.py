"""Commands without training: nearest neighbours, an encoder between two, another pooling."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.words_apart import NEGATION_WEIGHT, negation_weights
from augment_cli.errors import MixError, UsageError
from tests.helpers.tiny_encoders import make_tiny_encoder
from train.extras.encoders import nearest

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
