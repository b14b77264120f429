"""The columns of an objective: which stages they are read from, and their token ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augment_cli.store.store import Store
from train.data.tokens import cache_tokens, stage_draws
from train.machine.distributed import Ranks
from train.objectives.contrastive import ContrastiveObjective
from train.objectives.masked_language import MaskedObjective

Objective = ContrastiveObjective | MaskedObjective


def column_draws(objective: Objective, store: Store) -> dict[str, list[str]]:
    """The stages that each column of an objective is read from: epoch e reads draw e mod K of its K draws.

    Parameters
    ----------
    objective : Objective
        Says which columns it wants, and of which only the first draw.
    store : Store
        Where the stages are.

    Raises
    ------
    UsageError
        If a stage is missing; the message says how to make it.
    """
    return {
        name: stage_draws(store, name)[: 1 if name in objective.once else None] for name in objective.columns
    }


def open_columns(
    path: Path, objective: Objective, tokenizer: Any, ranks: Ranks
) -> tuple[Store, dict[str, list[str]]]:
    """Open a store and the token-id stages of an objective's columns, tokenising first what is not yet.

    Parameters
    ----------
    path : Path
        The store's folder.
    objective : Objective
        Says which columns it wants.
    tokenizer : transformers.PreTrainedTokenizerFast
        The encoder's.
    ranks : Ranks
        This process among all; the first one tokenises.

    Returns
    -------
    Store
        Opened after every column was tokenised.
    dict of str to list of str
        Column to the token stages of its draws, as `train.data.reader.Reader` wants them.
    """

    def token_stages(store: Store) -> dict[str, list[str]]:
        return {
            name: [cache_tokens(store, draw, tokenizer) for draw in draws]
            for name, draws in column_draws(objective, store).items()
        }

    if ranks.is_first:
        token_stages(Store.open(path))
    ranks.barrier()
    store = Store.open(path)
    return store, token_stages(store)
