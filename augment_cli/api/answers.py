"""Ask a language model about a store's sentences, and read its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augment_cli.api.shared import options_of, session_of
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.parameters import takes
from augment_cli.store.store import Store


@takes(GenerateParameters)
def generate(
    store: str | Path = "store",
    *,
    name: str | None = None,
    draws: int = 1,
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Ask a language model about each sentence (`augment-cli generate`).

    Parameters
    ----------
    store : path
    name : str, optional
        For answers beside the first; their stage is `answers-TEMPLATE` without it.
    draws : int
        Ask so many times, each a stage of its own.
    overwrite : bool
        Delete answers that are there with other settings, and what was made from them.
    **parameters
        As in `GenerateParameters`.

    Raises
    ------
    IncompleteError
        If too many requests get no answer; those that came are kept.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.generate("store", model="small", endpoint="http://example.org/v1")
    Traceback (most recent call last):
        ...
    augment_cli.errors.UsageError: the endpoint http://example.org/v1: is not on this machine...
    """
    chosen = options_of(GenerateParameters, parameters, "generate")
    with session_of(Store.open(store).path, 1, overwrite) as session:
        session.generate(chosen, name, draws)
        return session.store


@takes(GenerateParameters)
def llm_paraphrase(
    store: str | Path = "store",
    *,
    faithful: bool = False,
    name: str | None = None,
    draws: int = 1,
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Ask a language model, and make texts of its answers, in one go (`augment-cli llm-paraphrase`).

    Parameters
    ----------
    store : path
    faithful : bool
        As in `ReadParameters`.
    name : str, optional
        For answers beside the first; the stages are `answers-TEMPLATE` and `llm-TEMPLATE` without it.
    draws : int
        Ask so many times, each a stage of its own.
    overwrite : bool
        Delete what is there with other settings, and what was made from it.
    **parameters
        As in `GenerateParameters`.

    Raises
    ------
    IncompleteError
        If too many requests get no answer; those that came are kept.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.llm_paraphrase("store", model="small", endpoint="http://example.org/v1")
    Traceback (most recent call last):
        ...
    augment_cli.errors.UsageError: the endpoint http://example.org/v1: is not on this machine...
    """
    chosen = options_of(GenerateParameters, parameters, "llm_paraphrase")
    with session_of(Store.open(store).path, 1, overwrite) as session:
        session.paraphrase(chosen, faithful, name, draws)
        return session.store


@takes(ReadParameters)
def read_answers(
    store: str | Path = "store",
    answers: str = "answers-paraphrase",
    *,
    name: str | None = None,
    overwrite: bool = False,
    **parameters: Any,
) -> Store:
    """Make texts of a model's answers, each with its label or a reason (`augment-cli read`).

    Parameters
    ----------
    store : path
    answers : str
        A stage that `generate` made.
    name : str, optional
        Of the stage that comes out; `llm-TEMPLATE` by default.
    overwrite : bool
        Delete the stage if it is there with other settings, and what was made from it.
    **parameters
        As in `ReadParameters`.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.read_answers("store", "corpus")
    Traceback (most recent call last):
        ...
    augment_cli.errors.UsageError: corpus: holds no answers...
    """
    chosen = options_of(ReadParameters, parameters, "read_answers")
    with session_of(Store.open(store).path, 1, overwrite) as session:
        session.read(answers, chosen, name)
        return session.store
