"""Rules that change a stretch of a sentence and leave the rest in place, for training pairs.

Each rule notes its changes in the `Sentence` (`Sentence.replace`); an earlier rule's spans are not touched.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from data.builds.paraphraser.sentence import Piece, Sentence

LEXICON = Path(__file__).with_name("lexicon.tsv")
MONTHS = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December"}  # fmt: skip
NUMBER_WORDS = dict(
    zip(
        ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        strict=True,
    )
)
ORDINALS = {
    "16th": "sixteenth", "17th": "seventeenth", "18th": "eighteenth", "19th": "nineteenth",
    "20th": "twentieth", "21st": "twenty-first", "15th": "fifteenth", "14th": "fourteenth",
}  # fmt: skip
ORDINALS |= {word: figure for figure, word in ORDINALS.items()}
# "The end of Rome" is not "Rome's end" to a reader; these say how much or which part, or are half a name.
PARTS = {
    "part", "number", "end", "rest", "city", "town", "state", "month", "kind", "use", "lack", "side",
    "north", "south", "east", "west", "name", "case", "form", "majority", "beginning", "middle", "top",
    "island", "county", "kingdom", "university", "battle", "house", "river", "village", "area", "region",
    "province", "idea", "works", "age", "work", "concept", "time", "day", "theory", "exception", "district",
    "term", "basis",
}  # fmt: skip


class Entry(NamedTuple):
    """One line of the lexicon: what to find (words or <POS>), what must not follow, and what to write."""

    pattern: tuple[str, ...]
    without: str | None
    replacement: tuple[str, ...]


@cache
def lexicon(path: Path = LEXICON) -> dict[str, list[Entry]]:
    """The lexicon's entries by their first word, longest first; every one may also start a sentence."""
    entries: dict[str, list[Entry]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        left, right = line.split("\t")
        words = [word.replace("'", "'") for word in left.split()]
        without = words.pop()[1:] if words[-1].startswith("!") else None
        pattern = tuple(part for word in words for part in _tokens(word))
        entries[pattern[0].lower()].append(Entry(pattern, without, tuple(right.split())))
    for found in entries.values():
        found.sort(key=lambda entry: -len(entry.pattern))
    return entries


def use_lexicon(sentence: Sentence) -> None:
    """Replace phrases of the lexicon, the longest at each place."""
    tokens = sentence.tokens
    known = lexicon()
    for index, token in enumerate(tokens):
        for entry in known.get(token.text.lower().replace("’", "'"), ()):
            stop = index + len(entry.pattern)
            if stop > len(tokens) or not all(
                _fits(tokens[index + k], p) for k, p in enumerate(entry.pattern)
            ):
                continue
            if entry.without and stop < len(tokens) and tokens[stop].text.lower() == entry.without:
                continue
            if (
                tokens[stop - 1].pos == "PROPN"
                and stop < len(tokens)
                and tokens[stop].pos == "PROPN"
                and "<" not in entry.pattern[-1]
            ):
                continue
            if _unlike(sentence, index, stop, entry):
                continue
            slots = [index + k for k, part in enumerate(entry.pattern) if part.startswith("<")]
            pieces: list[Piece] = []
            for word in entry.replacement:
                pieces.append(slots.pop(0) if word.startswith("<") else word)
            if sentence.replace(index, stop, pieces):
                break


def _unlike(sentence: Sentence, index: int, stop: int, entry: Entry) -> bool:
    """Whether the words around show that a phrase is used otherwise than the lexicon means it."""
    tokens = sentence.tokens
    before = tokens[index - 1] if index else None
    after = tokens[stop].text if stop < len(tokens) else ""
    if before and before.text.lower() in {"so", "as", "how", "too", "very", "no", "not", "-"}:
        return True  # "how many", "no sooner", "so suddenly", "well-known as"
    if before and entry.replacement[0] in ("a", "an") and before.pos in ("DET", "ADJ", "NUM", "PRON"):
        return True  # "its many uses", "the larger part of the duchy"
    if after == "-" or (entry.replacement[-1] == "of" and after == "of"):
        return True
    return entry.pattern == ("also",) and (not after or not after[0].isalnum())  # "and groaned also."


def turn_dates(sentence: Sentence) -> None:
    """ "April 21, 1836" ↔ "21 April 1836"."""
    texts = [token.text for token in sentence.tokens]
    for i in range(len(texts) - 2):
        if texts[i] in MONTHS and texts[i + 1].isdigit() and len(texts[i + 1]) <= 2:
            if i + 3 < len(texts) and texts[i + 2] == "," and texts[i + 3].isdigit():
                stop = i + 4 + (i + 4 < len(texts) and texts[i + 4] == "," and i + 5 < len(texts))
                sentence.replace(i, stop, [i + 1, i, i + 3, *([","] if stop == i + 5 else [])])
        elif texts[i].isdigit() and len(texts[i]) <= 2 and texts[i + 1] in MONTHS and texts[i + 2].isdigit():
            sentence.replace(i, i + 3, [i + 1, texts[i], ",", i + 2])


def write_numbers(sentence: Sentence) -> None:
    """ "2 books" → "two books"; "20th century" ↔ "twentieth century"."""
    for index, token in enumerate(sentence.tokens[:-1]):
        after = sentence.tokens[index + 1]
        if token.text in NUMBER_WORDS and token.dep == "nummod" and token.head > index and after.tag == "NNS":
            sentence.replace(index, index + 1, [NUMBER_WORDS[token.text]])
        elif token.text in ORDINALS and after.lemma in ("century", "centuries"):
            sentence.replace(index, index + 1, [ORDINALS[token.text]])


def turn_genitives(sentence: Sentence) -> None:
    """ "the capital of France" ↔ "France's capital"."""
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        if token.dep == "nmod" and tokens[token.head].pos == "NOUN" and token.pos == "PROPN":
            block = sentence.block(index)
            owned = token.head
            if not block or tokens[block[0]].text != "of" or block[0] != owned + 1 or owned == 0:
                continue
            names = range(block[0] + 1, block[1])
            if not 1 <= len(names) <= 3 or any(
                tokens[i].pos != "PROPN" or tokens[i].text.endswith("s") for i in names
            ):
                continue
            if (
                tokens[owned - 1].text.lower() != "the"
                or tokens[owned].lemma in PARTS
                or sentence.children[owned][-1] != index
            ):
                continue
            sentence.replace(owned - 1, block[1], [*names, "'s", owned])
        elif token.dep == "nmod:poss" and token.pos == "PROPN" and tokens[token.head].pos == "NOUN":
            block = sentence.block(index)
            if (
                not block
                or tokens[block[1] - 1].text not in ("'s", "’s")
                or not block[1] <= token.head <= block[1] + 1
            ):
                continue
            before = tokens[block[0] - 1] if block[0] else None
            if block[1] - block[0] > 4 or (
                before and (before.pos in ("DET", "ADJ", "PROPN") or before.text in ("of", ","))
            ):
                continue
            possession = range(block[1], token.head + 1)
            after = token.head + 1
            if after < len(tokens) and (tokens[after].text == "of" or tokens[after].pos == "PROPN"):
                continue  # "Smith's sister Ann"
            sentence.replace(block[0], after, ["the", *possession, "of", *range(block[0], block[1] - 1)])


def turn_relatives(sentence: Sentence) -> None:
    """ "a book which was written by …" ↔ "a book written by …"; "that" ↔ "which" as an object stays."""
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        noun = token.head
        if token.tag != "VBN" or noun >= index or tokens[noun].pos not in ("NOUN", "PROPN"):
            continue
        if (
            token.dep == "acl:relcl"
            and noun + 3 == index
            and tokens[noun + 1].text in ("which", "that", "who")
        ):
            if tokens[noun + 2].lemma == "be" and tokens[noun + 2].dep == "aux:pass":
                sentence.replace(noun + 1, index, [])
        elif (
            token.dep == "acl"
            and noun + 1 == index
            and tokens[noun].pos == "NOUN"
            and index + 1 < len(tokens)
        ):
            root = tokens[sentence.root]
            past = root.tag in ("VBD", "VBN") or any(
                tokens[i].tag == "VBD" for i in sentence.children[sentence.root]
            )
            if tokens[index + 1].pos == "ADP" and tokens[index].lemma not in (
                "call",
                "know",
                "name",
                "base",
                "follow",
            ):
                plural = tokens[noun].tag == "NNS"
                sentence.replace(index, index + 1, ["that", _be(past, plural), index])


def swap_partners(sentence: Sentence) -> None:
    """ "tea and coffee" → "coffee and tea", where neither of the two has anything to its right."""
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        partner = token.head
        if (
            token.dep != "conj"
            or token.pos != tokens[partner].pos
            or token.pos not in ("NOUN", "PROPN", "ADJ", "VERB")
        ):
            continue
        if token.pos == "VERB" and (token.tag != "VBG" or tokens[partner].tag != "VBG"):
            continue
        block = sentence.block(index)
        if not block or tokens[block[0]].text.lower() not in ("and", "or") or block[0] != partner + 1:
            continue
        if sum(tokens[i].dep == "conj" for i in sentence.children[partner]) != 1 or block[1] != index + 1:
            continue
        left, right = sentence.block(partner), range(block[0] + 1, block[1])
        if left is None or len(right) > 3:
            continue
        first = min(
            [i for i in sentence.children[partner] if tokens[i].dep in OWN and i >= left[0]], default=partner
        )
        own = any(tokens[i].dep in OWN for i in sentence.children[index])
        if (first != partner) != own or any(
            tokens[i].pos in ("ADP", "PUNCT", "CCONJ", "SCONJ") for i in range(first, partner)
        ):
            continue
        if (
            (token.pos == "ADJ" and first != partner)
            or tokens[partner].tag != token.tag
            or (first == 0 and token.pos != "PROPN")
        ):
            continue
        # After a preposition the first partner's block would start with it.
        sentence.replace(first, block[1], [*right, tokens[block[0]].text, *range(first, partner + 1)])


OWN = ("det", "nmod:poss", "amod", "compound", "nummod", "flat")
RULES = (turn_dates, turn_genitives, use_lexicon, turn_relatives, swap_partners, write_numbers)


def _be(past: bool, plural: bool) -> str:
    return ("were" if plural else "was") if past else ("are" if plural else "is")


def _tokens(word: str) -> list[str]:
    """The parser's tokens of a lexicon word: "didn't" is two."""
    if word.endswith("n't"):
        return [word[:-3], "n't"]
    if word == "cannot":
        return ["can", "not"]
    return [word]


def _fits(token: object, part: str) -> bool:
    if part.startswith("<"):
        return token.pos == part[1:-1]  # type: ignore[attr-defined]
    text = token.text.replace("’", "'")  # type: ignore[attr-defined]
    return text == part or text.lower() == part
