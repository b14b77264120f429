"""Slips seen in the characters and words of an output, whatever its parse: marks, capitals, doublings."""

import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise

from augment_cli.english.guards.vocabulary import Vocabulary
from augment_cli.syntax.tree import words

_TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_MAY_DOUBLE = frozenset(["that", "had", "very", "so"])  # "the fact that that man had had"
_SPACING = (r"\s[,.;:!?](?=\s|$)", r",(?=[^\W\d])", r"[,;:]\s*[,;:.]", r"[.!?]['\"]?(?=[^\W\d]{2})")
_SENTENCE_BREAK = re.compile(r"[a-z0-9\"')][.!?]\s+\S")
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][a-z'’]*")
_QUOTE_IN_SMALL_LETTERS = re.compile(r"(?:^|[\s(—-])[\"'“‘]+[a-z]")
_QUOTED_WORDS = re.compile(r"[\"“]((?:[\w'’-]+ ){0,2}[\w'’-]+)[\"”]")
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_VERY_ONE = re.compile(r"\b(?:[Tt]he|[Tt]hat|[Tt]his) very\b")  # that and no other
_VOWEL, _CONSONANT = re.compile(r"[aeiou]"), re.compile(r"[bcdfgjklmnpqrstvwyz][a-z]")
_SOUNDS_LIKE_CONSONANT = re.compile(r"eu|ew|one\b|once\b|uni(?!n)|us[aeu]|u\b|ut[ie]|ub[ie]|uk|ur[aei]|ufo")
_KEPT = words("and but or this these those another both either neither only just merely simply solely")
# What is never written: a contraction with nothing behind it, "do not you".
_NEVER = (
    re.compile(r"(?:\b(?:it|he|she|there|that|what|who)'s|'m|'re)(?=[.,;:!?\"]|$)"),
    re.compile(
        r"\b(?:do|does|did|is|are|was|were|have|has|had) not (?:i|you|he|she|it|we|they|\w+(?:body|one))\b"
    ),
    re.compile(r"\b(?:i|we|you|they)'s\b|\b(?:who|what|that|there|where|how)'m\b|\b[a-z]+s's\b"),
    re.compile(r"\b(\w+) and \1\b"),
    re.compile(r"\b(?:no|yes) in fact\b|\bin fact[!?]|\bof it(?=[.,;:!?]|$)"),
    re.compile(
        r"\b(?:more|most) (?:big|fast|great|hard|high|huge|large|odd|quick|rich|sad|small|strong|tiny|weak)\b"
    ),
    re.compile(r"\b(?:extremely|highly) (?:well|much|many|few|same|good|best|one)\b"),
    re.compile(r"\bmost(?: \w+ and)? many\b"),
    re.compile(r"(?<!\bwho )(?<!\bwhat )(?<!\bit )\b(?:is|the|an?|of)[.?!]$"),
    re.compile(r"(?:'re|'m|'ve|'ll|\b(?:it|he|she|there)'s) (?:but|and|or|though)\b"),
)
_STUTTER = re.compile(r"(\w{3,})\1|(\w{2})\2\2")
_ARTICLES = {"a": "an", "an": "a"}
# A question is built with these; "is" and "has" may be contracted.
_BUILDING = words(
    "do does did am are was were have had can could will would shall should may might must n't not"
)
_ASKING = _BUILDING | words("what which who whom whose why how when where")


def has_slip(original: str, output: str, vocabulary: Vocabulary) -> bool:
    """Whether an output has a slip that its original has not."""
    texts = [text.replace("’", "'") for text in (original, output)]
    if ends_or_begins_otherwise(original, output) or _has_slip_of_the_pen(original, output, vocabulary):
        return True
    before, after = (_TOKEN.findall(text.lower()) for text in texts)
    known = set(pairwise(before))
    if any((_ARTICLES.get(one), two) in known and (one, two) not in known for one, two in pairwise(after)):
        return True
    asks = not _ASKING.isdisjoint(before[:1]) or before[-1:] == ["?"]
    if asks and _asks_otherwise(before, after, vocabulary):
        return True
    return (
        any(_is_impossible(*pair) for pair in pairwise(after) if pair not in known)
        or any(after.count(word) < before.count(word) for word in _KEPT)
        or after.count("by") > before.count("by")
        or any(output.count(mark) < original.count(mark) for mark in ('",', ',"', "”,", ",”"))
        or any(len(slip.findall(texts[1].lower())) > len(slip.findall(texts[0].lower())) for slip in _NEVER)
        or any(
            set(pattern.findall(original)) - set(pattern.findall(output))
            for pattern in (_HYPHENATED, _QUOTED_WORDS, _VERY_ONE)
        )
        or len(_QUOTE_IN_SMALL_LETTERS.findall(output)) > len(_QUOTE_IN_SMALL_LETTERS.findall(original))
    )


def ends_or_begins_otherwise(original: str, output: str) -> bool:
    """Another mark at the end, a small letter at the beginning, or more sentences."""
    starts = [text.lstrip("\"'“‘([ ")[:1] for text in (original, output)]
    if starts[0].isupper() and starts[1].islower():
        return True
    ends = [text.rstrip("\"'”’)] ")[-1:] for text in (original, output)]
    marks = [end if end in ".!?;:," else "" for end in ends]
    breaks = [len(_SENTENCE_BREAK.findall(text)) for text in (original, output)]
    return marks[0] != marks[1] or breaks[0] != breaks[1]


def is_garbled(word: str, lost: Collection[str]) -> bool:
    """Whether a new word is one that was lost, with a syllable too many: "repopo", "anccessing"."""
    if _STUTTER.search(word):
        return True
    return any(len(other) > 2 and word != other and word.endswith(other[1:]) for other in lost)


def _asks_otherwise(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a question has other auxiliaries, "n't" is written out, or a verb changes its form."""
    built = [Counter(word for text in words_ for word in _parts(text)) for words_ in (before, after)]
    if any(built[0][word] != built[1][word] for word in _BUILDING):
        return True
    lost, new = set(before) - set(after), set(after) - set(before)
    return any(vocabulary.is_inflection(one, other) for one in new for other in lost)


def _parts(token: str) -> list[str]:
    """`don't` as `do` and `n't`, `you're` as `you` and `are`; a written-out "not" is not "n't"."""
    if token.endswith("n't"):
        return [{"ca": "can", "wo": "will"}.get(token[:-3], token[:-3]), "n't"]
    host, mark, end = token.rpartition("'")
    return [host, {"re": "are", "ve": "have", "ll": "will", "m": "am"}.get(end, end)] if mark else [token]


def _has_slip_of_the_pen(original: str, output: str, vocabulary: Vocabulary) -> bool:
    """A space or a mark too many, or a capital in the middle that the original has not there."""
    if any(re.search(slip, output) and not re.search(slip, original) for slip in _SPACING):
        return True
    capitals = set(_INNER_CAPITAL.findall(output)) - set(_INNER_CAPITAL.findall(original))
    first = _TOKEN.search(original)
    opening = first.group() if first else ""
    if vocabulary.is_written_small(opening.lower()):
        opening = ""
    return any(not re.match(r"I\b", word) and word != opening for word in capitals)


def _is_impossible(one: str, two: str) -> bool:
    """Whether two lower-case words never stand beside each other in this order."""
    if one == two and one not in _MAY_DOUBLE and one[0].isalpha():
        return True
    if one == "a":
        return _VOWEL.match(two) is not None and not _SOUNDS_LIKE_CONSONANT.match(two)
    return one == "an" and _CONSONANT.match(two) is not None
