"""Slips that no English sentence has, found where an output has words together that its original has not."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from augment_cli.neural.vocabulary import Vocabulary

_TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_MAY_DOUBLE = frozenset(["that", "had", "very", "so"])  # "the fact that that man had had"
_ARTICLES = frozenset(["a", "an", "the"])
_POSSESSIVES = frozenset(["my", "your", "his", "its", "our", "their", "whose"])
_DETERMINERS = _ARTICLES | _POSSESSIVES
_BE = frozenset(["is", "are", "was", "were", "am", "be", "been"])
_HAVE = frozenset(["has", "have", "had"])
_MODALS = frozenset(["can", "could", "may", "might", "must", "shall", "should", "will", "would"])
_FINITE = (_BE - {"be", "been"}) | _HAVE | _MODALS | {"does", "did"}
_CLOSE = frozenset(["of", "with", "by", "at", "into", "for", "during", "between", "among"])
_PREPOSITIONS = _CLOSE | {"from", "onto", "toward", "towards", "beneath", "within", "amid", "in", "on"}
_CONJUNCTIONS = frozenset(["and", "or", "but"])
_MONTHS = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
_WRONG_PERSON = {
    "i": frozenset(["is", "are", "has", "does"]),
    **dict.fromkeys(["he", "she", "it"], frozenset(["are", "am", "have", "do"])),
    **dict.fromkeys(["we", "they", "you"], frozenset(["is", "am", "was", "has", "does"])),
}
_SOUNDS_LIKE_CONSONANT = re.compile(r"eu|ew|one\b|once\b|uni(?!n)|us[aeu]|u\b|ut[ie]|ub[ie]|uk|ur[aei]|ufo")
_SHORT_BE = re.compile(r"(?:\b(?:it|he|she|there|that|what|who)'s|'m|'re)$")
_CONTRACTED_BE = re.compile(
    r"(?:is|are|was|were|ai)n't|(?:it|he|she|there|here|that|this|what|who|where|how)'s|\w+'(?:m|re)"
)
_STARTS_WITH_VOWEL, _STARTS_WITH_CONSONANT = re.compile(r"[aeiou]"), re.compile(r"[bcdfgjklmnpqrstvwyz][a-z]")
_SPACING = (r"\s[,.;:!?](?=\s|$)", r",(?=[^\W\d])", r"[,;:]\s*[,;:.]", r"[.!?]['\"]?(?=[^\W\d]{2})")
_SENTENCE_BREAK = re.compile(r"[a-z0-9\"')][.!?]\s+\S")
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][a-z'’]*")
_CLAUSE_WORDS = frozenset(["whether", "that", "which", "who", "if", "because", "when", "while"])
_AFTER_AGENT = frozenset([",", ".", ";", "in", "on", "for"])
_PHRASE_WITH_ARTICLE = re.compile(
    r"\ban? (?:(?:large|great|small) )?(?:number|few|lot|variety|little|majority|result|consequence|day|week|"
    r"month|year|hour|minute|second|great|good|way)\b"
)
_PARTICIPLE_WITHIN = 3  # words after a form of "be"


def is_broken(original: str, output: str, vocabulary: Vocabulary) -> bool:
    """Whether an output has a slip that its original has not.

    Parameters
    ----------
    original, output : str
        English; the output in one line.
    vocabulary : Vocabulary
        Says which tags a word can have.
    """
    if _ends_or_begins_otherwise(original, output) or _has_slip_of_the_pen(original, output, vocabulary):
        return True
    before, after = _tokens(original), _tokens(output)
    known = {(one.lower(), two.lower()) for one, two in pairwise(before)}
    if any(
        _is_impossible(one, two, vocabulary)
        for one, two in pairwise(after)
        if (one.lower(), two.lower()) not in known
    ):
        return True
    before, after = [word.lower() for word in before], [word.lower() for word in after]
    if _loses_an_article(original, output) or _moves_over_a_verb(before, after, vocabulary):
        return True
    if _relates_anew(before, after) or _turns_wrongly(before, after, vocabulary):
        return True
    return _joins_otherwise(before, after, vocabulary) or _is_left_without_a_verb(before, after, vocabulary)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.replace("’", "'"))


def _ends_or_begins_otherwise(original: str, output: str) -> bool:
    """Another mark at the end, a small letter at the beginning, or more sentences."""
    starts = [text.lstrip("\"'“‘([ ")[:1] for text in (original, output)]
    if starts[0].isupper() and starts[1].islower():
        return True
    ends = [text.rstrip("\"'”’)] ")[-1:] for text in (original, output)]
    marks = [end if end in ".!?;:," else "" for end in ends]
    breaks = [len(_SENTENCE_BREAK.findall(text)) for text in (original, output)]
    return marks[0] != marks[1] or breaks[0] != breaks[1]


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


def _is_impossible(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether two words never stand beside each other in this order."""
    one, two = first.lower(), second.lower()
    if one == two and one not in _MAY_DOUBLE and one[0].isalpha():
        return True
    if one in _DETERMINERS and (
        two in _DETERMINERS | _CONJUNCTIONS | _PREPOSITIONS | _FINITE or two in ".,;:!?)"
    ):
        return True
    if one in _PREPOSITIONS and (two in _FINITE | _CONJUNCTIONS or (one in _CLOSE and two in _PREPOSITIONS)):
        return True
    if (one in _CLOSE | _CONJUNCTIONS | _BE or _SHORT_BE.search(one)) and two in '.,;:!?"':
        return True
    if (one in _BE and two in _CONJUNCTIONS) or (one in _CONJUNCTIONS and two in _CONJUNCTIONS):
        return True
    if one == "like" and vocabulary.tags(two) and vocabulary.tags(two) <= {"VBZ", "VBD"}:
        return True
    if one == "extremely" and vocabulary.tags(two) and not vocabulary.tags(two) & {"JJ", "RB", "VBN", "VBG"}:
        return True
    if (one == "like" and two in _FINITE) or (one == "not" and two in _WRONG_PERSON):
        return True
    if one == "then" and two in ".;":
        return True
    if two in ("is", "was", "has") and vocabulary.tags(one) == {"NNS"}:
        return True
    if two in _WRONG_PERSON.get(one, ()) or (two in _MONTHS and re.fullmatch(r"\d{4}", one)):
        return True
    if one == "a" and _STARTS_WITH_VOWEL.match(two) and not _SOUNDS_LIKE_CONSONANT.match(two):
        return True
    if one == "an" and _STARTS_WITH_CONSONANT.match(second):
        return True
    return two not in vocabulary.function_words and _has_wrong_form(one, two, vocabulary)


def _has_wrong_form(one: str, two: str, vocabulary: Vocabulary) -> bool:
    """Whether a content word has none of the forms that the function word before it asks for."""
    tags = vocabulary.tags(two)
    if not tags:
        return False
    if one in ("a", "an"):
        return tags <= {"NNS", "VB", "VBZ", "VBD"}
    if one in _MODALS | {"did", "does", "didn't", "doesn't", "don't"}:
        return not tags & {"VB", "RB", "RBR"}
    if one in _BE:
        return tags <= {"VB", "VBZ", "VBD"}
    if one in _HAVE:
        return tags <= {"VB", "VBZ"}
    return one in _PREPOSITIONS and tags <= {"VB", "VBZ", "VBD"}


def _joins_otherwise(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a conjunction joins words that it does not join in the original.

    The two may have changed places if they can be the same part of speech, and an article stands before the
    second one as it did before: "the fish and meat" is not "meat and the fish".
    """
    known = _joined(before)
    for left, right, has_article in _joined(after):
        stays = any(vocabulary.is_akin(left, one) and vocabulary.is_akin(right, two) for one, two, _ in known)
        turned = any(
            has_article == had_article
            and vocabulary.is_akin(left, two)
            and vocabulary.is_akin(right, one)
            and vocabulary.share_a_form(left, right)
            and vocabulary.is_common(left) == vocabulary.is_common(right)
            for one, two, had_article in known
        )
        if not (stays or turned):
            return True
    return False


def _joined(words: list[str]) -> list[tuple[str, str, bool]]:
    """Words beside each "and" and "or", articles and possessives aside, and whether there is one of these."""
    joined = []
    for place in range(1, len(words) - 1):
        if words[place] in ("and", "or"):
            rest = words[place + 1 :]
            right = next((word for word in rest if word not in _DETERMINERS), "")
            joined.append((words[place - 1], right, rest[0] in _DETERMINERS))
    return joined


def _relates_anew(before: list[str], after: list[str]) -> bool:
    """Whether a relative clause with "be" has come: of "the sign passed" comes "the sign that is passed"."""
    known, relations = Counter(pairwise(before)), Counter(pairwise(after))
    return any(
        one in ("that", "which", "who") and two in _BE and count > known[one, two]
        for (one, two), count in relations.items()
    ) or _relates_elsewhere(before, after)


def _relates_elsewhere(before: list[str], after: list[str]) -> bool:
    """Whether a relative clause with "be" belongs to another noun than before."""
    heads = [
        {(some[place - 1], some[place]) for place in range(1, len(some) - 1) if some[place + 1] in _BE}
        for some in (before, after)
    ]
    return any(relative in ("that", "which", "who") for _, relative in heads[1] - heads[0])


def _turns_wrongly(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether an active sentence has become passive with a clause or a second verb taken along.

    "Hugo caught the side and bent his head" is not "the side and bent his head were caught by Hugo", and in
    "it was made by Smith, a naked bike" the bike is no longer explained.
    """
    if after.count("by") <= before.count("by") or not _has_new_be(before, after):
        return False
    verb = next(place for place, word in enumerate(after) if word == "by" and place)
    subject = after[: max(verb - 1, 0)]
    agent = after[verb + 1 :]
    stop = next((place for place, word in enumerate(agent) if word in _AFTER_AGENT), len(agent))
    second_object = any(
        word in _ARTICLES and "NN" in vocabulary.tags(subject[place]) and subject[place] not in _PREPOSITIONS
        for place, word in enumerate(subject[1:])
    )
    second_verb = any(
        word in _CONJUNCTIONS and _could_be_verb(subject[place + 1 : place + 2], vocabulary)
        for place, word in enumerate(subject)
    )
    clause = any(word in _CLAUSE_WORDS for word in agent[:stop])
    return second_object or second_verb or clause or agent[stop : stop + 1] == [","]


def _moves_over_a_verb(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether the end of a sentence has come to the front past a conjunction that joins two verbs.

    Of "it was founded in York and later moved to Leeds in 1997" comes "in 1997, it was founded …".
    """
    if before[:2] == after[:2] or "," not in after or after[0] not in before:
        return False
    front = after[: after.index(",")]
    start = next(
        (place for place in range(1, len(before)) if before[place : place + len(front)] == front), None
    )
    if start is None:
        return False
    return any(
        (word in _CONJUNCTIONS and _could_be_verb(before[place + 1 : min(place + 4, start)], vocabulary))
        or (word == "but" and before[max(place - 1, 0)] == ",")
        for place, word in enumerate(before[:start])
    )


def _loses_an_article(original: str, output: str) -> bool:
    """Whether an indefinite article has gone, where no phrase such as "a number of" has."""
    count = [len(re.findall(r"\b[Aa]n?\b", text)) for text in (original, output)]
    return count[1] < count[0] and not _PHRASE_WITH_ARTICLE.search(original.lower())


def _has_new_be(before: list[str], after: list[str]) -> bool:
    return sum(word in _BE for word in after) > sum(word in _BE for word in before)


def _could_be_verb(words: list[str], vocabulary: Vocabulary) -> bool:
    return any(vocabulary.tags(word) & {"VBD", "VBZ"} for word in words)


def _is_left_without_a_verb(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a form of "be" has gone for nothing, or has come without a participle."""
    come = sum(word in _BE for word in after) - sum(word in _BE for word in before)
    come += sum(word.endswith(("'s", "'re", "'m")) for word in after)
    come -= sum(word.endswith(("'s", "'re", "'m")) for word in before)
    if come > 0:
        known = set(pairwise(before))
        new = [place for place, pair in enumerate(pairwise(after)) if pair[0] in _BE and pair not in known]
        follow = [after[place + 1 : place + 1 + _PARTICIPLE_WITHIN] for place in new]
        return not any("VBN" in vocabulary.tags(word) for words in follow for word in words)
    return _count_be(after) < _count_be(before) and not _may_do_without_be(before, after, vocabulary)


def _count_be(words: list[str]) -> int:
    return sum(word in _BE or _CONTRACTED_BE.fullmatch(word) is not None for word in words)


def _may_do_without_be(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a form of "be" has gone with a passive or a relative pronoun, or for another verb."""
    if after.count("by") < before.count("by"):
        return True
    known = set(pairwise(after))
    if any(one in ("that", "which", "who") and two in _BE for one, two in set(pairwise(before)) - known):
        return True
    return any(vocabulary.tags(word) & {"VBD", "VBZ", "VB"} for word in set(after) - set(before))
