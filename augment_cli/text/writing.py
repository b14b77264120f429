"""How people wrote some texts: without capitals, or with a space before each mark, as treebanks do."""

from __future__ import annotations

from collections.abc import Sequence

from augment_cli.text.untouched import is_tokenised

_MOST = 0.5  # of the texts


def notes_on_writing(texts: Sequence[str]) -> list[str]:
    """What rules have to know of most of the texts, a line each."""
    lettered = [text for text in texts if any(character.isalpha() for character in text)]
    if not lettered:
        return []
    parted = sum(map(is_tokenised, lettered)) / len(lettered)
    # Scripts without capitals are as they should be.
    cased = [text for text in lettered if text.lower() != text.upper()]
    small = sum(text == text.lower() for text in cased) / len(lettered)
    notes = []
    if parted >= _MOST:
        notes.append(
            f"tokenised: {parted:.0%} of the texts have a space before their marks, as treebanks have; "
            "contractions written apart (do n't) are read as one, and texts keep their spaces"
        )
    if small >= _MOST:
        notes.append(
            f"without capitals: {small:.0%} of the texts; names are told by the shipped lists alone, so some "
            "stay unknown, and nothing put in gets a capital"
        )
    return notes
