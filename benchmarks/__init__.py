"""Behind each figure of speed or quality: scripts, run as ``python -m benchmarks.NAME``; what they share."""

import glob
import gzip
import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_turns(
    ways: Mapping[str, Callable[[], Result]], rounds: int, clock: Callable[[], float] = time.process_time
) -> tuple[dict[str, list[float]], dict[str, Result]]:
    """Seconds of each way in each round, and its last result."""
    # In turns, so that a busy moment of the machine hits all of them.
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, Result] = {}
    for _ in range(rounds):
        for name, run in ways.items():
            began = clock()
            results[name] = run()
            seconds[name].append(clock() - began)
    return seconds, results


def ratio(base: Sequence[float], own: Sequence[float]) -> float:
    """How many times as fast as another way, the median over rounds."""
    return statistics.median(one / other for one, other in zip(base, own, strict=True))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], aligned: str = "") -> str:
    """A table; numbers stand to the right, or as `aligned` has it, a letter (l or r) for each column."""
    rule = "".join({"l": "---|", "r": "---:|"}[one] for one in aligned or "l" + "r" * (len(header) - 1))
    first, *lines = (f"| {' | '.join(cells)} |" for cells in (header, *rows))
    return "\n".join([first, f"|{rule}", *lines])


def read_sentences(pattern: str, count: int) -> Iterator[str]:
    """The first lines of gzipped text files with a sentence a line, without their line ends."""
    for path in sorted(glob.glob(pattern)):  # noqa: PTH207 (the pattern may start with any folder)
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in islice(lines, count):
                count -= 1
                yield line.rstrip("\n")


def letters(text: str) -> str:
    """What two spellings of one sentence share, since sets differ in case and spaces."""
    return "".join(filter(str.isalnum, text.casefold()))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; none where it is not there yet."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def add_line(path: Path, lines: list[dict[str, Any]], line: dict[str, Any]) -> None:
    """Add a line to those that were read and to the file, and print it."""
    lines.append(line)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)
