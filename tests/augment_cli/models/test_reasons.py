"""Errors of libraries that load models, as a line."""

import pytest

from augment_cli.errors import BadInputError
from augment_cli.models.claims import panics_as_errors, tokenizing


class PanicException(BaseException):
    """What PyO3 makes of a panic; its own class cannot be made from Python."""


def test_a_panic_is_an_error_like_others():
    with pytest.raises(ValueError, match="charsmap"), panics_as_errors():
        raise PanicException("charsmap")


@pytest.mark.parametrize("error", [PanicException, Exception])
def test_what_a_tokenizer_fails_on_is_bad_input(error):
    with pytest.raises(BadInputError, match=r"a/model: its tokenizer fails on a text \(retry-limit"):  # noqa: SIM117
        with tokenizing("a/model"):
            raise error("retry-limit")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_our_own_errors_stay_ours(error):
    with pytest.raises(error), tokenizing("a/model"):
        raise error
