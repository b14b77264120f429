import json
from collections import defaultdict

import numpy as np

from benchmarks.reproduce.changed import FILE, remark, shares, texts_of
from benchmarks.reproduce.grid import load_grid
from tests.helpers.places import REPOSITORY

FOLDER = REPOSITORY / "benchmarks/reproduce/results"
PAGES = REPOSITORY / "benchmarks/results"


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def test_a_share_is_the_mean_over_draws_and_rows_are_named_that_have_all_their_stages(tmp_path):
    grid = load_grid()
    counted = (("draw-1", "pi", 4), ("draw-2", "pi", 2), ("draw-1", "una", 10), ("draw-1", "tense", 9))
    written = [
        {"draw": draw, "stage": stage, "digest": "x", "rows": 10, "changed": count}
        for draw, stage, count in counted
    ]
    (tmp_path / FILE).write_text("".join(json.dumps(line) + "\n" for line in written), "utf-8")
    assert shares(tmp_path) == {"pi": 30.0, "una": 100.0, "tense": 90.0}
    assert remark(grid, grid.profiles["draw-1"], tmp_path) == (
        "Of the sentences these change, on average over the draws: "
        "PI as the positive 30 %, UNA, pool 100 %. "  # AugCSE has more stages than `tense`
        "What is not changed is its own positive."
    )
    assert remark(grid, grid.profiles["draw-1"], tmp_path / "nowhere") == ""


def test_the_counted_stages_are_those_that_the_draws_were_trained_on():
    grid = load_grid()
    asked = {stage for names in texts_of(grid, grid.profiles["draw-1"]).values() for stage in names}
    counted = {(line["draw"], line["stage"]): line for line in lines(FILE)}
    assert {*counted} == {(f"draw-{number}", stage) for number in range(1, 6) for stage in asked}
    for number in range(1, 6):
        for result in lines(f"draw-{number}.jsonl"):
            for stage in result["data"].keys() & asked:
                assert counted[f"draw-{number}", stage]["digest"] == result["data"][stage]


def test_the_shares_on_the_pages_are_those_of_the_file():
    of_stage = defaultdict(list)
    for line in lines(FILE):
        assert line["rows"] == 2_560
        of_stage[line["stage"]].append(line["changed"] / 25.6)
    share = {stage: f"{np.mean(values):.0f} %" for stage, values in of_stage.items()}
    first = " ".join((PAGES / "results.md").read_text("utf-8").split())
    for called, stage in (
        ("paraphrases", "paraphrase"),
        ("DN", "dn"),
        ("rephrase", "rephrase"),
        ("PI", "pi"),
    ):
        assert f" {called} {share[stage]}" in first
    every = (PAGES / "tuned.md").read_text("utf-8")
    assert f"AA as the positive {share['aa']}" in every and f"UDA as the positive {share['uda']}" in every
