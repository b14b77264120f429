"""Words of which one is true where the other is not: denying `open` says `closed`."""

from __future__ import annotations

from augment_cli.resources import word_table

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-")
_NO_PREFIX = frozenset({"pressed", "different", "tent", "tense", "cited", "closed", "related", "responsible"})
_COMPLEMENTS = frozenset(map(frozenset, word_table("complements")))


def are_complements(one: str, other: str) -> bool:
    """Whether two words exclude each other and leave no third: a listed pair, or `un` and the like."""
    one, other = sorted((one.lower(), other.lower()), key=len)
    prefixed = any(other == prefix + one for prefix in _PREFIXES) and one not in _NO_PREFIX
    return prefixed or frozenset({one, other}) in _COMPLEMENTS
