"""What came back from a model, held against what went in: good enough, or the reason why not."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from augment_cli.contract.reasons import Reason

_LONGEST_LOOP = 12  # words in the repeated piece
_FOREIGN_SHARE = 0.2  # of the letters
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DIRECTIONS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # which turn around what is shown behind them
_NEWLINE_MARK = "<n>"  # PEGASUS writes line breaks this way


def one_line(text: str) -> str:
    """The text with every run of white space, line breaks and control characters as one space."""
    text = _DIRECTIONS.sub("", text.replace(_NEWLINE_MARK, " "))
    return " ".join(_CONTROLS.sub(" ", text).split())


def reason_against(original: str, output: str, is_complete: bool = True) -> str | None:
    """Why an output should not stand in for the original, or None."""
    words = _words(output)
    if not words:
        return Reason.EMPTY_OUTPUT
    before = _words(original)
    if words == before:
        return Reason.SAME_WORDS
    # Before truncation: what loops runs into the limit, and looping says more.
    if _repeats(words) > max(1, _repeats(before)):
        return Reason.LOOPING_OUTPUT
    if not is_complete:
        return Reason.TRUNCATED_OUTPUT
    if _foreign_share(original, output) > _FOREIGN_SHARE:
        return Reason.WRONG_SCRIPT
    if len(output) > 2 * len(original) + 50 or 4 * len(output) + 10 < len(original):
        return Reason.ABSURD_LENGTH
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def _repeats(words: list[str]) -> int:
    """How often a piece of the text stands again right after itself."""
    # A single word counts from its third time on ("very, very good" is not a loop), a pair or longer from
    # its second. So does a longer piece that makes up most of the text, wherever it stands.
    most = 1
    for size in range(1, min(_LONGEST_LOOP, len(words) // 2) + 1):
        run = 0  # words equal to those `size` places before
        for position in range(size, len(words)):
            run = run + 1 if words[position] == words[position - size] else 0
            times = run // size + 1
            if times > most and (size > 1 or times > 2):
                most = times
    trigrams = Counter(zip(words, words[1:], words[2:], strict=False))
    if trigrams and (often := max(trigrams.values())) > 2 and 3 * often > len(words) // 2:
        most = max(most, often)
    return most


def _foreign_share(original: str, output: str) -> float:
    """Share of the output's letters in scripts that the original does not have."""
    letters = [character for character in output if character.isalpha()]
    known = {_script(character) for character in original if character.isalpha()}
    if not letters or not known:
        return 0.0
    return sum(_script(character) not in known for character in letters) / len(letters)


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """LATIN, CYRILLIC, CJK, …: the first word of the character's Unicode name."""
    return unicodedata.name(letter, "").partition(" ")[0]
