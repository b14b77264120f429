"""The command from end to end, on a small model and synthetic sets of every protocol."""

import dataclasses
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from augment_cli.api import ingest_corpus
from augment_cli.errors import BadInputError
from eval import runner
from eval.command import main
from eval.encoding.encoder import load_encoder
from eval.encoding.static import load_static
from eval.protocols import transfer
from eval.scoring import split_label
from eval.tasks.registry import load_registry

SETS = {
    "sts": ("sts", "sts/a.tsv.gz", ("sentence1", "sentence2"), "score", "test", "spearman", {"test": 20}),
    "mr": ("transfer", "x/mr.tsv.gz", ("text",), "label", "all", "accuracy", {"all": 60}),
    "mrpc": (
        "transfer",
        "x/mrpc.tsv.gz",
        ("s1", "s2"),
        "label",
        "test",
        "accuracy",
        {"train": 30, "test": 10},
    ),
    "cola": ("cola", "x/cola.tsv.gz", ("text",), "label", "dev", "accuracy", {"train": 30, "dev": 10}),
    "cluster": ("clustering", "x/c.tsv.gz", ("text",), "label", "all", "accuracy", {"all": 60}),
    "intent": (
        "intent",
        "x/i.tsv.gz",
        ("text",),
        "label",
        "test",
        "accuracy",
        {"train": 30, "dev": 20, "test": 10},
    ),
    "order": ("ordering", "x/o.tsv.gz", ("premise", "hypothesis"), "label", "dev", "accuracy", {"dev": 30}),
    "geo": (
        "geometry",
        "sts/a.tsv.gz",
        ("sentence1", "sentence2"),
        "score",
        "test",
        "uniformity",
        {"test": 20},
    ),
    "nli": ("geometry-nli", "x/o.tsv.gz", ("premise", "hypothesis"), "label", "dev", "svg_A_E", {"dev": 30}),
    "pure": ("purity", "x/c.tsv.gz", ("text",), "label", "all", "purity_10", {"all": 60}),
}


@pytest.fixture()
def world(tmp_path, sentences, monkeypatch):
    """A data folder with a set of each protocol, and its registry; few folds, seeds and splits."""
    few = dataclasses.replace(transfer.PROTOCOLS["logistic-regression"], folds=2)
    monkeypatch.setitem(transfer.PROTOCOLS, "logistic-regression", few)
    monkeypatch.setattr(runner.clustering, "SEEDS", (0, 1))
    monkeypatch.setattr(runner.intent, "SHOTS", (5,))
    generator = np.random.default_rng(0)
    registry = []
    for name, (protocol, file, texts, label, split, metric, counts) in SETS.items():
        columns = ["split", label, *texts]
        rows = []
        for part, count in counts.items():
            for number in range(count):
                gold = {"score": f"{number % 6}", "label": "enc"[number % 3]}[label]
                drawn = [sentences[i] for i in generator.integers(0, len(sentences), len(texts))]
                drawn = [f"premise {number // 3}", drawn[1]] if texts[0] == "premise" else drawn
                rows.append("\t".join([part, gold, *drawn]))
        path = tmp_path / "data" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(gzip.compress(("\n".join(["\t".join(columns), *rows]) + "\n").encode()))
        table = ", ".join(f"{part} = {count}" for part, count in counts.items())
        registry.append(
            f'[{name}]\ntitle = "{name.upper()}"\nprotocol = "{protocol}"\n'
            f'file = "{file}"\nsuites = ["toy"]\n'
            f"columns = {json.dumps(columns)}\ntext_columns = {json.dumps(texts)}\n"
            f'label_column = "{label}"\nsplit = "{split}"\nmetric = "{metric}"\ncounts = {{ {table} }}\n'
            "gold_range = [0, 5]\n"
        )
    (tmp_path / "tasks.toml").write_text("\n".join(registry))
    return tmp_path


def run(capsys, *arguments, code=0):
    try:
        main([str(argument) for argument in arguments])
        left = 0
    except SystemExit as stop:
        left = stop.code
    assert left == code
    return capsys.readouterr()


def common(world):
    return ["--data", world / "data", "--registry", world / "tasks.toml", "--out", world / "out", "--jobs", 1]


def test_every_protocol_from_one_encoding_to_results_on_disk(
    world, plain_model, capsys, sentences, monkeypatch
):
    encoded = []
    original = runner.Encoder.encode

    def counted(self, texts, **more):
        encoded.append(texts)
        return original(self, texts, **more)

    monkeypatch.setattr(runner.Encoder, "encode", counted)
    printed = run(capsys, plain_model, *common(world), "--tasks", "toy", "--json")
    assert len(encoded) == 1  # one call for all tasks
    assert len(encoded[0]) == len(set(encoded[0]))
    (model,) = json.loads(printed.out)
    assert set(model["scores"]) == set(SETS)
    for name, (_, _, _, _, _, metric, _) in SETS.items():
        assert model["scores"][name]["main_score"] == model["scores"][name][metric]
        assert "not checked against a digest" in printed.err
    folder = next((world / "out" / "plain").iterdir())
    assert (folder / "similarity.png").read_bytes().startswith(b"\x89PNG")
    assert (world / "out" / "scores.png").stat().st_size > 5000
    assert json.loads((folder / "encoder.json").read_text())["pooling"] == "mean"
    assert "# toy" in (world / "out" / "table.md").read_text()

    scores = {path.name: json.loads(path.read_text()).get("scores") for path in folder.glob("*.json")}
    run(capsys, plain_model, *common(world), "--tasks", "toy", "--no-plots")
    assert scores == {path.name: json.loads(path.read_text()).get("scores") for path in folder.glob("*.json")}


def test_settings_are_named_in_the_folder_and_two_models_are_compared(world, plain_model, old_layout, capsys):
    options = [*common(world), "--tasks", "sts,mr", "--no-plots", "--no-cache"]
    run(capsys, plain_model, f"other={old_layout}", *options)
    run(capsys, plain_model, *options, "--whiten", "--pooling", "first-last", "--max-length", 9)
    run(capsys, plain_model, *options, "--precision", "bf16", "--no-truncation")
    kinds = {path.name[13:] for path in (world / "out" / "plain").iterdir()}
    assert kinds == {"mean-64-fp32", "first-last-9-fp32-whitened", "mean-64-bf16"}
    assert [path.name[13:] for path in (world / "out" / "other").iterdir()] == ["cls-12-fp32"]
    a, b = (next((world / "out" / name).glob("*-fp32")) for name in ("plain", "other"))
    found = json.loads(run(capsys, "compare", a, b, "--resamples", 100, "--json").out)
    assert [item["task"] for item in found] == ["mr", "sts"]
    assert found[0]["difference"] == pytest.approx(found[0]["first"] - found[0]["second"])
    assert "95 % interval" in run(capsys, "compare", a, b, "--resamples", 50).out


def test_the_table_of_earlier_results_needs_no_model_and_no_data(world, plain_model, capsys):
    run(capsys, plain_model, *common(world), "--tasks", "sts,intent,geo", "--no-plots")
    registry = ["--registry", world / "tasks.toml"]
    markdown = run(capsys, "table", world / "out", *registry, "--format", "markdown").out
    assert "| model | source | STS | MR |" in markdown
    assert "| plain | ours: mean, 64, fp32 |" in markdown
    assert run(capsys, "table", world / "out", *registry, "--format", "csv").out.startswith(
        "suite,model,source"
    )
    assert "plain" in run(capsys, "table", world / "out", *registry).out
    assert json.loads(run(capsys, "table", world / "out", *registry, "--format", "json").out)
    assert run(capsys, "table", world / "empty", code=6).err.startswith("error: ")


def test_missing_data_stop_the_run_before_anything_is_encoded_unless_told_to_skip(world, plain_model, capsys):
    (world / "data" / "x" / "mr.tsv.gz").unlink()
    (world / "data" / "x" / "cola.tsv.gz").unlink()
    error = run(capsys, plain_model, *common(world), "--tasks", "sts,mr,cola", code=6).err
    assert "MR: " in error
    assert "COLA: " in error
    assert "--skip-missing" in error
    assert not (world / "out").exists()
    printed = run(
        capsys, plain_model, *common(world), "--tasks", "sts,mr,cola", "--skip-missing", "--no-plots"
    )
    assert printed.err.count("skipped: ") == 2
    assert "STS spearman" in printed.err


def test_wrong_use_is_explained(world, plain_model, capsys):
    assert "unknown task 'nope'" in run(capsys, plain_model, *common(world), "--tasks", "nope", code=2).err
    both = ["--max-length", 5, "--no-truncation"]
    assert "give one" in run(capsys, plain_model, *common(world), "--tasks", "sts", *both, code=2).err
    assert "--allow-download" in run(capsys, "no-such-model", *common(world), "--tasks", "sts", code=6).err
    assert (
        "unknown pooling"
        in run(capsys, plain_model, *common(world), "--pooling", "x", "--tasks", "sts", code=2).err
    )
    wrong = ["--classifier", "svm", "--tasks", "mr"]
    assert "senteval-torch" in run(capsys, plain_model, *common(world), *wrong, code=2).err
    assert set(transfer.PROTOCOLS) == {"logistic-regression", "senteval-torch", "senteval-torch-fast"}


def test_leaks_of_a_real_store_are_reported(world, sentences, capsys):
    pairs = gzip.decompress((world / "data" / "sts" / "a.tsv.gz").read_bytes()).decode().split("\n")[1:3]
    known = pairs[0].split("\t")[2]
    corpus = world / "corpus.txt"
    corpus.write_text("something else\n" + known.upper() + " !!\nyet another line\n")
    ingest_corpus(corpus, world / "store")
    options = ["--data", world / "data", "--registry", world / "tasks.toml", "--tasks", "sts"]
    (leak,) = json.loads(run(capsys, "leaks", world / "store", *options, "--json").out)
    assert (leak["task"], leak["exact"], leak["normalised"]) == ("sts", 0, 1)
    assert leak["examples"] == [[known, 1]]
    assert "row 1" in run(capsys, "leaks", world / "store", *options).out


def test_tasks_are_listed(capsys):
    assert "sick_test.tsv.gz" in run(capsys, "tasks").out
    assert len(json.loads(run(capsys, "tasks", "--json").out)) == len(load_registry())


def test_constant_and_broken_encoders_are_scored_by_every_protocol_without_an_exception(world, plain_model):
    registry = load_registry(Path(world) / "tasks.toml")
    tables, _ = runner.read_tables(list(registry.values()), world / "data")
    for value, word in ((1.0, "equal"), (np.nan, "NaN")):

        def encode(texts, value=value):
            return np.full((len(texts), 4), value, dtype=np.float32)

        for table in tables:
            outcome = runner.score_task(table, encode, runner.Options(), runner.Progress())
            assert any(word in note for note in outcome.notes), (table.task.name, outcome.notes)
            assert np.isnan(outcome.main) or value == 1.0
            whitened = runner.score_task(table, encode, runner.Options(whiten=True), runner.Progress())
            assert np.isnan(whitened.main)
            assert whitened.notes


def test_whitening_is_fitted_on_the_tasks_own_sentences(world, plain_model):
    registry = load_registry(world / "tasks.toml")
    (table,), _ = runner.read_tables([registry["geo"]], world / "data")
    encoder = load_encoder(plain_model)
    plain = runner.score_task(table, encoder.encode, runner.Options(), runner.Progress())
    whitened = runner.score_task(table, encoder.encode, runner.Options(whiten=True), runner.Progress())
    assert whitened.scores["anisotropy"] < plain.scores["anisotropy"]
    assert abs(whitened.scores["anisotropy"]) < 0.1


def test_what_bf16_does_to_each_score_is_shown(world, plain_model, capsys):
    options = [*common(world), "--tasks", "sts,cola", "--no-plots"]
    printed = run(capsys, f"m={plain_model}", *options, "--precision", "both").err
    line = next(line for line in printed.split("\n") if "STS fp32" in line)
    exact, rough, difference = (float(line.replace(",", "").split()[i]) for i in (3, 5, 6))
    assert difference == pytest.approx(rough - exact, abs=2e-4)
    assert "COLA fp32" in printed
    assert "--precision both" in run(capsys, f"n={plain_model}", *options, "--precision", "bf16").err


def test_word_vectors_are_scored_like_any_encoder(world, capsys):
    words = world / "words.vec"
    lines = [
        f"{word} {number}.0 {number * number} 1" for number, word in enumerate(["the", "dog", "plays", "New"])
    ]
    words.write_text("4 3\n" + "\n".join([*lines, "New York 1 2 3", "the 9 9 9"]) + "\n")
    encoder = load_static(words)
    np.testing.assert_array_equal(
        encoder.encode(["The dog zzz", "", "unknown"]), [[0.5, 0.5, 1], [0] * 3, [0] * 3]
    )
    assert "New York" in encoder.rows
    printed = run(capsys, f"glove={words}", *common(world), "--tasks", "sts", "--no-plots")
    assert "glove: STS spearman" in printed.err
    words.write_text("the 1 2 3\ndog 1 2\n")
    with pytest.raises(BadInputError, match="line 2: not a word and its numbers"):
        load_static(words)
    words.write_text("")
    with pytest.raises(BadInputError, match="holds no word vectors"):
        load_static(words)


def test_labels_come_from_the_path_unless_given(tmp_path):
    assert split_label("una=runs/x") == ("una", "runs/x")
    assert split_label("runs/una/best/") == ("una-best", "runs/una/best/")
    assert split_label("sentence-transformers/all-MiniLM-L6-v2")[0] == "all-MiniLM-L6-v2"
    folder = tmp_path / "lr=3"
    folder.mkdir()
    assert split_label(str(folder)) == ("lr=3", str(folder))
