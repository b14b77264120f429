"""What is asked of embed, score and mine beside the work itself: refusals, dry runs, overwriting, Python."""

import json

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.vector_stages import FAST, digests, make


def test_parameters_that_make_no_sense_are_refused(path):
    for options, message in (
        ({"by": "magic"}, "--by magic: choose one of"),
        ({"range_min": 50}, "--range-min 50 --range-max 50: hold fewer than --negatives 1"),
        ({"max_df": 0.0}, r"--max-df 0\.0: must be above 0"),
        ({"query_vectors": "queries"}, "--query-vectors: is for --by vectors"),
        ({"search": "graph"}, "--search graph: is for --by vectors"),
        ({"positive": "tfidf"}, "'tfidf' has no texts"),
    ):
        with Session(path, Engine(1)) as session, pytest.raises(UsageError, match=message):
            session.mine(MineParameters(**options))


def test_the_python_functions_do_what_the_commands_do(path, model, command):
    augment_cli.embed(path, "antonym", model=model("encoder"), jobs=1, **FAST)
    store = augment_cli.score(path, "antonym", columns=["cosine"], model=model("encoder"), jobs=1, **FAST)
    augment_cli.mine(path, by="vectors", jobs=1)
    assert store.has("scores-antonym")
    where = ["--where", "cosine < 2 and cosine>-2", "--sort", "-cosine"]
    shown = command("inspect", "antonym", *where, "--json", "--store", path)
    assert shown.returncode == 0, shown.stderr
    cosines = [row["scores"]["cosine"] for row in json.loads(shown.stdout)]
    assert cosines == sorted(cosines, reverse=True) and len(cosines) == 10
    plain = command("inspect", "mined-vectors", "-n", "2", "--store", path)
    assert plain.stdout.count("→") == 2
    assert "score" in command("stats", "mined-vectors", "--store", path).stdout
    none = command("inspect", "antonym", "--where", "cosine > 1.5", "--store", path)
    assert none.stdout.splitlines()[0] == "antonym: no row fits --where 'cosine > 1.5'"
    wrong = command("inspect", "antonym", "--where", "__import__('os')", "--store", path)
    assert wrong.returncode == 2 and "is not COLUMN OPERATOR VALUE" in wrong.stderr
    missing = command("inspect", "antonym", "--where", "beauty == high", "--store", path)
    assert missing.returncode == 2 and "has no column 'beauty' for a condition; it has" in missing.stderr
    assert "cosine" in missing.stderr and "text, reason (text)" in missing.stderr
    unknown = command("inspect", "antonym", "--sort", "beauty", "--store", path)
    assert unknown.returncode == 2 and "has no numbers 'beauty'; it has" in unknown.stderr


@pytest.mark.parametrize(
    ("ask", "stage", "kept"),
    [
        (lambda session, encoder: session.embed("antonym", encoder), "vectors-antonym", "vectors"),
        (
            lambda session, encoder: session.score("antonym", ScoreOptions(("length_ratio",))),
            "scores-antonym",
            "vectors",
        ),
        (lambda session, encoder: session.mine(MineParameters(range_max=7)), "mined-tfidf", "vectors"),
    ],
)
def test_overwrite_replaces_the_stage_that_is_asked_for_alone(vectors_path, encoder, ask, stage, kept):
    with Session(vectors_path, Engine(1)) as session:
        session.score("antonym", ScoreOptions(("cosine",)))
        session.mine(MineParameters())
        before = {name: session.store.stage(name).digest for name in session.store.stages()}
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with pytest.raises(MixError), Session(vectors_path, Engine(1)) as session:
        ask(session, other)
    with Session(vectors_path, Engine(1), overwrite=True) as session:
        ask(session, other)
        after = {name: session.store.stage(name).digest for name in session.store.stages()}
    assert after[stage] != before[stage] and after[kept] == before[kept]
    with Session(
        vectors_path, Engine(1), overwrite=True
    ) as session:  # with the same settings nothing is made anew
        ask(session, other)
        assert session.store.stage(stage).digest == after[stage]


def test_overwrite_is_not_for_vectors_that_scores_only_read(vectors_path, encoder, embedded):
    Store.open(vectors_path).part_path("vectors", 1).unlink()
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with Session(vectors_path, Engine(1), overwrite=True) as session:
        session.score("antonym", ScoreOptions(("cosine",)), parameters=other)
    # They were finished as they were begun.
    assert digests(vectors_path, "vectors") == digests(embedded, "vectors")


def test_dry_runs_say_what_would_be_made_and_write_nothing(path, command):
    before = sorted(path.rglob("*"))
    by_vectors = ["corpus", "vectors", "vectors-antonym", "mined-vectors"]
    for arguments, stages in {
        ("embed", "antonym"): ["corpus", "vectors-antonym"],
        ("score", "antonym"): ["corpus", "tfidf", "vectors", "vectors-antonym", "scores-antonym"],
        ("score", "antonym", "--columns", "length_ratio"): ["corpus", "scores-antonym"],
        ("mine", "--negatives", "2"): ["corpus", "tfidf", "mined-tfidf", "mined-tfidf.1"],
        ("mine", "--by", "vectors", "--positive", "antonym"): by_vectors,
    }.items():
        result = command(*arguments, "--store", path, "--dry-run", "--json")
        assert result.returncode == 0, result.stderr
        entries = json.loads(result.stdout)
        assert [entry["stage"] for entry in entries] == stages
        done = {entry["stage"] for entry in entries if entry["state"] == "done"}
        assert done == set(stages) & {"corpus", "tfidf"}
    assert sorted(path.rglob("*")) == before


def test_a_pooling_with_token_weights_says_what_to_do(path, model):
    with pytest.raises(
        UsageError, match=r"--pooling idf:mean: encoder.* stores no token weights, and embed counts none"
    ):
        make(path, EmbedParameters(model=model("encoder"), pooling="idf:mean"))


def test_the_only_set_of_vectors_is_taken(path, model, tmp_path):
    words = tmp_path / "words.vec"
    words.write_text("the 1 1\nriver 1 2\n")
    own, cosine = EmbedParameters(model=str(words)), ScoreOptions(("cosine",))
    with Session(path, Engine(1)) as session:
        session.embed("corpus", own, "words")
        # Whose vectors are missing is said, and that only the same encoder's will do.
        with pytest.raises(MixError, match=r"vectors-words: made by another encoder .*--model"):
            session.score("antonym", cosine)
        session.embed("antonym", own, "words")
        session.score("antonym", cosine)  # neither --vectors nor --model
        assert not session.store.has("vectors")
        session.mine(MineParameters(by="vectors", positive="antonym"))
        session.embed("corpus", EmbedParameters(model=model("encoder"), **FAST), "small")
        with pytest.raises(UsageError, match=r"several sets of vectors \(small, words\); .*--vectors NAME"):
            session.mine(MineParameters(by="vectors"), "mined-again")
        session.mine(MineParameters(by="vectors"), "mined-again", vectors="small")
        session.embed("corpus", EmbedParameters(model=model("encoder"), **FAST))
        session.mine(MineParameters(by="vectors"), "mined-first")  # the one without a name goes first
        assert "vectors" in session.store.stage("mined-first").settings["inputs"]
