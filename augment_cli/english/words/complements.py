"""Words of which one is true where the other is not: denying `open` says `closed`."""

from __future__ import annotations

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-")
_NO_PREFIX = frozenset({"pressed", "different", "tent", "tense", "cited", "closed", "related", "responsible"})
_PAIRS = """
open closed, open shut, true false, alive dead, living dead, same different, right wrong, present absent,
odd even, awake asleep, married single, married unmarried, public private, guilty innocent, male female,
on off, permanent temporary, mortal immortal, visible hidden, finite infinite, voluntary compulsory,
natural artificial, domestic foreign, internal external, direct indirect, positive negative, active
inactive, occupied vacant, occupied empty, full-time part-time, inside outside, available unavailable,
armed unarmed, successful unsuccessful, able unable, common uncommon, usual unusual, known unknown,
online offline, valid void, conscious unconscious, legitimate illegitimate, free occupied, real
imaginary, mobile stationary
"""
_COMPLEMENTS = frozenset(frozenset(pair.split()) for pair in _PAIRS.replace("\n", " ").split(","))


def are_complements(one: str, other: str) -> bool:
    """Whether two words exclude each other and leave no third: a listed pair, or `un` and the like."""
    one, other = sorted((one.lower(), other.lower()), key=len)
    prefixed = any(other == prefix + one for prefix in _PREFIXES) and one not in _NO_PREFIX
    return prefixed or frozenset({one, other}) in _COMPLEMENTS
