"""The frame that AA and DN share: the rules of a row's language, their names as a column."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Prepared, Resources
from augment_cli.contract.draws import uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.contract.rule_answer import Answer, Draw
from augment_cli.syntax.clauses import ClauseView
from augment_cli.text.edit_list import EditList

Rules = Callable[[ClauseView, np.ndarray, Draw, EditList], Answer]
COLUMNS = (pa.field("rule", pa.string()),)


_FAITHFUL_RULES = 2  # number of the rules of the mode `faithful`, which alone have changed


def settings_of_mode(parameters: Any, resources: Resources) -> dict[str, Any]:
    """The settings of AA and DN: the mode `paper` goes by its earlier name, so that its stages are reused."""
    settings = dataclasses.asdict(parameters)
    if parameters.mode == "faithful":
        return settings | {"rules": _FAITHFUL_RULES}
    return settings | ({"mode": "recommended"} if parameters.mode == "paper" else {})


def by_rules(key: int, rules: Mapping[str, Rules]) -> Prepared:
    """An augmentation that is one rule or set of rules for each language; see `outcome_of_rules`."""
    return lambda rows: outcome_of_rules(rows, key, rules)


def outcome_of_rules(rows: Rows, key: int, rules: Mapping[str, Rules]) -> Outcome:
    """Apply the rules of each language to its rows that have a root."""
    if rows.parses is None:
        raise ValueError("a rule on parses needs the parses of its rows")
    count = len(rows)
    names, reasons = np.full(count, None, object), np.full(count, Reason.NO_TOKEN, object)
    edits = EditList()
    if len(rows.parses.starts):
        view = ClauseView.of(rows.parses)
        has_root = view.roots >= 0
        reasons[(np.diff(rows.parses.offsets) > 0) & ~has_root] = Reason.NO_FINITE_VERB

        reasons[has_root] = Reason.NO_RULE_APPLIES  # in a language without rules

        def draw(counter: int) -> np.ndarray:
            return uniform(key, rows.row_ids, np.full(count, counter))

        for language, mine in view.by_language:
            chosen = np.flatnonzero(has_root & mine)
            if len(chosen) and language.code in rules:
                answer = rules[language.code](view, chosen, draw, edits)
                names[chosen], reasons[chosen] = answer.rules[chosen], answer.reasons[chosen]
    return Outcome(edits.edits(), reasons, {"rule": pa.array(names, pa.string())})
