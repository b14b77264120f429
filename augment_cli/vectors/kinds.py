"""The kinds of stages that come of comparing sentences: vectors, scores and mined negatives."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.vector_parameters import CombineParameters, EmbedParameters, MineParameters
from augment_cli.errors import UserError
from augment_cli.store.kinds import StageKind, exact_columns, not_finite, other_rows
from augment_cli.store.manifest import Stage
from augment_cli.store.refusals import options_again
from augment_cli.store.store import Store
from augment_cli.vectors import mine, score, stages
from augment_cli.vectors.stages import CORPUS_STAGE, VECTORS_STAGE, as_matrix, vectors_schema, width_of

_ROUNDED = 1.001  # a cosine of single precision
_RANGES = {
    "cosine": (-_ROUNDED, _ROUNDED),
    "nearest_cosine": (-_ROUNDED, _ROUNDED),
    "length_ratio": (0.0, np.inf),
    "edited_share": (0.0, 1.0),
    "repeated_words": (0.0, np.inf),
    "unknown_words": (0.0, np.inf),
    "cross_encoder": (-np.inf, np.inf),
}
_PROBABILITY = (0.0, _ROUNDED)  # of a classifier's label


def _check_vectors(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    schema = vectors_schema(width_of(store, stage.name))
    if problems := exact_columns(table, schema) or other_rows(store, index, table):
        return problems
    vectors, _ = as_matrix(table["vector"])
    return [] if np.isfinite(vectors).all() else ["has vectors with numbers that are not finite"]


def _check_scores(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    names = table.schema.names[1:]
    number = {"nearest_row_id": pa.int64()}
    wanted = [score.scores_schema(score.ScoreOptions(())).field("row_id")]
    wanted += [pa.field(name, number.get(name, pa.float32())) for name in names]
    if problems := exact_columns(table, wanted) or other_rows(store, index, table):
        return problems
    problems = [
        problem
        for name in names
        if name not in number
        for problem in not_finite(table, name, *_RANGES.get(name, _PROBABILITY))
    ]
    return problems + _rows_beyond(store, table, "nearest_row_id")


def _check_mined(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if problems := exact_columns(table, mine.MINED) or other_rows(store, index, table):
        return problems
    if (table["text"].is_null().to_numpy() == table["reason"].is_null().to_numpy()).any():
        return ["has rows with both a text and a reason for none, or neither"]
    problems = not_finite(table, "score", -_ROUNDED, _ROUNDED)
    problems += not_finite(table, "positive_score", -_ROUNDED, _ROUNDED)
    return problems + _rows_beyond(store, table, "other_row_id")


def _rows_beyond(store: Store, table: pa.Table, name: str) -> list[str]:
    if name not in table.schema.names:
        return []
    return not_finite(table, name, 0, store.rows - 1)


def _embedding(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    of, combined = settings["parameters"]["of"], settings["parameters"].get("combined")
    if combined is not None:
        words = ["combine", *(one or "-" for one in combined)]
        words += options_again(settings, CombineParameters(), [*vars(CombineParameters())])
        return words + _option("name", _set_of(name, of))
    words = ["embed", of] if of != CORPUS_STAGE else ["embed"]
    words += _model(settings)
    words += options_again(settings, EmbedParameters(), ("pooling", "prompt_name", "max_length", "normalize"))
    return words + _option("name", _set_of(name, of))


def _scoring(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    stored, of = settings["parameters"], settings["parameters"]["of"]
    words = ["score", of]
    words += [] if stored["columns"] == list(score.COLUMNS) else ["--columns", ",".join(stored["columns"])]
    for kind in ("nli", "acceptability", "cross_encoder", "verifier"):
        words += [f"--{kind.replace('_', '-')}", "FOLDER"] if kind in settings["resources"] else []
    words += _option("judge", stored.get("judge", ""))
    words += _read(settings, of)
    base = score.scores_name(of)
    return words + _option("name", name.removeprefix(base).removeprefix("-"))


def _mining(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    stored = settings["parameters"]
    options = [key for key in stored if hasattr(MineParameters(), key)]
    words = ["mine", *options_again(settings, MineParameters(), options)]
    seed = settings["seed"]
    words += ["--seed", str(seed)] if seed not in (None, MineParameters().seed) else []
    words += _read(settings, CORPUS_STAGE) + (["--rescore", "FOLDER"] if settings["resources"] else [])
    usual = mine.mined_names(MineParameters(by=stored["by"], negatives=stored["negatives"]), None)
    number = stored["number"]
    base = name.removesuffix(f".{number}") if number else name
    return words + ([] if name == usual[number] else _option("name", base))


def _model(settings: Mapping[str, Any]) -> list[str]:
    """The option for an encoder that is not the one that is taken without it."""
    try:
        usual = stages.find_encoder(EmbedParameters().model).digest
    except UserError:  # not installed here
        usual = ""
    return [] if settings["resources"].get("model") == usual else ["--model", "FOLDER"]


def _read(settings: Mapping[str, Any], of: str) -> list[str]:
    """The options that name vectors and a fit, where they are not the unnamed ones."""
    vectors = [stage for stage in settings["inputs"] if stage.split("-")[0] == VECTORS_STAGE]
    fits = [
        stage.partition("-")[2] for stage in settings["inputs"] if stage.split("-")[0] in ("tfidf", "terms")
    ]
    named = _set_of(vectors[0], CORPUS_STAGE) if vectors else ""
    return [*_option("vectors", named), *_option("fit", fits[0] if fits else "")]


def _set_of(stage: str, of: str) -> str:
    """The name of the set that a stage of vectors belongs to; empty for the unnamed one."""
    named = stage.removeprefix(VECTORS_STAGE)
    return (named.removesuffix(f"-{of}") if of != CORPUS_STAGE else named).removeprefix("-")


def _option(option: str, value: str) -> list[str]:
    return [f"--{option}", value] if value else []


KINDS = (
    StageKind(
        VECTORS_STAGE,
        {VECTORS_STAGE: vectors_schema(384)},
        version=lambda: stages.VERSION,
        check=_check_vectors,
        goes_by_part=lambda settings: "combined" not in settings["parameters"],
        command=_embedding,
    ),
    StageKind(
        score.SCORES_STAGE,
        {score.SCORES_STAGE: score.scores_schema(score.ScoreOptions(score.COLUMNS))},
        version=lambda: score.VERSION,
        check=_check_scores,
        has_numbers=True,
        command=_scoring,
    ),
    StageKind(
        mine.MINED_STAGE,
        {mine.MINED_STAGE: mine.MINED},
        version=lambda: mine.VERSION,
        check=_check_mined,
        has_numbers=True,
        command=_mining,
    ),
)
