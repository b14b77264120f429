"""Models on toy sets: names, prompts, whitening, broken encoders, leaks; what a protocol is handed; help."""

import gzip
import json
from typing import Annotated

import numpy as np
import pytest
import typer
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, MissingError
from eval import runner, subcommands
from eval.contract import Options, Progress, Protocol, TaskScore, rejoin, scored_split
from eval.contract.arguments import call
from eval.protocols.retrieval import score
from eval.scoring import split_label
from eval.tasks import Table, Task, load_registry, read_tables
from eval.tasks.beir import read_beir
from tests.helpers.beir_folders import write_beir
from tests.helpers.commands import typed
from tests.helpers.small_encoders import with_prompts
from tests.helpers.stored_results import REGISTRY


def test_constant_and_broken_encoders_are_scored_by_every_protocol_without_an_exception(world):
    registry = load_registry(world / "tasks.toml")
    tables, _ = read_tables(list(registry.values()), world / "data")
    for value, word in ((1.0, "equal"), (np.nan, "NaN")):

        def encode(texts, value=value):
            return np.full((len(texts), 4), value, dtype=np.float32)

        for table in tables:
            score = runner.score_task(table, encode, Options(), Progress())
            assert any(word in note for note in score.notes), (table.task.name, score.notes)
            assert np.isnan(score.main) or value == 1.0
            whitened = runner.score_task(table, encode, Options(whiten=True), Progress())
            assert np.isnan(whitened.main)
            assert whitened.notes


def test_whitening_is_fitted_on_the_tasks_own_sentences(world, plain_model):
    registry = load_registry(world / "tasks.toml")
    (table,), _ = read_tables([registry["geo"]], world / "data")
    encoder = load_encoder(plain_model)
    plain = runner.score_task(table, encoder.encode, Options(), Progress())
    whitened = runner.score_task(table, encoder.encode, Options(whiten=True), Progress())
    assert whitened.scores["anisotropy"] < plain.scores["anisotropy"]
    assert abs(whitened.scores["anisotropy"]) < 0.1


def test_leaks_are_found_exactly_and_without_case_and_punctuation():
    columns = {
        "split": ["test", "test", "train"],
        "sentence1": ["A dog runs.", "a  cat", "never looked at"],
        "sentence2": ["A man plays!", "...", "nor this"],
    }
    training = enumerate(["a DOG runs", "A dog runs.", "a cat", "nor this", "...", "nothing"], start=10)
    (leak,) = subcommands.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], training)
    assert (leak.sentences, leak.exact, leak.normalised) == (4, 3, 3)
    assert leak.examples[0] == ("A dog runs.", 11)
    (near,) = subcommands.find_leaks([Table(REGISTRY["stsb"], columns, "", True)], iter([(7, "a dog, RUNS")]))
    assert (near.exact, near.normalised, near.examples) == (0, 1, [("A dog runs.", 7)])


def test_leaks_are_read_from_stores_and_text_files(tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress("first\r\nse cond\nthird\u2028still third\n".encode()))
    assert list(subcommands.training_sentences(path)) == [
        (1, "first"),
        (2, "se cond"),
        (3, "third\u2028still third"),
    ]
    with pytest.raises(MissingError, match="name a store folder"):
        list(subcommands.training_sentences(tmp_path / "none"))
    path.write_bytes(b"\x1f\x8bdamaged")
    with pytest.raises(BadInputError, match="not readable text"):
        list(subcommands.training_sentences(path))


@pytest.mark.parametrize(("option", "name"), [("--out", "file/x"), ("--cache", "file")])
def test_a_file_where_a_folder_must_be(tmp_path, option, name):
    (tmp_path / "file").write_text("a file")
    folders = ["--out", tmp_path / "results", option, tmp_path / name]
    done = typed("eval", tmp_path / "none", "--minimal-pairs", *folders)
    assert done.returncode == 4 and not (tmp_path / "results").exists()
    assert f"{tmp_path / 'file'}: is not a folder" in done.stderr
    assert f"choose another {option}" in done.stderr


def test_labels_come_from_the_path_unless_given(tmp_path):
    assert split_label("una=runs/x") == ("una", "runs/x")
    assert split_label("runs/una/best/") == ("una-best", "runs/una/best/")
    assert split_label("sentence-transformers/all-MiniLM-L6-v2")[0] == "all-MiniLM-L6-v2"
    folder = tmp_path / "lr=3"
    folder.mkdir()
    assert split_label(str(folder)) == ("lr=3", str(folder))


PROMPTS = {"query": "the dog runs : ", "document": "town "}


@pytest.fixture
def prompted(old_layout, tmp_path):
    return with_prompts(old_layout, tmp_path / "prompted", PROMPTS)


def test_queries_and_documents_have_prompts_of_their_own(prompted, tmp_path):
    beir, out = write_beir(tmp_path / "made-up"), tmp_path / "results"
    common = [prompted, "--beir", beir, "--out", out, "--no-plots", "--json"]
    library = SentenceTransformer(str(prompted), device="cpu")

    def theirs(name):
        return lambda texts: library.encode(list(texts), prompt_name=name)

    found = []
    for options, document, query in [
        ([], None, None),
        (["--prompt-name", "document"], "document", "document"),
        (["--prompt-name", "document", "--query-prompt-name", "query"], "document", "query"),
    ]:
        assert typed("eval", *common, *options).returncode == 0
        folder = max(out.glob("prompted/*"), key=lambda path: path.stat().st_mtime_ns)
        settings = json.loads((folder / "encoder.json").read_text())
        assert (settings.get("prompt_name"), settings.get("query_prompt_name")) == (
            document,
            query if query != document else None,
        )
        (result,) = (json.loads(path.read_text()) for path in folder.glob("made-up*.json"))
        expected = score(read_beir(beir), theirs(document), queries_by=theirs(query))
        assert result["scores"]["test"][0]["ndcg_at_10"] == pytest.approx(
            expected.scores["ndcg_at_10"], abs=1e-6
        )
        found.append(folder)
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prompt-name", "passage"], "has the prompts query, document; name one"),
        (["--query-prompt-name", "query", "--whiten"], "--query-prompt-name query: goes without --whiten"),
    ],
)
def test_what_makes_no_sense_is_refused(prompted, tmp_path, options, message):
    beir = write_beir(tmp_path / "made-up")
    assert message in typed("eval", prompted, "--beir", beir, "--out", tmp_path / "results", *options).stderr


TASK = Task(
    name="toy",
    title="Toy",
    protocol="sts",
    file="toy.tsv.gz",
    columns=("split", "label", "a", "b"),
    counts={"train": 1, "test": 1},
    split="test",
    metric="accuracy",
    text_columns=("a", "b"),
    label_column="label",
)
TABLE = Table(
    TASK,
    {"split": ["train", "test"], "label": [" x", "y"], "a": ["one  1", " two"], "b": ["3", "4 \u00a05"]},
    "",
    True,
)


def nothing(table, encode, options, progress):
    return TaskScore(0.0, {})


@pytest.mark.parametrize(
    ("protocol", "sentences"),
    [
        (Protocol(nothing), ["one  1", " two", "3", "4 \u00a05"]),
        (Protocol(nothing, splits=scored_split, prepare=rejoin), ["two", "4 5"]),
    ],
)
def test_sentences_are_those_of_the_splits_as_they_are_handed_to_the_encoder(protocol, sentences):
    assert protocol.sentences(TABLE) == sentences
    assert TABLE.columns["a"] == ["one  1", " two"]
    assert protocol.prepared(TABLE).columns["label"] == [" x", "y"]


@pytest.mark.parametrize("words", [["one"], ["compare", "a", "b"], ["leaks", "a", "--data", "b"], ["tasks"]])
def test_characters_that_command_a_terminal_are_marks(words):
    done = typed("eval", *words, "--no\x1b[31m\u202ex\ny")
    assert done.returncode == 2 and done.stderr.startswith("Usage: ")
    assert done.stderr.endswith("No such option: " + r"--no\x1b[31m<U+202E>x\x0ay" + "\n")


def test_the_help_has_summary_options_and_examples(capsys):
    def look(deep: Annotated[bool, typer.Option("--deep", help="further")] = False):
        """Look at it."""

    assert call(look, "any", ["--help"], "once:\n  any --deep") is None
    shown = capsys.readouterr().out
    assert (
        "Look at it." in shown and "  --deep      further" in shown and "  once:\n    any --deep\n" in shown
    )
    assert call(lambda: 3, "any", []) == 3
