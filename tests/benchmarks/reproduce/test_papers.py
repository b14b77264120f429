"""The papers' tables: their settings, and each profile from sentences to its table, with a tiny encoder."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.reproduce.command import main
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.units import make_units
from eval.results.tables import published_rows
from eval.tasks.table import Table
from tests.helpers.places import REPOSITORY
from tests.helpers.tiny_encoders import SENTENCES, make_tiny_encoder

GRID = load_grid()
PROFILES = [name for name, profile in GRID.profiles.items() if profile.source]
MODELS = {
    "tuner007/pegasus_paraphrase": "pegasus",
    "Vamsi/T5_Paraphrase_Paws": "t5",
    "prithivida/informal_to_formal_styletransfer": "t5",
    "Helsinki-NLP/opus-mt-en-fr": "marian",
    "Helsinki-NLP/opus-mt-fr-en": "marian-back",
    "bert-base-uncased": "bert",
    "roberta-base": "roberta",
}


def units_of(name):
    profile = GRID.profiles[name]
    return {unit.row.name: unit for unit in make_units(GRID, profile, GRID.choose(profile, []), encoder="e")}


def has(unit, **settings):
    values = unit.recipe.as_json() | {"weight": unit.recipe.additions.get("discriminator", {}).get("weight")}
    return {name: values[name] for name in settings} == settings


def test_una_trains_as_its_paper_does():
    rows = units_of("una-table-1")
    shared = {"loss": "nt-xent", "batch": 64, "max_length": 32, "pooling": "cls", "epochs": 1, "clip": 0.0}
    for name in ("una", "paraphrase-una-paper", "roberta-una", "roberta-paraphrase-una-paper"):
        assert has(rows[name], alpha=5, **shared)
    assert rows["una"].start == "bert-base-uncased" and rows["roberta-una"].start == "roberta-base"
    assert has(rows["una"], learning_rate=3e-5, schedule="linear", evaluate_every=100)
    assert has(rows["roberta-una"], learning_rate=5e-6, schedule="constant")
    assert GRID.stages["una"][-1] == ("una", "--surface", "in-place", "--radius", "4000")
    assert "--no-faithful" in GRID.stages["paraphrase-paper"][-1]
    assert len(GRID.profiles["una-table-1"].seeds) == 10


def test_sda_and_vascl_and_augcse_train_as_their_papers_do():
    sda, vascl, augcse = map(units_of, ("sda-table-4", "vascl-table-1", "augcse-table-4"))
    assert has(sda["sda-aa"], batch=128, learning_rate=2e-5, evaluate_every=250)
    assert has(sda["roberta-sda-aa"], batch=64, learning_rate=1e-5)
    assert has(sda["simcse"], batch=64, learning_rate=3e-5) and has(sda["roberta-simcse"], batch=512)
    assert GRID.stages["aa"][-1] == ("aa", "--mode", "paper")
    assert [vascl[name].start for name in ("vascl", "base-vascl", "large-vascl")] == [
        "distilroberta-base",
        "roberta-base",
        "roberta-large",
    ]
    radius = [vascl[name].recipe.additions["neighbourhood"]["radius"] for name in ("vascl", "large-vascl")]
    assert radius == [15.0, 30.0]
    assert has(vascl["vascl"], batch=1024, epochs=5, learning_rate=5e-6, schedule="constant", pooling="mean")
    assert has(augcse["augcse-8"], batch=128, learning_rate=2e-5, weight=5e-3)
    assert has(augcse["roberta-augcse-8"], batch=128, learning_rate=2e-5, weight=1e-4)
    assert len(augcse["augcse-8"].recipe.additions["discriminator"]["stages"]) == 8
    assert GRID.profiles["augcse-table-4"].seeds == (1, 11, 42, 68, 421)
    searched = units_of("augcse-search")
    assert len(searched) == 2 * 7 * 6
    assert has(searched["roberta-augcse-8@1e-2@7e-6"], learning_rate=7e-6, weight=1e-2)


def test_the_rows_of_a_profile_are_its_own():
    """`una` of the papers starts from BERT, that of the draws from their bed."""
    assert GRID.rows["una"].encoder == "" and units_of("draw-1")["una"].start == GRID.bed.encoder
    assert units_of("una-table-1")["una"].row.title == "bert-base-uncased, UNA, pool"


def test_every_row_that_names_a_printed_one_is_beside_a_row_that_is_printed():
    for name in PROFILES:
        profile = GRID.profiles[name]
        printed = {row.model for row in published_rows(profile.suite) if row.source == profile.source}
        assert profile.printed.keys() <= {*profile.only}, name
        assert {*profile.printed.values()} <= printed, name


def few_pairs(tasks, data, **_):
    """Test sets of forty pairs each, in the place of the real ones."""
    tables = []
    for task in (task for task in tasks if task.graded):
        columns = {name: ["a"] * 40 for name in task.columns} | {"split": [task.split] * 40}
        columns[task.label_column] = [str(1 + number % 5) for number in range(40)]
        for place, name in enumerate(task.text_columns):
            columns[name] = SENTENCES[200 + place : 240 + place]
        tables.append(Table(task, columns, "0", True))
    return tables, []


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder for what the profiles share, and an encoder with as many layers as recipes name."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "corpus.txt").write_text("\n".join(SENTENCES[:120]) + "\n", encoding="utf-8")
    return folder, make_tiny_encoder(folder / "tiny", layers=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_runs_from_sentences_to_its_table(name, places, model, command, capsys, monkeypatch):
    """Every row of the papers' tables, and one of each search beside them."""
    # Commands in this process: starting one takes longer than what it does to a hundred sentences.
    inside = SimpleNamespace(run=lambda words, **_: command(*words[3:], cwd=REPOSITORY))
    monkeypatch.setattr("benchmarks.reproduce.stages.subprocess", inside)
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr("benchmarks.reproduce.work.read_tables", few_pairs)
    folder, encoder = places
    profile = GRID.profiles[name]
    rows = GRID.choose(profile, []) if profile.printed else GRID.choose(profile, [])[1:2]
    starts = {row.encoder or profile.encoder for row in GRID.choose(profile, [])}
    models = [f"{hub}={model(kind)}" for hub, kind in MODELS.items() if hub not in starts]
    arguments = {
        "--profile": name,
        "--encoder": ",".join([str(encoder), *models]),
        "--corpus": str(folder / "corpus.txt"),
        "--data": str(folder / "data"),
        "--results": str(folder / "results"),
        "--runs": str(folder / "runs"),
        "--rows": ",".join(row.name for row in rows),
        "--seeds": str(profile.seeds[0]),
    }
    settings = ["steps=2", "batch=20", "max_length=16", "threads=1", "evaluate_every=0", "gradient_cache=0"]
    main(["run", *(word for pair in arguments.items() for word in pair), "--set", *settings])
    said = capsys.readouterr()
    assert "skipped" not in said.err
    assert len(said.out.split("| row |")[1].splitlines()) == 2 + len(rows)  # its table
    lines = (folder / "results" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "failed" in json.loads(line)["scores"]]
