"""A bed is made from an installed encoder, once, alike each time, and says what it is."""

import dataclasses
import json
import os

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM, AutoTokenizer

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MissingError, UsageError
from augment_cli.models.digest import model_digest
from benchmarks.reproduce.bed import bare, compared, make_bed, read_facts, redraw
from benchmarks.reproduce.entries import Bed
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.units import check_bed, encoder_digest
from train.model.masked_head import MaskedHead

TEXTS = ["The old bridge is long.", "A new house stands by the river.", "Wooden boats are slow."]


@pytest.fixture
def bed(tiny_encoder, tmp_path):
    sentences = [f"{text[:-1]} number {number}." for number in range(20) for text in TEXTS]
    (tmp_path / "sentences.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    words = ("bed", "A test.", "Its teacher has seen nothing.")
    return Bed(
        *words,
        str(tiny_encoder),
        0,
        ("sentences.txt",),
        60,
        "mlm",
        ("steps=3", "batch=8", "max_length=16", "threads=1", "warmup_steps=0"),
    )


def test_a_bed_is_another_encoder_made_alike_each_time_and_not_made_twice(bed, tiny_encoder, tmp_path):
    first = make_bed(bed, tmp_path / "a", tmp_path / "a-work", tmp_path)
    second = make_bed(bed, tmp_path / "b", tmp_path / "b-work", tmp_path)
    assert first["digest"] == second["digest"] == model_digest(tmp_path / "a")
    assert read_facts(tmp_path / "a") == json.loads(json.dumps(first))
    given, made = (load_encoder(folder).encode(TEXTS) for folder in (tiny_encoder, tmp_path / "a"))
    assert np.abs(given - made).max() > 1e-3
    card = (tmp_path / "a/README.md").read_text(encoding="utf-8")
    assert "Its teacher has seen nothing." in card and first["digest"] in card
    there = (tmp_path / "a/model.safetensors").stat().st_mtime_ns
    assert make_bed(bed, tmp_path / "a", tmp_path / "a-work", tmp_path) == read_facts(tmp_path / "a")
    assert (tmp_path / "a/model.safetensors").stat().st_mtime_ns == there


def test_a_bed_of_reference_kernels_is_made_by_them_and_nothing_else_is(bed, tmp_path):
    bed = dataclasses.replace(bed, environment=load_grid().beds["rates-small"].environment)
    before, kernels = dict(os.environ), torch.backends.cpu.get_cpu_capability()
    facts = make_bed(bed, tmp_path / "a", tmp_path / "work", tmp_path)
    assert facts["kernels"] == "DEFAULT" and facts["settings"]["environment"] == bed.environment
    assert os.environ == before and torch.backends.cpu.get_cpu_capability() == kernels


def test_beside_a_bed_lies_the_masked_language_model_that_it_was_trained_as(bed, tmp_path):
    make_bed(bed, tmp_path / "a", tmp_path / "work", tmp_path)
    tokens = AutoTokenizer.from_pretrained(tmp_path / "a-masked")(TEXTS, return_tensors="pt", padding=True)
    targets = tokens["input_ids"][:, 1]
    (checkpoint,) = tmp_path.glob("work/*/run/checkpoints/*/model.safetensors")
    trained = {name.removeprefix("masked_head."): weight for name, weight in load_file(checkpoint).items()}
    encoder = load_encoder(tmp_path / "a").model.eval()
    words = encoder.embeddings.word_embeddings
    head = MaskedHead(words.embedding_dim, words.num_embeddings, words)
    head.load_state_dict({name: trained[name] for name in head.state_dict()})
    with torch.inference_mode():
        states = encoder(**tokens).last_hidden_state[:, 1]
        loss = head(states, torch.arange(len(TEXTS)), targets)
        logits = AutoModelForMaskedLM.from_pretrained(tmp_path / "a-masked").eval()(**tokens).logits[:, 1]
    likelihoods = logits.log_softmax(-1)[torch.arange(len(TEXTS)), targets]
    assert float(loss) == pytest.approx(-float(likelihoods.sum()), rel=1e-4)


def test_a_bed_of_fewer_layers_and_one_of_too_few_sentences(bed, tiny_encoder, tmp_path):
    make_bed(dataclasses.replace(bed, layers=1), tmp_path / "one", tmp_path / "work", tmp_path)
    assert load_encoder(tmp_path / "one").model.config.num_hidden_layers == 1
    with pytest.raises(UsageError, match="has 2"):
        bare(load_encoder(tiny_encoder), 3)
    with pytest.raises(UsageError, match="60 sentences of 61"):
        make_bed(dataclasses.replace(bed, rows=61), tmp_path / "two", tmp_path / "other", tmp_path)


def test_a_bed_of_which_the_upper_layers_are_drawn_anew(bed, tiny_encoder):
    given, other = load_encoder(tiny_encoder), redraw(load_encoder(tiny_encoder), 1)
    same = [
        all(torch.equal(one, two) for one, two in zip(old.parameters(), new.parameters(), strict=True))
        for old, new in zip(given.model.encoder.layer, other.model.encoder.layer, strict=True)
    ]
    assert same == [True, False]
    again = redraw(load_encoder(tiny_encoder), 1)
    np.testing.assert_array_equal(other.encode(TEXTS), again.encode(TEXTS))
    with pytest.raises(UsageError, match="has 2"):
        redraw(given, 3)


def test_the_recorded_digest_stands_in_where_no_bed_was_made(bed, small_grid, tmp_path):
    profile = dataclasses.replace(load_grid(small_grid).profiles["cpu"], encoder=str(tmp_path / "none"))
    assert encoder_digest(profile, dataclasses.replace(bed, digest="d" * 64)) == "d" * 64
    with pytest.raises(MissingError, match="make bed"):
        encoder_digest(profile, bed)


def test_results_from_another_bed_are_not_added_to(bed, tiny_encoder, tmp_path):
    recorded, here = dataclasses.replace(bed, digest="d" * 64), model_digest(tiny_encoder)
    results = tmp_path / "bed.jsonl"
    check_bed({"bed": recorded}, "bed", tiny_encoder, results)  # nothing is recorded yet
    results.write_text("", encoding="utf-8")
    check_bed({"bed": recorded}, "bed", tmp_path / "none", results)  # nothing has been made yet
    check_bed({"bed": dataclasses.replace(bed, digest=here)}, "bed", tiny_encoder, results)
    check_bed({}, "bed", tiny_encoder, results)  # a profile without a bed
    results.write_text(f'{{"made": {{"encoder": "{here}"}}}}', encoding="utf-8")
    check_bed({"bed": recorded}, "bed", tiny_encoder, results)  # kept apart from the recorded ones
    results.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"another bed .*--results FOLDER"):
        check_bed({"bed": recorded}, "bed", tiny_encoder, results)
    other = dataclasses.replace(bed, digest=here)
    with pytest.raises(UsageError, match="PROFILE=tables has results from it"):
        check_bed({"bed": recorded, "tables": other}, "bed", tiny_encoder, results)


def test_another_digest_than_the_recorded_one_is_said(bed):
    recorded = dataclasses.replace(bed, digest="d" * 64)
    assert compared(recorded, "d" * 64) == "as recorded in grid.toml"
    assert "stand by themselves" in compared(recorded, "e" * 64)
    assert compared(bed, "e" * 64) == "no digest is recorded for it in grid.toml"
