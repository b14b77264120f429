"""An encoder with another pooling, above all one in which negations weigh more."""

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.words_apart import NEGATION_WEIGHT, negation_weights
from augment_cli.errors import UsageError
from train.cli import main

TEXTS = ["The shop is not open.", "The shop is open.", "It isn't here, and nobody came."]


class Tokens:
    """A tokenizer's vocabulary."""

    def __init__(self, *tokens):
        self.tokens = tokens

    def __len__(self):
        return len(self.tokens)

    def convert_ids_to_tokens(self, ids):
        return [self.tokens[one] for one in ids]


@pytest.mark.parametrize(
    ("tokens", "heavy"),
    [
        (("[CLS]", "the", "not", "##not", "Not", "note", "isn", "'"), ("not", "Not", "isn")),
        (("<s>", "▁the", "▁not", "not", "▁No", "no"), ("▁not", "▁No")),
        (("<s>", "Ġthe", "Ġnever", "never"), ("Ġnever",)),
    ],
)
def test_negations_weigh_more_where_they_begin_a_word(tokens, heavy):
    weights = negation_weights(Tokens(*tokens))
    assert weights.dtype == np.float32
    expected = [NEGATION_WEIGHT if token in heavy else 1 for token in tokens]
    np.testing.assert_array_equal(weights, expected)


def test_the_folder_is_sentence_transformers_own(tmp_path, capsys):
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        main(["pooling", "minilm", "negations:mean", "--out", str(out)])
    assert not ended.value.code and "negations:mean" in capsys.readouterr().out
    ours = load_encoder(out)
    assert ours.pooling == "negations:mean"
    vectors = ours.encode(TEXTS)
    library = SentenceTransformer(str(out), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(vectors, library, atol=1e-5)
    np.testing.assert_allclose(load_encoder("minilm", pooling="negations:mean").encode(TEXTS), vectors)
    plain = load_encoder("minilm").encode(TEXTS)
    np.testing.assert_allclose(vectors[1], plain[1], atol=1e-6)  # it denies nothing
    assert vectors[0] @ vectors[1] < plain[0] @ plain[1] - 0.05


def test_a_pooling_that_no_folder_can_name_and_a_folder_that_is_there_are_refused(tmp_path, capsys):
    for pooling, out, message in (
        ("first-last+cls", tmp_path / "out", "cannot be stored"),
        ("negation:mean", tmp_path / "out", "token weights are idf, sif, negations"),
        ("negations:mean", tmp_path, "exists"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["pooling", "minilm", pooling, "--out", str(out)])
        assert ended.value.code == UsageError.exit_code and message in capsys.readouterr().err
