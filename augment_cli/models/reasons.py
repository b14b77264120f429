"""Why a library could not load a model, in a line of a message, without its advice to run what came along."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from augment_cli.errors import BadInputError

_ADVICE = {
    "trust_remote_code": "it needs code of its own, which is never run",
    "weights only load failed": "it is damaged, or holds more than tensors",
}


def reason_of(error: Exception) -> str:
    """The first line of an error, or what it means where it would advise to run code."""
    text = str(error).strip()
    for advice, meaning in _ADVICE.items():
        if advice in text.lower():
            return meaning
    return (text.splitlines() or [type(error).__name__])[0]


@contextlib.contextmanager
def panics_as_errors() -> Iterator[None]:
    """Within the `with` block a panic of tokenizers' Rust code, which is no `Exception`, is a ValueError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ValueError(str(error)) from error
        raise


@contextlib.contextmanager
def tokenizing(model: object) -> Iterator[None]:
    """Within the `with` block a text that a tokenizer's own rules fail on is bad input."""
    try:
        with panics_as_errors():
            yield
    except Exception as error:
        if type(error) is Exception or type(error.__cause__).__name__ == "PanicException":
            raise BadInputError(
                f"{model}: its tokenizer fails on a text ({reason_of(error)}); fetch or export the model "
                "again, or take another"
            ) from error
        raise
