"""What exists for speed alone, and the one switch that turns it off.

A room called `fast` computes in another way what a library's plain code computes too. `AUGMENT_FAST=0` in
the environment takes the plain code everywhere, `--set fast=false` in a training. Both ways agree but for
rounding, and for which numbers dropout draws. Where a library's version lacks a private name that a fast way
reads, the plain code is taken, and one line on standard error says so.
"""

import importlib
import os
import sys
from operator import attrgetter

_wanted = True  # in this process
_said: set[str] = set()


def is_on() -> bool:
    """Whether the fast ways are taken."""
    return _wanted and os.environ.get("AUGMENT_FAST", "1") != "0"


def use(wanted: bool) -> None:
    """Take the fast ways, or not, in this process from now on; `AUGMENT_FAST=0` is stronger."""
    global _wanted
    _wanted = wanted


def has(what: str, owner: object, *names: str) -> bool:
    """Whether a fast way finds all that it reads; where not, says so once."""
    try:
        found = importlib.import_module(owner) if isinstance(owner, str) else owner
        for name in names:
            attrgetter(name)(found)
    except (ImportError, AttributeError) as error:
        if what not in _said:
            _said.add(what)
            print(f"{what}: the library's own, slower code is used, as {error}", file=sys.stderr)
        return False
    return True
