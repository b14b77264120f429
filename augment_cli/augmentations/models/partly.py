"""Of an output that is turned down, the changes that are sound by themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import SequenceMatcher

_MOST = 6  # words or phrases that are others, beyond which an output is another sentence


def sound_part(original: str, output: str, is_sound: Callable[[str], bool]) -> str | None:
    """Original with those words of an output that are sound one by one, and together; None without any."""
    before, after = original.split(" "), output.split(" ")
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [number for number, (kind, *_) in enumerate(blocks) if kind == "replace"]
    if not 0 < len(changes) <= _MOST:
        return None

    def text_with(chosen: Collection[int]) -> str:
        words = []
        for number, (_, one, one_end, two, two_end) in enumerate(blocks):
            words += after[two:two_end] if number in chosen else before[one:one_end]
        return " ".join(words)

    sound = [number for number in changes if is_sound(text_with([number]))]
    text = text_with(sound)
    return text if sound and is_sound(text) else None
