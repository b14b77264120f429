"""Tables, pages and plots of scores, and two models compared by the paired bootstrap."""

import csv
import io
import math
import tomllib

import numpy as np
import pytest
from huggingface_hub import ModelCard
from scipy import stats

from augment_cli.errors import BadInputError, UsageError
from eval.contract import TaskScore
from eval.results import compare, results_of_one, tables
from eval.results.page import END, HEADING, as_page
from tests.helpers.commands import typed
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
    rough = write_model(tmp_path / "b", "m", {"mr": TaskScore(0.6, {"accuracy": 0.6})}, max_length=None)
    (table,) = tables.build([exact, rough], REGISTRY, published=False)
    assert [(row.source, row.cells["mr"][0]) for row in table.rows] == [
        ("ours: mean, 64, fp32, logistic-regression", 70),
        ("ours: mean, uncut, fp32, logistic-regression", 60),
    ]


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
    assert len(rows) == 93
    for row in rows:
        assert {name for name in row["scores"] if row["suite"] not in REGISTRY[name].suites} == set(), row
    misprints = [
        row.model
        for suite in {row["suite"] for row in rows}
        for row in tables.published_rows(suite)
        if row.notes
    ]
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


GENERATOR = np.random.default_rng(1)
GOLD = GENERATOR.normal(size=400)
SIMILARITY = GOLD + GENERATOR.normal(size=400)
ITEMS = {"gold": GOLD, "similarity": SIMILARITY}
SPEARMAN = float(stats.spearmanr(GOLD, SIMILARITY).statistic)


def test_the_interval_of_a_rank_correlation_is_that_of_resampled_pairs():
    low, high = compare.spearman_interval(SPEARMAN, len(GOLD))
    drawn = []
    for _ in range(400):
        rows = GENERATOR.integers(0, len(GOLD), len(GOLD))
        drawn.append(stats.spearmanr(GOLD[rows], SIMILARITY[rows]).statistic)
    assert (low, high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.015)
    assert compare.spearman_interval(0.5, 3) is None and compare.spearman_interval(1.0, 50) is None


def test_shares_of_correct_examples_have_wilsons_interval(tmp_path):
    right = np.arange(50) < 40
    score = TaskScore(0.8, {"accuracy": 0.8}, items={"correct": right})
    model = write_model(tmp_path, "m", {"mr": score, "sts12": sts_score(0.5)})
    expected = stats.binomtest(40, 50).proportion_ci(method="wilson")
    assert compare.interval_of(model, "mr") == pytest.approx((expected.low, expected.high))
    assert compare.interval_of(model, "sts12") is None  # nothing is stored for each pair
    assert compare.interval_of(model, "sts13") is None
    # Where the main score is something else than the mean of the examples, their interval is not its own.
    other = write_model(
        tmp_path / "other", "o", {"mr": TaskScore(0.7, {"accuracy": 0.7}, items={"correct": right})}
    )
    assert compare.interval_of(other, "mr") is None


def test_models_stand_first_with_their_intervals_and_names_are_text(tmp_path):
    one = write_model(tmp_path / "1", "<b>one\u202e", {"sts12": sts_score(SPEARMAN, items=ITEMS)})
    seeds = [
        write_model(tmp_path / name, "two", {"sts12": sts_score(value)})
        for name, value in (("a", 0.5), ("b", 0.6))
    ]
    page = as_page(tables.build([one, *seeds], REGISTRY))
    assert (
        page.startswith("<!doctype html>") and "script-src &#39;none&#39;" in page and "<script" not in page
    )
    assert "<b>one" not in page and "&lt;b&gt;one&lt;U+202E&gt;" in page
    low, high = (100 * end for end in compare.spearman_interval(SPEARMAN, len(GOLD)))
    assert f"{100 * SPEARMAN:.2f}, from {low:.2f} to {high:.2f}" in page
    assert "two, STS12: 55.00, from 47.93 to 62.07" in page
    assert page.index(">two<") < page.index("Shu &amp; Lampos 2024")


def test_a_name_opens_no_tag_and_no_cell_in_markdown_either(tmp_path):
    model = write_model(tmp_path / "1", "<script>|x\u202e\n", {"sts12": sts_score(SPEARMAN, notes=["<b>"])})
    text = tables.as_markdown(tables.build([model], REGISTRY, published=False))
    assert "| &lt;script>\\|x&lt;U+202E>␊ |" in text and text.count("<") == 0


def test_spearman_by_rows_equals_scipy():
    generator = np.random.default_rng(0)
    similarity, gold = generator.normal(size=(5, 30)), generator.integers(0, 6, (5, 30)).astype(float)
    expected = [stats.spearmanr(a, b)[0] for a, b in zip(similarity, gold, strict=True)]
    np.testing.assert_allclose(compare.spearman_rows(similarity, gold), expected)
    assert np.isnan(compare.spearman_rows(np.ones((1, 5)), np.arange(5.0)[None])).all()


def test_bootstrap_equals_a_plain_one_and_tells_noise_from_difference():
    generator = np.random.default_rng(1)
    first = (generator.random(200) < 0.9).astype(float)
    second = (generator.random(200) < 0.6).astype(float)
    a, b, low, high, p = compare.paired_bootstrap(first, second, resamples=400, seed=5)
    assert (a, b) == (first.mean(), second.mean())
    draws = np.random.default_rng(5)
    plain = []
    for _ in range(2):  # two blocks of 200 resamples
        for rows in draws.integers(0, 200, size=(200, 200)):
            plain.append(first[rows].mean() - second[rows].mean())
    assert (low, high) == pytest.approx(tuple(np.percentile(plain, [2.5, 97.5])))
    assert p == pytest.approx(2 / 401)
    same = compare.paired_bootstrap(first, first, resamples=100)
    assert same[2:] == (0, 0, 1)
    noise = compare.paired_bootstrap(first, np.random.default_rng(2).permutation(first), resamples=400)
    assert noise[4] > 0.05


def test_scores_of_different_data_are_refused_with_both_digests(tmp_path):
    """One encoder, the same texts with other labels: a difference that says nothing of encoders."""
    for name, digest in (("a", "a" * 64), ("b", "b" * 64)):
        folder = write_model(tmp_path / name, "one", {"sts12": sts_score(0.5)}).folder
        (path,) = (path for path in folder.glob("*.json") if path.name != "encoder.json")
        path.write_text(path.read_text("utf-8").replace("a" * 64, digest), "utf-8")
    for command in (["compare", tmp_path / "a", tmp_path / "b"], ["table", tmp_path, "--tasks", "sts12"]):
        done = typed("eval", *command)
        assert done.returncode == 5 and "aaaaaaaaaaaa…" in done.stderr and "bbbbbbbbbbbb…" in done.stderr


def test_two_models_are_compared_on_the_tasks_they_share(tmp_path):
    gold = np.arange(40.0)
    generator = np.random.default_rng(0)
    items = [{"similarity": gold + generator.normal(size=40) * noise, "gold": gold} for noise in (1, 30)]
    a, b = (
        write_model(tmp_path / str(n), str(n), {"sts12": sts_score(0.5, items=item)})
        for n, item in enumerate(items)
    )
    (difference,) = compare.compare(a, b, resamples=200)
    assert (difference.task, difference.statistic) == ("sts12", "spearman")
    assert difference.first == pytest.approx(stats.spearmanr(items[0]["similarity"], gold)[0])
    assert difference.low > 0
    assert difference.p < 0.05
    other = sts_score(0.5, items={"similarity": gold, "gold": gold[::-1]})
    with pytest.raises(BadInputError, match="scored on different pairs"):
        compare.compare(a, write_model(tmp_path / "c", "c", {"sts12": other}))
    with pytest.raises(UsageError, match="share no task"):
        compare.compare(a, write_model(tmp_path / "d", "d", {"sts13": sts_score(0.5)}))


def test_tasks_without_values_per_example_are_compared_by_seeds_or_runs(tmp_path):
    def model(name, number, values):
        scores = {"sts12": sts_score(values[0], runs=list(values))}
        return write_model(tmp_path / name / str(number), name, scores)

    seeds = [[model(name, n, [v]) for n, v in enumerate(values)] for name, values in
             (("a", (0.61, 0.63, 0.62)), ("b", (0.50, 0.51, 0.52)))]  # fmt: skip
    (one,) = compare.compare(*seeds)
    expected = stats.ttest_rel([0.61, 0.63, 0.62], [0.50, 0.51, 0.52])
    assert one.statistic == "main score, 3 seeds" and one.p == pytest.approx(expected.pvalue)
    assert one.difference == pytest.approx(0.11) and 0 < one.low < 0.11 < one.high
    (uneven,) = compare.compare(seeds[0], seeds[1][:2])
    assert uneven.statistic == "main score, 3 and 2 seeds"
    assert uneven.p == pytest.approx(
        stats.ttest_ind([0.61, 0.63, 0.62], [0.50, 0.51], equal_var=False).pvalue
    )
    runs = [model("c", 0, (0.6, 0.7, 0.8)), model("d", 0, (0.5, 0.65, 0.7))]
    (of_runs,) = compare.compare(*runs)
    assert of_runs.statistic == "main score, 3 runs" and of_runs.low <= of_runs.difference <= of_runs.high
    (alone,) = compare.compare(model("e", 0, (0.6,)), model("f", 0, (0.5,)))
    assert alone.difference == pytest.approx(0.1) and np.isnan([alone.low, alone.high, alone.p]).all()
    (equal,) = compare.compare(seeds[0], seeds[0])
    assert (equal.difference, equal.p) == (0, 1)
    with pytest.raises(UsageError, match="share no task"):
        compare.compare(seeds[0], write_model(tmp_path / "g", "g", {"sts13": sts_score(0.5)}))


def test_the_folder_that_out_named_is_enough(tmp_path):
    one = write_model(tmp_path / "results/abc123", "a", {"sts12": sts_score(0.5)})
    assert [found.folder for found in results_of_one(tmp_path / "results")] == [one.folder]
    assert results_of_one(one.folder)[0].folder == one.folder
    write_model(tmp_path / "results/def456", "a", {"sts12": sts_score(0.6)})
    assert len(results_of_one(tmp_path / "results")) == 2  # seeds of one model
    write_model(tmp_path / "results/ghi789", "b", {"sts12": sts_score(0.6)})
    with pytest.raises(UsageError, match=r"2 encoders or settings; name one of .*abc123, .*ghi789"):
        results_of_one(tmp_path / "results")


def test_a_card_gets_the_scores_before_and_after_once(tmp_path):
    write_model(tmp_path / "before/x", "start", {"sts12": sts_score(0.5, runs=[0.5, 0.51])})
    write_model(tmp_path / "after/x", "trained", {"sts12": sts_score(0.6, runs=[0.6, 0.63])})
    (tmp_path / "model").mkdir()

    def codes():
        words = ["eval", "card", *(tmp_path / name for name in ("model", "before", "after"))]
        return [typed(*words).returncode for _ in range(2)]

    assert 0 not in codes()
    (tmp_path / "model/README.md").write_text("# A model\n\nIts words.\n")
    assert codes() == [0, 0]
    card = (tmp_path / "model/README.md").read_text()
    assert card.count(HEADING) == 1 and card.startswith("# A model\n\nIts words.\n")
    assert "Before: start. After: trained." in card
    assert "| sts12 | main score, 2 runs | 50.50 | 61.50 | +11.00 |" in card
    (tmp_path / "model/README.md").write_text("---\nlicense: mit\n---\n" + card)
    assert codes() == [0, 0]
    headed = ModelCard.load(tmp_path / "model/README.md")
    assert headed.text.lstrip("\n") == card and headed.data.to_dict()["license"] == "mit"
    (result,) = headed.data.to_dict()["model-index"][0]["results"]
    assert result["dataset"]["name"] == "sts12" and result["metrics"][0]["value"] == 0.615
    (tmp_path / "model/README.md").write_text(card.replace(END, ""))
    assert codes() == [4, 4]


def test_tables_show_own_rows_alone_as_latex_and_with_an_average_of_chosen_tasks(tmp_path):
    five = ("stsb", "sts12", "sts13", "sts14", "sts15")
    scores = {name: sts_score(0.5 + place / 10) for place, name in enumerate(five)}
    write_model(tmp_path / "r/x", "a_b & c", scores)

    def table(*words):
        return typed("eval", "table", tmp_path / "r", *words).stdout

    assert len(table("--published").splitlines()) > len(table().splitlines()) + 10
    assert table("--no-published") == table()
    shown = table("--tasks", ",".join(five), "--format", "latex")
    assert r"a\_b \& c & ours" in shown and shown.count("50.00 & ") == 1
    assert r"& 70.00 \\" in shown and r"\begin{tabular}{llrrrrrr}" in shown  # the mean of 50, 60, … 90
    assert shown.count(r"\midrule") == 1
    starts = {"csv": "suite,model,source", "markdown": "## sts", "html": "<!doctype html>", "json": "["}
    assert all(table("--format", form).startswith(start) for form, start in starts.items())


def test_what_was_scored_unlike_is_said_beside_the_difference(tmp_path):
    score = {"sts12": sts_score(0.5, items={"similarity": np.arange(9.0), "gold": np.arange(9.0)})}
    for name, pooling in (("first", "cls"), ("second", "mean")):
        write_model(tmp_path / name, name, score, pooling=pooling)
    said = [
        typed("eval", "compare", tmp_path / "first", tmp_path / name).stderr for name in ("second", "first")
    ]
    assert said[0] == "not scored alike: pooling cls and mean\n" and "alike" not in said[1]
