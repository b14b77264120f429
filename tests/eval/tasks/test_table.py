"""The registry of evaluation sets and their files: rows, columns, counts, digests; sentence pairs."""

import dataclasses
import gzip
import hashlib

import pytest

from augment_cli.errors import BadInputError, MissingError, UsageError
from eval.tasks import Table, Task, choose_tasks, load_registry, pairs_of, read_table
from tests.helpers.stored_results import REGISTRY


def test_registry_covers_the_sets_and_states_the_published_counts():
    registry = load_registry()
    counts = {name: task.counts[task.split] for name, task in registry.items()}
    assert [counts[f"sts{year}"] for year in range(12, 17)] == [3108, 1500, 3750, 3000, 1186]
    assert [counts[name] for name in ("stsb", "sickr", "stsb-dev")] == [1379, 4927, 1500]
    assert (counts["cr"], counts["mpqa"], counts["mr"], counts["subj"]) == (3771, 10603, 10662, 10000)
    assert "SMT" not in registry["sts13"].subsets
    suites = {
        suite: len(choose_tasks(registry, [suite])) for suite in ("sts", "transfer", "clustering", "intent")
    }
    assert suites == {"sts": 7, "transfer": 7, "clustering": 6, "intent": 5}
    for task in registry.values():
        assert task.split in task.counts
        assert {"split", task.label_column, *task.text_columns} <= set(task.columns), task.name
        if task.subsets:
            assert sum(task.subsets.values()) == task.counts[task.split], task.name


def test_choosing_keeps_the_registrys_order_and_unknown_names_are_named(tmp_path):
    registry = load_registry()
    assert [task.name for task in choose_tasks(registry, ["stsb", "sts12"])] == ["sts12", "stsb"]
    assert len(choose_tasks(registry, ["all"])) == len(registry)
    with pytest.raises(UsageError, match=r"unknown task 'sts17'; tasks are sts12, .*suites are"):
        choose_tasks(registry, ["sts17"])
    path = tmp_path / "tasks.toml"
    path.write_text('[a]\ntitle = "A"\ncolour = "red"\n')
    with pytest.raises(BadInputError, match="task a has the unknown key colour"):
        load_registry(path)
    path.write_text('[a]\ntitle = "A"\n')
    with pytest.raises(BadInputError, match="task a is incomplete"):
        load_registry(path)


TASK = Task(
    name="toy",
    title="Toy",
    protocol="sts",
    file="sts/toy.tsv.gz",
    columns=("split", "subtask", "score", "sentence1", "sentence2"),
    counts={"test": 3},
    split="test",
    metric="spearman",
    text_columns=("sentence1", "sentence2"),
    label_column="score",
    subset_column="subtask",
    subsets={"x": 2, "y": 1},
    gold_range=(0, 5),
)
ROWS = ["test\tx\t1.5\tone\ttwo", 'test\tx\t5\t"quoted\tthree', "test\ty\t0\tfour\tfive"]
HEADER = "\t".join(TASK.columns)


def write(folder, rows=ROWS, header=HEADER):
    (folder / "sts").mkdir(exist_ok=True)
    path = folder / TASK.file
    path.write_bytes(gzip.compress(("\n".join([header, *rows]) + "\n").encode(), mtime=0))
    return path


def test_rows_with_gold_are_read_as_they_are_and_the_digest_is_recorded(tmp_path):
    write(tmp_path, [*ROWS, "test\ty\t\tsix\tseven"])
    table = read_table(TASK, tmp_path)
    assert table.select("score", "test") == ["1.5", "5", "0"]
    assert not table.checked
    assert len(table.sha256) == 64
    assert table.every_text(("test",)) == ["one", '"quoted', "four", "two", "three", "five"]


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (ROWS[:2], None, r"test 2 rows instead of test 3"),
        ([*ROWS[:2], "test\tx\t0\tfour\tfive"], None, r"the subsets x 3 instead of x 2, y 1"),
        ([*ROWS[:2], "test\ty\t0\tfour"], None, r"line 4: 4 fields instead of 5"),
        (ROWS, "split\tscore", r"has the columns split, score instead of split, subtask"),
        ([], None, r"no rows instead of test 3"),
    ],
)
def test_different_data_are_named(tmp_path, rows, header, message):
    write(tmp_path, rows, header or "\t".join(TASK.columns))
    with pytest.raises(BadInputError, match=message):
        read_table(TASK, tmp_path)


def test_missing_and_damaged_files_say_what_to_do(tmp_path):
    with pytest.raises(MissingError, match=r"Toy: .*toy\.tsv\.gz does not exist; run `make data`"):
        read_table(TASK, tmp_path)
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadInputError, match="not readable gzip"):
        read_table(TASK, tmp_path)
    path.write_bytes(gzip.compress(b"\xff\xfe"))
    with pytest.raises(BadInputError, match="not readable gzip UTF-8"):
        read_table(TASK, tmp_path)


def test_a_changed_file_is_refused_unless_any_data_will_do_and_counts_hold_all_the_same(tmp_path):
    path = write(tmp_path)
    known = dataclasses.replace(TASK, sha256=read_table(TASK, tmp_path).sha256)
    assert read_table(known, tmp_path).checked
    write(tmp_path, [ROWS[0].replace("one", "One"), *ROWS[1:]])
    with pytest.raises(BadInputError, match=r"is not the file that the registry describes .* --any-data"):
        read_table(known, tmp_path)
    assert not read_table(known, tmp_path, any_data=True).checked
    write(tmp_path, ROWS[:2])
    with pytest.raises(BadInputError, match="2 rows instead of"):
        read_table(known, tmp_path, any_data=True)
    assert path.is_file()


def test_the_same_rows_compressed_otherwise_are_the_same_data(tmp_path):
    path = write(tmp_path)
    content = gzip.decompress(path.read_bytes())
    known = dataclasses.replace(TASK, sha256="0" * 64, content_sha256=hashlib.sha256(content).hexdigest())
    path.write_bytes(gzip.compress(content, compresslevel=1, mtime=77))
    assert read_table(known, tmp_path).checked


@pytest.mark.slow
def test_every_registered_set_that_is_there_is_what_the_registry_says(data_folder):
    present = [task for task in load_registry().values() if (data_folder / task.file).is_file()]
    assert len(present) >= 20
    for task in present:
        table = read_table(task, data_folder)
        assert table.checked == bool(task.sha256)
        if task.graded:
            assert len(pairs_of(table).gold) == task.counts[task.split]


def table_of(name, *scores):
    count = len(scores)
    task = REGISTRY[name]
    first, second = task.text_columns
    columns = {
        "split": ["test"] * (count - 1) + ["dev"],
        first: [f"a{number}" for number in range(count)],
        second: [f"b{number}" for number in range(count)],
        task.label_column: list(scores),
        task.subset_column: ["main-news"] * count,
    }
    return Table(task, columns, "", True)


def test_pairs_are_those_of_the_scored_split_in_its_order():
    pairs = pairs_of(table_of("stsb", "5", "0.25", "3"))
    assert (pairs.first, pairs.second) == (["a0", "a1"], ["b0", "b1"])
    assert pairs.gold.tolist() == [5, 0.25]
    assert pairs.subsets == ["main-news"] * 2
    assert pairs_of(table_of("sickr", "5", "1", "3")).subsets == ["all"] * 2  # which has none


@pytest.mark.parametrize("score", ["5.1", "-1", "high", "nan"])
def test_gold_outside_the_range_is_named(score):
    with pytest.raises(BadInputError, match=f"gold score '{score}' is not between 0 and 5"):
        pairs_of(table_of("stsb", "3", score, "3"))
