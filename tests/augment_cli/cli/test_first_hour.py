"""What a new user tries in the first hour, and what the command must say instead of going on in silence."""

import shutil
from pathlib import Path

import pytest

import augment_cli
from augment_cli.errors import IncompleteError
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.commands import LINES


def test_chinese_with_the_english_tokeniser_is_warned_of(command, tmp_path):
    (tmp_path / "zh.txt").write_text("河流穿过城镇。\n桥很旧了。\n今天下雨。\n", "utf-8")
    result = command("una", "--corpus", "zh.txt")
    assert result.returncode == 0
    assert "without spaces between words" in result.stderr and "--tokenizer characters" in result.stderr


def test_english_with_a_foreign_name_is_not(command, small):
    (small / "in.txt").write_text("\n".join([*LINES, "The river 长江 is long."]))
    assert "without spaces" not in command("fit", "--corpus", "in.txt").stderr


def test_nothing_goes_on_with_what_is_left_after_nearly_all_was_rejected(command, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"caf\xe9\n" * 766 + b"one\ntwo\n")
    assert command("una", "--corpus", "in.txt").returncode == 3
    result = command("una")
    assert result.returncode == 3 and "766 of 768 lines were rejected" in result.stderr
    assert Store.open(tmp_path / "store").stages() == ["rejects", "corpus"]
    assert command("una", "--max-rejects", "1").returncode == 0


def test_a_few_rejects_let_it_go_on(small):
    (small / "in.txt").write_bytes(b"\n".join([*(line.encode() for line in LINES), b"\xff", b""]))
    with Session(small / "store") as session:
        session.ingest([small / "in.txt"], IngestOptions(), max_rejects=1)
        session.ingest()
        with pytest.raises(IncompleteError):
            session.ingest([small / "in.txt"])


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


def test_settings_are_as_before_where_no_term_is_too_long(store):
    assert "longest_term" not in make_run("una", radius=4, surface="in-place").settings(store).parameters


def test_word_vectors_that_are_not_named_are_asked_for(command, small):
    result = command("embedding-neighbour", "--corpus", "in.txt")
    assert result.returncode == 2 and "--vectors FILE" in result.stderr


def test_a_min_df_that_leaves_no_term(command, small):
    result = command("fit", "--corpus", "in.txt", "--min-df", "100")
    assert result.returncode == 2 and "choose a smaller --min-df" in result.stderr
    assert command("fit", "--min-df", "2").returncode == 0


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
    assert command("ingest", "--corpus", "in.txt").returncode == 5
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
