"""Tables: seeds in one row, the papers' rows beside ours, labels of few-shot scores."""

import csv
import io
import math
import tomllib

import numpy as np
import pytest

from eval.contract.task_score import TaskScore
from eval.results import tables
from tests.helpers.stored_results import REGISTRY, sts_score, write_model


def test_undefined_scores_are_null_on_disk_and_nan_when_read(tmp_path):
    model = write_model(tmp_path, "m", {"sts12": sts_score(math.nan, notes=["constant"])})
    (path,) = tmp_path.glob("STS12.json")
    assert "NaN" not in path.read_text()
    assert math.isnan(model.tasks["sts12"].main)
    assert model.tasks["sts12"].notes == ["constant"]
    text = tables.as_markdown(tables.build([model], REGISTRY, published=False))
    assert "| undefined |" in text
    assert "- m: STS12: constant" in text


def test_seeds_of_one_label_share_a_row_with_mean_and_sample_deviation(tmp_path):
    seeds = [
        write_model(tmp_path / str(seed), "una", {"sts12": sts_score(score), "sts13": sts_score(0.7)})
        for seed, score in enumerate((0.70, 0.72, 0.77))
    ]
    other = write_model(tmp_path / "b", "simcse", {"sts12": sts_score(0.6)})
    (table,) = tables.build([*seeds, other], REGISTRY, published=False)
    assert [row.model for row in table.rows] == ["una", "simcse"]
    mean, deviation = table.rows[0].cells["sts12"]
    assert mean == pytest.approx(73)
    assert deviation == pytest.approx(np.std([70, 72, 77], ddof=1))
    assert table.rows[0].source.endswith("3 seeds")
    assert "73.00 ± 3.61" in tables.as_markdown([table])
    assert math.isnan(table.average(table.rows[0]))  # five sets of the seven are missing


def test_other_settings_of_one_label_are_other_rows_and_not_seeds(tmp_path):
    exact = write_model(tmp_path / "a", "m", {"mr": TaskScore(0.7, {"accuracy": 0.7})})
    rough = write_model(tmp_path / "b", "m", {"mr": TaskScore(0.6, {"accuracy": 0.6})}, precision="bf16")
    (table,) = tables.build([exact, rough], REGISTRY, published=False)
    assert [(row.source, row.cells["mr"][0]) for row in table.rows] == [
        ("ours: mean, 64, fp32, logistic-regression", 70),
        ("ours: mean, 64, bf16, logistic-regression", 60),
    ]


def test_an_encoder_that_cuts_no_text_says_so(tmp_path):
    model = write_model(tmp_path, "static", {"sts12": sts_score(0.5)}, max_length=None)
    (table,) = tables.build([model], REGISTRY, published=False)
    assert table.rows[0].source == "ours: mean, uncut, fp32"


def test_published_rows_stand_beside_ours_and_misprints_are_named(tmp_path):
    scores = {name: sts_score(0.5) for name in REGISTRY if "sts" in REGISTRY[name].suites}
    (table,) = tables.build([write_model(tmp_path, "mine", scores)], REGISTRY)
    by_name = {(row.model, row.source): row for row in table.rows}
    una = by_name["BERT para+UNA", "Shu & Lampos 2024"]
    assert una.cells["sickr"][0] == 74.12
    assert table.average(una) == pytest.approx(77.67, abs=0.005)
    vascl = by_name["VaSCL base", "Zhang et al. 2022"]  # this paper prints SICK-R before STS-B
    assert (vascl.cells["sickr"][0], vascl.cells["stsb"][0]) == (71.23, 80.23)
    assert by_name["BERT +DN", "Mao et al. 2022"].notes == [
        "the paper prints the average 75.99, its columns give 75.84"
    ]
    assert table.average(table.rows[-1]) == pytest.approx(50)
    rows = list(csv.reader(io.StringIO(tables.as_csv([table]))))
    assert ["sts", "mine", "ours: mean, 64, fp32", "stsb", "50.00", ""] in rows


def test_published_table_is_complete():
    rows = tomllib.loads(tables.PUBLISHED.read_text("utf-8"))["row"]
    suites = [row["suite"] for row in rows]
    assert {suite: suites.count(suite) for suite in set(suites)} == {
        "sts": 55,
        "transfer": 11,
        "clustering": 9,
        "intent": 9,
        "cola": 4,
        "zh": 5,
    }
    for row in rows:
        assert all(name in REGISTRY for name in row["scores"]), row
        members = [name for name, task in REGISTRY.items() if row["suite"] in task.suites]
        assert set(row["scores"]) <= set(members)
    misprints = [row.model for suite in set(suites) for row in tables.published_rows(suite) if row.notes]
    assert misprints == ["BERT +DN"]


def test_few_shot_rows_carry_each_number_of_shots_with_its_deviation(tmp_path):
    scores = {"accuracy": 0.7, "accuracy_5": 0.6, "sd_5": 0.02, "accuracy_10": 0.8, "sd_10": 0.01}
    model = write_model(tmp_path, "mine", {"snips": TaskScore(0.7, scores)})
    (table,) = tables.build([model], REGISTRY)
    ours = [row for row in table.rows if row.source.startswith("ours")]
    assert [(row.model, row.cells["snips"]) for row in ours] == [
        ("mine, 5 shots", (60.0, 2.0)),
        ("mine, 10 shots", (80.0, 1.0)),
    ]
