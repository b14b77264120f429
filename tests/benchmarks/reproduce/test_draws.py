"""Draws of text and what their pages say: comparisons, controls at one rate, the front page."""

import csv
import dataclasses
import itertools
import json
import re

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reproduce import draws, front_page
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.paired import resampled, sign_flip
from benchmarks.reproduce.rates import OWN, at_own_rates, chosen_rates, dev_scores
from benchmarks.reproduce.results import TRAINING, Result, Results
from benchmarks.reproduce.units import make_units
from benchmarks.search import search
from tests.helpers.places import REPOSITORY

pytestmark = pytest.mark.usefixtures("known_encoder")


def test_what_the_front_page_says_by_hand_is_what_others_say():
    page, coverage = (
        " ".join((REPOSITORY / f"benchmarks/results/{name}.md").read_text("utf-8").split())
        for name in ("results", "coverage")
    )
    grid = load_grid()
    (double,) = (one for one in grid.registered if one.better == "sda-dn")
    assert f"(DN with: {double.published:+.2f})" in page
    before = search.TRIALS.read_text("utf-8").partition("# After the test sets had been looked at")[0]
    assert f"`uda-una` ({before.count('[[trial]]')} trials)" in page
    draw = grid.profiles["draw-1"]
    batch = next(int(change.removeprefix("batch=")) for change in draw.set if change.startswith("batch="))
    own = grid.of_profile(draw)
    (vascl,) = make_units(own, dataclasses.replace(draw, rates_from=""), [own.row("vascl-near")])
    assert f"for {draw.rows // batch} steps of {batch} (VaSCL: {vascl.recipe.batch})" in page
    rates = grid.profiles["rates"]
    (sweep,) = {sweep.values for sweep in grid.of_profile(rates).sweeps if sweep.name.startswith("rate:")}
    assert len(sweep) == 5 and "the best learning rate of five" in page
    assert rates.sweep_seeds == 2 and "two trainings each" in page and "The two trainings disagree" in page
    assert f"Of {len(grid.registered)}, one is clear by chance" in page
    assert round(0.05 * len(grid.registered)) == 1
    assert sign_flip([1.0] * len(draws.draws_of(grid, "rates", draw.rows))) > 0.05
    assert "by sign flips none can pass" in page
    random = next(one for one in grid.registered if one.worse == "una-random")
    assert f"The row of {random.published:+.2f} is garbled" in page and "garbled" in coverage
    assert draw.terms == ("corpus/wiki_en-*.txt.gz",) and "UNA's terms come from a million" in page


def test_draws_of_more_sentences_hold_those_of_fewer_and_have_seeds_of_their_own():
    grid = load_grid()
    small, large = draws.draws_of(grid, "rates", 2_560), draws.draws_of(grid, "rates", 20_000)
    assert len(large) == 3
    for few, many in zip(small, large, strict=False):
        assert many.corpus[0] == few.corpus[0] and many.set == few.set and many.encoder == few.encoder
    seeds = [seed for profile in (*small, *large, grid.profiles["rates"]) for seed in profile.seeds]
    assert len({*seeds}) == len(seeds)


def test_the_page_of_draws_compares_over_draws_and_says_what_is_not_known(tmp_path):
    grid = load_grid()
    scores = {
        draw: {"una": {"average": 60.0 + draw}, "simcse-ntxent": {"average": 59.0}} for draw in range(4)
    }
    found = {f"draw-{draw + 1}": rows for draw, rows in scores.items()}
    assert draws.differences(found, "una", "simcse-ntxent") == [1.0, 2.0, 3.0, 4.0]
    rows = {name for one in grid.registered for name in (one.better, one.worse)}
    table = draws.comparison_table(grid, found, rows)
    assert len(table) == 2 + len(grid.registered)
    assert len(draws.comparison_table(grid, found, ["una", "simcse-ntxent", "best"])) < len(table)
    assert "| +2.50 (+0.45 to +4.55) | +1.50 to +3.50 | 0.125 | 1.000 | 4 | – | +1.00 | likely |" in table[2]
    assert table[3].endswith("| – | – | – | – | 0 | – | +1.00 | too few draws |")
    assert draws.verdict([-1.0, 2.0, 0.1]) == "unclear" and draws.verdict([-1.0, -1.2, -0.9]) == "hurts"
    assert draws.verdict([1.0, 2.0, 0.5]) == "unclear"  # by the bootstrap alone it would be likely
    page = draws.write_draws(grid, tmp_path, tmp_path).read_text("utf-8")  # no result is there
    assert "Draws done: 0 of 5." in page and page.count("Draws done: 0 of 3.") == 3
    assert "too few draws" not in page  # nothing is said of what nobody has run


@pytest.fixture
def whole_experiment(tmp_path):
    """The results of rates, draws and controls at one rate of the first bed, with scores that are drawn."""
    grid, random, folder = load_grid(), np.random.default_rng(0), tmp_path / "results"
    rates = grid.profiles["rates"]
    controls = [grid.profiles[f"same-rate-{number}"] for number in range(1, 6)]
    for profile in (rates, *draws.draws_of(grid, "rates", rates.rows), *controls):
        written = Results(folder / f"{profile.name}.jsonl")
        if profile.rates_from:
            profile = at_own_rates(grid, profile, Results(folder / "rates.jsonl"))
        own = grid.of_profile(profile)
        for unit in make_units(own, profile, own.rows):
            scores = {name: float(random.uniform(0.6, 0.7)) for name in (OWN, "sickr-train", *draws.SETS)}
            data = dict.fromkeys(unit.stages, "x")
            written.write(Result(unit.row.name, unit.seed, "sts", unit.key, data, scores, {}))
            if unit.recipe and profile is not rates:
                loss = {"loss": 1e-4}
                written.write(Result(unit.row.name, unit.seed, TRAINING, unit.key, data, loss, {}))
    return grid, folder


@pytest.mark.slow
def test_the_front_page_has_every_comparison_and_rate_in_six_thousand_bytes(whole_experiment, tmp_path):
    grid, folder = whole_experiment
    tuned, path = front_page.write_pages(grid, folder, tmp_path / "pages")
    page = path.read_text("utf-8")
    assert path.name == "results.md" and len(page.encode()) <= front_page.MOST
    rows = [line for line in page.splitlines() if re.search(r"\| (likely|unclear|hurts)\*? \|$", line)]
    assert len(rows) == len(grid.registered)

    # Recomputed from the lines of the files alone.
    averages: dict[str, list[float]] = {}
    for number in range(1, 6):
        for line in (folder / f"draw-{number}.jsonl").read_text("utf-8").splitlines():
            found = json.loads(line)
            if found["evaluation"] != "sts":
                continue
            average = 100 * np.mean([found["scores"][task] for task in draws.SETS])
            averages.setdefault(found["row"], []).append(average)
    for one, row in zip(grid.registered, rows, strict=True):
        gains = np.subtract(averages[one.better], averages[one.worse])
        assert f"| {gains.mean():+.2f} (" in row
        low, high = scipy.stats.ttest_1samp(gains, 0).confidence_interval()
        assert f" ({low:+.2f} to {high:+.2f}) |" in row
        assert row.rstrip("*| ").endswith("likely" if low > 0 else "hurts" if high < 0 else "unclear")
        assert f" {row.split('|')[3].strip()} | " in tuned.read_text("utf-8")
    compared = {name for one in grid.registered for name in (one.better, one.worse)}
    rates = page.partition("## At which learning rate")[2].partition("## What to doubt")[0]
    assert rates.count("**") == 2 * len(compared)  # one rate of each method


@pytest.mark.slow
def test_a_control_at_the_rate_of_what_it_controls_is_compared_draw_by_draw(whole_experiment):
    grid, folder = whole_experiment
    swept = grid.profiles["rates"]
    of_draws = draws.draws_of(grid, "rates", swept.rows)
    both = draws.with_controls(grid, folder, draws.measured(grid, folder, swept, of_draws))
    compared = draws.at_one_rate(grid, folder, both)
    averages = {}
    for path in (*folder.glob("draw-*.jsonl"), *folder.glob("same-rate-*.jsonl")):
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            if line["evaluation"] == "sts":
                average = 100 * np.mean([line["scores"][task] for task in draws.SETS])
                averages[path.stem[-1], line["row"]] = average
    assert compared
    rates = chosen_rates(dev_scores(grid, swept, Results(folder / "rates.jsonl")), swept.sweep_seeds)
    for one, rate, values, own in compared:
        assert own and rates[one.better] == float(rate)
        gains = [averages[draw, one.better] - averages[draw, f"{one.worse}-{rate}"] for draw in "12345"]
        assert values == pytest.approx(gains)
    rows = draws.one_rate_table(grid, compared)
    assert len(rows) == 2 + len(compared) and all("| 5 |" in row for row in rows[2:])


@pytest.mark.slow
def test_with_more_sentences_either_row_may_have_been_trained_at_the_rate_of_the_other(tmp_path, monkeypatch):
    monkeypatch.undo()  # the beds' own digests
    monkeypatch.chdir(tmp_path)  # as they are recorded, whatever was made here
    grid, folder = load_grid(), REPOSITORY / "benchmarks/reproduce/results"
    swept = grid.profiles["rates"]
    rates = chosen_rates(dev_scores(grid, swept, Results(folder / "rates.jsonl")), swept.sweep_seeds)
    assert (rates["simcse-ntxent"], rates["simcse-symmetric"], rates["modals"]) == (2e-4, 3e-4, 3e-4)
    found = draws.measured(grid, folder, swept, draws.draws_of(grid, "rates", 20_000))
    averages = {}
    for path in (*folder.glob("large-*.jsonl"), *folder.glob("same-rate-large-*.jsonl")):
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            if line["evaluation"] == "sts":
                average = 100 * np.mean([line["scores"][task] for task in draws.SETS])
                averages[line["row"], path.stem[-1]] = average
    both = draws.with_controls(grid, folder, found)
    compared = {(one.primary.better, one.rate): one for one in draws.at_one_rate(grid, folder, both)}
    for better, worse, key in (
        ("modals", "simcse-ntxent-3e-4", ("modals", "3e-4")),
        ("simcse-symmetric", "simcse-ntxent-3e-4", ("simcse-symmetric", "3e-4")),
        ("simcse-symmetric-2e-4", "simcse-ntxent", ("simcse-symmetric", "2e-4")),
        ("rephrase", "simcse-ntxent-5e-4", ("rephrase", "5e-4")),
    ):
        gains = [averages[better, draw] - averages[worse, draw] for draw in "123"]
        assert compared.pop(key).gains == pytest.approx(gains)
    assert not compared
    page = " ".join((REPOSITORY / "benchmarks/results/best.md").read_text("utf-8").split())
    at = {rate: np.mean([averages[f"simcse-ntxent{rate}", draw] for draw in "123"]) for rate in ("", "-5e-4")}
    assert (
        f"{at['']:.1f} at 2e-4 and {at['-5e-4']:.1f} at 5e-4, where `rephrase` is {np.mean(gains):.2f}"
        in page
    )
    tuned = (REPOSITORY / "benchmarks/results/tuned.md").read_text("utf-8")
    assert f"where SimCSE loses {at[''] - at['-5e-4']:.1f} of what it has at 2e-4" in tuned


@pytest.fixture(scope="module")
def measured():
    """Every value of `tuned.csv` by draw, row and measure."""
    with (REPOSITORY / "benchmarks/results/tuned.csv").open(encoding="utf-8") as file:
        lines = [*csv.reader(file)][1:]
    return {(draw, row, measure): float(value) for draw, row, measure, value in lines}


def test_with_more_sentences_no_method_is_ahead_as_the_readme_says(measured):
    rows = load_grid().profiles["large-1"].only
    averages = {
        row: np.mean([measured[f"large-{draw}", row, "average"] for draw in "123"])
        for row in rows
        if row != "no-training"
    }
    baseline = averages.pop("simcse-ntxent")
    assert max(averages.values()) < baseline
    count = {3: "three", 4: "four", 5: "five"}[len(averages)]
    said = f"SimCSE has {baseline:.1f}, and none of the {count} tried is ahead of it"
    assert said in " ".join((REPOSITORY / "README.md").read_text("utf-8").split())


def test_a_random_swap_is_as_good_a_positive_as_the_pages_say(measured):
    averages = {
        row: np.array([measured[f"draw-{draw}", row, "average"] for draw in "12345"])
        for row in ("eda-swap", "paraphrase", "uda", "sda-pi", "sda-aa", "sda-dn", "rephrase", "best")
    }
    swap = averages.pop("eda-swap")
    gains = {row: values - swap for row, values in averages.items()}
    assert {row for row, values in gains.items() if values.mean() > 0} == {"rephrase", "best"}
    low, high = scipy.stats.ttest_1samp(gains["rephrase"], 0).confidence_interval()
    said = f"`rephrase` is {gains['rephrase'].mean():.2f} ahead of it ({low:+.2f} to {high:+.2f})."
    assert said in (REPOSITORY / "benchmarks/results/tuned.md").read_text("utf-8")
    low, high = scipy.stats.ttest_1samp(gains["best"], 0).confidence_interval()
    said = f"| {swap.mean():.2f} | {gains['best'].mean():+.2f} ({low:+.2f} to {high:+.2f}) |"
    assert said.replace("-", "−") in (REPOSITORY / "benchmarks/results/best.md").read_text("utf-8")


def test_the_recipe_of_our_own_is_behind_with_more_sentences_as_the_pages_say(measured):
    pages, said = REPOSITORY / "benchmarks/results", []
    for measure in ("average", "sick"):
        gains = [
            measured[f"large-{draw}", "best", measure]
            - measured[f"large-{draw}", "simcse-ntxent-3e-4", measure]
            for draw in "123"
        ]
        said.append((-np.mean(gains), *scipy.stats.ttest_1samp(gains, 0).confidence_interval()))
    (behind, low, high), (on_sick, low_on_sick, high_on_sick) = said
    tuned, best = (
        " ".join(pages.joinpath(page).read_text("utf-8").split()) for page in ("tuned.md", "best.md")
    )
    assert f"it is {behind:.2f} behind it ({low:+.2f} to {high:+.2f})" in tuned
    assert f"pairs {on_sick:.2f} ({low_on_sick:+.2f} to {high_on_sick:+.2f})" in tuned
    assert "`uda-una` " + f"{behind:.2f} ({low:+.2f} to {high:+.2f}, all unclear".replace("-", "−") in best
    assert f"pairs {on_sick:.2f} ({low_on_sick:+.2f} to {high_on_sick:+.2f})".replace("-", "−") in best


@pytest.mark.slow
def test_the_front_page_has_what_is_left_with_more_sentences_of_what_has_enough_draws(whole_experiment):
    grid, folder = whole_experiment
    scores = {"simcse-ntxent": 0.7, "simcse-symmetric": 0.72, "modals": 0.69, "rephrase": 0.6}
    for place, profile in enumerate(draws.draws_of(grid, "rates", 20_000)):
        written = Results(folder / f"{profile.name}.jsonl")
        tuned = at_own_rates(grid, profile, Results(folder / "rates.jsonl"))
        own = grid.of_profile(tuned)
        for unit in make_units(own, tuned, own.rows):
            if unit.row.name == "rephrase" and place == 2:
                continue  # not trained yet
            score = scores.get(unit.row.name, 0.5) + 0.001 * place * (unit.row.name == "modals")
            data = dict.fromkeys(unit.stages, "x")
            found = dict.fromkeys(draws.SETS, score)
            written.write(Result(unit.row.name, unit.seed, "sts", unit.key, data, found, {}))
    line = next(line for line in front_page.front_page(grid, folder).splitlines() if "20,000" in line)
    assert line == (
        "- **With 20,000 sentences** (3 draws, same rates, best step by all of dev): beside SimCSE (70.0) "
        "hurts MODALS -0.90; likely symmetric +2.00; beside symmetric (72.0) hurts `uda-una` -22.00."
    )


def test_gains_beside_the_best_rate_of_a_control_are_those_of_the_result_files():
    folder = REPOSITORY / "benchmarks/reproduce/results"
    averages: dict[str, dict[str, float]] = {}
    for number in "12345":
        for name in ("draw", "same-rate"):
            for line in (folder / f"{name}-{number}.jsonl").read_text("utf-8").splitlines():
                found = json.loads(line)
                if found["evaluation"] == "sts":
                    average = 100 * np.mean([found["scores"][task] for task in draws.SETS])
                    averages.setdefault(found["row"], {})[number] = average
    page = (REPOSITORY / "benchmarks/results/results.md").read_text("utf-8")
    (said,) = (line for line in page.splitlines() if "the control's best rate: " in line)
    table = re.findall(r"^.*\| (likely|unclear|hurts)(\*?) \|$", page, re.MULTILINE)
    clear, unclear = set(), []
    for one, (verdict, star) in zip(load_grid().registered, table, strict=True):
        controls = [averages[name] for name in averages if re.fullmatch(rf"{one.worse}(-[35]e-4)?", name)]
        control = max(controls, key=lambda one: np.mean([*one.values()]))
        gains = np.array([averages[one.better][draw] - control[draw] for draw in "12345"])
        low, high = scipy.stats.ttest_1samp(gains, 0).confidence_interval()
        found = "likely" if low > 0 else "hurts" if high < 0 else "unclear"
        assert bool(star) == (found != verdict), one
        if len(controls) == 1:
            continue
        if found == "unclear":
            unclear.append(gains.mean())
        else:
            clear.add(f"{gains.mean():+.2f}")
    among = said.partition("best rate: ")[2].partition("; unclear the others")[0]
    assert {*re.findall(r"[+-]\d\.\d\d", among)} == clear
    assert f"unclear the others, {min(unclear):+.2f} to {max(unclear):+.2f}" in said
    assert "at one rate rephrase +1.61 (likely), AugCSE -2.70 (unclear)" in said  # as in tuned.md
    tuned = (REPOSITORY / "benchmarks/results/tuned.md").read_text("utf-8")
    assert "| 5e-4 | +1.61 (" in tuned and "| 5e-4 | -2.70 (" in tuned


@pytest.mark.slow
def test_the_page_of_draws_is_what_the_result_files_give(tmp_path, monkeypatch):
    monkeypatch.undo()  # the beds' own digests
    monkeypatch.chdir(tmp_path)  # as they are recorded, whatever was made here
    reproduce = REPOSITORY / "benchmarks/reproduce"
    written = front_page.write_pages(load_grid(), reproduce / "results", tmp_path)
    for path in (*written, tmp_path / "tuned.csv"):
        assert path.read_text("utf-8") == (REPOSITORY / "benchmarks/results" / path.name).read_text("utf-8")


def test_without_enough_draws_there_is_no_front_page(tmp_path):
    assert [path.name for path in front_page.write_pages(load_grid(), tmp_path, tmp_path)] == ["tuned.md"]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5))
def test_exact_tests_over_draws_are_what_a_slow_count_says(values):
    flipped = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    assert sign_flip(values) == pytest.approx(np.mean([one >= abs(sum(values)) - 1e-9 for one in flipped]))
    low, high = resampled(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_five_draws_of_one_sign_have_the_smallest_p_value_that_there_is():
    assert sign_flip([1, 2, 3, 4, 5]) == 2 / 32 and sign_flip([0.0, 0.0]) == 1
