"""Results on disk, as the real mteb reads them; tables, published rows, bootstrap, leaks."""

import csv
import io
import json
import math
import tomllib

import numpy as np
import pytest
from scipy import stats

from augment_cli.errors import BadInputError, MissingError, UsageError
from eval.results import compare, results, tables
from eval.results.outcome import Outcome
from eval.tasks import leaks
from eval.tasks.registry import Table, load_registry

REGISTRY = load_registry()
SETTINGS = {
    "pooling": "mean",
    "max_length": 64,
    "precision": "fp32",
    "whiten": False,
    "classifier": "logistic-regression",
    "digest": "d" * 64,
}


def table_of(name):
    return Table(REGISTRY[name], {}, "a" * 64, True)


def sts_outcome(spearman, **more):
    names = ("spearman", "pearson", "mean_spearman", "weighted_spearman", "mean_pearson", "weighted_pearson")
    return Outcome(spearman, dict.fromkeys(names, spearman), **more)


def write_model(folder, label, scores, **settings):
    results.write_encoder(folder, label, SETTINGS | settings)
    for name, outcome in scores.items():
        results.write_result(folder, table_of(name), outcome, 1.5)
    return results.read_results(folder)


@pytest.mark.filterwarnings("ignore")  # what mteb's own imports warn about is not ours
def test_every_task_is_written_in_the_shape_the_real_mteb_reads(tmp_path):
    from mteb.results import TaskResult

    results.write_encoder(tmp_path, "model", SETTINGS)
    names = set()
    for name, task in REGISTRY.items():
        outcome = sts_outcome(0.5) if task.protocol == "sts" else Outcome(0.5, {task.metric: 0.5})
        path = results.write_result(tmp_path, table_of(name), outcome, 2.0)
        loaded = TaskResult.from_disk(path)
        (entry,) = loaded.scores[task.split]
        assert entry["main_score"] == 0.5
        assert loaded.evaluation_time == 2.0
        names.add(loaded.task_name)
        if task.mteb_name:
            assert loaded.get_score() == 0.5
            assert entry["cosine_spearman"] == 0.5
    assert len(names) == len(REGISTRY)
    assert set(results.read_results(tmp_path).tasks) == set(REGISTRY)


def test_undefined_scores_are_null_on_disk_and_nan_when_read(tmp_path):
    model = write_model(tmp_path, "m", {"sts12": sts_outcome(math.nan, notes=["constant"])})
    (path,) = tmp_path.glob("STS12.json")
    assert "NaN" not in path.read_text()
    assert math.isnan(model.tasks["sts12"].main)
    assert model.tasks["sts12"].notes == ["constant"]
    text = tables.as_markdown(tables.build([model], REGISTRY, published=False))
    assert "| undefined |" in text
    assert "- m: STS12: constant" in text


def test_missing_and_damaged_results_are_named(tmp_path):
    with pytest.raises(MissingError, match="holds no results"):
        results.read_results(tmp_path)
    with pytest.raises(MissingError, match="score a model first"):
        results.find_results(tmp_path)
    write_model(tmp_path, "m", {"sts12": sts_outcome(0.5)})
    (tmp_path / "STS12.json").write_text('{"scores": {}}')
    with pytest.raises(BadInputError, match=r"STS12\.json is not a result"):
        results.read_results(tmp_path)
    (tmp_path / "STS12.json").write_text("{")
    with pytest.raises(BadInputError, match=r"STS12\.json is not readable JSON"):
        results.read_results(tmp_path)


def test_seeds_of_one_label_share_a_row_with_mean_and_sample_deviation(tmp_path):
    seeds = [
        write_model(tmp_path / str(seed), "una", {"sts12": sts_outcome(score), "sts13": sts_outcome(0.7)})
        for seed, score in enumerate((0.70, 0.72, 0.77))
    ]
    other = write_model(tmp_path / "b", "simcse", {"sts12": sts_outcome(0.6)})
    (table,) = tables.build([*seeds, other], REGISTRY, published=False)
    assert [row.model for row in table.rows] == ["una", "simcse"]
    mean, deviation = table.rows[0].cells["sts12"]
    assert mean == pytest.approx(73)
    assert deviation == pytest.approx(np.std([70, 72, 77], ddof=1))
    assert table.rows[0].source.endswith("3 seeds")
    assert "73.00 ± 3.61" in tables.as_markdown([table])
    assert math.isnan(table.average(table.rows[0]))  # five sets of the seven are missing


def test_other_settings_of_one_label_are_other_rows_and_not_seeds(tmp_path):
    exact = write_model(tmp_path / "a", "m", {"mr": Outcome(0.7, {"accuracy": 0.7})})
    rough = write_model(tmp_path / "b", "m", {"mr": Outcome(0.6, {"accuracy": 0.6})}, precision="bf16")
    (table,) = tables.build([exact, rough], REGISTRY, published=False)
    assert [(row.source, row.cells["mr"][0]) for row in table.rows] == [
        ("ours: mean, 64, fp32, logistic-regression", 70),
        ("ours: mean, 64, bf16, logistic-regression", 60),
    ]


def test_published_rows_stand_beside_ours_and_misprints_are_named(tmp_path):
    scores = {name: sts_outcome(0.5) for name in REGISTRY if "sts" in REGISTRY[name].suites}
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
    model = write_model(tmp_path, "mine", {"snips": Outcome(0.7, scores)})
    (table,) = tables.build([model], REGISTRY)
    ours = [row for row in table.rows if row.source.startswith("ours")]
    assert [(row.model, row.cells["snips"]) for row in ours] == [
        ("mine, 5 shots", (60.0, 2.0)),
        ("mine, 10 shots", (80.0, 1.0)),
    ]


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


def test_the_error_of_the_first_kind_is_near_five_percent():
    generator = np.random.default_rng(3)
    rejected = 0
    for trial in range(200):
        first, second = generator.normal(size=(2, 60))
        rejected += compare.paired_bootstrap(first, second, resamples=200, seed=trial)[4] < 0.05
    assert 1 <= rejected <= 24  # 5 % of 200 is 10; three standard deviations are 9


def test_two_models_are_compared_on_the_tasks_they_share(tmp_path):
    gold = np.arange(40.0)
    generator = np.random.default_rng(0)
    items = [{"similarity": gold + generator.normal(size=40) * noise, "gold": gold} for noise in (1, 30)]
    a, b = (
        write_model(tmp_path / str(n), str(n), {"sts12": sts_outcome(0.5, items=item)})
        for n, item in enumerate(items)
    )
    (found,) = compare.compare(a, b, resamples=200)
    assert (found.task, found.statistic) == ("sts12", "spearman")
    assert found.first == pytest.approx(stats.spearmanr(items[0]["similarity"], gold)[0])
    assert found.low > 0
    assert found.p < 0.05
    other = sts_outcome(0.5, items={"similarity": gold, "gold": gold[::-1]})
    with pytest.raises(BadInputError, match="scored on different pairs"):
        compare.compare(a, write_model(tmp_path / "c", "c", {"sts12": other}))
    with pytest.raises(UsageError, match="share no task"):
        compare.compare(a, write_model(tmp_path / "d", "d", {"sts13": sts_outcome(0.5)}))


def test_leaks_are_found_exactly_and_without_case_and_punctuation():
    columns = {
        "split": ["test", "test", "train"],
        "sentence1": ["A dog runs.", "a  cat", "never looked at"],
        "sentence2": ["A man plays!", "...", "nor this"],
    }
    training = enumerate(["a DOG runs", "A dog runs.", "a cat", "nor this", "...", "nothing"], start=10)
    (found,) = leaks.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], training)
    assert (found.sentences, found.exact, found.normalised) == (4, 3, 3)
    assert found.examples[0] == ("A dog runs.", 11)
    (near,) = leaks.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], iter([(7, "a dog, RUNS")]))
    assert (near.exact, near.normalised, near.examples) == (0, 1, [("A dog runs.", 7)])


def test_leaks_are_read_from_stores_and_text_files(tmp_path):
    import gzip

    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress("first\r\nse cond\nthird\u2028still third\n".encode()))
    assert list(leaks.training_sentences(path)) == [
        (1, "first"),
        (2, "se cond"),
        (3, "third\u2028still third"),
    ]
    with pytest.raises(MissingError, match="name a store folder"):
        list(leaks.training_sentences(tmp_path / "none"))
    path.write_bytes(b"\x1f\x8bdamaged")
    with pytest.raises(BadInputError, match="not readable text"):
        list(leaks.training_sentences(path))


def test_json_of_a_result_names_data_and_settings(tmp_path):
    write_model(tmp_path, "m", {"mr": Outcome(0.8, {"accuracy": 0.8}, settings={"folds": 10})})
    (entry,) = json.loads((tmp_path / "MR-SentEval.json").read_text())["scores"]["all"]
    assert entry["settings"] == {"folds": 10}
    assert entry["counts"] == {"all": 10662}
    assert entry["data_sha256"] == "a" * 64
    assert "torch" in json.loads((tmp_path / "encoder.json").read_text())["libraries"]
