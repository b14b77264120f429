"""Pictures of a run: loss, learning rate and dev score over the steps, as PNG and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.errors import MissingError
from eval.contract.arguments import call
from train.extras.run_page import as_page, best_step, curves_of, losses_of
from train.outputs.log import read_log


def plot(run: Path) -> Path:
    """Draw `run.png` and `run.html` in a run's folder from its `log.jsonl`; the path of the first."""
    if not (run / "log.jsonl").is_file():
        raise MissingError(f"{run}: no log.jsonl; name the folder of a run, its --out")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    events = read_log(run / "log.jsonl")
    steps = [event for event in events if event["event"] == "step"]
    scores = [event for event in events if event["event"] in ("before", "dev")]
    names = curves_of(scores)
    figure = Figure(figsize=(7, 2 * (2 + len(names))), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2 + len(names), 1, sharex=True)
    for key in losses_of(steps):
        known = [event for event in steps if key in event]
        panels[0].plot([e["step"] for e in known], [e[key] for e in known], label=key)
    panels[0].set_ylabel("loss (nats)")
    if panels[0].lines:
        panels[0].legend()
    panels[1].plot([e["step"] for e in steps], [e["learning_rate"] for e in steps])
    panels[1].set_ylabel("learning rate")
    for panel, key in zip(panels[2:], names, strict=True):  # each with an axis of its own
        known = [event for event in scores if isinstance(event.get(key), int | float)]
        panel.plot([e["step"] for e in known], [e[key] for e in known], marker="o")
        if (best := best_step(scores)) is not None:
            panel.axvline(best, linestyle=":", color="grey")
        panel.set_ylabel(key)
    panels[-1].set_xlabel("optimiser step")
    figure.savefig(run / "run.png", dpi=110)
    (run / "run.html").write_text(as_page(run.resolve().name, events), encoding="utf-8")
    return run / "run.png"


def main(arguments: list[str]) -> None:
    """Draw a run, and say where."""
    call(_draw, "python -m train plot", arguments)


def _draw(run: Annotated[Path, typer.Argument(help="folder of the run")]) -> None:
    """Draw loss, learning rate and dev score of a run, as a picture and as a page."""
    picture = plot(run)
    print(f"{picture}\n{picture.with_suffix('.html')}")
