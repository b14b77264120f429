"""AugCSE's named sets: what is in them, and one of them made from one parse."""

from pathlib import Path

import pytest

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.runs import recipe
from augment_cli.session import Session

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
    lines = ["The dogs do not chase the cat in Paris.", "However, an old red mill burned in 1901."] * 3
    (tmp_path / "corpus.txt").write_text("\n".join(lines) + "\n", "utf-8")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "corpus.txt"])
        folders = {
            run.stage: session.augment(run.run, run.stage) for run in recipe.load("augcse-16-no-models")
        }
        texts = {stage: session.store.read(stage)["text"].to_pylist() for stage in folders}
    assert texts["negation-removal"][0] == "The dogs chase the cat in Paris."
    assert texts["yoda"][0] is not None
    assert texts["adjective-antonym"][1] == "However, a new red mill burned in 1901."
    assert all(len(column) == len(lines) for column in texts.values())
