"""The beam search and its shared attention against transformers' own, sentence by sentence."""

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from augment_cli.neural.fast.attention import NAME, share_beams
from augment_cli.neural.fast.beam_search import sharing_beam_search
from tests.helpers.tiny_models import SENTENCES

SETTINGS = [
    {},
    {"early_stopping": True},
    {"early_stopping": "never", "length_penalty": 0.6},
    {"length_penalty": 2.0, "exponential_decay_length_penalty": (2, 1.6)},
    {"num_beams": 10, "max_length": 12},
    {"no_repeat_ngram_size": 1, "num_return_sequences": 4, "min_length": 5},
    {"max_length": 3},
]


@pytest.fixture(scope="module")
def loaded(model):
    """A model in transformers' own setting, and a batch of sentences of different lengths."""

    def load(kind):
        tokenizer = AutoTokenizer.from_pretrained(model(kind))
        batch = tokenizer(SENTENCES[:12], padding=True, return_tensors="pt")
        return AutoModelForSeq2SeqLM.from_pretrained(model(kind)).eval(), batch

    return load


def generate(network, batch, settings, **options):
    with torch.inference_mode():
        rows = network.generate(
            batch["input_ids"],
            attention_mask=batch["attention_mask"],
            **({"num_beams": 5} | settings),
            **options,
        )
    ends = network.generation_config.eos_token_id
    # After the end stands padding, which transformers fills with one token or the other.
    return [row[1 : row.index(ends, 1)] if ends in row[1:] else row[1:] for row in rows.tolist()]


# Pegasus, BART and Marian are one architecture with other details: every setting is tried on the first.
@pytest.mark.parametrize(
    ("kind", "tried"),
    [
        ("pegasus", SETTINGS),
        ("t5", SETTINGS),
        ("bart", [SETTINGS[0], SETTINGS[5]]),
        ("marian", [SETTINGS[2], SETTINGS[5]]),
    ],
    ids=["pegasus", "t5", "bart", "marian"],
)
@pytest.mark.filterwarnings("ignore:.*sacremoses")
def test_the_same_outputs_as_transformers(loaded, kind, tried):
    network, batch = loaded(kind)
    expected = [generate(network, batch, settings) for settings in tried]
    # The outputs differ among sentences and settings, else this would say little.
    assert len({tuple(row) for rows in expected for row in rows}) > 20
    unshared = sharing_beam_search(False)
    for settings, rows in zip(tried, expected, strict=True):
        assert generate(network, batch, settings, custom_generate=unshared) == rows, settings
    assert share_beams(network)
    assert network.config._attn_implementation == NAME
    shared = sharing_beam_search(True)
    for settings, rows in zip(tried, expected, strict=True):
        assert generate(network, batch, settings, custom_generate=shared) == rows, settings


def test_a_sentence_that_is_through_leaves_the_batch(loaded, monkeypatch):
    """Fewer rows go through the model as sentences finish, and every output is still there."""
    network, batch = loaded("pegasus")
    share_beams(network)
    rows = []
    real = network.forward

    def counting(*arguments, **options):
        rows.append(len(options["decoder_input_ids"]))
        return real(*arguments, **options)

    monkeypatch.setattr(network, "forward", counting)
    outputs = generate(
        network,
        batch,
        {"early_stopping": True, "length_penalty": 0.0},
        custom_generate=sharing_beam_search(True),
    )
    assert len(outputs) == 12
    assert rows[0] == 12 and rows[1] == 12 * 5
    assert rows[-1] < rows[1] and rows[1:] == sorted(rows[1:], reverse=True)
