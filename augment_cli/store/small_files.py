"""Small files that a person names (recipes, word lists, judgements): read to an end that is sure to come."""

from __future__ import annotations

import errno
import tomllib
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.store.files import refuse_special

MOST_BYTES = 64_000_000
_MOST_LEVELS = 100  # of tables and lists in each other; Python's own limit depends on who calls
_INTEGER_BITS = 64  # what TOML promises; a longer number can be neither printed nor made a float
_SHOWN_CHARACTERS = 60


def read_small_file(path: Path) -> bytes:
    """The bytes of a file that is small by its nature."""
    refuse_special(path)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        reason = f"it has more than {MOST_BYTES // 1_000_000} MB, which no such file has"
        raise OSError(errno.EINVAL, reason, str(path))
    return data


def read_small_text(path: Path) -> str:
    """The same as text, which is UTF-8; line ends become newlines."""
    return read_small_file(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path) -> dict[str, Any]:
    """A recipe, or whatever else is written in TOML."""
    try:
        return _parsed(read_small_text(path))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}; correct the file, or name another") from error


def parse_value(text: str) -> Any:
    """The value of a `--set`, in TOML's notation; what is none is a text, so that a word needs no quotes."""
    try:
        return _parsed(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
    except ValueError as error:
        cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        raise UsageError(f"--set: the value {cut} cannot be used: {error}; give a shorter one") from error


def _parsed(text: str) -> dict[str, Any]:
    """Tables of TOML."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise ValueError(f"more than {_MOST_LEVELS} lists or tables lie in each other") from None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise ValueError(f"a number has more than {_INTEGER_BITS} bits") from None
    level: list[Any] = [tables]
    for _ in range(_MOST_LEVELS):
        if any(isinstance(value, int) and value.bit_length() > _INTEGER_BITS for value in level):
            raise ValueError(f"a number has more than {_INTEGER_BITS} bits")
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise ValueError(f"more than {_MOST_LEVELS} lists or tables lie in each other")
    return tables


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
