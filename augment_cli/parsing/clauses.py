"""How many clauses texts have, by the pipeline that parsed the store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from augment_cli.errors import MissingError
from augment_cli.parsing.pipelines import find_again, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.store.store import Store
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import PARSES_STAGE, ParseRows
from augment_cli.syntax.tree import Role, any_of
from augment_cli.text.spans import CodePoints

_SUBJECTS = (Role.SUBJECT, Role.CLAUSAL_SUBJECT, Role.EXPLETIVE)


def count_clauses(store: Store, texts: Sequence[str]) -> np.ndarray | None:
    """Clauses with a subject of each text, int64 (n,)."""
    # None where the store has no parses, or their pipeline is not on this machine.
    if not store.has(PARSES_STAGE):
        return None
    try:
        nlp = load_pipeline(find_again(store.stage(PARSES_STAGE).settings))
    except MissingError:
        return None
    strings = pa.array(texts, pa.string())
    view = ClauseView.of(ParseRows.from_table(parse_texts(nlp, strings), CodePoints.of(strings)))
    heads = np.unique(view.parents[any_of(view.roles, _SUBJECTS)])
    return np.bincount(view.rows[heads], minlength=len(texts))
