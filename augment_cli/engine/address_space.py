"""A limit on address space under which a command cannot work, said before libraries fail for it."""

from __future__ import annotations

import resource
import sys

from augment_cli.errors import MissingError

# Bytes; with less, libraries abort or fail while they are loaded or allocate their first buffers.
LEAST = 600_000_000
LEAST_FOR_PARSES = 2_500_000_000  # spaCy
LEAST_FOR_MODELS = 3_000_000_000  # PyTorch


def check_address_space(least: int = LEAST) -> None:
    """Refuse a limit under which Python's libraries would end the process without a word."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < least:
        raise MissingError(
            f"this shell allows {limit / 1e6:,.0f} MB of address space (`ulimit -v`), and at least "
            f"{least / 1e6:,.0f} MB are needed; raise the limit and run the same command again"
        )


def leave_without_address_space(program: str, least: int = LEAST) -> None:
    """End the process with a line and its exit code if a limit is lower than what is needed."""
    try:
        check_address_space(least)
    except MissingError as error:
        print(f"{program}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
