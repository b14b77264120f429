"""Pictures of a run: loss, learning rate and dev scores, as PNG and as a page with them in words."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from augment_cli.errors import MissingError
from augment_cli.pages import drawing, layout
from train.outputs.log import read_log

_TEMPLATE = Path(__file__).with_name("run.html")
_FEWEST = 3  # scores, from which on a line says more than the table
_MOST_WARNINGS = 20


Series = list[tuple[str, np.ndarray, np.ndarray]]  # a name, steps and numbers


def as_page(name: str, events: Sequence[dict[str, Any]]) -> str:
    """The events of a run as one HTML file that needs no network."""
    scored = _of(events, "before", "dev")
    names, best = _measures(scored), _best_step(scored)
    panels = [_panel(*panel) for panel in _curves(events)] + _cosines(events, best)
    last = max((event["step"] for event in events), default=0)
    verdict = _of(events, "verdict")[-1:]
    gave_back = bool(verdict) and verdict[0]["outcome"] in ("same", "worse")
    warnings = [(event["step"], event.get("message", "")) for event in _of(events, "warning")]
    return layout.render(
        _TEMPLATE.read_text("utf-8"),
        f"Training run {name}",
        {
            "headline": f"{last:,} optimiser steps."
            + "".join(f" Verdict: {one['message']}." for one in verdict),
            "warnings": warnings[:_MOST_WARNINGS],
            "panels": panels,
            "scores": [_score(measure, scored, best) for measure in names],
            "kept": "the starting encoder" if gave_back else "its encoder",
            "best": "–" if best is None else f"{best:,}",
        },
    )


def _of(events: Sequence[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] in kinds]


def _curves(events: Sequence[dict[str, Any]]) -> list[tuple[str, Series, int | None]]:
    """What is drawn over the steps: a title, lines, and a step to mark."""
    steps, scored = _of(events, "step"), _of(events, "before", "dev")
    losses = dict.fromkeys(key for event in steps for key in event if key == "loss" or key.endswith("_loss"))
    names, best = _measures(scored), _best_step(scored)
    curves: list[tuple[str, Series, int | None]] = [
        ("Loss (nats)", _series(steps, sorted(losses, key=lambda name: name != "loss")), None),
        ("Learning rate", _series(steps, ["learning_rate"]), None),
    ]
    for name in names:  # each on an axis of its own: a rank of 285 beside a share of 1 would hide the share
        if sum(_is_number(event.get(name)) for event in scored) >= _FEWEST:
            decides = ", which decides what is best" if name == names[0] else ""
            curves.append((f"Dev score {name}{decides}", _series(scored, [name]), best))
    return [curve for curve in curves if curve[1]]


def _series(events: Sequence[dict[str, Any]], names: Sequence[str]) -> Series:
    """Some numbers over the steps, those that events have."""
    known = {name: [event for event in events if isinstance(event.get(name), int | float)] for name in names}
    return [
        (name, np.array([event["step"] for event in has]), np.array([event[name] for event in has], float))
        for name, has in known.items()
        if has
    ]


def _measures(scored: Sequence[dict[str, Any]]) -> list[str]:
    """The names of the dev scores, the deciding one first."""
    return list(dict.fromkeys(key for event in scored for key in event if key not in ("event", "step")))


def _best_step(scored: Sequence[dict[str, Any]]) -> int | None:
    """The first step with the highest value of the score that decides; it may be within noise."""
    names = _measures(scored)
    known = [event for event in scored if names and _is_number(event.get(names[0]))]
    return int(max(known, key=lambda event: float(event[names[0]]))["step"]) if known else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _panel(title: str, series: Series, best: int | None) -> dict[str, Any]:
    """A picture of some numbers over the steps, and what it shows in words."""
    says = "; ".join(f"{name} from {values[0]:.4g} to {values[-1]:.4g}" for name, _, values in series)
    says += f"; the upright line marks the best step, {best:,}" if best is not None else ""
    return {
        "title": title,
        "names": [name for name, _, _ in series],
        "picture": drawing.lines(series, f"{title}: {says}", best),
        "says": f"{says}.",
        "across": "optimiser steps",
    }


def _cosines(events: Sequence[dict[str, Any]], best: int | None) -> list[dict[str, Any]]:
    """Pictures of the cosines before and at the best step, over one axis."""
    known = {event["step"]: event for event in events if event["event"] == "cosines"}
    panels = []
    for step in sorted({0, best or 0} & known.keys()):
        kinds = {key: values for key, values in known[step].items() if isinstance(values, list)}
        series = [(key, np.array(values)[np.isfinite(values)]) for key, values in kinds.items()][:2]
        if not all(len(values) for _, values in series):
            continue
        title = f"Cosines of held-out texts {f'at the best step, {step:,}' if step else 'before'}"
        says = "; ".join(f"{name}: the middle one is {np.median(values):.2f}" for name, values in series)
        picture = drawing.histogram(series, 0.0, 1.0, 40, f"{title}: {says}")
        names, across = [name for name, _ in series], "the cosine with the text"
        panels.append(
            {"title": title, "names": names, "picture": picture, "says": f"{says}.", "across": across}
        )
    return panels


def _score(name: str, scored: Sequence[dict[str, Any]], best: int | None) -> dict[str, str]:
    """A dev score before, of the best step, which the first of them decides, and at the end."""
    known = [event for event in scored if isinstance(event.get(name), int | float)]
    of_best = next((event for event in known if event["step"] == best), None)
    before = next((event for event in known if event["event"] == "before"), None)
    shown = {"before": before, "best": of_best, "last": known[-1] if known else None}
    return {"name": name} | {
        key: "–" if event is None else f"{event[name]:.4f}" for key, event in shown.items()
    }


def plot(run: Path) -> Path:
    """Draw `run.png` and `run.html` in a run's folder from its `log.jsonl`; the path of the first."""
    if not (run / "log.jsonl").is_file():
        raise MissingError(f"{run}: no log.jsonl; name the folder of a run, its --out")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    events = read_log(run / "log.jsonl")
    curves = _curves(events)
    figure = Figure(figsize=(7, 2 * max(1, len(curves))), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(max(1, len(curves)), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (title, series, best) in zip(axes, curves, strict=False):
        for name, steps, values in series:
            panel.plot(steps, values, label=name, marker="" if best is None else "o")
        if best is not None:
            panel.axvline(best, linestyle=":", color="grey")
        panel.set_title(title, fontsize="medium")
        panel.legend()
    axes[-1].set_xlabel("optimiser step")
    figure.savefig(run / "run.png", dpi=110)
    (run / "run.html").write_text(as_page(run.resolve().name, events), encoding="utf-8")
    return run / "run.png"


def _draw(run: Annotated[Path, typer.Argument(help="folder of the run")]) -> None:
    """Draw loss, learning rate and dev score of a run, as a picture and as a page."""
    picture = plot(run)
    print(f"{picture}\n{picture.with_suffix('.html')}")


COMMANDS = {"plot": _draw}
