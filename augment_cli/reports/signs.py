"""Signs that a rewritten sentence may be broken, for lists that show the worst first; no verdicts."""

from __future__ import annotations

import re
from collections import Counter

from augment_cli.syntax.tree import words

# An article twice, or "not not"; "that that" and "had had" are English.
_TWICE = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_ENGLISH_TWICE = frozenset({"that", "had", "her", "so", "very", "no", "bye", "ha"})
_SPACE_BEFORE_MARK = re.compile(r"\w [,.;!?](?:\s|$)")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("{", "}"))
_SHORT = 3  # words
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NOISE = words("word-deletion word-repetition sentence-reordering crop yoda")


def signs_of(original: str, text: str) -> list[str]:
    """What looks wrong with a text that did not look so with its original."""
    found = []
    if word := _new_repetition(original, text):
        found.append(f"“{word}” twice in a row")
    if _negations(text) >= _negations(original) + 3:
        found.append("three negations more")
    if any(_unpaired(text, *pair) and not _unpaired(original, *pair) for pair in _PAIRS):
        found.append("a bracket or quotation mark without its partner")
    if text.count('"') % 2 and not original.count('"') % 2:
        found.append("a bracket or quotation mark without its partner")
    if _SPACE_BEFORE_MARK.search(text) and not _SPACE_BEFORE_MARK.search(original):
        found.append("a space before a punctuation mark")
    if original[:1].isupper() and text[:1].islower():
        found.append("begins with a small letter")
    if word := _lost_letter(original, text):
        found.append(f"“{word}” has lost a letter")
    words, before = len(text.split()), len(original.split())
    if words <= _SHORT < before and 2 * words <= before:
        found.append(f"{words} words left of {before}")
    return list(dict.fromkeys(found))


def kind_of(sign: str) -> str:
    """A sign without what is particular to its sentence, to be counted."""
    if sign.startswith("“not”"):
        return "put “not” twice in a row"
    if sign.endswith("twice in a row"):
        return "have a word twice in a row"
    if sign.endswith("has lost a letter"):
        return "lose letters of a word"
    if " words left of " in sign:
        return f"keep {_SHORT} words or fewer"
    return {
        "three negations more": "have three negations more than the original",
        "a bracket or quotation mark without its partner": "have an unpaired bracket or quotation mark",
        "a space before a punctuation mark": "have a space before a punctuation mark",
        "begins with a small letter": "begin with a small letter",
    }.get(sign, sign)


def is_noise(augmentation: str) -> bool:
    """Whether broken texts are what an augmentation is made for, so that a sign of them says nothing."""
    return augmentation.startswith("random-") or augmentation in _NOISE


def _lost_letter(original: str, text: str) -> str:
    """A word that stands there without its letters beyond ASCII: “nave” for “naïve”."""
    if original.isascii():
        return ""
    words, known = set(_WORD.findall(text)), set(_WORD.findall(original))
    for word in sorted(known - words):
        bare = "".join(letter for letter in word if letter.isascii())
        if bare != word and len(bare) > 1 and bare in words - known:
            return word
    return ""


def _new_repetition(original: str, text: str) -> str:
    known = Counter(found[1].lower() for found in _TWICE.finditer(original))
    for found in _TWICE.finditer(text):
        word = found[1].lower()
        if word not in known and word not in _ENGLISH_TWICE and not word.isdigit():
            return word
    return ""


def _negations(text: str) -> int:
    return len(re.findall(r"\bnot\b|n['’]t\b|\bnever\b", text, re.IGNORECASE))


def _unpaired(text: str, opening: str, closing: str) -> bool:
    return text.count(opening) != text.count(closing)
