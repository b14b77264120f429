"""What a new user is told: what stood in the way, advice that leads somewhere, progress in plain lines."""

import io
import itertools
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import augment_cli
from augment_cli.cli import main
from augment_cli.engine.engine import Engine
from augment_cli.pages.terminal import cut_long_tokens
from augment_cli.process import reporter as lines
from augment_cli.process.reporter import Bars
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import explain
from augment_cli.store.store import Store
from tests.helpers.commands import LINES
from tests.helpers.made_stores import store_of


def test_chinese_with_the_english_tokeniser_is_warned_of(command, tmp_path):
    (tmp_path / "zh.txt").write_text("河流穿过城镇。\n桥很旧了。\n今天下雨。\n", "utf-8")
    result = command("una", "--corpus", "zh.txt")
    assert result.returncode == 0
    assert "without spaces between words" in result.stderr and "--tokenizer characters" in result.stderr
    (tmp_path / "in.txt").write_text("\n".join([*LINES, "The river 长江 is long."]))
    assert "without spaces" not in command("fit", "--corpus", "in.txt", "--store", "other").stderr


def test_nothing_goes_on_with_what_is_left_after_nearly_all_was_rejected(command, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"caf\xe9\n" * 766 + b"one\ntwo\n")
    assert command("una", "--corpus", "in.txt").returncode == 3
    result = command("una")
    assert result.returncode == 3 and "766 of 768 lines were rejected" in result.stderr
    assert Store.open(tmp_path / "store").stages() == ["rejects", "corpus"]
    assert command("una", "--max-rejects", "1").returncode == 0


def test_beta_0_and_radius_0_say_what_they_do(command, small):
    result = command("una", "--corpus", "in.txt", "--beta", "0")
    assert "--beta 0: one term of each sentence is replaced all the same" in result.stderr
    result = command("una", "--beta", "0", "--positions", "random", "--name", "none")
    assert "--beta 0" not in result.stderr
    result = command("una", "--radius", "0", "--name", "same")
    assert "--radius 0: no other term is in the window, so nothing will be changed" in result.stderr
    store = Store.open(small / "store")
    assert store.read("none")["text"].null_count == store.read("same")["text"].null_count == 60


@pytest.mark.parametrize("options", [{"radius": 4000}, {"terms": "random"}])
def test_what_is_too_long_for_a_word_is_not_put_into_other_sentences(fitted, options):
    store = fitted([*LINES[:8], "see " + "x" * 3_000 + " here"])
    with Session(store.path) as session:
        session.augment(make_run("una", beta=1.0, **options), "natural")
        session.augment(make_run("una", beta=1.0, surface="in-place", **options))
        session.augment(make_run("una", beta=1.0, surface="reference", **options), "reference")
        store = session.store
    for stage in ("una", "natural"):
        texts = [text for text in store.read(stage)["text"].to_pylist()[:8] if text]
        assert texts and all(len(text) < 200 for text in texts)
    assert store.stage("una").settings["parameters"]["longest_term"] == 100
    # The authors' form is as it always was, and so are the settings where no such term is.
    assert "longest_term" not in store.stage("reference").settings["parameters"]


@pytest.mark.parametrize(
    ("typed", "said", "unsaid"),
    [
        ("embedding-neighbour --corpus in.txt", "--vectors FILE", "Traceback"),
        ("fit --corpus in.txt --min-df 100", "choose a smaller --min-df", "Traceback"),
        ("run mine.toml", "mine.toml: no such file", "ending in .toml"),
        ("run mine", "ending in .toml", "no such file"),
        ("mine --margin 3.0", "augment-cli: --margin 3.0: must be", "Traceback"),
        ("una --part-rows 0", "augment-cli: --part-rows 0: must be", "Traceback"),
        ("ingest --corpus nothing://key:hidden@b/in.txt?s=hidden", "no installed package knows", "hidden"),
        ("ingest --corpus s3://?signature=hidden", "names no bucket", "hidden"),
        ("ingest --corpus s3://key:hidden@b/in.txt?s=hidden", "unknown option 's'", "hidden"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(command, small, typed, said, unsaid):
    result = command(*typed.split())
    assert result.returncode == 2 and said in result.stderr.splitlines()[-1]
    assert unsaid not in result.stdout + result.stderr
    assert unsaid != "hidden" or len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_first_commands_agree(command, small):
    """`make augment` and `augment-cli una` make the same stage, in either order of the two."""
    run = command("run", "default", "--corpus", "in.txt")
    assert Store.open(small / "store").has("una"), run.stderr
    assert Store.open(small / "store").has("una-pos")
    result = command("una")
    assert result.returncode == 0, result.stderr
    assert command("una", "--same", "pos", "--name", "una-pos").returncode == 0
    assert command("una", "--radius", "4000", "--name", "una-paper").returncode == 0

    other = ("--store", "other")
    assert command("una", "--corpus", "in.txt", *other).returncode == 0
    assert command("una", "--same", "pos", "--name", "una-pos", *other).returncode == 0
    made = {name: Store.open(small / "other").stage(name).digest for name in ("una", "una-pos")}
    recipe = Path(augment_cli.__file__).parent / "recipes/default.toml"
    both = "[[run]]".join(recipe.read_text("utf-8").split("[[run]]")[:3])  # what of it is UNA
    (small / "both.toml").write_text(both, "utf-8")
    again = command("run", "both.toml", *other)
    assert again.returncode == 0, again.stderr
    for name, digest in made.items():
        assert Store.open(small / "other").stage(name).digest == digest
        assert Store.open(small / "store").stage(name).digest == digest


def test_overwrite_makes_a_stage_anew_and_removes_what_was_made_from_it(command, small):
    command("una", "--corpus", "in.txt")
    command("pack")
    assert command("una", "--beta", "0.2").returncode == 5
    result = command("una", "--beta", "0.2", "--overwrite")
    assert result.returncode == 0 and "--overwrite: removed una, pack" in result.stderr
    store = Store.open(small / "store")
    assert store.stage("una").settings["parameters"]["beta"] == 0.2 and "pack" not in store.stages()
    before = store.stage("una").digest
    assert "removed" not in command("una", "--beta", "0.2", "--overwrite").stderr
    assert Store.open(small / "store").stage("una").digest == before
    result = command("fit", "--min-df", "2", "--overwrite")
    assert "--overwrite: removed terms, tfidf, forms, una" in result.stderr
    (small / "in.txt").write_text("\n".join(LINES[:5]))
    refused = command("ingest", "--corpus", "in.txt")
    assert refused.returncode == 5 and "another --store" in refused.stderr and "--name" not in refused.stderr
    assert command("ingest", "--corpus", "in.txt", "--overwrite").returncode == 0
    assert Store.open(small / "store").stages() == ["rejects", "corpus"]
    assert command("una", "--overwrite", "--parts", "0").returncode == 2


def test_remove_takes_several_and_says_what_hangs_on_them(command, small):
    command("una", "--corpus", "in.txt")
    command("pack")
    shutil.copytree(small / "store", small / "other")
    result = command("remove", "tfidf", "terms")
    assert result.returncode == 0 and "removed tfidf, terms" in result.stdout
    assert "Made from that, and kept: forms, una, pack." in result.stdout
    assert Store.open(small / "store").stages() == ["rejects", "corpus", "forms", "una", "pack"]
    result = command("remove", "terms", "tfidf", "--with-descendants", "--store", "other")
    assert "removed terms, tfidf, forms, una, pack" in result.stdout
    result = command("remove", "una", "nowhere")
    assert result.returncode == 2 and "una" in Store.open(small / "store").stages()
    assert command("remove", "corpus").returncode == 2
    assert command("remove", "corpus", "--with-descendants").returncode == 0


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    folder = tmp_path_factory.mktemp("half")
    store = store_of(folder, [*LINES, "see " + "x" * 3_000 + " here"], part_rows=25)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", positions="random", beta=0.08), "some")
    return folder


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
    monkeypatch.setenv("_AUGMENT_CLI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    written = io.StringIO()
    monkeypatch.setattr("sys.stdout", written)
    monkeypatch.setattr("sys.argv", ["augment-cli"])
    with pytest.raises(SystemExit):
        main()
    assert written.getvalue().split() == expected


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
    wanted, key = ("House 25", "row_id") if stage != "terms" else ("FLOW", "term")
    rows = choose_rows(store, stage, 100, choice=Choice(contains=wanted))
    originals = store.read("corpus")["text"].to_pylist() if stage == "some" else itertools.repeat("")
    texts = [
        (row[key], " ".join(map(str, [*row.values(), original])).lower())
        for row, original in zip(store.read(stage).to_pylist(), originals, strict=False)
    ]
    expected = [name for name, text in texts if wanted.lower() in text]
    assert [row[key] for row in rows] == expected != []


def test_a_token_of_no_language_is_cut_in_every_view_and_whole_in_json(command, half):
    assert all(cut_long_tokens(text) == text for text in ("a" * 60, "长江" * 100))
    for stage in ("some", "corpus"):
        shown = command("inspect", stage, "--row", "60", cwd=half).stdout
        assert "x" * 41 not in shown and "characters)" in shown
        assert "x" * 3_000 in command("inspect", stage, "--row", "60", "--json", cwd=half).stdout
    shown = command("inspect", "terms", "--contains", "xxx", cwd=half).stdout
    assert "x" * 41 not in shown and "(3,0" in shown


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


def commands_in(text: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in re.findall(r"`(augment-cli [^`]+)`", text)]


@pytest.mark.parametrize("allowed", ["0.5", "0"])
def test_the_reject_note_names_the_store_and_its_command_works(command, tmp_path, allowed):
    (tmp_path / "in.txt").write_bytes(b"\n".join([*(line.encode() for line in LINES), b"\xff", b""]))
    result = command("ingest", "--corpus", "in.txt", "--store", "my news", "--max-rejects", allowed)
    assert result.returncode == (0 if allowed == "0.5" else 3)
    advised = commands_in(result.stderr)
    assert advised and all(command(*arguments).returncode == 0 for arguments in advised)


@pytest.mark.parametrize(
    ("first", "then", "advised"),
    [
        ("una --radius 3 --avoid none", "una --radius 3", "--avoid none"),
        ("una --radius 3 --background none", "una --radius 4", "--background none --radius 3"),
        ("una --radius 3 --surface in-place", "una --radius 3", "--surface in-place"),
        ("una --radius 3 --include-self", "una --radius 3", "--include-self"),
        ("fit --min-df 2", "fit", "--min-df 2"),
    ],
)
def test_a_refusal_names_the_options_that_the_stage_was_made_with(command, small, first, then, advised):
    assert command(*first.split(), "--corpus", "in.txt").returncode == 0
    refused = command(*then.split())
    assert refused.returncode == 5 and "nothing was changed" in refused.stderr
    options = re.search(r"Use the same settings \((.*?)\)", refused.stderr)[1]
    assert set(advised.split()) <= set(options.split())
    again = command(*then.split(), *options.split())  # of an option given twice, the last counts
    assert again.returncode == 0, again.stderr


def test_a_name_that_is_taken_is_not_to_be_removed(command, small):
    assert command("una", "--corpus", "in.txt").returncode == 0
    for name in ("una", "pack"):
        result = command(name, "--name", "corpus")
        assert result.returncode == 5 and "the name is taken by a stage that 'corpus' made" in result.stderr
        assert "remove" not in result.stderr and "Choose another --name" in result.stderr


def test_an_input_that_cannot_be_read_is_not_to_be_made_writable(command, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("x")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    known = explain(PermissionError(13, "Permission denied", str(tmp_path / "in.txt")))
    assert known.exit_code == 4 and "chmod u+r" in str(known) and "writable" not in str(known)
    monkeypatch.setattr("os.access", lambda path, mode: True)
    known = explain(PermissionError(13, "Permission denied", str(tmp_path / "in.txt")))
    assert known.exit_code == 6 and "writable" in str(known)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (300, "2 of 300 rows; 102 of 300 rows, 10 rows/s, 20 s left; 117 of 300 rows, 7.7 rows/s, 24 s left"),
        (None, "2 rows; 102 rows, 10 rows/s; 117 rows, 7.7 rows/s"),
    ],
)
def test_the_rate_leaves_out_the_time_that_a_model_takes_to_load(rows, expected, monkeypatch, capsys):
    # Loading took 20 s, the first two rows arrived with it: they tell nothing of the rate.
    now = [100.0]
    monkeypatch.setattr(lines.time, "monotonic", lambda: now[0])
    with lines.Bars().progress("paraphrase", rows) as done:
        for at, count in ((120, 2), (121, 10), (130, 90), (132, 5), (135, 10)):
            now[0] = at
            done(count)
    assert capsys.readouterr().err.splitlines() == [f"paraphrase: {line}" for line in expected.split("; ")]
