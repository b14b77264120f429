"""What a run says: a JSON line an event (always), TensorBoard, a tracker, a progress bar on a terminal."""

from __future__ import annotations

import fcntl
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from augment_cli.errors import MixError
from augment_cli.visible import is_unicode
from train.outputs.trackers import Tracker

_LARGEST = 1e100  # of a number in the log: the axis of a picture overflows with those at the end of floats


class Log:
    """Writes `log.jsonl` and `tensorboard/` in the run's folder, and the bar or plain lines to stderr.

    Parameters
    ----------
    folder : Path
        Of the run.
    done, steps : int
        First step, and number of steps; lines of later steps, left by a run that was killed, are dropped.
    tracker : Tracker or None, optional
        Gets the same numbers.

    Raises
    ------
    MixError
        If another process has it open.
    """

    def __init__(self, folder: Path, done: int, steps: int, tracker: Tracker | None = None) -> None:
        self._tracker = tracker
        self.path = folder / "log.jsonl"
        self._file = self.path.open("a", encoding="utf-8")
        try:  # whoever writes the log is the run's only writer, until it is closed
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise MixError(
                f"{folder}: another training is writing there; wait for it to end, or choose another --out"
            ) from None
        except OSError:  # a file system without locks
            pass
        kept = [line for line in read_log(self.path) if line["step"] <= done]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        self._board = _tensorboard(folder / "tensorboard", done)
        self._terminal = sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(), console=Console(stderr=True), disable=not self._terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("training", total=steps, completed=done)
        self._bar.start()
        self._steps, self._first, self._began = steps, done, time.monotonic()

    def write(self, event: str, step: int, values: dict[str, Any]) -> None:
        """One line of `log.jsonl`, its numbers also to TensorBoard.

        Parameters
        ----------
        event : str
            Such as ``step`` or ``dev``.
        step : int
            Optimiser steps made.
        values : dict of str to Any
            What there is to say, as JSON values.
        """
        self._file.write(json.dumps({"event": event, "step": step} | values) + "\n")
        self._file.flush()
        for key, value in values.items():
            if isinstance(value, (int, float)) and self._board is not None:
                self._board.add_scalar(f"{event}/{key}", value, step)
        if self._tracker is not None:
            self._tracker.write(event, step, values)
        shown = " ".join(
            f"{key} {value:.4g}" for key, value in values.items() if isinstance(value, (int, float))
        )
        if self._terminal:
            if event == "step":
                self._bar.update(self._task, completed=step, description=shown.split(" norm")[0])
            else:
                self._bar.console.print(f"{event} at step {step}: {shown}")
        else:
            left = (time.monotonic() - self._began) / max(1, step - self._first) * (self._steps - step)
            print(
                f"{event} {step}/{self._steps} {shown} ETA {left / 60:.1f} min", file=sys.stderr, flush=True
            )

    def warn(self, step: int, message: str) -> None:
        """Something that should not be missed: a line of `log.jsonl`, and one on stderr.

        Parameters
        ----------
        step : int
            Optimiser steps made.
        message : str
            What was seen, and what can be done.
        """
        self._file.write(json.dumps({"event": "warning", "step": step, "message": message}) + "\n")
        self._file.flush()
        self._bar.console.print(
            f"warning: step {step}: {message}", markup=False, highlight=False, soft_wrap=True
        )

    def close(self) -> None:
        """End the bar and the files."""
        self._bar.stop()
        self._file.close()
        if self._board is not None:
            self._board.close()
        if self._tracker is not None:
            self._tracker.close()


class Quiet:
    """The log of every rank but the first: none."""

    def write(self, event: str, step: int, values: dict[str, Any]) -> None:
        """Say nothing."""

    def warn(self, step: int, message: str) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Nothing to end."""


def read_log(path: Path) -> list[dict[str, Any]]:
    """The events of a `log.jsonl`, up to the first line that is cut off by a crash or is no event of a run.

    Parameters
    ----------
    path : Path
        The file; it need not exist.

    Returns
    -------
    list of dict
        Each has its `event` (a text) and its `step` (a whole number). A ``warning`` has a `message`; all else
        has only numbers, a ``step`` its `rate` among them.
    """
    if not path.is_file():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):  # cut off by a crash, or damaged
            break
        if not _is_event(event):
            break
        events.append(event)
    return events


def _is_event(value: Any) -> bool:
    """Whether a JSON value is what `Log` writes, so that its readers need not look again."""
    if not isinstance(value, dict):
        return False
    event, step = value.get("event"), value.get("step")
    if not isinstance(event, str) or not isinstance(step, int) or not _is_number(step) or step < 0:
        return False
    texts = [event, *value]
    if event == "warning":
        if not isinstance(value.get("message"), str):
            return False
        texts.append(value["message"])
    elif not all(_is_number(number) for key, number in value.items() if key != "event"):
        return False
    # Halves of surrogate pairs, which JSON can name, are in no page and no card.
    return (event != "step" or "rate" in value) and all(is_unicode(text) for text in texts)


def _is_number(value: Any) -> bool:
    """Whether a value is a number that can be drawn, or infinite or undefined; true and false are none."""
    if isinstance(value, float):
        return not math.isfinite(value) or abs(value) < _LARGEST
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _tensorboard(folder: Path, done: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # the package is optional, log.jsonl holds the same numbers
        return None
    return SummaryWriter(str(folder), purge_step=done + 1 if done else None)
