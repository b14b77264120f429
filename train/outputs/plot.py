"""Pictures of a run: loss, learning rate and dev score over the steps, as PNG and as a page."""

from __future__ import annotations

from pathlib import Path

from augment_cli.errors import MissingError
from train.outputs.log import read_log
from train.outputs.run_page import as_page


def plot(run: Path) -> Path:
    """Draw `run.png` and `run.html` in a run's folder from its `log.jsonl`, and return the first one's path.

    Parameters
    ----------
    run : Path
        The run's folder.

    Raises
    ------
    MissingError
        If there is no log.
    """
    if not (run / "log.jsonl").is_file():
        raise MissingError(f"{run}: no log.jsonl; name the folder of a run, its --out")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    events = read_log(run / "log.jsonl")
    steps = [event for event in events if event["event"] == "step"]
    scores = [event for event in events if event["event"] == "dev"]
    figure = Figure(figsize=(7, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(3, 1, sharex=True)
    for key in ("loss", "mlm_loss"):
        known = [event for event in steps if key in event]
        if known:
            panels[0].plot([e["step"] for e in known], [e[key] for e in known], label=key)
    panels[0].set_ylabel("loss (nats)")
    if panels[0].lines:
        panels[0].legend()
    panels[1].plot([e["step"] for e in steps], [e["rate"] for e in steps])
    panels[1].set_ylabel("learning rate")
    for key in sorted({key for event in scores for key in event} & {"stsb_dev", "pair_retrieval"}):
        known = [event for event in scores if key in event]
        panels[2].plot([e["step"] for e in known], [e[key] for e in known], marker="o", label=key)
    panels[2].set_ylabel("dev score")
    if panels[2].lines:
        panels[2].legend()
    panels[2].set_xlabel("optimiser step")
    figure.savefig(run / "run.png", dpi=110)
    (run / "run.html").write_text(as_page(run.resolve().name, events), encoding="utf-8")
    return run / "run.png"
