"""The frame that AA and DN share: the rules of a row's language, their names as a column."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import LabelAndReason, Prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.languages import registered
from augment_cli.syntax.clauses import ClauseView
from augment_cli.text.spans import EditList

COLUMNS = (pa.field("rule", pa.string()),)


def settings_of_mode(parameters: Any, rules: int) -> dict[str, Any]:
    """The settings of AA and DN: the mode `paper` goes by its earlier name, so that its stages are reused."""
    # rules: number of the rules of the mode `faithful`, which alone have changed
    settings = dataclasses.asdict(parameters)
    if parameters.mode == "faithful":
        return settings | {"rules": rules}
    return settings | ({"mode": "recommended"} if parameters.mode == "paper" else {})


def entailment_of_mode(same: str, neither: str) -> Callable[[Mapping[str, Any]], LabelAndReason]:
    """The labels of AA and DN: the reason of the mode `faithful`, and of the others."""
    return lambda parameters: (
        ("same", same) if parameters.get("mode", "faithful") == "faithful" else ("neither", neither)
    )


def by_rules(key: int, name: str, mode: str, *arguments: Any) -> Prepared:
    """An augmentation whose rules are those that a row's language has under a name (`aa`, `dn`) and mode."""
    by_language = {code: getattr(language, name) for code, language in registered().items()}

    def run(rows: Rows) -> Outcome:
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
                if len(chosen) and mode in by_language.get(language.code, {}):
                    answer = by_language[language.code][mode](view, chosen, draw, *arguments, edits)
                    names[chosen], reasons[chosen] = answer.rules[chosen], answer.reasons[chosen]
        return Outcome(edits.edits(), reasons, {"rule": pa.array(names, pa.string())})

    return run
