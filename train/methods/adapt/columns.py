"""What adaptation reads and its store lacks: texts, the starting encoder's vectors, and a teacher's."""

import contextlib
import dataclasses
import functools
import itertools
import re
import sys
from pathlib import Path
from typing import Any

from augment_cli import api, augmentations
from augment_cli.encoding.words_apart import texts_of
from augment_cli.errors import MissingError, UsageError
from augment_cli.languages import general_sentences, unknown_language
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.places import CHECKOUT, STATIC, shipped
from augment_cli.runs.recipe import load
from augment_cli.store.store import Store
from augment_cli.vectors.stages import find_encoder, is_static_model, vectors_name
from train.data import CORPUS, SELF
from train.data.tokens import stage_draws
from train.recipe import Recipe

RECIPES = ("adapt", "adapt-contrastive", "minimal-pairs")  # recipes whose columns are made
# What the recipes call the vectors that the starting encoder makes, and those combined of it and others.
START, COMBINED = "start", "combined"
GENERAL = "random-sentence"  # of which `[agreement]` keeps what the start says
MEANING = "meaning"  # the recipe of augmentations that the training recipe `minimal-pairs` reads
MINED = {"mined-tfidf": "tfidf", "mined-vectors": "vectors"}
# Both also teach beside the starting encoder: one that sees context, and a table of words.
SHORT = {"minilm": MINILM_PACKAGE, "static": STATIC}
_LOOKED_AT = 1_000  # texts, for their language
_NAME = 30  # the most letters of an encoder's name in that of a stage
_MUCH = 3.0  # kept of the start beside what is smoothed: with more, an encoder learned nothing that helped
# Of mined negatives: the nearest few are often the same question in other words.
_MINED: dict[str, Any] = {"range_min": 5, "range_max": 50, "relative_margin": 0.05}


def encoder_name(name: str) -> str:
    """The encoder that a short name stands for; any other name, and a folder of that name, is itself."""
    return name if Path(name).exists() else shipped(SHORT.get(name, name))


@functools.cache
def set_name(encoder: str, allow_download: bool = False) -> str:
    """What the vectors of an encoder are called in a store, which may hold those of several."""
    for name, known in SHORT.items():
        if encoder in (known, shipped(known), str(CHECKOUT / known)):
            return name
    model = find_encoder(encoder, allow_download)
    words = re.sub(r"[^a-z0-9]+", "-", Path(encoder).absolute().name.lower()).strip("-")[:_NAME]
    return f"{words or 'encoder'}-{model.digest[:6]}"


def named(recipe: Recipe, encoder: str, allow_download: bool = False) -> tuple[str, Recipe]:
    """The name of an encoder's vectors, and a recipe whose additions name all sets as the store does."""
    own = set_name(encoder, allow_download)
    names = {START: own, COMBINED: f"{COMBINED}-{own}"}
    additions = {
        name: {key: names.get(value, value) if key == "vectors" else value for key, value in table.items()}
        for name, table in recipe.additions.items()
    }
    return own, dataclasses.replace(recipe, additions=additions)


def teachers(encoder: str, texts: list[str], allow_download: bool = False) -> dict[str, tuple[str, float]]:
    """Encoders with their weights, by the names of their vectors: the start, and one that knows the texts."""
    # A table of words counts half: alone it knows less than an encoder that sees context.
    is_static = is_static_model(find_encoder(encoder, allow_download))
    chosen = {set_name(encoder, allow_download): (encoder, 0.5 if is_static else 1.0)}
    helper, weight = (MINILM_PACKAGE, 1.0) if is_static else (str(CHECKOUT / STATIC), 0.5)
    # In another language the encoder and its texts' terms do as well alone (benchmarks/LOG.md).
    with contextlib.suppress(MissingError):
        if not unknown_language(find_encoder(helper).path, texts):
            chosen[set_name(helper)] = helper, weight
    return chosen


def text_columns(recipe: Recipe) -> list[str]:
    """Stages of texts that a recipe reads: positives, negatives, those of `[agreement]` and `[turned]`."""
    other = recipe.additions.get("agreement", {}).get("stage", SELF)
    turned = recipe.additions.get("turned", {}).get("stages", ())
    names = dict.fromkeys((*recipe.positives, *recipe.negatives, other, *turned))
    return [stage for stage in names if stage not in (SELF, CORPUS)]


def vector_columns(recipe: Recipe, own: str) -> list[str]:
    """Stages whose vectors are read from the encoder's own set by additions or mining, the corpus first."""
    from train.additions import find  # loads torch
    from train.methods.adapt.base_teacher import TeacherAddition

    texts = (*recipe.positives, *recipe.negatives)
    reads = [find(name) for name, table in recipe.additions.items() if table.get("vectors") == own]
    others = [kind.columns_of(recipe) for kind in reads if issubclass(kind, TeacherAddition)]
    stages = sorted(itertools.chain(*others), key=[*texts, *itertools.chain(*others)].index)
    first = [CORPUS] if reads or "mined-vectors" in texts else []
    return [stage for stage in dict.fromkeys((*first, *stages)) if stage != SELF]


def has_teacher(recipe: Recipe, own: str) -> bool:
    """Whether an addition reads the combined set, which is made here."""
    return any(table.get("vectors") == f"{COMBINED}-{own}" for table in recipe.additions.values())


def missing(recipe: Recipe, store: Store, own: str) -> list[str]:
    """Stages that a named recipe reads and that are not there, in the order they are made in."""
    vectors = vector_columns(recipe, own)
    names = [stage for stage in text_columns(recipe) if not store.has(stage)]
    for stage in vectors:
        draws = stage_draws(store, stage) if store.has(stage) and stage != CORPUS else [stage]
        names += [vectors_name(draw, own) for draw in draws if not store.has(vectors_name(draw, own))]
    combined = vectors_name(name=f"{COMBINED}-{own}")
    if has_teacher(recipe, own) and not store.has(combined):
        names.append(combined)
    return names


def make_columns(
    recipe: Recipe, path: Path, encoder: str, allow_download: bool = False, jobs: int | None = None
) -> list[str]:
    """Make what a recipe reads and the store lacks, with each augmentation's own defaults."""
    own, recipe = named(recipe, encoder, allow_download)
    made = missing(recipe, Store.open(path), own)
    texts = [name for name in made if name in text_columns(recipe)]
    turning = {entry.stage: entry.run for entry in load(MEANING)}
    for stage in texts:
        if stage not in (*MINED, *turning, *augmentations.names()):
            raise UsageError(
                f"{path}: has no stage {stage!r}, and no augmentation of that name could make it; "
                "name others with --set positives=synonym,crop"
            )
    if made:
        print(f"{path}: making {', '.join(made)} first", file=sys.stderr)
    order = [*turning]  # a chain after what it reads
    texts.sort(key=lambda stage: order.index(stage) if stage in order else -1)
    # In threads: the libraries are loaded here, and a small corpus is encoded before a process has started.
    embed = functools.partial(api.embed, path, jobs=jobs, backend="threading", allow_download=allow_download)
    first = list(texts_of(Store.open(path), _LOOKED_AT))
    if has_teacher(recipe, own):
        chosen = teachers(encoder, first, allow_download)
        for name, (model, _) in chosen.items():
            embed(CORPUS, name=name, model=model)
        weights = ",".join(f"{weight:g}" for _, weight in chosen.values())
        api.combine(path, list(chosen), name=f"{COMBINED}-{own}", jobs=jobs, weights=weights)
    wanted = vector_columns(recipe, own)
    embed = functools.partial(embed, name=own, model=encoder)
    if wanted:  # the corpus first, as mining reads it
        embed(CORPUS)
    for stage in texts:
        if stage in MINED:
            api.mine(path, by=MINED[stage], stage=stage, vectors=own, jobs=jobs, **_MINED)
        elif stage in turning:
            run = turning[stage]
            api.run(run.name, path, stage=stage, jobs=jobs, of=run.of, **dataclasses.asdict(run.parameters))
        elif stage == GENERAL:
            # Not the corpus's own: what is kept about them cannot be learned (benchmarks/LOG.md).
            file = general_sentences(first)
            print(f"{path}: general sentences to keep to: the shipped {file.name}", file=sys.stderr)
            api.run(stage, path, jobs=jobs, sentences=str(file))
        else:
            api.run(stage, path, jobs=jobs)
    store = Store.open(path)
    for stage in wanted[1:]:
        for draw in stage_draws(store, stage):
            embed(draw)
    return made


def untrained(recipe: Recipe, store: Store, own: str) -> str:
    """Why nothing is to be learned from the teacher that was made; empty where something is."""
    kept = _kept(recipe, store, own)
    if kept is None or kept <= _MUCH:
        return ""
    return (
        f"the texts' words do not confirm the groups that the encoder sees (combine --keep {kept:g}); next: "
        "give texts of one domain, or combine --keep 0 --name mine, and train with --set teacher.vectors=mine"
    )


def is_confirmed(recipe: Recipe, store: Store, own: str) -> bool:
    """Whether the texts' words confirm all groups of the teacher that was made, where neighbours decide."""
    return recipe.watching.dev == "neighbours" and _kept(recipe, store, own) == 0


def _kept(recipe: Recipe, store: Store, own: str) -> float | None:
    """The weight that the start has in the teacher that was made; None where none was."""
    if not has_teacher(recipe, own):
        return None
    part = store.stage(vectors_name(name=f"{COMBINED}-{own}")).parts[0]
    return part.statistics["keep_percent"] / 100
