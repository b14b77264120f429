"""Lemmas as classes: how to get from a word to its lemma by changing its end and its case.

A script is ``case|drop|add``: take the word as it stands (case ``k``) or lower-cased (``l``), drop that many
characters from its end, then add the rest. "studies" → "study" is ``l|3|y``; "was" → "be" is ``l|3|be``.
After UDPipe 2's lemma rules (Straka 2018), without prefixes.
"""

from __future__ import annotations

SAME = "k|0|"


def lemma_script(word: str, lemma: str) -> str:
    """Return the shortest script that makes `lemma` from `word`; keeps the word's case where it can."""
    best = ""
    for case, base in (("k", word), ("l", word.lower())):
        shared = 0
        while shared < min(len(base), len(lemma)) and base[shared] == lemma[shared]:
            shared += 1
        script = f"{case}|{len(base) - shared}|{lemma[shared:]}"
        if not best or len(lemma) - shared < len(best.split("|", 2)[2]):
            best = script
    return best


def apply_script(script: str, word: str) -> str:
    """Return the lemma; a script that drops more than the word has, or leaves nothing, returns the word."""
    case, drop, add = script.split("|", 2)
    base = word.lower() if case == "l" else word
    if int(drop) > len(base):
        return word
    return base[: len(base) - int(drop)] + add or word
