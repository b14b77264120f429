"""Files of results with a JSON line each, which a stopped benchmark goes on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; none where it is not there yet."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def add_line(path: Path, lines: list[dict[str, Any]], line: dict[str, Any]) -> None:
    """Add a line to those that were read and to the file, and print it."""
    lines.append(line)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)
