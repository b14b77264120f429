"""What adaptation reads and its store lacks: texts, the starting encoder's vectors, and a teacher's."""

from __future__ import annotations

import functools
import itertools
import sys
from pathlib import Path
from typing import Any

from augment_cli import api, augmentations
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.places import CHECKOUT, STATIC, shipped
from augment_cli.store.store import Store
from augment_cli.vectors.embed_parameters import find_encoder, is_static_model
from augment_cli.vectors.stages import vectors_name
from train.data.texts import CORPUS, SELF
from train.data.tokens import stage_draws
from train.recipe import Recipe

RECIPES = ("adapt", "adapt-contrastive")  # recipes whose columns are made
START = "start"  # the set of vectors that the starting encoder makes
COMBINED = "combined"  # the set that is combined from it and from other encoders'
MINED = {"mined-tfidf": "tfidf", "mined-vectors": "vectors"}
# Both also teach beside the starting encoder: one that sees context, and a table of words.
SHORT = {"minilm": MINILM_PACKAGE, "static": STATIC}
_MUCH = 3.0  # kept of the start beside what is smoothed: with more, an encoder learned nothing that helped
# Of mined negatives: the nearest few are often the same question in other words.
_MINED: dict[str, Any] = {"range_min": 5, "range_max": 50, "relative_margin": 0.05}


def encoder_name(name: str) -> str:
    """The encoder that a short name stands for; any other name, and a folder of that name, is itself."""
    return name if Path(name).exists() else shipped(SHORT.get(name, name))


def teachers(encoder: str, allow_download: bool = False) -> dict[str, tuple[str, float]]:
    """Encoders with their weights, by the names of their vectors: the starting one, and who helps it."""
    # A table of words counts half: alone it knows less than an encoder that sees context.
    start = find_encoder(encoder, allow_download)
    is_static = is_static_model(start)
    chosen = {START: (encoder, 0.5 if is_static else 1.0)}
    words = str(CHECKOUT / STATIC), "static", 0.5
    helper, name, weight = (MINILM_PACKAGE, "minilm", 1.0) if is_static else words
    try:
        find_encoder(helper)
    except MissingError:
        return chosen
    return chosen | {name: (helper, weight)}


def text_columns(recipe: Recipe) -> list[str]:
    """Stages of texts that a recipe reads: positives, negatives, those of `[agreement]`."""
    other = recipe.additions.get("agreement", {}).get("stage", SELF)
    names = dict.fromkeys((*recipe.positives, *recipe.negatives, other))
    return [stage for stage in names if stage not in (SELF, CORPUS)]


def vector_columns(recipe: Recipe) -> list[str]:
    """Stages whose vectors are read from the set `START` by additions or by mining, the corpus first."""
    from train.additions import find  # loads torch
    from train.methods.adapt.base_teacher import TeacherAddition

    texts = (*recipe.positives, *recipe.negatives)
    reads = [find(name) for name, table in recipe.additions.items() if table.get("vectors") == START]
    others = [kind.columns_of(recipe) for kind in reads if issubclass(kind, TeacherAddition)]
    stages = sorted(itertools.chain(*others), key=[*texts, *itertools.chain(*others)].index)
    first = [CORPUS] if reads or "mined-vectors" in texts else []
    return [stage for stage in dict.fromkeys((*first, *stages)) if stage != SELF]


def has_teacher(recipe: Recipe) -> bool:
    """Whether an addition reads the set `COMBINED`, which is made here."""
    return any(table.get("vectors") == COMBINED for table in recipe.additions.values())


def missing(recipe: Recipe, store: Store) -> list[str]:
    """Stages that a recipe reads and that are unfinished or not there, in the order they are made in."""
    vectors = vector_columns(recipe)
    names = [stage for stage in text_columns(recipe) if not store.has(stage)]
    for stage in vectors:
        draws = stage_draws(store, stage) if store.has(stage) and stage != CORPUS else [stage]
        names += [vectors_name(draw, START) for draw in draws if not store.has(vectors_name(draw, START))]
    if has_teacher(recipe) and not store.has(vectors_name(name=COMBINED)):
        names.append(vectors_name(name=COMBINED))
    return names


def make_columns(
    recipe: Recipe, path: Path, encoder: str, allow_download: bool = False, jobs: int | None = None
) -> list[str]:
    """Make what a recipe reads and the store lacks, with each augmentation's own defaults."""
    # Vectors that are there are checked against the encoder, and refused if another made them.
    made = missing(recipe, Store.open(path))
    texts = [name for name in made if name in text_columns(recipe)]
    for stage in texts:
        if stage not in MINED and stage not in augmentations.names():
            raise UsageError(
                f"{path}: has no stage {stage!r}, and no augmentation of that name could make it; "
                "name others with --set positives=synonym,crop"
            )
    if made:
        print(f"{path}: making {', '.join(made)} first", file=sys.stderr)
    # In threads: the libraries are loaded here, and a small corpus is encoded before a process has started.
    embed = functools.partial(api.embed, path, jobs=jobs, backend="threading", allow_download=allow_download)
    if has_teacher(recipe):
        chosen = teachers(encoder, allow_download)
        for name, (model, _) in chosen.items():
            embed(CORPUS, name=name, model=model)
        weights = ",".join(f"{weight:g}" for _, weight in chosen.values())
        api.combine(path, list(chosen), name=COMBINED, jobs=jobs, weights=weights)
    wanted = vector_columns(recipe)
    embed = functools.partial(embed, name=START, model=encoder)
    if wanted:  # the corpus first, as mining reads it
        embed(CORPUS)
    for stage in texts:
        if stage in MINED:
            api.mine(path, by=MINED[stage], stage=stage, vectors=START, jobs=jobs, **_MINED)
        else:
            api.run(stage, path, jobs=jobs)
    store = Store.open(path)
    for stage in wanted[1:]:
        for draw in stage_draws(store, stage):
            embed(draw)
    return made


def untrained(recipe: Recipe, store: Store) -> str:
    """Why nothing is to be learned from the teacher that was made; empty where something is."""
    part = store.stage(vectors_name(name=COMBINED)).parts[0] if has_teacher(recipe) else None
    kept = part.statistics["keep_percent"] / 100 if part else 0.0
    if kept <= _MUCH:
        return ""
    return (
        f"the texts' words do not confirm the groups that the encoder sees (combine --keep {kept:g}); next: "
        "give texts of one domain, or combine --keep 0 --name mine, and train with --set teacher.vectors=mine"
    )
