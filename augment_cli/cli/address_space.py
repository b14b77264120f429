"""A limit on address space under which no command can work."""

from __future__ import annotations

import resource

from augment_cli.errors import MissingError

_LEAST = 600_000_000  # bytes; with less, libraries abort or fail while they are loaded


def check_address_space() -> None:
    """Refuse a limit under which Python's libraries would end the process without a word.

    Raises
    ------
    MissingError
        If there is such a limit.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST:
        raise MissingError(
            f"this shell allows {limit / 1e6:,.0f} MB of address space (`ulimit -v`), and at least "
            f"{_LEAST / 1e6:,.0f} MB are needed; raise the limit and run the same command again"
        )
