"""A bed is made from an installed encoder, once, alike each time, and says what it is."""

import dataclasses

import numpy as np
import pytest

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MissingError, UsageError
from augment_cli.models.digest import model_digest
from benchmarks.reproduce.bed import compared, make_bed, read_facts
from benchmarks.reproduce.grid import Bed, load_grid
from benchmarks.reproduce.units import check_bed, encoder_digest

TEXTS = ["The old bridge is long.", "A new house stands by the river.", "Wooden boats are slow."]


@pytest.fixture
def bed(tiny_encoder, tmp_path):
    sentences = [f"{text[:-1]} number {number}." for number in range(20) for text in TEXTS]
    (tmp_path / "sentences.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    settings = ("steps=3", "batch=8", "max_length=16", "threads=1", "warmup_steps=0")
    words = ("A test.", "Its teacher has seen nothing.")
    return Bed(str(tmp_path / "a"), *words, str(tiny_encoder), ("sentences.txt",), 60, "mlm", settings)


def test_a_bed_is_another_encoder_made_alike_each_time_and_not_made_twice(bed, tiny_encoder, tmp_path):
    digest = make_bed(bed, tmp_path)
    other = dataclasses.replace(bed, encoder=str(tmp_path / "b"))
    assert digest == make_bed(other, tmp_path) == model_digest(tmp_path / "a")
    assert read_facts(tmp_path / "a")["digest"] == digest
    given, made = (load_encoder(folder).encode(TEXTS) for folder in (tiny_encoder, tmp_path / "a"))
    assert np.abs(given - made).max() > 1e-3
    card = (tmp_path / "a/README.md").read_text(encoding="utf-8")
    assert "Its teacher has seen nothing." in card and digest in card
    there = (tmp_path / "a/model.safetensors").stat().st_mtime_ns
    assert make_bed(bed, tmp_path) == digest
    assert (tmp_path / "a/model.safetensors").stat().st_mtime_ns == there


def test_a_bed_of_too_few_sentences_is_refused(bed, tmp_path):
    with pytest.raises(UsageError, match="60 sentences of 61"):
        make_bed(dataclasses.replace(bed, rows=61), tmp_path)


def test_the_recorded_digest_stands_in_where_no_bed_was_made(bed, small_grid):
    profile = dataclasses.replace(load_grid(small_grid).profiles["small"], encoder=bed.encoder)
    assert encoder_digest(profile.encoder, profile, dataclasses.replace(bed, digest="d" * 64)) == "d" * 64
    with pytest.raises(MissingError, match="make bed"):
        encoder_digest(profile.encoder, profile, bed)


def test_results_from_another_bed_are_not_added_to(bed, tiny_encoder, tmp_path):
    here = dataclasses.replace(bed, encoder=str(tiny_encoder), digest="d" * 64)
    digest, results = model_digest(tiny_encoder), tmp_path / "bed.jsonl"
    check_bed(here, results)  # nothing is recorded yet
    results.write_text("", encoding="utf-8")
    check_bed(None, results)  # a profile without a bed
    check_bed(dataclasses.replace(bed, digest="d" * 64), results)  # nothing has been made yet
    check_bed(dataclasses.replace(here, digest=digest), results)
    with pytest.raises(UsageError, match=r"another bed .*--results FOLDER"):
        check_bed(here, results)
    results.write_text(f'{{"made": {{"encoder": "{digest}"}}}}', encoding="utf-8")
    check_bed(here, results)  # kept apart from the recorded ones


def test_another_digest_than_the_recorded_one_is_said(bed):
    recorded = dataclasses.replace(bed, digest="d" * 64)
    assert compared(recorded, "d" * 64) == "as recorded in grid.toml"
    assert "stand by themselves" in compared(recorded, "e" * 64)
    assert compared(bed, "e" * 64) == "no digest is recorded for it in grid.toml"
