"""What a version wrote is opened, verified, resumed, appended to, packed, trained from and fetched today."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

import augment_cli
from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.golden.make import EVAL, STAGES, TRAIN
from tests.helpers.golden_folders import GOLDEN, TODAY, VERSIONS, made

# Stages that go on today, with the options that CHANGELOG.md names where defaults changed. An augmentation
# whose version rises, or one of whose lists changes, is taken off here, and named there.
_CHANGED = ("aa", "entity-swap", "rephrase", "synonym", "uda", "yoda")
REUSED = {
    "0.1.0": [
        "ingest --corpus sentences.txt --part-rows 12 --max-rejects 0.1",
        "fit",
        "parse --jobs 1",
        "una --draws 2 --surface in-place --radius 4000 --jobs 1",
        "pi --jobs 1",
        "aa --mode paper --jobs 1",
    ],
    TODAY: [
        command
        for name, command in STAGES
        if name not in ("paraphrase", "mask-fill", "pack", "packed.jsonl", *_CHANGED)
    ],
}


def done(type_in, line):
    """What a command prints that must succeed."""
    ended = type_in(line)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def bytes_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}


def test_each_released_version_has_one():
    changes = (GOLDEN.parents[1] / "CHANGELOG.md").read_text("utf-8")
    released = {line.split("[")[1].split("]")[0] for line in changes.splitlines() if line.startswith("## [")}
    assert set(VERSIONS) - {"unreleased"} == released - {"Unreleased"}


def test_verified_and_every_stage_is_read(golden):
    store = Store.open(golden / "store")
    assert verify(store) == []
    counts = {name: store.read(name).num_rows for name in store.stages()}
    assert counts["corpus"] == counts["una"] == counts["pi"] == counts["parses"] == 24
    assert counts["rejects"] == 1
    assert counts["pack"] == 12
    there = {*store.stages(), *(name for name in ("packed.jsonl", "grown") if Path(name).exists())}
    absent = set(made(golden.name)["not made by this version"])
    assert {name for name in [*dict(STAGES), "grown"] if name not in there} == absent


def test_its_augmentations_are_what_was_made(golden):
    table = Store.open(golden / "store").frame("una")
    for text, reason, edits in table.select("text", "reason", "edits").iter_rows():
        assert (text is None) == (reason is not None) == (not edits)


@pytest.mark.parametrize("number", range(max(map(len, REUSED.values()))))
def test_a_stage_goes_on_as_it_is(golden, type_in, number):
    if number >= len(REUSED[golden.name]):
        return
    before, manifest = bytes_of(golden / "store"), (golden / "store/manifest.json").read_bytes()
    done(type_in, f"augment-cli {REUSED[golden.name][number]}")
    after = bytes_of(golden / "store")
    assert before.items() <= after.items()
    if set(after) == set(before):
        assert (golden / "store/manifest.json").read_bytes() == manifest


def test_a_lost_part_is_made_again_to_the_byte(golden, type_in):
    lost = golden / "store/una/part-00001.parquet"
    content = lost.read_bytes()
    lost.unlink()
    (command,) = [line for line in REUSED[golden.name] if line.startswith("una ")]
    done(type_in, f"augment-cli {command}")
    assert lost.read_bytes() == content
    assert verify(Store.open(golden / "store")) == []


def test_files_are_appended_to_it(golden, type_in):
    before = bytes_of(golden / "store/corpus") | bytes_of(golden / "store/pi")
    for command in ("ingest --append --corpus more.txt", "parse --jobs 1", "pi --jobs 1"):
        done(type_in, f"augment-cli {command}")
    store = Store.open(golden / "store")
    assert store.read("corpus").num_rows == store.read("pi").num_rows == 26
    assert verify(store) == []
    after = bytes_of(golden / "store/corpus") | bytes_of(golden / "store/pi")
    assert all(after[name] == content for name, content in before.items() if "corpus" in str(name))


def test_it_is_packed(golden, type_in):
    done(type_in, "augment-cli pack --positive corpus --negative una --name again --out again.jsonl --jobs 1")
    rows = [json.loads(line) for line in Path("again.jsonl").read_text("utf-8").splitlines()]
    una = Store.open(golden / "store").frame("una")["text"].drop_nulls().to_list()
    assert [row["negative"] for row in rows] == una


def test_its_packed_tables_are_plain_parquet(golden):
    parts = sorted((golden / "store/pack").glob("*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert len(rows) == 12
    assert {"anchor", "positive", "negative"} <= rows[0].keys()
    if (golden / "packed.jsonl").exists():
        lines = (golden / "packed.jsonl").read_text("utf-8").splitlines()
        assert [json.loads(line)["anchor"] for line in lines] == [row["anchor"] for row in rows]


def test_it_is_published_and_fetched(golden):
    augment_cli.publish("store", (golden / "bucket").as_uri())
    augment_cli.fetch((golden / "bucket").as_uri(), "back")
    assert (golden / "back/manifest.json").read_bytes() == (golden / "store/manifest.json").read_bytes()
    assert bytes_of(golden / "back") == bytes_of(golden / "store")


def test_its_encoder_trains_two_steps_on_it(golden, type_in):
    options = "--set batch=8 --set steps=2 --set evaluate_every=0 --set log_every=1 --set precision=fp32"
    done(type_in, f"train una --store store --encoder export --out fresh {options}")
    before, after = (load_file(f"{name}/model.safetensors") for name in ("export", "fresh/last"))
    assert before.keys() == after.keys()
    assert any((before[name] != after[name]).any() for name in before)


def test_its_training_continues_from_the_checkpoint(golden, type_in):
    assert made(golden.name)["train"] == TRAIN
    done(type_in, f"train {TRAIN}")
    events = [json.loads(line) for line in (golden / "run/log.jsonl").read_text("utf-8").splitlines()]
    assert [event["step"] for event in events if event["event"] == "step"] == [1, 2, 3, 4]
    there, now = (load_file(f"{name}/model.safetensors") for name in ("export", "run/last"))
    moved = load_file("run/checkpoints/step-0000002/model.safetensors")
    # A pooler that the start had no weights for is left out now.
    assert now.keys() == {name for name in there if not name.startswith("pooler.")}
    # Another processor adds in another order, which moves what has hardly a gradient by a step of AdamW.
    apart = np.concatenate([np.ravel(there[name] - now[name]) for name in now])
    assert np.median(np.abs(apart)) < 1e-6 and np.abs(apart).max() < 1e-4
    words = "embeddings.word_embeddings.weight"
    (before,) = [array for name, array in moved.items() if name.endswith(words)]
    assert np.abs(now[words] - before).max() > 1e-6


def test_its_result_is_read_and_comes_out_again(golden, type_in):
    shutil.move("results", "there")
    done(type_in, f"eval {EVAL}")
    files = [next(Path(name).glob("export/*/Toy.json")) for name in ("there", "results")]
    scores = [json.loads(file.read_text("utf-8"))["scores"]["test"][0]["main_score"] for file in files]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)  # two near cosines may change places
    compared = done(type_in, f"eval compare {files[0].parent} {files[1].parent} --resamples 50 --json")
    assert [item["task"] for item in json.loads(compared)] == ["toy"]
    assert f"{100 * scores[0]:.2f}" in done(type_in, "eval table there --registry tasks.toml")


def test_a_grown_store_goes_on(golden, type_in):
    if "grown" in made(golden.name)["not made by this version"]:
        return
    store = Store.open(golden / "grown")
    assert verify(store) == []
    assert (store.read("corpus").num_rows, store.stage("synonym").rows) == (26, 24)
    ended = type_in("augment-cli run --behind --store grown")
    assert ended.returncode == 5 and "version" in ended.stderr  # `synonym` writes other texts today
    assert Store.open(golden / "grown").stage("synonym").rows == 24
