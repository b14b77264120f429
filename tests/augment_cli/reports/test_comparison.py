"""Augmentations side by side, how hard negatives are, and how many ways texts differ from their originals."""

import json
import shutil
from collections.abc import Sequence

import numpy as np
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.pages import terminal as views
from augment_cli.pages.report import write_report
from augment_cli.reports import comparison
from augment_cli.reports.comparison import Difficulty, difficulty_of, is_negative
from augment_cli.reports.diversity import diversity
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.made_stores import store_of

TEXTS = ["The old ferry crossed the wide river.", "River.", "It is not late, but the children wait.", "..."]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("compared"), TEXTS, "word-deletion", "negation-removal")


def test_the_table_holds_what_the_stages_hold(store, capsys):
    deletion, negation = comparison.compare(store)
    assert (deletion["stage"], deletion["meaning"]) == ("word-deletion", "possibly altered")
    texts = store.read("word-deletion")["text"].to_pylist()
    changed = [(one, other) for one, other in zip(TEXTS, texts, strict=True) if other is not None]
    assert deletion["changed_share"] == len(changed) / 4 == 0.5
    assert deletion["length_ratio"] == pytest.approx(np.mean([len(b) / len(a) for a, b in changed]))
    assert deletion["sentences_per_second"] > 0
    assert (deletion["cosine"], deletion["perplexity_difference"]) == (None, None)
    views.show_comparison([deletion, negation], as_json=False)
    assert "sentences/s: the rule alone, timed now" in capsys.readouterr().out
    assert (negation["meaning"], negation["changed_share"]) == ("altered", 0.25)


def test_scorers_see_originals_and_results_in_pairs(store):
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

    (entry,) = comparison.compare(store, ["negation-removal"], encode=letters, perplexity=lengths)
    result = store.read("negation-removal")["text"][2].as_py()
    expected = letters([TEXTS[2]])[0] @ letters([result])[0]
    assert entry["cosine"] == pytest.approx(expected)
    assert entry["perplexity_difference"] == len(result) - len(TEXTS[2])
    assert sorted(calls[:2]) == sorted([TEXTS[2], result])


def test_the_sample_is_a_pure_function_of_the_store(tmp_path):
    """The same rows for every stage, whatever their order and the size of the parts."""
    seen: dict[int, list[str]] = {}
    for rows in (7, 100):
        originals: list[str] = []

        def letters(texts: Sequence[str], originals: list[str] = originals) -> np.ndarray:
            originals.extend(texts)
            return np.ones((len(texts), 1))

        (tmp_path / str(rows)).mkdir()
        names = ["crop", "random-swap"][:: 1 if rows == 7 else -1]
        lines = [f"Row {n} of the old river." for n in range(40)]
        store = store_of(tmp_path / str(rows), lines, *names, part_rows=rows)
        comparison.compare(store, names, rows=10, encode=letters)
        # Each original is scored once, though two stages have changed it.
        plain = [text for text in originals if text in set(store.read("corpus")["text"].to_pylist())]
        assert len(plain) == len(set(plain)) == 10
        seen[rows] = sorted(plain)
    assert seen[7] == seen[100]


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
    packed = command(
        *(
            "pack",
            "--negative",
            "near",
            "--negative",
            "random-sentence",
            "--positive",
            "word-deletion",
            "--labels",
            "kind",
        ),
        *("--store", copied),
    )
    made = " ".join(packed.stdout.split())
    assert packed.returncode == 0, packed.stderr
    assert "random-sentence: as easy as random: mean" in made and "a lower --beta" in made
    assert "near: " not in made
    write_report(compared, tmp_path / "report.html")
    assert "Difficulty: as easy as random" in (tmp_path / "report.html").read_text("utf-8")


def test_of_a_damaged_part_the_other_numbers_are_said(compared, tmp_path):
    shutil.copytree(compared.path, tmp_path / "store")
    store = Store.open(tmp_path / "store")
    part = store.part_path("random-sentence", 0)
    data = bytearray(part.read_bytes())
    data[10:40] = bytes(30)
    part.write_bytes(data)
    entry = augment_cli.stats("random-sentence", store)
    assert entry["rows"] == 80 and "difficulty" not in entry


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


def test_the_share_of_frequent_edits_is_of_all_edits():
    rows = [(f"w{number} stays", f"v{number} stays") for number in range(30)] + [("a b", "c b")] * 10
    found = diversity(rows)
    assert found.top_ten == pytest.approx((10 + 9) / 40)
    assert found.words == (
        "100% differ in one word, the median in 50% of the words; the ten most frequent edits are 48% of all "
        "(“a → c” 10, “w0 → v0” 1, “w1 → v1” 1)"
    )


def test_stats_say_it_of_what_was_changed(tmp_path, capsys):
    texts = ["It is not late, but the children wait.", "The old ferry crossed the wide river."]
    store = store_of(tmp_path, texts, "negation-removal", "contraction")
    entry = augment_cli.stats("negation-removal", store)
    assert entry["diversity"]["frequent"] == {"not → ∅": 1}
    views.show_stats(entry, as_json=False)
    assert "100% differ in one word" in capsys.readouterr().out
    assert "diversity" not in augment_cli.stats("corpus", store)
