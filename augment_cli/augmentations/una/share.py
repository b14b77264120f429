"""β, the mean share of replaced tokens: one number, or a range over draws or over rows."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np

from augment_cli.contract.draws import uniform
from augment_cli.errors import UsageError

_NUMBER = r"(\d+(?:\.\d*)?(?:e-?\d+)?|\.\d+)"


def bounds_of(beta: str) -> tuple[float, float]:
    """`0.5` or `0.1:0.5` as the first and the last β."""
    match = re.fullmatch(rf"{_NUMBER}(?::{_NUMBER})?", str(beta).strip().lower(), re.ASCII)
    if match is None:
        raise UsageError(
            f"--beta {beta}: not a valid number; give a share such as 0.5, or a range such as 0.1:0.5"
        )
    first, last = float(match[1]), float(match[2] or match[1])
    if max(first, last) > 1:
        raise UsageError(f"--beta {beta}: must be at most 1")
    return first, last


def resolved_share(beta: str) -> float | str:
    """β as the settings of a stage have it: a number, or a range in one notation."""
    first, last = bounds_of(beta)
    return first if first == last else f"{first!r}:{last!r}"


def of_draw(parameters: Any, draw: int, draws: int) -> Any:
    """Parameters with the β of one of several draws, in equal steps from the first to the last."""
    # A single draw keeps the range, which is then spread over the rows.
    first, last = bounds_of(parameters.beta)
    if first == last or draws == 1:
        return parameters
    share = round(first + (last - first) * draw / (draws - 1), 6)
    return dataclasses.replace(parameters, beta=str(share))


def shares_of_rows(beta: str, key: int, row_ids: np.ndarray) -> np.ndarray:
    """Float64 (n,): each row's own β; uniform within a range, and the same whenever it is drawn."""
    # row_ids: ndarray of int64, shape (n,)
    first, last = bounds_of(beta)
    if first == last:
        return np.full(len(row_ids), first)
    return first + (last - first) * uniform(key, row_ids, np.zeros(len(row_ids), np.int64))
