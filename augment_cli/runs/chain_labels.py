"""What a chain of two augmentations says beside the original: the label of the stage, and of each row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from augment_cli import augmentations
from augment_cli.augmentations.labels import entailment_of_stage
from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.entailment import entailment_of
from augment_cli.english.words.complements import are_complements
from augment_cli.store.store import Store

Edit = tuple[int, int, str]  # start, end (code points, half-open), what stands there instead
_BE = re.compile(r"(?:^|\W)(am|is|are|was|were|be|been|being)$", re.IGNORECASE)
# Of a subject with one of these, "not" may deny the quantifier: "All doors are not closed".
_QUANTIFIED = re.compile(r"\b(all|every\w*|each|both|many|most|no|none|nobody|few|any\w*)\b", re.IGNORECASE)
_NOT = re.compile(r"\s?(?:not|n['’]t)", re.IGNORECASE)


def label_of_chain(store: Store, of: str, descriptor: Augmentation, parameters: Mapping[str, Any]) -> str:
    """The label that a chain on a stage is made for; its rows have their own."""
    first, turns = entailment_of_stage(store.stage(of).settings), turns_of(store, of, descriptor)
    label = composed(first.label if first else "neither", entailment_of(descriptor, parameters).label)
    if label != "both":
        return label
    return "same" if turns == ("polarity", "polarity") else "other" if "content" in turns else "neither"


def turns_of(store: Store, of: str, descriptor: Augmentation) -> tuple[str | None, str | None]:
    """What the two steps turn; of a chain nobody knows."""
    settings = store.stage(of).settings
    is_chain = "of" in settings["parameters"] or settings["stage"] not in augmentations.names()
    return None if is_chain else augmentations.get(settings["stage"]).turns, descriptor.turns


def composed(first: str, second: str) -> str:
    """The label of two steps; `both` where both turn the sentence."""
    if "neither" in (first, second):
        return "neither"
    if first == second == "other":
        return "both"
    return "same" if first == second else "other"


def _placed(edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Where what edits put in stands in the text that they give."""
    spans, shift = [], 0
    for start, end, text in edits:
        spans.append((start + shift, start + shift + len(text)))
        shift += len(text) - (end - start)
    return spans


def of_two_turns(
    original: str,
    between: str,
    first: Sequence[Edit],
    second: Sequence[Edit],
    turns: tuple[str | None, str | None],
) -> str:
    """The label of a row that both steps turn."""
    if "content" in turns:
        apart = all(
            end < low or start > high for start, end, _ in second for low, high in _placed(first)
        )  # else the second may put back what the first took
        return "other" if apart else "neither"
    polar = turns == ("polarity", "polarity")
    return "same" if polar and _restores(original, between, first, second) else "neither"


def _restores(original: str, between: str, first: Sequence[Edit], second: Sequence[Edit]) -> bool:
    """Whether one step denies, and the other puts the complement right behind: `is open`, `is not closed`."""
    in_first = [(*edit, *span, original) for edit, span in zip(first, _placed(first), strict=True)]
    in_second = [(*edit, edit[0], edit[1], between) for edit in second]
    for exchanged, denials in ((in_first, in_second), (in_second, in_first)):
        words = [edit for edit in exchanged if edit[5][edit[0] : edit[1]].lower() not in {"a", "an"}]
        if len(words) != 1 or len(denials) != 1:
            continue
        (start, end, new, at, _, text), (place, stop, put, low, high, source) = words[0], denials[0]
        denies = _NOT.fullmatch(put) if place == stop else not put and _NOT.fullmatch(source[place:stop])
        gap, front = between[high:at].strip().lower(), between[:low]
        restored = denies and are_complements(text[start:end], new) and gap in {"", "a", "an"}
        if restored and at > high - 1 and _BE.search(front) and not _QUANTIFIED.search(front):
            return True
    return False
