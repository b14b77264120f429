"""Parameters: fields of a frozen dataclass that know their help text and range.

A parameter is declared in its class alone. Its option with help and default (`augment_cli/cli/options.py`),
the check of its range, its place in the signature of a Python function and in the reference follow.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.store.files import read_small_text

MOST_DRAWS = 10_000  # of an augmentation: each is a stage of its own
DEFAULT_SEED = 42


def parameter(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] | None = None,
    option: str | None = None,  # its name, where it is not the field's: of a list, given one value at a time
    unset: Any = dataclasses.MISSING,  # what stands for no value, where it is found out later what that means
    later: bool = False,  # added by a later release: a stage recorded without it was made with the default
) -> Any:
    """A field of a parameter class, with what the command line and the docs say of it in one line.

    The default's type is the parameter's, where the field is not annotated with more.
    """
    metadata = {
        "help": help,
        "minimum": minimum,
        "maximum": maximum,
        "above": above,
        "choices": choices,
        "option": option,
        "unset": default if unset is dataclasses.MISSING else unset,
        "later": later,
    }
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def declared(kind: Any) -> list[dataclasses.Field[Any]]:
    """The fields of a parameter class that were made with `parameter`, in their order."""
    return [item for item in dataclasses.fields(kind) if "help" in item.metadata]


def several(value: Any) -> tuple[Any, ...]:
    """What may be one or several: one string or path stands for itself, not for its characters.

    >>> several("una"), several(["una", "uda"])
    (('una',), ('una', 'uda'))
    """
    return (value,) if isinstance(value, str | Path | int) else tuple(value)


def part_numbers(parts: str | None) -> set[int] | None:
    """Part numbers from `0-9,12`; None, which is all parts, stays None."""
    if parts is None:
        return None
    numbers: set[int] = set()
    for piece in parts.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(piece) > 20:
            raise UsageError(f"--parts {parts}: use numbers and ranges from 0, such as 0-9,12")
        numbers.update(range(int(first), min(int(last or first), 99_999) + 1))
    return numbers


def option_name(item: dataclasses.Field[Any]) -> str:
    """The option of a parameter, such as `--max-length`."""
    return f"--{(item.metadata['option'] or item.name).replace('_', '-')}"


def help_of(item: dataclasses.Field[Any]) -> str:
    """The help of a parameter, with its choices or its range."""
    minimum, maximum = item.metadata["minimum"], item.metadata["maximum"]
    above, choices = item.metadata["above"], item.metadata["choices"]
    if choices is not None:
        allowed = ", ".join(choices)
    elif minimum is not None and maximum is not None:
        allowed = f"{_number(minimum)} to {_number(maximum)}"
    else:
        bounds = {"above": above, "at least": minimum, "at most": maximum}
        allowed = ", ".join(f"{word} {_number(bound)}" for word, bound in bounds.items() if bound is not None)
    return f"{item.metadata['help']} ({allowed})" if allowed else str(item.metadata["help"])


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def parts_of_speech_parameter() -> str:
    """The parameter `parts_of_speech` of an augmentation that reads the parse where there is one.

    `AugmentationRun.resolved` makes its `auto` explicit.
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
    """Refuse a value outside its range or choices with a `UsageError` that names the option."""
    for item in declared(parameters):
        value, option = getattr(parameters, item.name), option_name(item)
        if value is not None and (wrong := what_is_wrong(value, item.metadata)):
            raise UsageError(f"{option} {value}: {wrong}")


def what_is_wrong(value: Any, limits: Mapping[str, Any]) -> str:
    """Why a value does not lie within a field's limits, in words; empty where it does."""
    minimum, maximum, above, choices = (limits.get(key) for key in ("minimum", "maximum", "above", "choices"))
    if choices is not None and value not in choices and not isinstance(value, bool):
        return f"choose one of {', '.join(choices)}"
    if minimum is not None and not value >= minimum:
        return f"must be at least {_number(minimum)}"
    if above is not None and not value > above:
        return f"must be above {_number(above)}"
    if maximum is not None and not value <= maximum:
        return f"must be at most {_number(maximum)}"
    return ""


def read_word_list(path: str, option: str) -> tuple[str, ...]:
    """Words of a UTF-8 file, one a line, lower-cased and sorted; blank lines and `#` comments are skipped.

    `option` is what the path was given with, for the `UsageError` if the file cannot be read.
    """
    lines = read_lines(path, option, "term")
    return tuple(sorted({line.strip().lower() for line in lines if not line.startswith("#")}))


def read_lines(path: str, option: str, what: str) -> list[str]:
    """The lines of a UTF-8 file that are not blank; `what` says in the message what a line holds."""
    try:
        lines = read_small_text(Path(path).expanduser()).splitlines()
    except (OSError, ValueError, RuntimeError) as error:  # the last where ~NAME is nobody's folder
        raise UsageError(
            f"{option} {path}: cannot be read ({error}); give a UTF-8 file, one {what} a line"
        ) from error
    return [line for line in lines if line.strip()]


def precision_parameter() -> str:
    """The parameter `precision` of whatever runs a model."""
    return parameter(
        "auto",
        "of the model's numbers; auto: bf16 on a GPU and on CPUs that compute in it, else fp32",
        choices=("auto", "fp32", "bf16"),
    )


def device_parameter() -> str:
    """The parameter `device`."""
    return parameter("auto", "auto takes the GPUs if there are any", choices=("auto", "cpu", "cuda"))


def batch_tokens_parameter() -> int:
    """The parameter `batch_tokens`."""
    return parameter(0, "most input tokens in a batch; 0: 1024 on a CPU, 16384 on a GPU", minimum=0)


@dataclass(frozen=True)
class RuntimeParameters:
    """Options of every augmentation that runs a model."""

    precision: str = precision_parameter()
    device: str = device_parameter()
    batch_tokens: int = batch_tokens_parameter()
    threads: int = parameter(1, "CPU threads of each worker", minimum=1, maximum=1024)
    rows: int = parameter(
        0, "run the model on the first N sentences only, the others stay unchanged; 0 for all", minimum=0
    )
    allow_download: bool = parameter(False, "fetch a model that is not on this machine from the hub")
