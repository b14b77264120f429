"""The columns that adaptation reads and its store lacks: texts, and the starting encoder's vectors."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from augment_cli import api, augmentations
from augment_cli.errors import UsageError
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.store.store import Store
from augment_cli.vectors.stages import vectors_name
from train.data.texts import CORPUS, SELF
from train.data.tokens import stage_draws
from train.recipe import Recipe

START = "start"  # the set of vectors that the starting encoder makes
MINED = {"mined-tfidf": "tfidf", "mined-vectors": "vectors"}
SHORT = {"minilm": MINILM_PACKAGE}
# Of mined negatives: the nearest few are often the same question in other words.
_MINED: dict[str, Any] = {"range_min": 5, "range_max": 50, "relative_margin": 0.05}


def encoder_name(name: str) -> str:
    """The encoder that a short name stands for; any other name, and a folder of that name, is itself."""
    return name if Path(name).exists() else SHORT.get(name, name)


def vector_columns(recipe: Recipe) -> list[str]:
    """Stages whose vectors are read from the set `START` by additions or by mining, the corpus first."""
    tables = recipe.additions
    reads = {name for name, table in tables.items() if table.get("vectors") == START}
    stages = [CORPUS] if reads or "mined-vectors" in (*recipe.positives, *recipe.negatives) else []
    if reads - {"decay"}:
        stages += recipe.positives
    if "decay" in reads:
        stages += recipe.negatives
    return [stage for stage in dict.fromkeys(stages) if stage != SELF]


def missing(recipe: Recipe, store: Store) -> list[str]:
    """Stages that a recipe reads and that are unfinished or not there, in the order in which they are made.

    Parameters
    ----------
    recipe : Recipe
        Names positives, negatives and tables of additions.
    store : Store
        With a corpus.
    """
    texts = [stage for stage in (*recipe.positives, *recipe.negatives) if stage not in (SELF, CORPUS)]
    vectors = vector_columns(recipe)
    names = [stage for stage in dict.fromkeys(texts) if not store.has(stage)]
    for stage in vectors:
        draws = stage_draws(store, stage) if store.has(stage) and stage != CORPUS else [stage]
        names += [vectors_name(draw, START) for draw in draws if not store.has(vectors_name(draw, START))]
    return names


def make_columns(
    recipe: Recipe, path: Path, encoder: str, allow_download: bool = False, jobs: int | None = None
) -> list[str]:
    """Make what a recipe reads and the store lacks, with each augmentation's own defaults.

    Vectors of the set `START` that are there are checked against the encoder, and refused if another made
    them.

    Parameters
    ----------
    recipe : Recipe
        Names positives, negatives and tables of additions.
    path : Path
        The store's folder; it must have a corpus.
    encoder : str
        Folder or name of the encoder that the run starts from.
    allow_download : bool, optional
        Whether a hub encoder that is not on this machine may be fetched.
    jobs : int, optional
        Worker processes; one for each core by default.

    Returns
    -------
    list of str
        Stages made.

    Raises
    ------
    UserError
        If there is no corpus, a stage is no augmentation that could be made, or one cannot be made.
    """
    store = Store.open(path)
    made = missing(recipe, store)
    texts = [name for name in made if name in (*recipe.positives, *recipe.negatives)]
    for stage in texts:
        if stage not in MINED and stage not in augmentations.names():
            raise UsageError(
                f"{path}: has no stage {stage!r}, and no augmentation of that name could make it; "
                "name others with --set positives=synonym,crop"
            )
    if made:
        print(f"{path}: making {', '.join(made)} first", file=sys.stderr)
    wanted = vector_columns(recipe)
    embed = functools.partial(
        api.embed, path, name=START, jobs=jobs, model=encoder, allow_download=allow_download
    )
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
