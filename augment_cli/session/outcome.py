"""What is to be said of a stage with hardly a text: how many, the reason, and the options that decide it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.parameters import declared
from augment_cli.contract.reasons import Reason, in_words
from augment_cli.store.manifest import Stage
from augment_cli.vectors.mine_parameters import MINED_STAGE

_FEW = 0.03  # of the rows
_MADE = ("changed", "mined", "given")  # what the statistics of a part call rows with a text


def hardly_any(stage: Stage) -> str:
    """A line on a stage of which nearly no row has a text; empty where enough have one."""
    made, reasons = 0, Counter[str]()
    for part in stage.parts.values():
        numbers = part.statistics
        made += sum(numbers.get(name, 0) for name in _MADE)
        reasons.update(numbers.get("reasons") or {key: numbers[key] for key in Reason if key in numbers})
    del reasons[Reason.BEYOND_LIMIT]  # as was asked for
    rows = made + reasons.total()
    if not reasons or made >= _FEW * rows:
        return ""
    reason, times = reasons.most_common(1)[0]
    return (
        f"{stage.name}: {made:,} of {rows:,} rows have a text; of {times:,} the reason is {str(reason)!r}, "
        f"{in_words(reason)}. {_advice(stage.settings, reason)}"
    )


def _advice(settings: dict[str, Any], reason: str) -> str:
    """Which options may change it."""
    maker, parameters = settings["stage"], settings["parameters"]
    if maker == MINED_STAGE:
        if reason == Reason.NO_CANDIDATE and parameters["by"] == "tfidf":
            return (
                f"Words in more than --max-df {parameters['max_df']:g} of the sentences do not count (1: all "
                "do); --by vectors goes by no words"
            )
        return (
            "--range-min, --range-max, --near-duplicate, --max-score, --min-score and the margins decide it"
        )
    if maker not in augmentations.names():
        return "Look at what it was read from"
    options = [f"--{item.name.replace('_', '-')}" for item in declared(augmentations.get(maker).parameters)]
    if not options:
        return "No option changes that: leave the stage out, or read other text"
    return f"{', '.join(options)} decide it, if anything does (`augment-cli {maker} --help`)"
