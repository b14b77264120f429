"""Parts of a sentence that a paraphrasing model puts where they do not belong.

Its words are all there, and each pair of neighbours may be sound: what is wrong is what has moved, become the
subject, or changed places. Each check compares an output with its original and finds one kind of slip, as
reading outputs showed them. There is no parse here, so what cannot be told from the words is turned down.
"""

from __future__ import annotations

import re
from itertools import pairwise

from augment_cli.neural.vocabulary import Vocabulary
from augment_cli.syntax.tree import words

_TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_BE = words("is are was were am")
_SINGULAR_BE, _PLURAL_BE = words("is was"), words("are were")
_PREPOSITIONS = words(
    "about above across against along among amongst around as at behind below beneath beside besides between "
    "beyond by for from in inside into like near of off on onto out outside over through to toward towards "
    "under upon with within without"
)
# "Of" and "in" belong to the noun before them; the others more often to the verb.
_WITHIN_SUBJECTS = words("of in")
_SUBORDINATORS = words(
    "after although because before if once since though unless until when whenever where while whereas"
)
_WITHIN_CLAUSES = words("for that which who whom whose and but or so because if when while")
_OPENINGS = (["in", "fact"], ["in", "addition"], ["for", "example"], ["for", "instance"], ["after", "that"])
_HARDLY = words("hardly scarcely barely only")
_PARTICLES = words("up off out away down back over on together apart forth about along around")
_VERB_TAGS = frozenset(["VB", "VBZ", "VBD", "VBN", "VBG"])
_TEMPORAL = words("after before since until till")  # that may open a phrase as well as a clause
_PRONOUNS = words("he she it they")
_CONJUNCTIONS = words("and but or")
_CLAUSE_WORDS = words("which who whom whose that when while because if although though where but than")
_TIME = words(
    "january february march april june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday spring summer autumn winter morning afternoon evening night "
    "noon midnight dawn dusk day days week weeks month months year years decade decades century centuries "
    "hour hours minute minutes moment time times age period era beginning end first last"
)
_BEFORE_MAY = words("in of by since until till last next this early late mid on")
_NOMINATIVE = words("i you he she it we they who")
_OBJECTS = words("me you him her it us them myself himself herself itself themselves")
_DETERMINERS = words("a an the my your his her its our their")
_YEAR = re.compile(r"\d{3,4}s?$")


def is_misplaced(original: str, output: str, vocabulary: Vocabulary) -> bool:
    """Whether a part of an output stands where the original's sense does not allow it.

    Parameters
    ----------
    original, output : str
        English; the output in one line.
    vocabulary : Vocabulary
        Says which tags a word can have.
    """
    written = tuple(_TOKEN.findall(text.replace("’", "'").lstrip("\"'“‘([ ")) for text in (original, output))
    if not all(written):
        return False
    before, after = ([word.lower() for word in words] for words in written)
    return (
        _opens_with_what_belongs_elsewhere(before, after, vocabulary)
        or _ends_with_an_opening_of_several_clauses(before, after, vocabulary)
        or _opens_with_a_pronoun_for_a_later_name(written[0], written[1])
        or _equates_the_wrong_way(before, after)
        or _turns_a_passive_wrongly(before, after, vocabulary)
        or _turns_into_a_bad_passive(before, after, vocabulary)
        or _parts_a_verb_from_its_particle(before, after, vocabulary)
        or _exchanges_parts_of_names_and_compounds(written[0], written[1], vocabulary)
    )


def _position(piece: list[str], words: list[str]) -> int:
    """Where a piece begins within some words, −1 where it does not stand there."""
    size = len(piece)
    places = range(len(words) - size + 1)
    return next((place for place in places if words[place : place + size] == piece), -1)


def _is_time(piece: list[str]) -> bool:
    if piece == ["at", "a", "time"]:
        return False
    in_may = any(pair[1] == "may" and pair[0] in _BEFORE_MAY for pair in pairwise(piece))
    return in_may or any(word in _TIME or _YEAR.match(word) for word in piece)


def _opens_with_what_belongs_elsewhere(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a phrase has come to the front that belongs to the words before it.

    "At last the term may refer to skiing on one ski" is not "On one ski, the term may refer to skiing", and
    of "it came eighth, up from 14 in 2013" comes no "in 2013, it came eighth". A time or a clause may come.
    """
    if "," not in after or before[:2] == after[:2]:
        return False
    piece = after[: after.index(",")]
    place = _position(piece, before)
    if (
        place < 0 and piece[0] in _PREPOSITIONS | _TEMPORAL | _SUBORDINATORS
    ):  # one of its words is another now
        place = _position(piece[:1], before)
    if place <= 0:
        return False
    opener = piece[0]
    is_clause = opener in _SUBORDINATORS and not (opener in _TEMPORAL and not _NOMINATIVE & set(piece))
    if is_clause:
        follows_comma = opener == "when" and before[place - 1] == ","
        return follows_comma or bool(set(before[1:place]) & _WITHIN_CLAUSES)
    if "VBG" in vocabulary.tags(opener):
        return True
    if opener not in _PREPOSITIONS | _TEMPORAL:
        is_adverb = len(piece) == 1 and "RB" in vocabulary.tags(opener)
        return not (is_adverb or _is_time(piece) or piece[:2] in _OPENINGS)
    return "," in before[: place - 1] or not (opener in _TEMPORAL or _is_time(piece))


def _ends_with_an_opening_of_several_clauses(
    before: list[str], after: list[str], vocabulary: Vocabulary
) -> bool:
    """Whether "In 1900," has gone to the end of a sentence with several clauses, or with another time."""
    if "," not in before or before[:2] == after[:2]:
        return False
    stop = before.index(",")
    piece, rest = before[:stop], before[stop + 1 :]
    if not piece or piece[0] not in _PREPOSITIONS or _position(piece, after) <= 0:
        return False
    if _is_time(piece) and _is_time(rest):
        return True
    return any(
        (word in _CLAUSE_WORDS | {"as", "had"} and word != "because")
        or word in ",;:"
        or (word == "to" and "VB" in vocabulary.tags(rest[place + 1]))
        or (word in _CONJUNCTIONS and _begins_a_clause(rest[place + 1 : place + 3], vocabulary))
        for place, word in enumerate(rest[:-1])
    )


def _begins_a_clause(words: list[str], vocabulary: Vocabulary) -> bool:
    """Whether a finite verb comes, or an adverb and a finite verb."""
    tags = [vocabulary.tags(word) for word in words]
    is_finite = [bool(some & {"VBD", "VBZ"}) for some in tags]
    return bool(tags) and (is_finite[0] or ("RB" in tags[0] and is_finite[-1]))


def _opens_with_a_pronoun_for_a_later_name(before: list[str], after: list[str]) -> bool:
    """Whether a pronoun now comes before its name: of "When Ivo came, he …" comes "He … when Ivo"."""
    if "," not in before or before[0].lower() not in _SUBORDINATORS or after[0].lower() not in _PRONOUNS:
        return False
    clause = before[1 : before.index(",")]
    return any(word[0].isupper() and word != "I" for word in clause)


def _equates_the_wrong_way(before: list[str], after: list[str]) -> bool:
    """Whether "X are the Y" has become "the Y are X", or so has an X or Y with a comma.

    Number is lost in the first, and the second is out of balance. "Rome is the capital" may be turned.
    """
    one = next((place for place, word in enumerate(before) if word in _BE), None)
    if one is None or before[:2] == after[:2]:
        return False
    subject, rest = before[:one], before[one + 1 : -1]
    if not rest or after[: len(rest)] != rest or _position(subject, after) < len(rest):
        return False
    return before[one] in _PLURAL_BE or "," in rest or "," in subject


def _turns_a_passive_wrongly(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether "are shared by two atoms" has become active, as its verb then wants another person or tense.

    So does "was taken by", as "taken" is no past tense.
    """
    if after.count("by") >= before.count("by"):
        return False
    if any(before.count(verb) > after.count(verb) for verb in ("is", "are")):
        return True
    participles = {two for one, two in pairwise(before) if one in _BE and two in after}
    return any(
        {"VBN"} <= vocabulary.tags(word) and "VBD" not in vocabulary.tags(word) for word in participles
    )


def _turns_into_a_bad_passive(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether an active sentence has become passive with a subject that more than its object went into."""
    if after.count("by") <= before.count("by"):
        return False
    known = set(pairwise(before))
    new = next(
        (place for place, pair in enumerate(pairwise(after)) if pair[0] in _BE and pair not in known), None
    )
    if new is None:
        return False
    start = max((place + 1 for place, word in enumerate(after[:new]) if word in ",;:"), default=0)
    subject = after[start:new]
    if any(word in _PREPOSITIONS - _WITHIN_SUBJECTS for word in subject) or subject[:1] == ["in"]:
        return True
    if _is_stranded(before, after, vocabulary):
        return True
    stop = next((place for place, word in enumerate(subject) if word in _WITHIN_SUBJECTS), len(subject))
    tags = vocabulary.tags(subject[stop - 1]) if stop else frozenset()
    is_several = "and" in subject[:stop]
    if after[new] in _SINGULAR_BE:
        return is_several or ("NNS" in tags and "NN" not in tags)
    return not is_several and "NN" in tags and "NNS" not in tags


def _is_stranded(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether what ended the object now stands behind the agent: "rule was ended by the war in China".

    A time and an adverb may stand there.
    """
    shared = 0
    while shared < min(len(before), len(after)) and before[-1 - shared] == after[-1 - shared]:
        shared += 1
    tail = [word for word in before[len(before) - shared :] if word.isalnum()]
    if not tail or _is_time(tail):
        return False
    is_adverb = "RB" in vocabulary.tags(tail[0]) and tail[0] not in _PREPOSITIONS | _WITHIN_SUBJECTS | _HARDLY
    return not is_adverb


def _parts_a_verb_from_its_particle(before: list[str], after: list[str], vocabulary: Vocabulary) -> bool:
    """Whether another verb stands before a particle: of "built up", "constructed up"."""
    gone, come = set(pairwise(before)) - set(pairwise(after)), set(pairwise(after)) - set(pairwise(before))
    lost = {two for _, two in gone if two in _PARTICLES}
    return any(two in lost and one not in before and vocabulary.tags(one) & _VERB_TAGS for one, two in come)


def _exchanges_parts_of_names_and_compounds(
    before: list[str], after: list[str], vocabulary: Vocabulary
) -> bool:
    """Whether words beside "and" or "or" have changed places of which only one is a whole part.

    "Northern Syria and upper Egypt" is not "northern upper and Syria Egypt", nor "ease of use and feature
    set" "ease of feature and use set".
    """
    known = {(one.lower(), word, two.lower()) for one, word, two in _joined(before)}
    for place, word in enumerate(before[1:-1], 1):
        if word not in ("and", "or"):
            continue
        left, right = before[place - 1], _second(before, place)
        turned = (right.lower(), word, left.lower())
        if turned in known or turned not in {(a.lower(), b, c.lower()) for a, b, c in _joined(after)}:
            continue
        if right.lower() in _OBJECTS:
            return True
        behind = before.index(right, place) + 1
        follows = before[behind].lower() if behind < len(before) else "."
        is_compound = follows[0].isalpha() and follows not in vocabulary.function_words
        if left[0].isupper() != right[0].isupper() and place > 1:
            return True
        if place > 1 and _is_modified(before[place - 2].lower(), left.lower(), vocabulary):
            return True
        if is_compound and vocabulary.tags(left.lower()) & (_VERB_TAGS | {"NN"}) and not left[0].isupper():
            return True
    return False


def _is_modified(word: str, noun: str, vocabulary: Vocabulary) -> bool:
    """Whether a word may describe the noun behind it: the stick of "cocked hat and stick" is not cocked."""
    is_noun = "NN" in vocabulary.tags(noun) and "JJ" not in vocabulary.tags(noun)
    return is_noun and word not in vocabulary.function_words and bool(vocabulary.tags(word) & {"JJ", "VBN"})


def _joined(words: list[str]) -> list[tuple[str, str, str]]:
    return [
        (words[place - 1], word, _second(words, place))
        for place, word in enumerate(words[1:-1], 1)
        if word in ("and", "or")
    ]


def _second(words: list[str], place: int) -> str:
    """The word behind a conjunction, past articles and possessives."""
    return next((word for word in words[place + 1 :] if word.lower() not in _DETERMINERS), ".")
