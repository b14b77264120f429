"""Labels by entailment: what each augmentation says, and where `pack` lets its stages and rows stand."""

import pyarrow as pa
import pytest

from augment_cli.augmentations.labels import entailment_of_stage, row_labels
from augment_cli.contract.augmentation import LABEL_COLUMN
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.pack import pack
from augment_cli.pack.options import choose, left_out
from augment_cli.runs.run import make_run
from augment_cli.store import parquet
from augment_cli.store.settings import Settings
from tests.helpers.hand_parses import parsed_rows, sentence


@pytest.mark.parametrize("name", ["aa", "dn"])
def test_the_papers_form_is_neither_and_keeps_its_earlier_settings(name):
    # "recommended" as in stages of before there was another default
    for options, mode, label in (({"mode": "paper"}, "recommended", "neither"), ({}, "faithful", "same")):
        run = make_run(name, **options)
        settings = run.augmentation.resolve(run.parameters, None)
        assert settings["mode"] == mode
        assert entailment_of_stage({"stage": name, "parameters": settings}).label == label


def test_auxiliaries_need_a_mode_that_draws_from_them():
    with pytest.raises(UsageError, match="add --mode paper"):
        make_run("aa", auxiliaries="have to")


def test_a_question_is_neither_under_negation_and_a_statement_other():
    texts, rows = map(list, zip(*(sentence(title, "clear") for title in ("S2", "question")), strict=True))
    run = make_run("negation")
    outcome = run.augmentation.prepare(run.parameters, None)(parsed_rows(texts, rows))
    assert outcome.columns["label"].to_pylist() == ["other", "neither"]


LABEL_OF_ROW = ["neither", None, "other", "other"]


@pytest.fixture
def labelled(store):
    """Stages of the kinds that differ from their labels, and one whose rows have labels of their own."""
    with store.lock():
        for name in ("hypernym", "colour", "negation", "dn"):
            fields = parquet.AUGMENTATION.append(LABEL_COLUMN) if name == "negation" else parquet.AUGMENTATION
            mode = {"mode": "recommended"} if name == "dn" else {}
            settings = Settings(name, 1, {"draw": 0} | mode, 42)
            for index in store.begin(name, settings):
                rows = [
                    {"row_id": row, "text": f"{name} {row}", "edits": [], "label": LABEL_OF_ROW[row % 4]}
                    for row in store.read_part("corpus", index)["row_id"].to_pylist()
                ]
                table = pa.Table.from_pylist(rows, fields)
                statistics = {"changed": 0, "edits": 0, "reasons": {}, "sums": {}}
                store.commit(store.write_part(name, index, fields, [table], settings, statistics))
    return store


def packed(store, **options):
    with store.lock():
        pack(store, choose(store, **options), options.get("labels", "pack"), Engine(1))
    return store.read(options.get("labels", "pack")).to_pylist()


def test_by_default_labels_choose_the_stages_and_say_what_is_left_out(labelled):
    options = choose(labelled)
    assert "hypernym" not in options.stages and "dn" not in options.stages
    assert {"colour", "negation"} <= set(options.negatives)
    assert [note.partition(" ")[0] for note in left_out(labelled, options)] == ["hypernym", "dn"]
    by_kind = choose(labelled, labels="kind")
    assert set(by_kind.positives) == {"dn"} and {"colour", "hypernym"} <= set(by_kind.negatives)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"negatives": ["hypernym"]},
            r"--negative hypernym: its label is 'neither' .*; --labels kind takes it",
        ),
        ({"positives": ["dn"], "negatives": []}, "--positive dn: its label is 'neither'"),
        ({"positives": ["colour"], "negatives": []}, "--positive colour: its texts mean something else"),
        ({"labels": "any"}, "--labels any: choose one of entailment, kind"),
    ],
)
def test_what_has_another_label_is_refused_with_the_reason(labelled, options, message):
    with pytest.raises(UsageError, match=message):
        choose(labelled, **options)


def test_rows_that_are_neither_are_left_out_unless_told(labelled):
    rows = packed(labelled, positives=["corpus"], negatives=["negation"])
    numbers = [int(row["negative"].split()[1]) for row in rows]
    assert numbers == [row for row in range(60) if row % 4]  # a null row has the augmentation's label
    everything = packed(labelled, positives=["corpus"], negatives=["negation"], labels="kind")
    assert len(everything) == 60
    assert labelled.stage("pack").settings["fingerprint"] != labelled.stage("kind").settings["fingerprint"]
    assert row_labels(labelled, "hypernym", 0) is None
