"""What stood in the way of a new user: too much on the screen, too little, or in the wrong place."""

import io
import json
import re
import shutil

import pytest

from augment_cli.cli import main
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.pages.terminal import cut_long_tokens
from augment_cli.process.reporter import Bars
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.comparison import compare
from augment_cli.reports.report import short, status
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.commands import LINES
from tests.helpers.made_stores import store_of


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """A store whose stage `some` has changed rows and unchanged ones, in parts of 25."""
    folder = tmp_path_factory.mktemp("half")
    store = store_of(folder, [*LINES, "see " + "x" * 3_000 + " here"], part_rows=25)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", positions="random", beta=0.08), "some")
    return folder


# --- reading options


def test_they_work_in_an_augmentation_and_a_fit(command, small):
    (small / "in.csv").write_text(
        "body,topic\n" + "".join(f"café {line},rivers\n" for line in LINES * 2), "latin-1"
    )
    reading = ["--corpus=in.csv", "--text-column=body", "--keep-column=topic", "--encoding=latin-1"]
    result = command("crop", *reading, "--deduplicate", "--part-rows", "20", "--format", "csv", "--jobs", "1")
    assert result.returncode == 0, result.stderr
    store = Store.open(small / "store")
    assert store.rows == 60 and len(store.parts) == 3 and store.read("corpus")["topic"][0].as_py() == "rivers"
    assert command("fit", *reading, "--store", "other", "--limit", "5").returncode == 0
    assert Store.open(small / "other").rows == 5
    # Without the corpus they must be as before: it is not read again.
    result = command("crop", "--encoding", "utf-16")
    assert result.returncode == 5 and "parameters.encoding" in result.stderr


# --- what a run prints


def test_a_run_shows_what_it_made_and_names_what_was_there(command, small):
    first = command("una", "--corpus", "in.txt").stdout
    for stage in ("rejects", "corpus", "terms", "tfidf", "forms", "una"):
        assert f"\n  {stage} " in first
    second = command("crop").stdout
    assert "\n  crop " in second and "tfidf" not in second and "\n  una " not in second
    again = command("crop").stdout
    assert again == "Nothing to do, already there with these settings: crop\n"
    (small / "two.toml").write_text('[[run]]\naugmentation = "crop"\n[[run]]\naugmentation = "random-swap"\n')
    third = command("run", "two.toml").stdout
    assert "\n  random-swap " in third and "\n  crop " not in third and "Already there: crop\n" in third
    stages = [entry["stage"] for entry in json.loads(command("crop", "--json").stdout)]
    assert stages == ["rejects", "corpus", "terms", "tfidf", "forms", "una", "crop", "random-swap"]


def test_quiet_says_nothing_but_warnings(command, small):
    for arguments in (["ingest", "--corpus", "in.txt"], ["una", "-q"], ["fit", "--name", "b"], ["pack"]):
        result = command(*arguments, "--quiet")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), arguments
    assert Store.open(small / "store").stages()[-1] == "pack"
    result = command("una", "--beta", "0", "--name", "none", "--quiet")
    assert result.stdout == "" and "--beta 0: one term of each sentence" in result.stderr
    assert json.loads(command("crop", "--quiet", "--json").stdout)[0]["stage"] == "rejects"
    with Bars(quiet=True).progress("una", 5) as progress:
        progress(1)


def test_stats_says_nothing_on_the_side(command, half):
    result = command("stats", cwd=half)
    assert result.returncode == 0 and result.stderr == "" and "some" in result.stdout


def test_digests_are_cut_where_people_read_and_whole_for_programs(command, small):
    assert command("synonym", "--corpus", "in.txt", "-q").returncode == 0
    for arguments in (["stats", "synonym"], ["status", "--settings"], ["card"]):
        shown = command(*arguments).stdout
        assert re.search(r"wordnet[= ][0-9a-f]{12}…", shown) and not re.search("[0-9a-f]{13}", shown), (
            arguments
        )
    assert re.search('"wordnet": "[0-9a-f]{64}"', command("stats", "synonym", "--json").stdout)


def test_digests_inside_of_settings_are_cut_too():
    settings = {"faithful": {"wordnet": "a" * 64, "limit": 0.5}, "pipeline": "b" * 63}
    assert short(settings) == {"faithful": {"wordnet": "a" * 12 + "…", "limit": 0.5}, "pipeline": "b" * 63}


def test_the_table_has_the_speed_of_una_too(half):
    (entry,) = compare(Store.open(half / "store"))
    assert entry["stage"] == "some" and entry["sentences_per_second"] > 0


def test_one_stage_is_not_several(command, half, tmp_path):
    done = command("report", "--store", half / "store", "--out", tmp_path / "r.html")
    assert "1 stage; open" in done.stdout


def test_switches_have_no_type_in_the_help(command):
    for arguments in (["--help"], ["una", "--help"], ["pack", "--help"], ["ingest", "--help"]):
        assert "bool" not in command(*arguments).stdout


# --- the shell's completion


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("augment-cli yod", ["yoda"]),
        ("augment-cli una --bet", ["--beta"]),
        ("augment-cli inspect --store half ", ["rejects", "corpus", "terms", "tfidf", "forms", "some"]),
        ("augment-cli remove t", []),
        ("augment-cli run augcse-4", ["augcse-4", "augcse-4-no-models"]),
    ],
)
def test_the_shell_completes(tmp_path, half, monkeypatch, words, expected):
    shutil.copytree(half / "store", tmp_path / "half")
    monkeypatch.chdir(tmp_path)
    parts = words.split(" ")
    completing = {
        "_AUGMENT_CLI_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(parts) - 1),
    }
    for key, value in completing.items():
        monkeypatch.setenv(key, value)
    written = io.StringIO()
    monkeypatch.setattr("sys.stdout", written)
    monkeypatch.setattr("sys.argv", ["augment-cli"])
    with pytest.raises(SystemExit):
        main()
    assert written.getvalue().split() == expected


def test_the_completion_is_offered(command):
    assert "--install-completion" in command("--help").stdout


# --- inspect


def test_inspect_shows_changed_rows_and_the_others_when_asked(command, half):
    store = Store.open(half / "store")
    reasons = store.read("some")["reason"].to_pylist()
    changed = [row for row, reason in enumerate(reasons) if reason is None]
    assert 5 < len(changed) < 50
    shown = command("inspect", "some", "-n", "61", cwd=half).stdout
    assert "unchanged:" not in shown and shown.count("→") == len(changed)
    assert "--unchanged shows the others too" in shown
    everything = command("inspect", "some", "-n", "61", "--unchanged", cwd=half).stdout
    assert everything.count("→") == 61 and everything.count("unchanged: ") == 61 - len(changed)
    rows = json.loads(command("inspect", "some", "-n", "3", "--json", cwd=half).stdout)
    assert len(rows) == 3 and all(row["row_id"] in changed for row in rows)
    assert "--unchanged" not in command("inspect", "corpus", "-n", "61", cwd=half).stdout


def test_inspect_shows_the_rows_that_are_asked_for(command, half):
    store = Store.open(half / "store")
    unchanged = store.read("some")["reason"].to_pylist().index("no_position_drawn")
    shown = command("inspect", "some", "--row", "55", "--row", unchanged, "-n", "1", "--json", cwd=half)
    rows = json.loads(shown.stdout)
    assert [row["row_id"] for row in rows] == sorted([55, unchanged])
    assert rows[-1]["original"] == LINES[rows[-1]["row_id"]]
    beyond = command("inspect", "some", "--row", "61", cwd=half)
    assert beyond.returncode == 2 and "has no row 61; it has 0 to 60" in beyond.stderr
    (term,) = json.loads(command("inspect", "terms", "--row", "2", "--json", cwd=half).stdout)
    assert term["term"] == store.read("terms")["term"][2].as_py()  # which has no row_id


@pytest.mark.parametrize("stage", ["some", "corpus", "terms"])
def test_contains_looks_in_every_text_in_any_case(half, stage):
    store = Store.open(half / "store")
    wanted = "House 25" if stage != "terms" else "FLOW"
    rows = choose_rows(store, stage, 100, choice=Choice(contains=wanted))
    table = store.read(stage).to_pylist()
    originals = store.read("corpus")["text"].to_pylist()
    expected = [
        number
        for number, row in enumerate(table)
        if any(
            wanted.lower() in text.lower()
            for text in [*row.values(), *([originals[number]] if stage == "some" else [])]
            if isinstance(text, str)
        )
    ]
    keys = ["term"] if stage == "terms" else ["row_id"]
    assert [[row[key] for key in keys] for row in rows] == [[table[n][key] for key in keys] for n in expected]
    assert expected


def test_conditions_hold_together(half):
    store = Store.open(half / "store")
    rows = choose_rows(store, "some", 9, choice=Choice("replaced > 0", "-replaced", (), "river number 1"))
    numbers = [row["replaced"] for row in rows]
    assert rows and numbers == sorted(numbers, reverse=True) and min(numbers) > 0
    assert all("river number 1" in row["original"] + str(row["text"]) for row in rows)
    with pytest.raises(UsageError, match="no row 70"):
        choose_rows(store, "some", 9, choice=Choice(rows=(3, 70)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see " + "x" * 3_000 + " here", "see " + "x" * 40 + "…(3,000 characters) here"),
        ("a" * 60, "a" * 60),
        ("长江" * 100, "长江" * 100),
    ],
)
def test_tokens_of_no_language_are_cut_on_the_screen(text, shown):
    assert cut_long_tokens(text) == shown


def test_a_long_token_is_cut_in_every_view_and_whole_in_json(command, half):
    for stage in ("some", "corpus"):
        shown = command("inspect", stage, "--row", "60", cwd=half).stdout
        assert "x" * 41 not in shown and "characters)" in shown
        assert "x" * 3_000 in command("inspect", stage, "--row", "60", "--json", cwd=half).stdout
    shown = command("inspect", "terms", "--contains", "xxx", cwd=half).stdout
    assert "x" * 41 not in shown and "(3,0" in shown


# --- failures and interruptions


@pytest.mark.parametrize(
    "arguments",
    [
        ["una", "--corpus", "nowhere.txt"],
        ["ingest", "--corpus", "empty.txt"],
        ["fit", "--corpus", "in.txt", "--keep-column", "topic"],
        ["run", "default", "--corpus", "nowhere.txt"],
    ],
)
def test_a_failed_run_leaves_no_store(command, small, arguments):
    (small / "empty.txt").write_text("")
    assert command(*arguments).returncode in (2, 4)
    assert not (small / "store").exists()
    (small / "mine").mkdir()  # a folder of one's own stays, empty
    assert command(*arguments, "--store", "mine").returncode in (2, 4)
    assert not any((small / "mine").iterdir())


def test_a_failed_run_leaves_a_store_that_has_something(command, small):
    command("crop", "--corpus", "in.txt")
    assert command("embedding-neighbour").returncode == 2
    assert Store.open(small / "store").stages() == ["rejects", "corpus", "crop"]


def test_an_interrupted_parse_is_in_the_status(small, command, pipeline, monkeypatch):
    monkeypatch.setattr("augment_cli.parsing.stage.PIECE_ROWS", 16)
    with Session(small / "store", Engine(1)) as session:
        session.ingest([small / "in.txt"])
    joined = []
    monkeypatch.setattr("augment_cli.parsing.stage._join_part", lambda *values: joined[0])
    with pytest.raises(IndexError), Session(small / "store", Engine(1)) as session:
        session.parse(pipeline)
    entry = status(Store.open(small / "store"))[-1]
    assert entry["stage"] == "parses" and not entry["complete"] and entry["rows_in_work"] == 60
    shown = command("status").stdout
    assert (
        "unfinished: 0 of 1 parts" in shown and "0 + 60" in shown and "the same command resumes them" in shown
    )
    monkeypatch.undo()
    with Session(small / "store", Engine(1)) as session:
        session.parse(pipeline)
    assert [entry["rows_in_work"] for entry in status(Store.open(small / "store"))] == [0, 0, 0]


def test_a_switch_that_is_on_can_be_turned_off(command):
    assert "--no-faithful" in command("paraphrase", "--help").stdout
    assert "--no-include-self" not in command("una", "--help").stdout
