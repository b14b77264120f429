"""The file of results, and the tables of the draws against scipy and slow ways."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import BadInputError
from benchmarks.reproduce.grid import GRID, load_grid
from benchmarks.reproduce.table import (
    beside_best,
    comparison_table,
    differences,
    draws,
    fresh,
    fresh_table,
    holm,
    measured,
    one_rate_table,
    sign_flip,
    student,
    verdict,
)
from benchmarks.reproduce.units import TRAINING, Result, Results, make_units

RESULTS = GRID.parent / "results"
GAINS = st.lists(st.floats(-5, 5).map(lambda value: round(value, 2)), min_size=3, max_size=5)


@given(GAINS)
def test_the_interval_is_scipys_paired_t_test(gains):
    if len({*gains}) == 1:
        assert student(gains) == (gains[0], gains[0], float(not gains[0]))
        return
    found = scipy.stats.ttest_rel(np.array(gains) + 60, np.full(len(gains), 60.0))
    assert student(gains) == pytest.approx((*found.confidence_interval(0.95), found.pvalue), rel=1e-6)


@given(GAINS)
def test_the_flips_have_all_signs(gains):
    exact = scipy.stats.permutation_test((gains,), np.mean, permutation_type="samples", n_resamples=math.inf)
    assert sign_flip(gains) == pytest.approx(exact.pvalue)


def slow_holm(p_values):
    """Holm's procedure as he words it: the least level at which each hypothesis is still rejected."""

    def rejected(level):
        left, out = set(range(len(p_values))), set()
        while left:
            least = min(left, key=lambda i: p_values[i])
            if p_values[least] > level / len(left):
                break
            left.remove(least)
            out.add(least)
        return out

    # Rejections change only where a level is a p-value times a count.
    levels = sorted({min(1.0, p * k) for p in p_values for k in range(1, len(p_values) + 1)} | {1.0})
    return [next((x for x in levels if i in rejected(x * (1 + 1e-12))), 1.0) for i in range(len(p_values))]


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6))
def test_holm_equals_the_step_down_procedure(p_values):
    assert holm(p_values) == pytest.approx(slow_holm(p_values), rel=1e-9)


def test_a_verdict_is_that_of_the_corrected_p_value_and_needs_three_draws():
    assert verdict([1.0, 2.0, 3.0, 4.0], 0.04) == "ahead" and verdict([-1.0, -1.2, -0.9], 0.04) == "behind"
    assert verdict([1.0, 2.0, 3.0, 4.0], 0.06) == verdict([0.0, 0.0, 0.0], math.nan) == "unclear"
    assert verdict([1.0, 1.0], 0.01) == "too few draws"
    corrected = holm([0.01, math.nan, 0.5])  # of one that was not measured
    assert corrected[0] == pytest.approx(0.03) and math.isnan(corrected[1])


def test_draws_are_paired_and_controls_are_taken_at_the_rate_that_is_best():
    grid = load_grid()
    scores = {"una": [61.0, 62.0, 63.0], "simcse-ntxent": [59.0] * 3, "simcse-ntxent-3e-4": [60.0] * 3}
    found = {
        f"draw-{draw + 1}": {row: {"average": values[draw]} for row, values in scores.items()}
        for draw in range(3)
    }
    found["draw-4"] = {"una": {"average": 99.0}}  # its control is not there
    assert differences(found, "una", "simcse-ntxent") == [2.0, 3.0, 4.0]
    assert beside_best(found, grid.comparisons[0]) == [1.0, 2.0, 3.0]
    first, *more = comparison_table(grid, found)[1:]
    assert first[2:4] == ["+1.00", "+3.00 (+0.52 to +5.48)"]
    assert first[7] == "ahead" and first[8:13] == ["–"] * 5 and first[13] == "+2.00 (-0.48 to +4.48)"
    assert not more  # nothing is said of what was not measured
    assert not one_rate_table(grid, found, grid.profiles["draw-1"])[1:]


def test_the_files_have_every_training_of_the_grid_and_no_other():
    grid = load_grid()
    for path in sorted(RESULTS.glob("*.jsonl")):
        profile = grid.profiles[path.stem]
        units = make_units(grid, profile, grid.choose(profile, []), encoder=grid.bed.digest)
        planned = {(unit.row.name, name, unit.key) for unit in units for name in unit.evaluations}
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert {(line["row"], line["evaluation"], line["key"]) for line in lines} == planned, path.name


def test_every_draw_is_recorded_and_has_sentences_and_a_seed_of_its_own():
    grid = load_grid()
    small, large = draws(grid, 2_560), draws(grid, 20_000)
    assert (len(small), len(large)) == (5, 3)
    assert [*measured(RESULTS, small)] == [profile.name for profile in small]
    assert len({profile.corpus for profile in small}) == 5
    assert len({profile.seeds for profile in (*small, *large)}) == 8
    for few, many in zip(small, large, strict=False):
        assert many.corpus[0] == few.corpus[0] and many.set == few.set


WRITERS, EACH = 3, 8


def result(row="simcse", seed=42, evaluation="sts", key="abc", score=0.5):
    """A small result; `data` and `scores` are not in the order of their names."""
    return Result(row, seed, evaluation, key, {"una": "u", "corpus": "c"}, {"stsb": score, "sickr": 0.1}, {})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "cpu.jsonl"


def test_what_is_written_is_read_again_and_a_newer_result_replaces_an_older(path):
    results = Results(path)
    results.write(result(score=0.5))
    results.write(result(score=0.6))
    assert Results(path).find("abc", "sts", {"corpus": "c", "una": "u"}) == result(score=0.6)
    assert Results(path).find("abc", TRAINING, {"corpus": "c", "una": "u"}) is None
    assert Results(path).find("abc", "sts", {"corpus": "other", "una": "u"}) is None
    (path.parent / ".work" / "cpu.jsonl.123-ab").write_text('{"row": "sim')  # of a killed writer
    assert Results(path).find("abc", "sts", result().data) == result(score=0.6)


def test_the_file_is_sorted_whatever_the_order_of_writing(path):
    wanted = [result(seed=7, key="a"), result(key="b"), result(key="z"), result(evaluation=TRAINING)]
    wanted.append(result("una", 0))
    for one in (wanted[place] for place in (4, 3, 0, 2, 1)):
        Results(path).write(one)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line, one in zip(lines, wanted, strict=True):
        assert line.items() >= {key: vars(one)[key] for key in ("row", "seed", "evaluation", "key")}.items()
    assert list(lines[0]["scores"]) == ["sickr", "stsb"]


def write_many(path, writer):
    results = Results(path)
    for number in range(EACH):
        results.write(result(f"row-{writer}", number, key=f"{writer}-{number}"))


def test_trainings_that_finish_at_the_same_time_keep_each_other(path):
    with ThreadPoolExecutor(WRITERS) as pool:  # each opens the file anew, as a process does
        list(pool.map(write_many, [path] * WRITERS, range(WRITERS)))
    assert len(path.read_text().splitlines()) == WRITERS * EACH


@pytest.mark.parametrize("line", ['{"row": "sim', '{"row": "simcse"}', "[]", ""])
def test_a_damaged_line_is_named_and_stays(path, line):
    results = Results(path)
    results.write(result())
    damaged = path.read_text() + line + "\n"
    path.write_text(damaged)
    with pytest.raises(BadInputError, match=r"cpu\.jsonl, line 2 .*delete the line"):
        Results(path)
    with pytest.raises(BadInputError):
        results.write(result("una"))
    assert path.read_text() == damaged


def test_fresh_draws_leave_stsb_out_and_are_corrected_over_both_rates_and_measures(tmp_path):
    draw = np.random.default_rng(0)
    sets = ("stsb", "sts12", "sts13", "sts14", "sts15", "sickr-train")
    rates, rows = ("2e-4", "3e-4"), ("una", "simcse-ntxent", "una-random-terms")
    lines = [
        {
            "row": f"{row}@{rate}",
            "seed": seed,
            "evaluation": "sts",
            "scores": dict(zip(sets, draw.random(6), strict=True)),
        }
        for rate, row, seed in product(rates, rows, range(5))
    ]
    (tmp_path / "fresh.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    grid = load_grid()
    header, *table = fresh_table(grid, fresh(tmp_path))

    def gains(better, worse, names):
        means = {(one["row"], one["seed"]): np.mean([one["scores"][name] for name in names]) for one in lines}
        return [100 * (means[better, seed] - means[worse, seed]) for seed in range(5)]

    pairs = [(f"una@{rate}", f"{other}@{rate}") for other, rate in product(rows[1:], rates)]
    measured = [gains(*pair, names) for pair in pairs for names in (sets[1:5], sets[5:])]
    expected = holm([student(one)[2] for one in measured] + [math.nan] * 8)[: len(measured)]
    adjusted = [row[header.index(f"{kind} Holm")] for row in table[:4] for kind in ("STS", "SICK")]
    assert adjusted == [f"{one:.3f}" for one in expected]
    assert [row[3].split()[0] for row in table[:4]] == [f"{np.mean(one):+.2f}" for one in measured[::2]]
    assert {row[3] for row in table[4:]} == {"–"}  # rows of paraphrases, which are not there
