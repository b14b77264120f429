"""Recipes: TOML files that name several augmentations with their parameters. Here they are read."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.parameters import MOST_DRAWS, several
from augment_cli.errors import UsageError, did_you_mean
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.store.files import parse_value, read_toml

FOLDER = Path(__file__).parents[1] / "recipes"
PAPERS = {"una": "paper-una", "sda": "paper-sda", "augcse": "augcse-8"}  # what a paper trains on


def summaries() -> dict[str, str]:
    """What each shipped recipe is, by name: the first sentence of the comment at its file's top."""
    recipes = {}
    for path in sorted(FOLDER.glob("*.toml")):
        lines = itertools.takewhile(lambda line: line.startswith("# "), path.read_text("utf-8").splitlines())
        comment = " ".join(line.removeprefix("# ") for line in lines)
        recipes[path.stem] = re.split(r"(?<=\.) (?=[A-Z[])", comment)[0]
    return recipes


@dataclass(frozen=True)
class RecipeRun:
    """One line of a recipe: an augmentation, the folder of its result, and how many draws."""

    run: AugmentationRun
    stage: str
    draws: int


def shipped() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def of_paper(recipe: str) -> str:
    """The recipe that makes what a method's own paper trains on."""
    if recipe not in PAPERS:
        raise UsageError(f"--paper: {recipe} is none of {', '.join(PAPERS)}; name one, or leave --paper out")
    return PAPERS[recipe]


def load(recipe: str, changes: Sequence[str] = ()) -> list[RecipeRun]:
    """Read a recipe by its name or file, and apply changes: `STAGE.KEY=VALUE`, the value as in TOML."""
    path, content = _read(recipe)
    tables = content.get("run")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: has no [[run]] tables; {FOLDER / 'default.toml'} shows the form")
    if unknown := sorted(content.keys() - {"run", "parse", "least_changed"}):
        raise UsageError(
            f"{path}: {unknown[0]!r} is neither [[run]] nor [parse] nor least_changed; remove it"
        )
    stages: dict[str, dict[str, Any]] = {}
    for position, table in enumerate(tables, 1):
        if not isinstance(table.get("augmentation"), str):
            raise UsageError(f'{path}: run {position} has no `augmentation = "…"`')
        of = f"-of-{table['of']}" if "of" in table else ""
        stage = str(table.get("name", f"{table['augmentation']}{of}"))
        if stage in stages:
            raise UsageError(f"{path}: two runs write {stage!r}; give one of them another `name`")
        stages[stage] = {key: value for key, value in table.items() if key != "name"}
    changes = several(changes)
    for change in changes:
        _apply(change, stages)
    return [_run_of(path, stage, table, changes) for stage, table in stages.items()]


def pipeline_of(recipe: str) -> str | None:
    """The spaCy pipeline that a recipe names in a `[parse]` table, or None."""
    path, content = _read(recipe)
    table = content.get("parse", {})
    if not isinstance(table, dict) or table.keys() - {"pipeline"}:
        raise UsageError(f'{path}: a [parse] table has `pipeline = "NAME or FOLDER"`, and nothing else')
    pipeline = table.get("pipeline")
    if pipeline is not None and not isinstance(pipeline, str):
        raise UsageError(f"{path}: [parse]: pipeline = {pipeline!r} must be a string")
    return pipeline


def least_changed_of(recipe: str) -> float:
    """What share of the corpus a rule of a recipe has to change, or it is left out; 0 where it names none."""
    path, content = _read(recipe)
    share = content.get("least_changed", 0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UsageError(f"{path}: least_changed = {share!r} must be a share from 0 to 1")
    return float(share)


def _read(recipe: str) -> tuple[Path, dict[str, Any]]:
    path = Path(recipe) if recipe.endswith(".toml") else FOLDER / f"{recipe}.toml"
    try:
        return path, read_toml(path)
    except FileNotFoundError:
        if recipe.endswith(".toml"):
            raise UsageError(
                f"{recipe}: no such file (looked for in {Path.cwd()}); the shipped recipes are "
                f"{', '.join(shipped())}, without an ending.{did_you_mean(Path(recipe).stem, shipped())}"
            ) from None
        if recipe in augmentations.names():
            raise UsageError(
                f"{recipe}: is an augmentation and no recipe; `augment-cli {recipe}` runs it"
            ) from None
        raise UsageError(
            f"{recipe}: no such recipe; give a path ending in .toml, or one of {', '.join(shipped())}."
            f"{did_you_mean(recipe, shipped())}"
        ) from None


def _apply(change: str, stages: dict[str, dict[str, Any]]) -> None:
    target, equals, text = change.partition("=")
    stage, dot, key = target.strip().rpartition(".")
    if not equals or not dot or stage not in stages or key == "augmentation":
        raise UsageError(f"--set {change}: use STAGE.KEY=VALUE with one of the stages {', '.join(stages)}")
    if key == "name":
        raise UsageError(f"--set {change}: a run is renamed in its file; copy the recipe and edit it there")
    stages[stage][key] = parse_value(text)


def _run_of(path: Path, stage: str, table: dict[str, Any], changes: Sequence[str]) -> RecipeRun:
    """A run of a recipe; what is wrong is blamed on the change that brought it, else on the file."""
    try:
        return _checked_run(stage, table)
    except UsageError as error:
        words = re.findall(r"\w[\w-]*", str(error))
        typed = {change: change.partition("=")[0].strip().rpartition(".") for change in changes}
        blamed = [
            f"--set {change}"
            for change, (target, _, key) in typed.items()
            if target == stage and {key, key.replace("_", "-")} & set(words)
        ]
        raise UsageError(f"{' '.join(blamed) or path}: {stage}: {error}") from error


def _checked_run(stage: str, table: dict[str, Any]) -> RecipeRun:
    values = dict(table)
    name, draws = values.pop("augmentation"), values.pop("draws", 1)
    if not isinstance(draws, int) or isinstance(draws, bool) or not 1 <= draws <= MOST_DRAWS:
        raise UsageError(f"draws = {draws!r} must be a whole number from 1 to {MOST_DRAWS:,}")
    return RecipeRun(make_run(name, **values), stage, draws)
