"""A unit: one row with one seed, its settings, the digest that names it; and its numbers on disk."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.digest import model_digest
from augment_cli.store.files import hold_lock, sha256_of_json, write_atomically
from benchmarks import read_lines
from benchmarks.reproduce.grid import Bed, Grid, Profile, Row
from train import components
from train.additions import make_views
from train.data import CORPUS, SELF
from train.loading import load_recipe
from train.recipe import RENAMED, RENAMED_LOSSES, Recipe

TRAINING = "training"  # stands for an evaluation: what the training itself reported
SCORED = "sts"  # the evaluation of the test sets
# Settings that change no number. How often it is evaluated does: it decides which encoder is the best.
_NAMELESS = ("name", "description", "threads", "workers", "log_every", "checkpoint_every", "keep", "compile")
# Settings younger than the first results: while they have the value that changes nothing, they do not count.
_LATER = {"negative_scope": "all", "labels": "kind"}
# Recipes whose `negative_layout` was "columns" in their file, whatever a row then set.
_SAID_COLUMNS = ("uda-una",)
MOST_COUNTED = 100_000  # texts whose tokens are counted, the first ones: a random sample, as the files are


@dataclass(frozen=True)
class Result:
    """The scores of one evaluation of one trained encoder."""

    row: str  # the grid's row; for the reader, as `key` and `data` decide what a result is worth
    seed: int  # the training's seed; for the reader too
    evaluation: str  # `training` or `sts`
    key: str  # digest of recipe, settings, seed and encoder, 12 hexadecimal digits
    data: dict[str, str]  # digest of each stage that was read, the corpus among them
    # numbers by name; in place of them `failed` with the reason, where a training failed
    scores: dict[str, Any]
    made: dict[str, Any]  # library versions, machine and profile; for the reader, nothing depends on them

    def agrees(self, data: dict[str, str | None]) -> bool:
        """Whether it comes from these stages; a stage that is None is not made here and cannot contradict."""
        known = {name: digest for name, digest in data.items() if digest is not None}
        return self.data.keys() == data.keys() and known.items() <= self.data.items()


class Results:
    """The results of a profile, as they are in its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[tuple[str, str], Result] = {}
        self.read()

    def read(self) -> None:
        """Read the file again."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        results = [_parse(line, f"{self.path}, line {number}") for number, line in enumerate(lines, 1)]
        self._results = {(result.key, result.evaluation): result for result in results}

    def find(self, key: str, evaluation: str, data: dict[str, str | None]) -> Result | None:
        """The result of that training and evaluation, if it is there and comes from these stages."""
        result = self._results.get((key, evaluation))
        return result if result is not None and result.agrees(data) else None

    def write(self, result: Result) -> None:
        """Add a result, or put it in the place of an older one of the same training and evaluation."""
        # What other processes wrote meanwhile stays, and a crash leaves the file as it was before or after.
        work = self.path.parent / ".work"
        with hold_lock(work / f"{self.path.name}.lock", wait=True):
            self.read()
            self._results[result.key, result.evaluation] = result
            place = attrgetter("row", "seed", "evaluation", "key")
            lines = [_line(one) for one in sorted(self._results.values(), key=place)]
            write_atomically(self.path, "".join(lines).encode(), work)


def _line(result: Result) -> str:
    """A result as a line of the file; only the order of the fields themselves is not alphabetical."""
    fields = {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in vars(result).items()
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _parse(line: str, where: str) -> Result:
    try:
        return Result(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise BadInputError(
            f"{where} is not a result ({error}); delete the line, and the next run makes the result again"
        ) from error


@dataclass(frozen=True)
class Unit:
    """One training (or none) and what is scored after it."""

    row: Row
    seed: int
    recipe: Recipe | None  # with all settings; None for an encoder that is not trained
    key: str  # first 12 digits of the SHA-256 of recipe, pooling, precision of scoring, seed and encoder
    stages: tuple[str, ...]  # stages of the store it reads, the corpus first; none where nothing is trained
    encoder: str  # digest of the encoder it starts from
    start: str  # its folder or hub name
    pooling: str = ""  # of an encoder that is not trained

    @property
    def name(self) -> str:
        return f"{self.row.name}-{self.seed}-{self.key}"

    @property
    def evaluations(self) -> tuple[str, ...]:
        """What it should have results of."""
        return (TRAINING, SCORED) if self.recipe else (SCORED,)


def make_units(
    grid: Grid, profile: Profile, rows: Sequence[Row], seeds: Sequence[int] = (), encoder: str = ""
) -> list[Unit]:
    """The units of rows, in the order in which they are run: all rows with the first seed come first."""
    starts = {row.encoder or profile.encoder for row in rows}
    digests = {start: encoder or encoder_digest(start, profile, grid.bed_of(profile)) for start in starts}
    return [
        make_unit(profile, row, seed, digests[row.encoder or profile.encoder])
        for number, seed in enumerate(seeds or profile.seeds)
        for row in rows
        if row.recipe or not number
    ]


def make_unit(profile: Profile, row: Row, seed: int, encoder: str) -> Unit:
    recipe, pooling = None, ""
    settings: dict[str, Any] = {"encoder": encoder, "scored": profile.score_precision, "output": "best"}
    if row.recipe:
        changes = [*profile.set, *row.set, *profile.of_row.get(row.name, ()), f"seed={seed}"]
        recipe = load_recipe(row.recipe, ["labels=kind", *changes])  # the grid repeats papers
        settings["recipe"] = {
            key: value
            for key, value in _as_recorded(recipe).items()
            if key not in _NAMELESS and not (key in _LATER and value == _LATER[key])
        }
        settings["candidates"] = "from step 0"
    else:
        settings["pooling"] = pooling = row.pooling or profile.pooling
        settings |= {"whiten": True} if row.whiten else {}
        if counts_tokens(pooling):
            most = MOST_COUNTED if profile.terms else min(MOST_COUNTED, profile.rows or MOST_COUNTED)
            settings["counted"] = [list(profile.terms or profile.corpus), most]
    key, start = sha256_of_json(settings)[:12], row.encoder or profile.encoder
    return Unit(row, seed, recipe, key, stages_of(recipe), encoder, start, pooling)


def _as_recorded(recipe: Recipe) -> dict[str, Any]:
    """Settings under the names that they had when the first results were recorded."""
    now, first = {new: old for old, new in RENAMED.items()}, {new: old for old, new in RENAMED_LOSSES.items()}
    values = {now.get(key, key): value for key, value in recipe.as_json().items()}
    values["loss"] = first.get(recipe.loss, recipe.loss)
    said = recipe.negatives or recipe.name in _SAID_COLUMNS
    return values | {"negative_layout": components.layout(recipe.loss) if said else "pool"}


def counts_tokens(pooling: str) -> bool:
    """Whether a pooling needs to know how often a corpus uses each token, such as `idf:mean`."""
    return ":" in pooling


def stages_of(recipe: Recipe | None) -> tuple[str, ...]:
    """Stages a recipe reads, the corpus first."""
    if recipe is None:
        return ()
    names = [CORPUS, *recipe.positives, *recipe.negatives, *recipe.only_changed]
    names += [name for views in make_views(recipe) for name in views.stages]
    return tuple(dict.fromkeys(name for name in names if name != SELF))


def encoder_digest(start: str, profile: Profile, bed: Bed | None = None) -> str:
    """Digest of an encoder; of a bed that has not been made here, the recorded one."""
    folder = Path(start)
    if bed is not None and not folder.is_dir():
        if bed.digest:
            return bed.digest
        raise MissingError(f"{folder} is not there; make it with `make bed PROFILE={profile.name}`")
    return model_digest(folder) if folder.is_dir() else str(load_encoder(start).digest)


def check_bed(bed: Bed | None, results: Path) -> None:
    """Refuse to add to results where this machine's bed is neither the recorded one nor theirs."""
    if bed is None or not bed.digest or not Path(bed.encoder).is_dir() or not results.is_file():
        return
    digest = model_digest(Path(bed.encoder))
    if digest not in {bed.digest, *(line["made"].get("encoder") for line in read_lines(results))}:
        raise UsageError(
            f"{bed.encoder}: another bed ({digest[:12]}…) than the one of {results} ({bed.digest[:12]}…), "
            "since another processor or other libraries round differently; "
            "REPRODUCE_ARGS='--results FOLDER' keeps yours apart"
        )
