"""Recipes: what `run` does and says, AugCSE's named sets, stages with hardly a text."""

import json
import re

import pytest

import augment_cli
from augment_cli import augmentations
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, MissingError, UsageError
from augment_cli.reports.soundness import verify
from augment_cli.runs import recipe
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.session.recipe import _parse_comes_first
from augment_cli.store.store import Store
from tests.helpers.made_stores import Told, store_of
from tests.helpers.tiny_models import SENTENCES

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

    monkeypatch.setattr("augment_cli.session.augment_store", fail)
    own = write_recipe('augmentation = "random-swap"\nname = "swap"', 'augmentation = "crop"')
    result = augment_cli.run_recipe(own, tmp_path / "store", corpus, jobs=1)
    assert result.failures == ["part 0 killed every worker"]
    with pytest.raises(IncompleteError, match="part 0 killed"):
        result.check()


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


@pytest.mark.parametrize(
    ("head", "options", "message"),
    [
        ("[prase]\npipeline = 'english'\n", {}, r"'prase' is neither \[\[run\]\] nor \[parse\]"),
        *((f"least_changed = {share}\n", {}, "must be a share") for share in ("2", "true", '"much"')),
        ("", {"least_changed": 2}, "least_changed=2: must be a share"),
        *(
            ("", {"changes": [change]}, "crop|nonsense")
            for change in ("crop", "crop.nonsense=1", "nonsense.seed=1")
        ),
    ],
)
def test_nonsense_is_said_before_anything_is_made(tmp_path, corpus, write_recipe, head, options, message):
    own = write_recipe('augmentation = "crop"', head=head)
    with pytest.raises(UsageError, match=message):
        augment_cli.run_recipe(own, tmp_path / "store", corpus, **options)
    assert not (tmp_path / "store").exists()


def test_a_wrong_change_is_blamed_and_not_the_recipes_file(write_recipe):
    own = write_recipe('augmentation = "crop"', 'augmentation = "word-deletion"\nrate = 0.2')
    for change, wrong in (("word-deletion.rate=7", "--rate"), ("crop.draws=0", "draws = 0")):
        with pytest.raises(UsageError, match=f"^--set {change}: {change.split('.')[0]}: {wrong}"):
            recipe.load(own, ["crop.seed=3", change])
    wrong = write_recipe('augmentation = "word-deletion"\nrate = 7')
    with pytest.raises(UsageError, match=rf"^{re.escape(str(wrong))}: word-deletion: --rate"):
        recipe.load(wrong, ["word-deletion.seed=3"])


READS = 'augmentation = "synonym"'
SURE = 'augmentation = "pi"'
NEITHER = 'augmentation = "crop"'


@pytest.mark.parametrize(
    ("runs", "named", "first"),
    [
        ([NEITHER], True, False),  # a pipeline that nothing reads is not run
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


def test_the_list_of_recipes(command):
    listed = json.loads(command("list", "--recipes", "--json").stdout)
    entries = {entry["name"]: entry["summary"] for entry in listed}
    assert set(entries) == {file.stem for file in recipe.FOLDER.glob("*.toml")}
    assert all(len(summary) < 300 and summary.endswith(".") for summary in entries.values()), entries
    assert "augcse-8-no-models" in command("list", "--recipes").stdout


def test_an_augmentation_that_is_taken_for_a_recipe_is_named_as_one():
    with pytest.raises(UsageError, match=r"una: is an augmentation and no recipe; `augment-cli una` runs it"):
        recipe._read("una")


SIZES = (4, 8, 12, 16)


def members(name: str) -> list[str]:
    return [run.stage for run in recipe.load(name)]


@pytest.mark.parametrize("size", SIZES)
def test_each_set_has_its_size_stands_in_the_next_and_lacks_its_models_alone(size):
    runs = recipe.load(f"augcse-{size}")
    names = {run.stage for run in runs}
    assert len(names) == len(runs) == size
    assert all(names < set(members(f"augcse-{other}")) for other in SIZES if other > size)
    plain = [run.stage for run in runs if "model" not in augmentations.get(run.run.name).needs]
    assert members(f"augcse-{size}-no-models") == plain
    assert len(plain) == size - (1 if size == 4 else 2)


FAST = ("precision=fp32", "device=cpu", "batch_tokens=400", "beams=2", "max_length=12")


def changes(model):
    own = {
        "diverse-paraphrase": (f"model={model('bart')}", "candidates=2", f"encoder={model('encoder')}"),
        "casual-to-formal": (f"model={model('t5')}",),
    }
    return [f"{stage}.{item}" for stage, items in own.items() for item in (*FAST, *items)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["augcse-8", "augcse-16"])
def test_a_set_with_its_models_is_made_from_one_parse(model, store_path, name):
    runs = recipe.load(name, changes(model))
    with Session(store_path, Engine(1)) as session:
        for run in runs:
            session.augment(run.run, run.stage)
        stages = [result.stage for result in session.results]
    assert stages.count("parses") == 1
    store = Store.open(store_path)
    assert verify(store) == []
    for run in runs:
        table = store.read(run.stage)
        assert table["row_id"].to_pylist() == list(range(len(SENTENCES)))
        if "model" in augmentations.get(run.run.name).needs:
            # It ran: what it wrote is there, turned down or not.
            assert table["text"].null_count + table["rejected"].null_count < 2 * len(SENTENCES)
            assert not any((text or "").startswith("transfer Casual") for text in table["text"].to_pylist())
    with Session(store_path, Engine(1)) as session:  # running it again makes nothing
        for run in runs:
            session.augment(run.run, run.stage)
        assert not any(result.was_made for result in session.results)


# A template, whose words all sentences share.
QUESTIONS = [
    f"What happens when the old {name} {verb} at night?"
    for name in ["garden", "river", "castle", "bridge"]
    for verb in ["opens", "closes", "floods", "shines", "breaks", "moves"]
]


@pytest.fixture
def warned(tmp_path):
    def run(make, lines=QUESTIONS):
        store = store_of(tmp_path, lines, part_rows=25)
        reporter = Told()
        for _ in range(2):  # the second time nothing is made, and nothing said
            with Session(store.path, Engine(1), reporter) as session:
                make(session)
        return reporter.warnings

    return run


def test_mining_names_the_share_of_sentences_that_leaves_words_out(warned):
    (line,) = warned(lambda session: session.mine(MineParameters()))
    assert line.startswith("mined-tfidf: 0 of 24 rows have a text; of 24 the reason is 'no_candidate', ")
    assert "--max-df 0.02" in line and "--by vectors" in line
    assert warned(lambda session: session.mine(MineParameters(max_df=1.0), "again")) == []
    limits = MineParameters(max_df=1.0, max_score=-0.5)
    (line,) = warned(lambda session: session.mine(limits, "limited"))
    assert "'all_candidates_skipped'" in line and "--max-score" in line


@pytest.mark.parametrize(
    ("name", "words"), [("colour", "No option changes that"), ("word-deletion", "--rate")]
)
def test_an_augmentation_names_its_options(warned, name, words):
    lines = ["No."] * 24 if name == "word-deletion" else QUESTIONS
    (line,) = warned(lambda session: session.augment(make_run(name)), lines)
    assert line.startswith(f"{name}: 0 of 24 rows have a text; of 24 the reason is ") and words in line
    assert warned(lambda session: session.augment(make_run("word-repetition")), lines) == []
