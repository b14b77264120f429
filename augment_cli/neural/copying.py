"""Words with characters that a model's vocabulary lacks: it reads a stand-in, and the word is put back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

_RUN = re.compile(r"\S+")
# What Unicode does not decompose, and a plain character says as well.
_PLAIN = str.maketrans("‘’‚‛“”„‟‐‑‒–—―−ŁłØøĐđıÐðŦŧ", "''''\"\"\"\"-------LlOoDdiDdTt")


@dataclass(frozen=True)
class Copied:
    """A text as the model reads it."""

    text: str
    words: tuple[tuple[str, str], ...]  # each stand-in with the word that it stands for

    def restored(self, output: str) -> str | None:
        """An output with the original's words; None where one of them comes back more or less often."""
        for stand_in, _ in self.words:
            found = _occurrences(stand_in)
            often = sum(own == stand_in for own, _ in self.words)
            if len(found.findall(self.text)) != often or len(found.findall(output)) != often:
                return None
        for stand_in, word in dict(self.words).items():
            output = _occurrences(stand_in).sub(lambda _, word=word: word, output)  # type: ignore[misc]
        return output


def _occurrences(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def readable(text: str, knows: Callable[[str], bool]) -> Copied | None:
    """A text without characters that a model does not know."""
    words: dict[str, str] = {}
    all_words = []

    def stand_in(match: re.Match[str]) -> str:
        run = match.group()
        places = [place for place, character in enumerate(run) if character.isalnum() or not knows(character)]
        if all(knows(run[place]) for place in places):
            return run
        first, last = places[0], places[-1] + 1
        word = run[first:last]
        plain = "".join(_plain(character, knows) for character in word)
        all_words.append((plain, word))
        words.setdefault(plain, word)
        return run[:first] + plain + run[last:]

    read = _RUN.sub(stand_in, text)
    if any(not re.search(r"\w", plain) or words[plain] != word for plain, word in all_words):
        return None
    return Copied(read, tuple(all_words))


def _plain(character: str, knows: Callable[[str], bool]) -> str:
    if knows(character):
        return character
    decomposed = unicodedata.normalize("NFKD", character.translate(_PLAIN))
    return "".join(one for one in decomposed if one.isascii() and knows(one))
