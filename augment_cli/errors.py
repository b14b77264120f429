"""Errors a user can act on, each with the exit code the command ends with."""

from __future__ import annotations


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
