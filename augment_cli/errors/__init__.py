"""Errors a user can act on, each with the exit code the command ends with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata


class UserError(Exception):
    """An expected failure: the message says what, where, and what to do next; no traceback is shown.

    The class attribute `exit_code` is what the command returns to the shell.
    """

    exit_code = 1


class ContractError(UserError):
    """An augmentation declares or returns what its contract does not allow; its author can mend it."""


class UsageError(UserError):
    """A parameter or combination of parameters that makes no sense."""

    exit_code = 2


class IncompleteError(UserError):
    """The run finished, but parts failed or more rows were rejected than allowed."""

    exit_code = 3


class BadInputError(UserError):
    """The input cannot be read, or a stored file is damaged or foreign."""

    exit_code = 4


class MixError(UserError):
    """What is there was made with other settings; continuing would mix two results."""

    exit_code = 5


class MissingError(UserError):
    """Something this machine lacks: a package, a model, a word list."""

    exit_code = 6


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x' or 'y'?`, of known names that a mistyped one is like; empty where none is."""
    names = {other.lower().replace("_", "-"): other for other in known}
    alike = difflib.get_close_matches(name.lower().replace("_", "-"), names)
    return f" Did you mean {' or '.join(repr(names[other]) for other in alike)}?" if alike else ""


def issue_tracker() -> str:
    """Where faults of ours are reported: the address `Issues` of the package's metadata (setup.cfg)."""
    try:
        addresses = metadata("augment-cli").get_all("Project-URL") or []
    except PackageNotFoundError:  # a checkout that nobody installed
        addresses = []
    found = [one.partition(", ")[2] for one in addresses if one.startswith("Issues, ")]
    return found[0] if found else "the address in setup.cfg"
