"""Errors in the words of who called from Python: `text_column=`, not `--text-column`."""

import functools
import re
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

from augment_cli.errors import UserError

Function = TypeVar("Function", bound=Callable[..., Any])

# Options that a function calls otherwise; of some functions alone.
_NAMES = {
    "positive": "positives",
    "negative": "negatives",
    "set": "changes",
    "keep_column": "keep_columns",
    "positive_column": "positive_columns",
    "negative_column": "negative_columns",
    "on": "stages",
    "license": "license_name",
}
_NAMES_OF: dict[str, dict[str, str]] = {
    "run": {"name": "stage"},
    "mine": {"name": "stage"},
    "adapt": {"set": "settings"},
}
# Commands by the function that does the same; every other one is an augmentation's.
_FUNCTIONS = {
    "ingest": "ingest_corpus",
    "run": "run_recipe",
    "pack": "pack_table",
    "list": "list_augmentations",
    **{name: name for name in ("fit", "parse", "embed", "score", "mine", "report", "inspect", "stats")},
    **{name: name for name in ("status", "verify", "card", "judge", "remove", "publish", "fetch", "look")},
}
_SHELL_ONLY = {"doctor", "convert-weights"}
_COMMAND = re.compile(r"`augment-cli ([^`]+)`")
_VALUE = r"(?: (-?\d[\w.%:]*|[A-Z]{3,}|none|always|auto|kind)(?=[\s,;:.)`]|$))?"
_BEGINNING = re.compile(r"--([a-z][a-z-]*[a-z]) ([^\s:,;]+):")
# As a refusal gives those that a stage was made with.
_TOGETHER = re.compile(r"(?:(?<=settings )|(?<=the same ))\((--[^()]+)\)")
_OPTION = re.compile(r"(?<![\w-])--(no-)?([a-z][a-z-]*[a-z])" + _VALUE)


def speaking_python(function: Function) -> Function:
    """The function, whose errors name its own parameters in the place of the command's options."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UserError as error:
            if len(error.args) == 1 and isinstance(error.args[0], str):
                error.args = (in_python(error.args[0], function.__name__),)
            raise

    return wrapper  # type: ignore[return-value]


def in_python(message: str, function: str = "") -> str:
    """A message of the command with calls in the place of commands, and parameters in that of options.

    Examples
    --------
    >>> in_python("give the same (--text-column title), or `augment-cli inspect rejects --store news`")
    "give the same (text_column='title'), or `augment_cli.inspect('rejects', store='news')`"
    """
    if begins := _BEGINNING.match(message):  # --by vector: choose one of …
        name = _parameter(begins[1], function)
        return f"{name}={_literal(begins[2])}:" + in_python(message[begins.end() :], function)
    pieces, end = [], 0
    for found in _COMMAND.finditer(message):
        pieces += [_options(message[end : found.start()], function), _call(found)]
        end = found.end()
    return "".join([*pieces, _options(message[end:], function)])


def _options(text: str, function: str) -> str:
    text = _TOGETHER.sub(lambda found: f"({', '.join(_pairs(found[1], function))})", text)
    return _OPTION.sub(lambda found: _option(found, function), text)


def _option(found: re.Match[str], function: str) -> str:
    if found[1]:
        return f"{_parameter(found[2], function)}=False"
    value = "" if found[3] is None else _literal(found[3]) if not found[3].isupper() else found[3]
    return f"{_parameter(found[2], function)}={value}"


def _parameter(option: str, function: str) -> str:
    name = option.replace("-", "_")
    return _NAMES_OF.get(function, {}).get(name, _NAMES.get(name, name))


def _literal(value: str) -> str:
    return value if re.fullmatch(r"-?\d+(\.\d+)?", value) else repr(value)


def _call(found: re.Match[str]) -> str:
    """A command as a call; one that only a shell has stays as it is."""
    try:
        command, *words = shlex.split(found[1])
    except ValueError:
        return found[0]
    if command in _SHELL_ONLY or any(word in ("|", "--help") for word in words):
        return found[0]
    function = _FUNCTIONS.get(command, "run")
    arguments = [repr(command)] if command not in _FUNCTIONS else []
    while words and not words[0].startswith("-"):
        arguments.append(repr(words.pop(0)))
    if function == "remove":  # several stages are one list
        arguments = [f"[{', '.join(arguments)}]"] if len(arguments) > 1 else arguments
    given = [*arguments, *_pairs(shlex.join(words), function)]
    return f"`augment_cli.{function}({', '.join(given)})`"


def _pairs(options: str, function: str) -> list[str]:
    """Options one behind the other as keyword arguments; one without a value is a switch."""
    words = shlex.split(options)
    given = []
    while words:
        word = words.pop(0)
        if not word.startswith("--"):  # `no --limit`: without it
            continue
        takes_value = bool(words) and not words[0].startswith("--") and words[0] != "no"
        switch = str(not word.startswith("--no-"))
        option = word.removeprefix("--no-") if switch == "False" else word[2:]
        given.append(f"{_parameter(option, function)}={_literal(words.pop(0)) if takes_value else switch}")
    return given
