"""What a run says: a JSON line an event (always), TensorBoard, a tracker, a progress bar on a terminal."""

import contextlib
import fcntl
import importlib
import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from augment_cli.errors import BadInputError, MixError, needed
from augment_cli.errors.visible import is_unicode

T = TypeVar("T")
# Events that say something in words, and under which names.
_TEXTS = {"warning": ("message",), "verdict": ("outcome", "message")}
_LARGEST = 1e100  # of a number in the log: the axis of a picture overflows with those at the end of floats


class Log:
    """Writes `log.jsonl` and `tensorboard/` in the run's folder, and the bar or plain lines to stderr."""

    # Lines of steps after `done`, left by a run that was killed, are dropped, as is an earlier verdict.

    def __init__(self, folder: Path, done: int, steps: int, tracker: Any = None) -> None:
        self._tracker = tracker
        self.path = folder / "log.jsonl"
        if self.path.is_symlink():
            raise BadInputError(
                f"{self.path}: is a link, and a run's log is a file of its own; remove the link"
            )
        self._file = self.path.open("a", encoding="utf-8")
        try:
            self._lock()
            kept = [
                line for line in read_log(self.path) if line["step"] <= done and line["event"] != "verdict"
            ]
            self._rewrite("".join(json.dumps(line) + "\n" for line in kept))
        except BaseException:
            self._file.close()
            raise
        self._board = _tensorboard(folder / "tensorboard", done)
        self._terminal = sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
            console=Console(stderr=True), disable=not self._terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("training", total=steps, completed=done)
        self._bar.start()
        self._steps = steps

    def _lock(self) -> None:
        """Whoever writes the log is the run's only writer, until it is closed."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            own = os.fstat(self._file.fileno())
            is_held = self.path.exists() and os.path.samestat(own, self.path.stat())
        except BlockingIOError:
            is_held = False
        except OSError:  # a file system without locks
            return
        if not is_held:
            raise MixError(
                f"{self.path.parent}: another training is writing there; wait for it to end, or choose "
                "another --out"
            )

    def _rewrite(self, text: str) -> None:
        """Put other lines in the log's place: a kill leaves the old ones or the new ones."""
        beside = self.path.with_name(f".{self.path.name}.writing")
        beside.unlink(missing_ok=True)  # of a run that was killed here, or a link
        file = beside.open("x", encoding="utf-8")
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            beside.replace(self.path)
        except BaseException:
            file.close()
            raise
        self._file.close()
        self._file = file

    def write(self, event: str, step: int, values: dict[str, Any], left: float | None = None) -> None:
        """One line of `log.jsonl`, its numbers also to TensorBoard; `left`: seconds to the end."""
        self._file.write(json.dumps({"event": event, "step": step} | values) + "\n")
        self._file.flush()
        numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
        for key, value in numbers.items():
            if self._board is not None:
                self._board.add_scalar(f"{event}/{key}", value, step)
        if self._tracker is not None:
            self._tracker.write(event, step, values)
        shown = " ".join(f"{key} {float(f'{value:.4g}'):g}" for key, value in numbers.items())
        eta = "" if left is None else f" ETA {left / 60:.1f} min"
        if self._terminal:
            if event == "step":
                self._bar.update(self._task, completed=step, description=shown.split(" norm")[0] + eta)
            else:
                self._bar.console.print(f"{event} at step {step}: {shown}")
        else:
            print(f"{event} {step}/{self._steps} {shown}{eta}", file=sys.stderr, flush=True)

    def draw(self, step: int, cosines: dict[str, list[float]]) -> None:
        """Percentiles of cosines, by what they are of: a line of `log.jsonl`."""
        self._file.write(json.dumps({"event": "cosines", "step": step} | cosines) + "\n")

    def warn(self, step: int, message: str) -> None:
        """Something that should not be missed: a line of `log.jsonl`, and one on stderr."""
        self._say(f"warning: step {step}: {message}", event="warning", step=step, message=message)

    def judge(self, step: int, outcome: str, message: str) -> None:
        """How the run ended: the last line of `log.jsonl`, and one on stderr."""
        self._say(f"verdict: {message}", event="verdict", step=step, outcome=outcome, message=message)

    def _say(self, line: str, **event: Any) -> None:
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()
        self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """End the bar and the files."""
        self._bar.stop()
        self._file.close()
        if self._board is not None:
            self._board.close()
        if self._tracker is not None:
            self._tracker.close()


class Tracker:
    """One run of Trackio or Weights & Biases, on this machine alone: nothing is sent anywhere."""

    def __init__(self, name: str, folder: Path, settings: dict[str, Any]) -> None:
        with needed(name, otherwise="--set tracker=none"):
            self._library = importlib.import_module(name)
        place = folder.absolute()
        offline = {"mode": "offline", "dir": str(folder)} if name == "wandb" else {}
        run_name = f"{place.parent.name}/{place.name}"
        self._library.init(project="augment-cli", name=run_name, config=settings, **offline)

    def write(self, event: str, step: int, values: dict[str, Any]) -> None:
        """The numbers of an event."""
        numbers = {
            f"{event}/{key}": value for key, value in values.items() if isinstance(value, (int, float))
        }
        if numbers:
            self._library.log(numbers, step=step)

    def close(self) -> None:
        """End the run."""
        self._library.finish()


class Quiet:
    """The log of every rank but the first: none."""

    def write(self, *event: Any) -> None:
        """Say nothing."""

    warn = judge = close = draw = write


class Speed:
    """A stopwatch of the training loop."""

    def __init__(self, rows: int) -> None:
        self._began, self._rows, self._waited = time.perf_counter(), rows, 0.0
        self._evaluation, self._since, self._made = 0.0, self._began, 0

    def waiting_for(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; the time until each is there counts as waiting."""
        asked_at = time.perf_counter()
        for item in items:
            self._waited += time.perf_counter() - asked_at
            yield item
            asked_at = time.perf_counter()
            self._made += 1
            if self._made == 1:  # what is slow the first time is not counted
                self._since = asked_at

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time within the block out."""
        before = time.perf_counter()
        yield
        self._evaluation = time.perf_counter() - before
        self._began += self._evaluation
        self._since += self._evaluation

    def left(self, steps: int, evaluations: int) -> float:
        """Seconds that some steps and evaluations will take; asked within a step."""
        each = (time.perf_counter() - self._since) / max(1, self._made)
        return each * steps + self._evaluation * evaluations

    def since_last(self, rows: int) -> dict[str, float]:
        """The speed since the last call, or since the start."""
        now = time.perf_counter()
        seconds = now - self._began
        measured = {
            "rows_per_second": round((rows - self._rows) / seconds, 1),
            "waited": round(self._waited / seconds, 5),
        }
        self._began, self._rows, self._waited = now, rows, 0.0
        return measured


def read_log(path: Path) -> list[dict[str, Any]]:
    """The events of a `log.jsonl`, up to the first line that is cut off or is no event of a run."""
    # Each has its `event` (a text) and its `step`. A ``warning`` has a `message`, a ``verdict`` an `outcome`,
    # too, and ``cosines`` have lists of numbers; all else has only numbers, a ``step`` its `learning_rate`
    # among them.
    if not path.is_file():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):  # cut off by a crash, or damaged
            break
        if isinstance(event, dict) and event.get("event") == "step" and "rate" in event:
            event["learning_rate"] = event.pop("rate")  # its name before 1.0
        if not _is_event(event):
            break
        events.append(event)
    return events


def _is_event(value: Any) -> bool:
    """Whether a JSON value is what `Log` writes, so that its readers need not look again."""
    event, step = (value.get("event"), value.get("step")) if isinstance(value, dict) else (None, None)
    if not isinstance(event, str) or not isinstance(step, int) or step < 0:
        return False
    texts = ("event", *_TEXTS.get(event, ()))
    if not value.keys() >= {*texts, *(["learning_rate"] if event == "step" else [])}:
        return False
    for key, item in value.items():
        if key in texts:
            is_fine = isinstance(item, str) and is_unicode(item)
        else:
            is_list = event == "cosines" and key != "step" and isinstance(item, list)
            is_fine = all(map(_is_number, item if is_list else [item]))
        # Halves of surrogate pairs, which JSON can name, are in no page and no card.
        if not is_fine or not is_unicode(key):
            return False
    return True


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
