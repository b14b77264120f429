"""Parameters of an augmentation: fields of a frozen dataclass that know their help text and range."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.small_files import read_small_text

MOST_DRAWS = 10_000  # of an augmentation: each is a stage of its own


def parameter(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A field of a parameter class, with what the command line and the docs say of it.

    Parameters
    ----------
    default : bool, int, float or str
        Its type is the parameter's.
    help : str
        One line.
    minimum, maximum : float, optional
        Smallest and largest value allowed.
    choices : tuple of str, optional
        The only values allowed.
    """
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices}
    return field(default=default, metadata=metadata)


def parts_of_speech_parameter() -> str:
    """The parameter `parts_of_speech` of an augmentation that reads the parse where there is one.

    `AugmentationRun.settled` makes its `auto` explicit.
    """
    return parameter(
        "auto",
        "where parts of speech come from: the parse; the words alone; auto: the parse if the store has one",
        choices=("auto", "parse", "words"),
    )


@dataclass(frozen=True)
class NoParameters:
    """There is nothing to choose."""


def check_parameters(parameters: Any) -> None:
    """Check the values of a parameter class; `AugmentationRun` does so when it is made.

    Raises
    ------
    UsageError
        For a value outside its range or choices; the message names the option.
    """
    for item in dataclasses.fields(parameters):
        value, option = getattr(parameters, item.name), "--" + item.name.replace("_", "-")
        minimum, maximum = item.metadata["minimum"], item.metadata["maximum"]
        choices = item.metadata["choices"]
        if choices is not None and value not in choices:
            raise UsageError(f"{option} {value}: choose one of {', '.join(choices)}")
        if minimum is not None and not value >= minimum:
            raise UsageError(f"{option} {value}: must be at least {minimum:g}")
        if maximum is not None and not value <= maximum:
            raise UsageError(f"{option} {value}: must be at most {maximum:g}")


def read_word_list(path: str, option: str) -> tuple[str, ...]:
    """Words of a UTF-8 file, one a line, lower-cased and sorted; blank lines and `#` comments are skipped.

    Parameters
    ----------
    path : str
    option : str
        What the path was given with, for the message.

    Raises
    ------
    UsageError
        If the file cannot be read.
    """
    try:
        lines = read_small_text(Path(path).expanduser()).splitlines()
    except (OSError, ValueError, RuntimeError) as error:  # the last where ~NAME is nobody's folder
        raise UsageError(
            f"{option} {path}: cannot be read ({error}); give a UTF-8 file, one term a line"
        ) from error
    words = {line.strip().lower() for line in lines if line.strip() and not line.startswith("#")}
    return tuple(sorted(words))
