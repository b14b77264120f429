"""Vectors of what a store holds, and what is done with them: scores, mined negatives, the packed table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli.api.shared import options_of, refuse_unknown, session_of
from augment_cli.contract.combine_parameters import CombineParameters
from augment_cli.contract.embed_parameters import EmbedParameters
from augment_cli.contract.mine_parameters import MineParameters
from augment_cli.contract.pack_options import PackOptions
from augment_cli.contract.parameters import several, takes
from augment_cli.engine.engine import Engine
from augment_cli.pack import PACK_STAGE, choose
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.score import COLUMNS, ScoreOptions


@takes(EmbedParameters)
def embed(
    store: str | Path = "store",
    stage: str = "corpus",
    *,
    name: str | None = None,
    jobs: int | None = None,
    backend: str = "loky",
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Make sentence vectors of a stage's texts (`augment-cli embed`).

    Parameters
    ----------
    store : path
    stage : str
        Whose texts: the corpus, an augmentation, mined negatives.
    name : str, optional
        For vectors beside the first; their stage is `vectors-NAME` or `vectors-NAME-STAGE`.
    jobs : int, optional
        Workers; one for each core by default.
    backend : {"loky", "threading"}
        Workers are processes, or threads of this one: they start at once, and share one model.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **parameters
        As in `EmbedParameters`.

    Returns
    -------
    Store
        `augment_cli.vectors.stages.VectorStage.open(store, stage)` reads them as arrays.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.embed("store", model="words.txt").stage("vectors").rows
    6
    """
    chosen = options_of(EmbedParameters, parameters, "embed")
    with session_of(store, jobs, overwrite, backend) as session:
        session.ingest()
        session.embed(stage, chosen, name)
        return session.store


@takes(CombineParameters)
def combine(
    store: str | Path,
    sets: Sequence[str],
    *,
    name: str = "combined",
    jobs: int | None = None,
    **parameters: Any,
) -> Store:
    """Combine sets of vectors of the corpus to one, smoothed over neighbours (`augment-cli combine`).

    Parameters
    ----------
    store : path
    sets : sequence of str
        As `embed(name=)` called them; "" for the set without a name.
    name : str
        Of the set that comes out; its stage is `vectors-NAME`.
    jobs : int, optional
        Worker processes of the TF-IDF fit where it is missing; one for each core by default.
    **parameters
        As in `CombineParameters`.

    Examples
    --------
    >>> import augment_cli
    >>> store = augment_cli.embed("store", model="words.txt")
    >>> augment_cli.combine("store", [""], name="smooth", neighbours=2).stage("vectors-smooth").rows
    6
    """
    chosen = options_of(CombineParameters, parameters, "combine")
    with Session(Store.open(store).path, Engine.for_this_machine(jobs)) as session:
        session.combine(several(sets), name, chosen)
        return session.store


@takes(EmbedParameters)
def score(
    store: str | Path = "store",
    stage: str = "una",
    *,
    columns: Sequence[str] = COLUMNS,
    nli: str = "",
    acceptability: str = "",
    cross_encoder: str = "",
    judge: str = "",
    vectors: str | None = None,
    fit: str | None = None,
    name: str | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Score a stage's texts, and before it make what is missing (`augment-cli score`).

    Parameters
    ----------
    store : path
    stage : str
    columns : sequence of str
        Which of `augment_cli.vectors.score.COLUMNS`.
    nli, acceptability, cross_encoder : str
        Folders of classifiers and of a cross-encoder, for further columns.
    judge : str
        A stage that `read_answers` made of a judge's answers, for further columns.
    vectors, fit : str, optional
        Which vectors or which fit to read, where there are several.
    name : str, optional
        For scores beside the first.
    jobs : int, optional
        Worker processes; one for each core by default.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **parameters
        Of the encoder, where vectors are missing; as in `EmbedParameters`.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.score("store", "una", columns=["length_ratio"]).frame("scores-una").columns
    ['row_id', 'length_ratio']
    """
    options = ScoreOptions(several(columns), nli, acceptability, vectors, fit, cross_encoder, judge)
    encoder = options_of(EmbedParameters, parameters, "score")
    with session_of(Store.open(store).path, jobs, overwrite) as session:
        session.score(stage, options, name, encoder)
        return session.store


@takes(MineParameters)
def mine(
    store: str | Path = "store",
    *,
    stage: str | None = None,
    model: str | None = None,
    vectors: str | None = None,
    fit: str | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Mine hard negatives from a store's corpus, and before it make what is missing (`augment-cli mine`).

    Parameters
    ----------
    store : path
    stage : str, optional
        Folder of the result; `mined-tfidf` or `mined-vectors` by default.
    model : str, optional
        The encoder, where vectors are missing.
    vectors, fit : str, optional
        Which vectors or which fit to read, where there are several.
    jobs : int, optional
        Worker processes; one for each core by default.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **parameters
        As in `MineParameters`.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.mine("store", max_df=1).stage("mined-tfidf").rows
    6
    """
    chosen = options_of(MineParameters, parameters, "mine")
    encoder = None if model is None else EmbedParameters(model=model)
    with session_of(store, jobs, overwrite) as session:
        session.ingest()
        session.mine(chosen, stage, fit, vectors, encoder)
        return session.store


@takes(PackOptions)
def pack_table(
    store: str | Path = "store",
    *,
    name: str = PACK_STAGE,
    jobs: int | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Store:
    """Make the table that sentence-transformers trains on (`augment-cli pack`).

    Parameters
    ----------
    store : path
    name : str
        Folder of the result; with a split `NAME-train` and `NAME-test`.
    jobs : int, optional
        Worker processes; one for each core by default.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **options
        As in `PackOptions`.

    Examples
    --------
    >>> import augment_cli
    >>> packed = augment_cli.pack_table("store", positives=["corpus"], negatives=["una"])
    >>> packed.frame("pack").columns
    ['anchor', 'positive', 'negative']
    """
    refuse_unknown(PackOptions, options, "pack_table")
    with session_of(Store.open(store).path, jobs, overwrite) as session:
        session.pack(choose(session.store, **options), name)
        return session.store
