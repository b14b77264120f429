"""Judgements of another store, or of an earlier version of the stage."""

import msgspec
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.reports import verdicts
from augment_cli.reports.read_elsewhere import read_elsewhere
from augment_cli.reports.verdicts import Judgement
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store


def changed(judgements, **values):
    return [msgspec.structs.replace(one, **values) for one in judgements]


def test_what_was_read_in_this_store_is_its_own(store):
    judgements = verdicts.sample(store, "una", 5)
    assert read_elsewhere(store, judgements) == {}
    # A page notes the first digits, and no corpus; a file of long ago notes nothing.
    assert (
        read_elsewhere(store, changed(judgements, fingerprint=judgements[0].fingerprint[:12], store="")) == {}
    )
    assert read_elsewhere(store, [Judgement("una", 1, "good"), Judgement("gone", 1, "good")]) == {}
    # After an append the corpus has another fingerprint, and the rows are the same.
    assert read_elsewhere(store, changed(judgements, store="f" * 64)) == {}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"stage": "gone"}, "there is no such stage"),
        ({"fingerprint": "f" * 12, "text": None}, "5 of 5 rows were read with another fingerprint"),
        ({"store": "f", "original": "Another sentence."}, "5 of 5 rows read otherwise there"),
        ({"store": "f", "row_id": 10**6}, "5 of 5 rows read otherwise there"),
    ],
)
def test_what_was_read_elsewhere_is_said(store, values, why):
    judgements = changed(verdicts.sample(store, "una", 5), **values)
    assert read_elsewhere(store, judgements) == {judgements[0].stage: why}


def test_a_stage_that_was_made_anew_is_another_and_the_command_warns(store, tmp_path, command):
    verdicts.write(tmp_path / "una.jsonl", verdicts.sample(store, "una", 5))
    words = ("judge", "--read", tmp_path / "una.jsonl", "--store", store.path)
    assert command(*words).stderr == ""
    augment_cli.remove("una", store)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", radius=4, seed=7))
    assert list(read_elsewhere(Store.open(store.path), verdicts.read([tmp_path / "una.jsonl"]))) == ["una"]
    done = command(*words)
    assert done.returncode == 0 and "Warning: una was read elsewhere than in" in done.stderr
