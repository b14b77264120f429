"""The front door of adaptation: from a file or a list to an encoder and a verdict, and encoders by labels."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import augment_cli
from augment_cli import adaptation
from augment_cli.adaptation import Verdict, in_words
from augment_cli.cli import load_commands
from augment_cli.cli.application import app
from augment_cli.errors import BadInputError, MissingError, MixError, UsageError
from augment_cli.languages import unknown_language
from tests.helpers.training import sentence

TEXTS = [sentence(row) for row in range(240)]
QUICK = ("steps=4", "evaluate_every=2", "batch=16", "threads=1")


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    """A run on an export as people have it: line breaks in fields, blank rows, repeats, an index column."""
    folder = tmp_path_factory.mktemp("a folder with ä")
    rows = [f'{row},"{text}",x' for row, text in enumerate(TEXTS)]
    rows[3] = f'3,"{TEXTS[3]}\nand more of it",x'
    rows[5:5] = [",,", rows[4], ",,"]
    file = folder / "my texts.csv"
    file.write_text("\n".join([",message,agent", *rows]) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DATA", str(folder))  # no STS-B
        changes = [word for change in QUICK for word in ("--set", change)]
        load_commands()
        done = CliRunner().invoke(
            app, ["adapt", str(file), "--encoder", "static", "--lookup", "--out", "run", *changes]
        )
        assert done.exit_code == 0, done.output
    return folder, done


@pytest.mark.slow
def test_an_export_becomes_an_encoder(adapted):
    folder, done = adapted
    run = folder / "run"
    assert augment_cli.open_store(run / "store").rows == len(TEXTS) + 1
    assert "text column: message" in done.stderr
    assert "SentenceTransformer(" in done.stdout
    for name in ("best", "lookup"):
        vectors = augment_cli.load_encoder(run / name).encode(TEXTS[:3])
        assert np.isfinite(vectors).all()


@pytest.mark.slow
def test_a_finished_one_says_so_before_torch_is_loaded(adapted):
    folder, done = adapted
    command = ["adapt", str(folder / "my texts.csv"), "--encoder", "static", "--lookup", "--out", "run"]
    code = (
        "import atexit, sys; from augment_cli.__main__ import main; "
        "atexit.register(lambda: print('torch' in sys.modules)); main()"
    )
    changes = [word for change in QUICK for word in ("--set", change)]
    again = [sys.executable, "-c", code, *command, *changes]
    ended = subprocess.run(again, cwd=folder, capture_output=True, text=True, check=True)
    assert "finished before" in ended.stderr
    said, loaded = ended.stdout.rsplit("\n", 2)[:2]
    assert said == done.stdout.rstrip("\n") and loaded == "False"


@pytest.mark.slow
def test_a_second_encoder_and_other_texts(adapted, monkeypatch):
    folder, _ = adapted
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DATA", str(folder))
    with pytest.raises(MixError, match="run: holds the run of other texts; name another folder"):
        augment_cli.adapt("static", TEXTS[:100], out="run", settings=QUICK)
    encoder, verdict = augment_cli.adapt("static", TEXTS, out="other", settings=QUICK)
    assert verdict.outcome in ("better", "same", "worse")
    assert encoder.encode(["The river flows."]).shape == (1, 256)
    page = verdict.page.read_text("utf-8")
    assert page.count("<svg") == (2 if verdict.outcome == "better" else 1)
    assert verdict.message[:9] in page and verdict.following[-1] == f"page: {verdict.page}"
    assert (verdict.page.parent / "map.png").stat().st_size > 10_000
    assert "<iframe" in verdict._repr_html_() and str(verdict).startswith(verdict.message)
    frame = pl.DataFrame({"text": TEXTS, "label": [str(row % 3) for row in range(len(TEXTS))]})
    found = augment_cli.evaluate("static", encoder, frame)
    assert found.columns == ["measure", "before", "after", "difference", "low", "high", "p"]
    assert "K-means" in found["measure"].to_list()
    numbers = found.select(pl.col("after") - pl.col("before") - pl.col("difference")).to_numpy()
    assert np.abs(numbers).max() < 1e-9


@pytest.mark.slow
def test_texts_of_another_language(monkeypatch, tmp_path):
    monkeypatch.setenv("DATA", str(tmp_path))
    load_commands()
    texts, out = augment_cli.SAMPLE.with_name("sentences.fr.txt"), tmp_path / "run"
    changes = [word for change in QUICK for word in ("--set", change)]
    done = CliRunner().invoke(app, ["adapt", str(texts), "--encoder", "static", "--out", str(out), *changes])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("the encoder hardly knows the language of these texts") == 1
    assert "general sentences to keep to: the shipped sentences.fr.txt" in done.stderr
    assert "\nlanguage:\n- fr\n" in (out / "best" / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("error", "encoder", "texts", "words"),
    [
        (MissingError, "nobody/nothing", TEXTS, "not on this machine"),
        (BadInputError, "static", [], r"^texts: there is none"),
    ],
)
def test_what_cannot_be_adapted_is_said_before_a_folder_is_made(tmp_path, error, encoder, texts, words):
    with pytest.raises(error, match=words):
        augment_cli.adapt(encoder, texts, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_few_different_texts_are_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"^different texts: 64; .* give 200 or more, or take the enc"):
        augment_cli.adapt("static", TEXTS[:64] * 4, out=tmp_path / "run")


def test_a_wrong_setting_is_named_as_in_python_and_so_are_texts_in_the_place_of_the_encoder(tmp_path):
    with pytest.raises(UsageError, match="settings='step=4'"):
        augment_cli.adapt("static", TEXTS, out=tmp_path / "run", settings="step=4")
    for given in ((TEXTS, "static"), ("mine.csv", "static"), (pl.DataFrame(),)):
        with pytest.raises(UsageError, match="the encoder comes first"):
            augment_cli.adapt(*given)


def test_a_folder_with_the_run_of_another_encoder(tmp_path):
    state = tmp_path / "run" / "checkpoints" / "step-0000004" / "state.json"
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"settings": {"encoder": "another"}}), encoding="utf-8")
    with pytest.raises(MixError, match="run: holds the run of another encoder"):
        augment_cli.adapt("static", TEXTS, out=tmp_path / "run")
    assert not (tmp_path / "run" / "store").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("step 5/60 loss 2.1 ETA 0.0 min", ["training: step 5 of 60, less than a minute left"]),
        ("step 5/60 loss 2.1 ETA 3.2 min", ["training: step 5 of 60, 3 min left"]),
        ("dev 60/60 neighbours 1.153 found_by_half 0.67", ["training: step 60 of 60, dev score 1.153"]),
        ("before 0/0 stsb_dev 0.8177", []),
        ("INFO vectors: 8 of 9 rows, 2 rows/s, 1 s left", ["vectors: 8 of 9 rows, 2 rows/s, 1 s left"]),
        ("INFO No corpus=: using the store's own (9 sentences).", []),
        ("WARNING beware", ["beware"]),
        ("warning: step 3: collapse", ["warning: step 3: collapse"]),
    ],
)
def test_what_is_said_of_the_trainer(line, said):
    heard = []
    reporter = SimpleNamespace(say=heard.append)
    adaptation._train([sys.executable, "-c", f"import sys; print({line!r}, file=sys.stderr)"], reporter)
    assert heard == said


def test_an_interrupted_adaptation_leaves_no_trainer(tmp_path):
    # Ctrl-C in Python's own way reaches one process, and the trainer has a checkpoint to write.
    ended = tmp_path / "ended"
    code = (
        "import pathlib, signal, sys, time\n"
        f"def end(*_): time.sleep(0.5); pathlib.Path({str(ended)!r}).touch(); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('ready', file=sys.stderr, flush=True)\n"
        "time.sleep(60)"
    )

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adaptation._train([sys.executable, "-c", code], SimpleNamespace(say=interrupt))
    assert ended.exists()


@pytest.mark.parametrize("name", ["static", "minilm"])
def test_a_short_name_is_known_wherever_an_encoder_is_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert augment_cli.load_encoder(name).encode(["The river flows."]).shape[0] == 1


def test_what_cannot_be_compared_is_named_as_its_owner_does():
    with pytest.raises(UsageError, match=r"^texts: has no column 'label'"):
        augment_cli.evaluate("static", "static", pl.DataFrame({"text": TEXTS}))
    with pytest.raises(UsageError, match="int: not an encoder"):
        augment_cli.evaluate(3, "static", pl.DataFrame({"text": ["a"], "label": ["b"]}))


def test_a_verdict_cannot_write_into_a_page(tmp_path):
    scores = {"<b>": {"before": 1.0, "best": 1.0}}
    page = Verdict("same", "<script>", tmp_path, scores, ("<i>",))._repr_html_()
    assert "<script>" not in page and "<i>" not in page and "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("texts", "is_said"),
    [
        (["Die Verfassungsgerichtsbarkeit überprüft Rechtsverordnungen der Bundesländer."] * 3, True),
        (["中国经济增长超过预期"] * 3, True),
        (["Les électeurs ont rejeté le projet des députés."] * 3, True),
        (["How do I change my order?", "the river flows past the old mill"] * 3, False),
    ],
)
def test_an_encoder_of_another_language_is_told(texts, is_said):
    from augment_cli.vectors.stages import find_encoder

    found = unknown_language(find_encoder("all-MiniLM-L6-v2").path, texts)
    assert ("pieces a word" in found) == is_said


def test_the_command_says_as_json_what_came_out(monkeypatch, tmp_path):
    verdict = Verdict("same", "nothing", tmp_path, {}, ("next",))
    monkeypatch.setattr("augment_cli.adaptation.adapt", lambda *given: verdict)
    load_commands()
    done = CliRunner().invoke(app, ["adapt", "mine.txt", "--json"])
    assert json.loads(done.stdout)["outcome"] == "same"


@pytest.mark.slow
def test_a_prompt_stands_before_every_text_and_is_handed_on(tmp_path):
    texts, folder = TEXTS[:210], tmp_path / "run"
    _, verdict = augment_cli.adapt("static", texts, out=folder, settings=QUICK, prompt="query: ")
    prompted = [f"query: {text}" for text in texts[:3]]
    kept = augment_cli.load_encoder(verdict.folder)
    assert kept.prompts.texts[kept.prompts.default] == "query: "
    plain = augment_cli.load_encoder(adaptation.shipped("static"))
    assert not np.allclose(plain.encode(texts[:3]), plain.encode(prompted))
    (made,) = folder.glob("start-*")
    start = augment_cli.load_encoder(made)
    np.testing.assert_allclose(start.encode(texts[:3]), plain.encode(prompted), atol=1e-6)
    with pytest.raises(MixError, match="another encoder"):
        augment_cli.adapt("static", texts, out=folder, settings=QUICK, prompt="passage: ")
    assert (
        f"start={made}" in str(verdict) and augment_cli.load_encoder(made).prompts.texts["text"] == "query: "
    )


@pytest.mark.parametrize(
    ("found", "said"), [(0.95, "more often"), (0.902, "about as often"), (0.85, "keep the start for search")]
)
def test_the_verdict_says_what_gains_and_what_loses(found, said):
    scores = {"half_neighbours": {"before": 0.2, "best": 0.3}}
    scores["found_by_half"] = {"before": 0.9, "best": found}
    assert said in in_words("better", scores)
    assert "30.0 are found by either half of a text's words (20.0 before)" in in_words("better", scores)
    assert in_words("same", scores) == ""
    assert "the texts' words confirm" not in in_words("better", scores)
    scores["half_neighbours"]["best"] = 0.19
    confirmed = (
        "the texts' words confirm the groups that it learned, and of 100 nearest texts, 19.0 are found"
    )
    assert confirmed in in_words("better", scores)
