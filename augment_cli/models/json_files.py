"""JSON that came with a model: read whatever it holds, and refused in a line where it cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError

_NO_FILE = object()
_LARGEST = 2**28  # bytes; the largest vocabularies take a tenth of it


def read_json(path: Path, default: Any = None) -> Any:
    """A JSON file's value, or `default` where there is no such file."""
    if not path.is_file():
        return default
    if path.stat().st_size > _LARGEST:
        raise BadInputError(
            f"{path} has {path.stat().st_size:,} bytes, too many for JSON; do not use this model"
        )
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of 5,000 digits
        raise BadInputError(
            f"{path} is not readable JSON ({error}); fetch or export the model again"
        ) from error


class JsonFiles:
    """A model folder's JSON, each file read once: made where a model is loaded, and passed down."""

    def __init__(self) -> None:
        self._read: dict[Path, Any] = {}

    def value(self, path: Path, default: Any = None) -> Any:
        """What `read_json` gives."""
        if path not in self._read:
            self._read[path] = read_json(path, _NO_FILE)
        value = self._read[path]
        return default if value is _NO_FILE else value

    def settings(self, path: Path) -> dict[str, Any]:
        """A JSON file's object; empty where there is no such file."""
        value = self.value(path, {})
        if not isinstance(value, dict):
            raise BadInputError(
                f"{path} holds a {type(value).__name__}, not settings by name; fetch or export the model "
                "again"
            )
        return value

    def forget(self, path: Path) -> None:
        """Let go of a file that is large, and read no more."""
        self._read.pop(path, None)
