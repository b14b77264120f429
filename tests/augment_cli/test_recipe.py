"""Running a recipe from Python: what the command `run` does, and what the result says of it."""

import json
import re
from types import SimpleNamespace

import pytest

import augment_cli
from augment_cli.errors import IncompleteError, MissingError, UsageError
from augment_cli.runs import recipe
from augment_cli.session.recipe import _parse_comes_first
from augment_cli.session.steps import Session

TEXTS = ["The dogs do not chase the cat.", "An old mill burned in 1901.", "Nobody saw the heron."]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(TEXTS) + "\n", "utf-8")
    return path


@pytest.fixture
def write_recipe(tmp_path):
    """Write a recipe of `name: settings` lines; the path as a string."""

    def write(*runs: str, head: str = "") -> str:
        path = tmp_path / "mine.toml"
        path.write_text(head + "".join(f"[[run]]\n{run}\n" for run in runs), "utf-8")
        return str(path)

    return write


def test_the_result_says_what_was_made_and_what_was_there(tmp_path, corpus, write_recipe):
    own = write_recipe('augmentation = "crop"\ndraws = 2', 'augmentation = "random-swap"\nname = "swap"')
    result = augment_cli.run_recipe(own, tmp_path / "store", corpus, ["swap.seed=7"], jobs=1)
    assert result.stages_made == ["corpus", "crop", "crop.1", "swap"]
    assert result.folders == ["crop", "crop.1", "swap"]
    assert result.store.stage("swap").settings["seed"] == 7
    assert result.missing == {} and result.failures == []
    result.check()
    again = augment_cli.run_recipe(own, tmp_path / "store", changes=["swap.seed=7"], jobs=1)
    assert again.stages_made == [] and again.folders == result.folders
    assert [entry.stage for entry in again.stages] == ["crop", "crop.1", "swap"]


def test_how_the_corpus_is_read_can_be_said(tmp_path, corpus, write_recipe):
    own = write_recipe('augmentation = "crop"')
    assert augment_cli.run_recipe(own, tmp_path / "store", [corpus], limit=2, jobs=1).store.rows == 2
    corpus.write_bytes(corpus.read_bytes() + b"\xff\n")
    with pytest.raises(IncompleteError, match="1 of 4 lines"):
        augment_cli.run_recipe(own, tmp_path / "other", corpus, jobs=1)
    kept = augment_cli.run_recipe(own, tmp_path / "third", corpus, max_rejects=0.5, jobs=1)
    assert kept.store.rows == len(TEXTS)


def test_a_missing_model_is_in_the_result_and_the_others_are_made(tmp_path, corpus, write_recipe, command):
    own = write_recipe('augmentation = "paraphrase"\nmodel = "/nowhere/model"', 'augmentation = "crop"')
    result = augment_cli.run_recipe(own, tmp_path / "store", corpus, jobs=1)
    assert result.stages_made == ["corpus", "crop"] and result.folders == ["crop"]
    assert list(result.missing) == ["paraphrase"] and "/nowhere/model" in result.missing["paraphrase"]
    with pytest.raises(MissingError, match=r"(?s)paraphrase: .*All other stages are there"):
        result.check()
    refused = command("run", own, "--store", tmp_path / "store")
    assert refused.returncode == 6 and "--set STAGE.model=FOLDER" in " ".join(refused.stderr.split())


def test_parts_that_fail_are_in_the_result_and_raised_where_it_is_checked(
    tmp_path, corpus, write_recipe, monkeypatch
):
    def fail(store, run, stage, *rest):
        if stage == "swap":
            raise IncompleteError("part 0 killed every worker")

    monkeypatch.setattr("augment_cli.session.steps.augment_store", fail)
    own = write_recipe('augmentation = "random-swap"\nname = "swap"', 'augmentation = "crop"')
    result = augment_cli.run_recipe(own, tmp_path / "store", corpus, jobs=1)
    assert result.failures == ["part 0 killed every worker"]
    with pytest.raises(IncompleteError, match="part 0 killed"):
        result.check()


def test_a_key_beside_the_runs_is_refused(tmp_path, corpus, write_recipe):
    own = write_recipe('augmentation = "crop"', head="[prase]\npipeline = 'english'\n")
    with pytest.raises(UsageError, match=r"'prase' is neither \[\[run\]\] nor \[parse\]"):
        augment_cli.run_recipe(own, tmp_path / "store", corpus, jobs=1)
    assert not (tmp_path / "store").exists()


def test_a_rule_that_hardly_changes_the_corpus_is_left_out_and_said(tmp_path, write_recipe, command):
    corpus = tmp_path / "requests.txt"
    corpus.write_text("turn on the light\nplay some jazz\nopen the door\n" * 9, "utf-8")
    own = write_recipe('augmentation = "dn"', 'augmentation = "rephrase"', head="least_changed = 0.05\n")
    store = ("--store", tmp_path / "store")
    said = command("run", own, "--corpus", corpus, *store).stderr
    assert "dn: left out, as it would change 0.0% of this corpus" in said and "--least-changed 0" in said
    made = augment_cli.open_store(tmp_path / "store").stages()
    assert "rephrase" in made and "dn" not in made
    command("run", own, "--least-changed", "0", *store)
    assert augment_cli.open_store(tmp_path / "store").has("dn")
    # What is there goes on.
    assert augment_cli.run_recipe(own, tmp_path / "store", jobs=1).folders == ["dn", "rephrase"]


@pytest.mark.parametrize("share", ["2", "true", '"much"'])
def test_a_share_that_is_none_is_refused(tmp_path, corpus, write_recipe, share):
    own = write_recipe('augmentation = "dn"', head=f"least_changed = {share}\n")
    with pytest.raises(UsageError, match="must be a share"):
        augment_cli.run_recipe(own, tmp_path / "store", corpus)
    with pytest.raises(UsageError, match="least_changed=2: must be a share"):
        augment_cli.run_recipe("default", tmp_path / "store", corpus, least_changed=2)


def test_a_wrong_change_is_blamed_and_not_the_recipes_file(write_recipe):
    own = write_recipe('augmentation = "crop"', 'augmentation = "word-deletion"\nrate = 0.2')
    for change, wrong in (("word-deletion.rate=7", "--rate"), ("crop.draws=0", "draws = 0")):
        with pytest.raises(UsageError, match=f"^--set {change}: {change.split('.')[0]}: {wrong}"):
            recipe.load(own, ["crop.seed=3", change])
    wrong = write_recipe('augmentation = "word-deletion"\nrate = 7')
    with pytest.raises(UsageError, match=rf"^{re.escape(str(wrong))}: word-deletion: --rate"):
        recipe.load(wrong, ["word-deletion.seed=3"])


@pytest.mark.parametrize("change", ["crop", "crop.nonsense=1", "nonsense.seed=1"])
def test_nonsense_is_said_before_anything_is_made(tmp_path, corpus, write_recipe, change):
    with pytest.raises(UsageError):
        augment_cli.run_recipe(write_recipe('augmentation = "crop"'), tmp_path / "store", corpus, [change])
    assert not (tmp_path / "store").exists()


READS = 'augmentation = "synonym"'
SURE = 'augmentation = "pi"'
NEITHER = 'augmentation = "crop"'


@pytest.mark.parametrize(
    ("runs", "named", "first"),
    [
        ([NEITHER], False, False),
        ([NEITHER], True, False),  # a pipeline that nothing reads is not run
        ([READS], False, False),
        ([READS], True, True),
        ([SURE, NEITHER], False, False),  # made where it is needed
        ([READS, SURE], False, True),
        ([SURE, READS], False, True),
        ([READS, SURE + '\nparses = "other"'], False, False),
    ],
)
def test_the_parse_comes_first_where_the_order_would_decide(write_recipe, runs, named, first):
    loaded = [item.run for item in recipe.load(write_recipe(*runs))]
    assert _parse_comes_first(loaded, "some_pipeline" if named else None) is first


def test_the_pipeline_is_the_callers_else_the_recipes(tmp_path, corpus, write_recipe, monkeypatch):
    class ParsedError(Exception):
        pass

    def parse(self, pipeline=None, name=None, parts=None):
        raise ParsedError(pipeline)

    monkeypatch.setattr(Session, "parse", parse)
    monkeypatch.setattr("augment_cli.session.recipe.find_pipeline", lambda _: SimpleNamespace(name="en_any"))
    own = write_recipe(SURE, head='[parse]\npipeline = "recipes_own"\n')
    with pytest.raises(ParsedError, match="recipes_own"):
        augment_cli.run_recipe(own, tmp_path / "store", corpus)
    with pytest.raises(ParsedError, match="callers"):
        augment_cli.run_recipe(own, tmp_path / "store", corpus, pipeline="callers")


def test_the_list_of_recipes(command):
    listed = json.loads(command("list", "--recipes", "--json").stdout)
    entries = {entry["name"]: entry["summary"] for entry in listed}
    assert set(entries) == {file.stem for file in recipe.FOLDER.glob("*.toml")}
    assert entries["default"] == "What `make augment` runs."
    assert all(
        summary.endswith(".") and not summary.endswith("al.") and len(summary) < 300
        for summary in entries.values()
    ), entries
    assert "augcse-8-no-models" in command("list", "--recipes").stdout


def test_the_papers_recipes_are_what_a_paper_draws_and_says(write_recipe):
    (una, random_terms, random) = (item.run.parameters for item in recipe.load("paper-una"))
    assert {(one.beta, one.radius, one.surface) for one in (una, random_terms, random)} == {
        ("0.5", "4000", "in-place")
    }
    drawn = [(one.positions, one.terms) for one in (una, random_terms, random)]
    assert drawn == [("tfidf", "tfidf"), ("tfidf", "random"), ("random", "random")]
    sda = {item.stage: item.run.parameters.mode for item in recipe.load("paper-sda")}
    assert sda == {"pi": "recommended", "aa": "paper", "dn": "paper"}


def test_an_augmentation_that_is_taken_for_a_recipe_is_named_as_one():
    with pytest.raises(UsageError, match=r"una: is an augmentation and no recipe; `augment-cli una` runs it"):
        recipe._read("una")
