"""Errors of libraries that load models, as a line."""

import pytest

from augment_cli.models.reasons import panics_as_errors


class PanicException(BaseException):
    """What PyO3 makes of a panic; its own class cannot be made from Python."""


def test_a_panic_is_an_error_like_others():
    with pytest.raises(ValueError, match="charsmap"), panics_as_errors():
        raise PanicException("charsmap")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_anything_else_stays_what_it_is(error):
    with pytest.raises(error), panics_as_errors():
        raise error
