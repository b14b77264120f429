"""Which layers an encoder has, and which stay as they are."""

import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, MPNetConfig, MPNetModel

from train.model.model import freeze, known_layers

SIZES = {"vocab_size": 40, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
BERT = BertModel(BertConfig(**SIZES, num_hidden_layers=4))
DISTILBERT = DistilBertModel(DistilBertConfig(vocab_size=40, dim=8, n_layers=4, n_heads=2, hidden_dim=16))


@pytest.mark.parametrize(
    "encoder",
    [BERT, MPNetModel(MPNetConfig(**SIZES, num_hidden_layers=4)), DISTILBERT],
    ids=["BERT", "MPNet", "DistilBERT"],
)
def test_embeddings_are_the_first_layer(encoder):
    embeddings, *layers = known_layers(encoder)
    assert embeddings is encoder.embeddings
    assert len(layers) == 4


def test_a_share_of_the_layers_stays_as_it_is():
    assert freeze(BERT, 0.5)
    trained = {name for name, weight in BERT.named_parameters() if weight.requires_grad}
    assert {name.split(".")[0] for name in trained} == {"encoder", "pooler"}
    assert {name.split(".")[2] for name in trained if name.startswith("encoder")} == {"2", "3"}


def test_of_other_encoders_nothing_is_known():
    other = torch.nn.Linear(3, 3)
    assert known_layers(other) == []
    assert not freeze(other, 0.5)
    assert other.weight.requires_grad
