"""A unit: one row with one seed, the settings it comes from, and the digest that names it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MissingError, UsageError
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import find_folder
from augment_cli.store.files import sha256_of_json
from benchmarks.reproduce.entries import Bed, Profile, Row
from benchmarks.reproduce.grid import Grid
from benchmarks.reproduce.results import TRAINING
from benchmarks.result_lines import read_lines
from train import components
from train.additions import make_views
from train.data.texts import CORPUS, SELF
from train.loading import load_recipe
from train.recipe import RENAMED, RENAMED_LOSSES, Recipe

# Settings that change no number. How often it is evaluated does: it decides which encoder is the best.
_NAMELESS = ("name", "description", "threads", "workers", "log_every", "checkpoint_every", "keep", "compile")
# Settings younger than the first results: while they have the value that changes nothing, they do not count.
# `labels` was not there to be chosen: every stage stood where its paper puts it.
_LATER = {"negative_scope": "all", "labels": "kind"}
# Recipes whose `negative_layout` was "columns" in their file, whatever a row then set.
_SAID_COLUMNS = ("uda-una",)
MOST_COUNTED = 100_000  # texts whose tokens are counted, the first ones: a random sample, as the files are


@dataclass(frozen=True)
class Unit:
    """One training (or none) and what is scored after it."""

    row: Row
    seed: int
    recipe: Recipe | None  # with all settings; None for an encoder that is not trained
    key: str  # first 12 digits of the SHA-256 of recipe, pooling, precision of scoring, seed and encoder
    stages: tuple[str, ...]  # stages of the store it reads, the corpus first; none where nothing is trained
    # names of the evaluations it should have, the training first where there is one
    evaluations: tuple[str, ...]
    common: tuple[str, ...]  # those of them that are not for some rows alone
    # names of further rows that come to the same settings, such as a sweep's point that the row itself is
    same: tuple[str, ...] = ()
    encoder: str = ""  # digest of the encoder it starts from

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.row.name}-{self.seed}-{self.key}"


def make_units(
    grid: Grid, profile: Profile, rows: Iterable[Row], seeds: Sequence[int] = (), encoder: str = ""
) -> list[Unit]:
    """The units of rows, in the order in which they are run."""
    digest = encoder or encoder_digest(profile, grid.beds.get(profile.name))
    chosen = tuple(seeds) or profile.seeds
    tiers: dict[tuple[int, int], list[Unit]] = {}
    places: dict[str, tuple[tuple[int, int], int]] = {}
    for row in rows:
        primary = profile.other_seeds and (row.name in grid.primary_rows or not row.recipe)
        tier = -1 if primary else 2 if row.sweep else int(not row.first)
        every = seeds or primary or row.all_seeds or not profile.other_seeds
        most = len(chosen) if every else profile.other_seeds
        most = min(most, profile.sweep_seeds) if row.sweep and not seeds else most
        of_row = chosen[: most if row.has_seed else 1]
        if row.name in profile.seeds_of and not seeds:
            of_row = tuple(profile.seeds_of[row.name])
        for number, seed in enumerate(of_row):
            unit = make_unit(grid, profile, row, seed, digest, main=number == 0)
            if unit.key in places:
                tier_of, place = places[unit.key]
                first = tiers[tier_of][place]
                tiers[tier_of][place] = dataclasses.replace(first, same=(*first.same, row.name))
                continue
            of_tier = tiers.setdefault((tier, number), [])
            places[unit.key] = (tier, number), len(of_tier)
            of_tier.append(unit)
    return [unit for place in sorted(tiers) for unit in tiers[place]]


# Encoders whose folder has changed since results were recorded, and with it the digest, but nothing that they
# answer: config.json of the shipped one names fp32 now, which this project always loaded it as.
_AS_RECORDED = {
    "e88ad7ac5dc8fb8aff907e8ed438fb8d5ba4f2e10b8a8e47988a019b618c0b71": (
        "7d3d3b40b59b9b580c249d5687721f0d5636c2046925f7a2941ac58b0e1f61ed"
    )
}


def make_unit(grid: Grid, profile: Profile, row: Row, seed: int, encoder: str, *, main: bool = True) -> Unit:
    """One unit; `main` adds the evaluations that only the first seed of some rows has."""
    recipe = None
    if row.recipe:
        changes = [*grid.changes(row, profile), f"seed={seed if row.has_seed else 0}"]
        recipe = load_recipe(row.recipe, ["labels=kind", *changes])  # the grid repeats papers
    settings: dict[str, Any] = {"encoder": encoder, "scored": profile.score_precision, "output": row.output}
    if recipe is None:
        settings["pooling"] = row.pooling or profile.pooling
        if row.encoder:
            settings["encoder"] = model_digest(find_folder(row.encoder, False, "encoder")[0])
        if counts_tokens(settings["pooling"]):
            most = MOST_COUNTED if profile.terms else min(MOST_COUNTED, profile.rows or MOST_COUNTED)
            settings["counted"] = [list(profile.terms or profile.corpus), most]
    else:
        settings["recipe"] = {
            key: value
            for key, value in _as_recorded(recipe).items()
            if key not in _NAMELESS and not (key in _LATER and value == _LATER[key])
        }
        if profile.from_step_0:
            settings["candidates"] = "from step 0"
    common = [TRAINING] if recipe else []
    common += [name for name, evaluation in grid.evaluations.items() if not evaluation.rows]
    more = [name for name, evaluation in grid.evaluations.items() if main and row.name in evaluation.rows]
    key = sha256_of_json(settings)[:12]
    start = settings["encoder"]
    return Unit(row, seed, recipe, key, stages_of(recipe), (*common, *more), tuple(common), encoder=start)


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


def encoder_digest(profile: Profile, bed: Bed | None = None) -> str:
    """Digest of the profile's encoder; of a bed that has not been made here, the recorded one."""
    folder = Path(profile.encoder)
    if bed is not None and not folder.is_dir():
        if bed.digest:
            return bed.digest
        raise MissingError(f"{folder} is not there; make it with `make bed PROFILE={profile.name}`")
    digest = model_digest(folder) if folder.is_dir() else str(load_encoder(profile.encoder).digest)
    return _AS_RECORDED.get(digest, digest)


def check_bed(beds: Mapping[str, Bed], name: str, folder: Path, results: Path) -> None:
    """Refuse to add to results where this machine's encoder is neither the recorded one nor theirs."""
    bed = beds.get(name)
    if bed is None or not bed.digest or not folder.is_dir() or not results.is_file():
        return
    digest = model_digest(folder)
    if digest in {bed.digest, *(line["made"].get("encoder") for line in read_lines(results))}:
        return
    same = [other for other, item in beds.items() if item.digest == digest]
    advice = (
        f"PROFILE={' or '.join(same)} has results from it"
        if same
        else ("REPRODUCE_ARGS='--results FOLDER --pages FOLDER' keeps yours apart")
    )
    raise UsageError(
        f"{folder}: another bed ({digest[:12]}…) than the one of {results} ({bed.digest[:12]}…), since "
        f"another processor or other libraries round differently; {advice}"
    )
