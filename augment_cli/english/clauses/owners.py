"""Whose something is, and what a question asks: `my card` to `her card`, `how did it` to `why did it`."""

from collections.abc import Iterator

from augment_cli.english.clauses.turns import Draw, Tokens, Turn
from augment_cli.english.lists import LISTS
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

_OTHERS = {"my": ("his", "her", "their"), "our": ("their",), "your": ("his", "her", "their")}
_NEARBY = {"my": "thou", "our": "we", "your": "you"}  # "how can we keep our balance" is of everybody
_OF_MEN, _OF_WOMEN = words("wife girlfriend fiancee ex-wife"), words("husband boyfriend fiance ex-husband")
# Of nobody else: "changed my mind", "do your best", "yes, my lord"; and what only its owner feels or moves.
_OWN = frozenset(word_list("own_things"))
_SELVES = words("myself yourself yourselves ourselves own")
_THIRD = words("he she him her his hers they them their theirs himself herself themselves")
_HELPERS = words("do does did can could should would will was were is are have has had")
_BE = words("was were is are")
_STATES = frozenset(word_list("stative_verbs")) | words(
    "live go come stay put work know need say think feel lie stand see look find hate love happen exist stem "
    "sit rank belong contain consist differ matter prefer believe seem sound taste smell"
)
_NOT_ASKED = words("not n't n’t never and so too")
_ASKED = {"where": ("when",), "when": ("where", "why"), "why": ("when",), "how": ("why",)}
_WORKING = words("work live happen sleep grow survive")


def owners(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """`what is my balance` to `what is his balance`: of somebody else."""
    for place in tokens.among(_OTHERS):
        row, word = tokens.rows[place], tokens.lower[place]
        own = tokens.words_of(row)
        noun = _thing(tokens, place)
        if not noun or tokens.tags[place] != "PRP$" or own.count(word) > 1:
            continue
        if _is_spoken_to(tokens, place, place + len(noun)) or _NEARBY[word] in own:
            continue
        if not _SELVES.isdisjoint(own) or not _THIRD.isdisjoint(own) or _OWN & set(noun):
            continue
        others = _OTHERS[word]
        if noun[-1] in _OF_MEN:
            others = ("his",)
        elif noun[-1] in _OF_WOMEN:
            others = ("her",)
        yield [(place, place, others[int(draw(place) * len(others))])]


def _is_spoken_to(tokens: Tokens, place: int, last: int) -> bool:
    """Whether a phrase stands between marks, as in `yes, my brother, no`, or names somebody: `my Anna`."""
    row = tokens.rows[place]
    opens = place == tokens.bounds[row] or not tokens.lower[place - 1][0].isalnum()
    closes = not tokens.word(last + 1, row)[:1].isalnum()
    return (opens and closes and tokens.word(last + 1, row) not in {"'s", "’s"}) or bool(tokens.names[last])


def _thing(tokens: Tokens, place: int) -> list[str]:
    """The words behind an owner, up to the noun; empty where no noun is plain."""
    row, found = tokens.rows[place], []
    for behind in range(place + 1, place + 6):
        tag = tokens.tag(behind, row)
        if tag not in {"JJ", "NN", "NNS", "NNP", "NNPS", "VBG", "VBN", "JJR", "JJS", "CD"}:
            break
        found.append(tokens.lower[behind])
    nouns = [tokens.tag(place + step, row) for step in range(1, len(found) + 1)]
    return found if any(tag.startswith("NN") for tag in nouns) else []


def question_words(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """`why was the card declined` to `when was the card declined`: where a verb of action follows."""
    for place in tokens.among(_ASKED):
        row, word = tokens.rows[place], tokens.lower[place]
        helper = tokens.word(place + 1, row)
        if place != tokens.bounds[row] or helper not in _HELPERS or tokens.denied(place + 1):
            continue
        own = tokens.words_of(row)
        verb = _verb(tokens, place + 2, helper)
        works = word == "how" and verb in _WORKING
        if not verb or (verb in _STATES and not works) or not _NOT_ASKED.isdisjoint(own) or own.count(","):
            continue
        if not set(_ASKED).isdisjoint(own[1:]) or own[-1] in {"at", "in", "on", "from"}:
            continue
        if word == "how":
            if verb not in LISTS["manner_verbs"]:
                yield _reason(tokens, place, helper)
            continue
        others = _fitting(word, own, helper)
        if others:
            yield [(place, place, others[int(draw(place) * len(others))])]


def _reason(tokens: Tokens, place: int, helper: str) -> Turn:
    """`how does it work` to `why does it work`; `how can I move it` to `why should I move it`."""
    who = tokens.word(place + 2, tokens.rows[place])
    if helper in _BE or helper.startswith("ha"):  # "how are we made"
        return [(place, place, "why")]
    if who in {"i", "we"} or (who in {"you", "one"} and helper in {"can", "could"}):
        return [(place, place + 1, "why should")]
    return [(place, place, "why")]


def _fitting(word: str, own: list[str], helper: str) -> tuple[str, ...]:
    """What else could be asked: not when, where the question says when."""
    timed = any(part.isdigit() for part in own) or not LISTS["timed"].isdisjoint(own)
    placed = not words("in at on there here from into to near").isdisjoint(own)
    return tuple(
        other
        for other in _ASKED[word]
        if not (other == "when" and (timed or helper in {"is", "are"}))  # "why is it called so"
        and not (other == "where" and (placed or helper in {"is", "are"}))
        and not (other == "why" and helper in {"can", "could", "will"})
    )


def _verb(tokens: Tokens, begin: int, helper: str) -> str:
    """The verb behind the subject of a question, or nothing where it is not plain."""
    row = tokens.rows[begin - 1]
    for place in range(begin, begin + 6):
        tag = tokens.tag(place, row)
        if place > begin and tag in {"VB", "VBN", "VBP", "VBD"} and not tokens.names[place]:
            wanted = {"VBN", "VBD"} if helper in _BE | {"have", "has", "had"} else {"VB", "VBP"}
            return tokens.lower[place] if tag in wanted else ""
        if tag not in {"PRP", "PRP$", "DT", "NN", "NNS", "NNP", "NNPS", "JJ", "POS", "CD"}:
            return ""
    return ""
