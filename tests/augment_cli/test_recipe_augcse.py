"""AugCSE's named sets: what is in them, and that all is made from one parse, with and without models."""

from pathlib import Path

import pytest

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.reports.soundness import verify
from augment_cli.runs import recipe
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.tiny_models import SENTENCES

SIZES = (4, 8, 12, 16)


def members(name: str) -> list[str]:
    return [run.stage for run in recipe.load(name)]


@pytest.mark.parametrize("size", SIZES)
def test_each_set_has_its_size_and_stands_in_the_next(size: int) -> None:
    names = members(f"augcse-{size}")
    assert len(names) == size
    larger = [other for other in SIZES if other > size]
    assert all(set(names) < set(members(f"augcse-{other}")) for other in larger)


@pytest.mark.parametrize("size", SIZES)
def test_without_models_nothing_else_is_missing(size: int) -> None:
    runs = recipe.load(f"augcse-{size}")
    plain = [run.stage for run in runs if "model" not in augmentations.get(run.run.name).needs]
    assert members(f"augcse-{size}-no-models") == plain
    assert len(plain) == size - (1 if size == 4 else 2)


def test_what_stands_in_for_what_can_be_changed() -> None:
    (run,) = (
        run
        for run in recipe.load("augcse-4", ["diverse-paraphrase.choice=best"])
        if run.stage == "diverse-paraphrase"
    )
    assert run.run.parameters.choice == "best"
    assert run.run.parameters.candidates == 5


@pytest.mark.slow
def test_a_set_is_made_from_one_parse(tmp_path: Path) -> None:
    """The shipped pipeline parses once, and every member of the set finds its parse."""
    lines = ["The dogs do not chase the cat in Paris.", "However, a small red mill burned in 1901."] * 3
    (tmp_path / "corpus.txt").write_text("\n".join(lines) + "\n", "utf-8")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "corpus.txt"])
        folders = {
            run.stage: session.augment(run.run, run.stage) for run in recipe.load("augcse-16-no-models")
        }
        texts = {stage: session.store.read(stage)["text"].to_pylist() for stage in folders}
    assert texts["negation-removal"][0] == "The dogs chase the cat in Paris."
    assert texts["yoda"][0] is not None
    assert texts["adjective-antonym"][1] == "However, a large red mill burned in 1901."
    assert all(len(column) == len(lines) for column in texts.values())


# --- with the members that run a model, by small ones

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
