"""Recipes: TOML files that name several augmentations with their parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.runs.run import AugmentationRun, make_run

FOLDER = Path(__file__).parent / "recipes"


@dataclass(frozen=True)
class RecipeRun:
    """One line of a recipe: an augmentation, the folder of its result, and how many draws."""

    run: AugmentationRun
    stage: str
    draws: int


def shipped() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(recipe: str, changes: Sequence[str] = ()) -> list[RecipeRun]:
    """Read a recipe and apply `--set` changes.

    Parameters
    ----------
    recipe : str
        Name of a shipped recipe, or path of a TOML file.
    changes : sequence of str
        `STAGE.KEY=VALUE`, the value in TOML's notation; a bare word counts as a string.

    Raises
    ------
    UsageError
        Where the file or a change makes no sense, with the place.
    """
    path, content = _read(recipe)
    tables = content.get("run")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: has no [[run]] tables; {FOLDER / 'default.toml'} shows the form")
    stages: dict[str, dict[str, Any]] = {}
    for position, table in enumerate(tables, 1):
        if not isinstance(table.get("augmentation"), str):
            raise UsageError(f'{path}: run {position} has no `augmentation = "…"`')
        stage = str(table.get("name", table["augmentation"]))
        if stage in stages:
            raise UsageError(f"{path}: two runs write {stage!r}; give one of them another `name`")
        stages[stage] = {key: value for key, value in table.items() if key != "name"}
    for change in changes:
        _apply(change, stages)
    return [_run_of(path, stage, table) for stage, table in stages.items()]


def pipeline_of(recipe: str) -> str | None:
    """The spaCy pipeline that a recipe names in a `[parse]` table, or None.

    Raises
    ------
    UsageError
        Where the file or the table makes no sense.
    """
    path, content = _read(recipe)
    table = content.get("parse", {})
    if not isinstance(table, dict) or table.keys() - {"pipeline"}:
        raise UsageError(f'{path}: a [parse] table has `pipeline = "NAME or FOLDER"`, and nothing else')
    pipeline = table.get("pipeline")
    if pipeline is not None and not isinstance(pipeline, str):
        raise UsageError(f"{path}: [parse]: pipeline = {pipeline!r} must be a string")
    return pipeline


def _read(recipe: str) -> tuple[Path, dict[str, Any]]:
    path = Path(recipe) if recipe.endswith(".toml") else FOLDER / f"{recipe}.toml"
    try:
        return path, tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{recipe}: no such recipe; give a path ending in .toml, or one of {', '.join(shipped())}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path}: cannot be read as TOML ({error})") from error


def _apply(change: str, stages: dict[str, dict[str, Any]]) -> None:
    target, equals, text = change.partition("=")
    stage, dot, key = target.strip().rpartition(".")
    if not equals or not dot or stage not in stages or key == "augmentation":
        raise UsageError(f"--set {change}: use STAGE.KEY=VALUE with one of the stages {', '.join(stages)}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    stages[stage][key] = value


def _run_of(path: Path, stage: str, table: dict[str, Any]) -> RecipeRun:
    values = dict(table)
    name, draws = values.pop("augmentation"), values.pop("draws", 1)
    if not isinstance(draws, int) or isinstance(draws, bool) or draws < 1:
        raise UsageError(f"{path}: {stage}: draws = {draws!r} must be a whole number from 1")
    try:
        return RecipeRun(make_run(name, **values), stage, draws)
    except UsageError as error:
        raise UsageError(f"{path}: {stage}: {error}") from error
