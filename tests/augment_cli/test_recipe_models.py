"""AugCSE's sets with their members that run a model: by small models, all from one parse."""

import subprocess
import sys

import pytest

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.reports.soundness import verify
from augment_cli.session import Session, recipe
from augment_cli.store.store import Store
from tests.helpers.tiny_models import SENTENCES

FAST = ("precision=fp32", "device=cpu", "batch_tokens=400", "beams=2", "max_length=12")


def changes(model):
    """What makes the two model members of a set run on small models."""
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


@pytest.mark.slow
def test_a_model_that_is_not_here_leaves_the_others_alone(store_path, tmp_path):
    """The command makes what it can, then says what is missing and how a recipe gets it."""
    (tmp_path / "mine.toml").write_text(
        '[[run]]\naugmentation = "paraphrase"\nmodel = "/nowhere/model"\n[[run]]\naugmentation = "crop"\n'
    )
    options = ["--store", str(store_path), "--jobs", "1"]
    line = [sys.executable, "-m", "augment_cli", "run", "mine.toml", *options]
    result = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 6
    assert "/nowhere/model" in result.stderr and "--set STAGE.model=FOLDER" in " ".join(result.stderr.split())
    assert Store.open(store_path).has("crop")
