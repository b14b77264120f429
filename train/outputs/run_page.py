"""A training run as a page: warnings, loss, learning rate and dev scores, each with its numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.pages import drawing, layout

_TEMPLATE = Path(__file__).with_name("run.html")
_LOSSES = ("loss", "mlm_loss")
_MOST_WARNINGS = 20


def as_page(name: str, events: Sequence[dict[str, Any]]) -> str:
    """The events of a run as one HTML file that needs no network.

    Parameters
    ----------
    name : str
        Of the run.
    events : sequence of dict
        The lines of its `log.jsonl`.
    """
    steps = [event for event in events if event["event"] == "step"]
    scored = [event for event in events if event["event"] in ("before", "dev")]
    names = list(dict.fromkeys(key for event in scored for key in event if key not in ("event", "step")))
    panels = [
        _panel("Loss (nats)", steps, _LOSSES),
        _panel("Learning rate", steps, ("rate",)),
        _panel("Dev score", scored, names),
    ]
    last = max((event["step"] for event in events), default=0)
    return layout.render(
        _TEMPLATE.read_text("utf-8"),
        f"Training run {name}",
        {
            "headline": f"{last:,} optimiser steps.",
            "warnings": [
                (event["step"], event.get("message", "")) for event in events if event["event"] == "warning"
            ][:_MOST_WARNINGS],
            "panels": [panel for panel in panels if panel["names"]],
            "scores": [_score(name, scored) for name in names],
        },
    )


def _panel(title: str, events: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """A picture of some numbers over the steps, and what it shows in words."""
    series = []
    for name in names:
        known = [event for event in events if isinstance(event.get(name), int | float)]
        if known:
            steps = np.array([event["step"] for event in known])
            series.append((name, steps, np.array([event[name] for event in known], float)))
    says = "; ".join(f"{name} from {values[0]:.4g} to {values[-1]:.4g}" for name, _, values in series)
    return {
        "title": title,
        "names": [name for name, _, _ in series],
        "picture": drawing.lines(series, f"{title}: {says}"),
        "says": f"{says}.",
    }


def _score(name: str, scored: Sequence[dict[str, Any]]) -> dict[str, str]:
    """A dev score before, at its best and at the end."""
    known = [event for event in scored if isinstance(event.get(name), int | float)]
    best = max(known, key=lambda event: float(event[name]), default=None)
    before = next((event for event in known if event["event"] == "before"), None)
    shown = {"before": before, "best": best, "last": known[-1] if known else None}
    row = {key: "–" if event is None else f"{event[name]:.4f}" for key, event in shown.items()}
    return {"name": name, "step": "–" if best is None else f"{best['step']:,}", **row}
