"""Turn a relation of time, place or degree: `before the war` to `after the war`, `more than` to `less than`.

Prepositions and adverbs that have an opposite (before and after, above and below, inside and outside), the
order of events (first and last, earlier and later, previous and next, began and ended), comparisons,
directions and changes (north, increase, rise) are exchanged for it; `my card` becomes `her card`, a question
that asks why one that asks when, and one that asks how one that asks why. One place of a sentence is drawn;
further draws take others. Words of names and titles, and phrases that mean something else (`look after`, `at
first`, `after a moment`, `your best`), stay. With `--deeds` it is what somebody does that turns (`created` to
`destroyed`, `supporter` to `opponent`), by a wider list: for training, since half of such sentences are odd.

Changes 15 % of prose, 21 % of questions and 33 % of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.parameters import parameter
from augment_cli.english.clauses.owners import owners, question_words
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, by_turns, turns_of
from augment_cli.english.inflection import inflected, plural
from augment_cli.resources import word_groups, word_list, word_table
from augment_cli.syntax.tree import TAG_OF_FORM, VerbForm, words


def _pairs(both: str, one: str = "") -> dict[str, str]:
    """`before/after`: each for the other; those of `one` in this direction alone."""
    there = [pair.split("/") for pair in both.split()]
    alone = [pair.split("/") for pair in one.replace("_", " ").split("; ") if pair]
    return dict(there) | {second: first for first, second in there} | dict(alone)


# In front of a noun phrase or clause.
_PREPOSITIONS = _pairs(
    "before/after above/below inside/outside including/excluding like/unlike from/to",
    "without/with; until/after; into/out of; within/outside; toward/away from; towards/away from; "
    "near/far from; unless/if",
)
_ANYWHERE = {row[0]: row[1] for row in word_table("opposite_relations")}
_BY_TAG = {  # tags that such a word must have, where another use of it has no opposite
    "VBD": "increased improved reduced opened closed won gained fell rose arrived included raised supported "
    "defeated",
    "VB VBP NN": "increase decrease love hate buy sell send",
    "VBZ": "likes dislikes",
    "VB VBP": "allow accept reject reduce raise enable disable start stop cancel delete remove add lock "
    "unlock block receive lend",
    "VBD VBN": "loved opposed received sent bought sold",
    "NN RB JJ": "beginning defeat victory inside outside upper",
}
_USUAL = "VB VBD VBZ VBP VBG VBN NN NNS RB RBR JJ JJR"
_TAGS = {word: tags for tags, listed in _BY_TAG.items() for word in listed.split()}
# Adjectives between a determiner and their noun, or before a decade.
_ADJECTIVES = _pairs("first/last previous/next following/preceding early/late initial/final", "former/future")
_WORDS = word_groups("relation")
_ENDING = _pairs("began/ended begins/ends", "started/ended")
_COMPARED = _pairs("more/less", "fewer/more")
# Behind these, the preposition is the verb's: "look after", "deal with", "go to".
_PHRASAL = frozenset(word_list("words_with_prepositions"))
# What is said of the next one, and of no previous one.
_COMING = _WORDS.yet_to_come | words("wo predict forecast expect expected plan planned going upcoming coming")
_OBJECTS = words("DT PRP$ VBG NN NNS JJ PRP NNP") | {""}
_TAKING = {"add": ("to", "from"), "remove": ("from", "to")}
_BEHIND_AMOUNTS = words("by to from in on at sharply slightly again . %") | {""}


@dataclass(frozen=True)
class RelationParameters:
    """Parameters of the exchange of relations."""

    deeds: bool = parameter(
        False, "turn what is done instead, by a wider list: created to destroyed", later=True
    )


def _find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    tables = (_PREPOSITIONS, _ANYWHERE, _ADJECTIVES, _ENDING, _COMPARED)
    for turn in _all(tokens, tables):
        place, _, text = turn[0]
        own, word = tokens.words_of(tokens.rows[place]), tokens.lower[place]
        forms = own.count(word)
        if word in _ANYWHERE and len(word) > 4:  # "accept the offer … was accepted"
            forms = sum(other.startswith(word[:5]) for other in own)
        if forms == 1 and not any(other in own for other in text.split() if other != "of"):
            yield turn
    yield from owners(tokens, draw)
    yield from question_words(tokens, draw)


def _all(tokens: Tokens, tables: tuple[Mapping[str, object], ...]) -> Iterator[Turn]:
    for place in tokens.among(frozenset(word for table in tables for word in table)):
        row, word, tag = tokens.rows[place], tokens.lower[place], tokens.tags[place]
        before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
        if "-" in {before, behind} or before in {"not", "neither", "than", "as"}:
            continue
        if word in _PREPOSITIONS and tag in {"IN", "TO"}:
            yield from _preposition(tokens, place, word)
        elif (word in _ADJECTIVES and tag == "JJ") or (
            word in {"following", "preceding"} and before == "the"
        ):
            yield from _adjective(tokens, place, word)
        elif word in _ENDING and tag in {"VBD", "VBZ"} and behind in {"in", "on", "at"} and before != ",":
            yield [(place, place, _ENDING[word])]
        elif word in _COMPARED and tag in {"RBR", "JJR"} and before not in {"no", "or", "any"}:
            near = [tokens.word(other, row) for other in range(place + 1, place + 5)]
            if "than" in near[1:] and near[0] != "than" and "and" not in near:
                yield [(place, place, _COMPARED[word])]
        elif word in _ANYWHERE and tag in _TAGS.get(word, _USUAL).split() and not tokens.denied(place):
            yield from _opposite(tokens, place, word, before, behind)


def _opposite(tokens: Tokens, place: int, word: str, before: str, behind: str) -> Iterator[Turn]:
    row, tag = tokens.rows[place], tokens.tags[place]
    if behind in {"up", "off", "out", "down", "over", "back", "to", "each"} and tag.startswith("VB"):
        return
    rest = tokens.lower[place + 1 : tokens.bounds[row + 1]]
    if (word == "stop" and "from" in rest) or before in {"at", "jump", "kick", "head"}:
        return
    if word in {"allow", "enable"} and "to" in rest:  # "prevent it to open"
        return
    if word in {"raise", "raised"} and _WORDS.amounts.isdisjoint(rest[:5]):  # "raise a child"
        return
    if word in {"failure", "success"} and (before in _WORDS.organs or tokens.tag(place - 1, row) == "NN"):
        return  # "heart failure", "power failure"
    if word == "later" and not _WORDS.yet_to_come.isdisjoint(tokens.lower[tokens.bounds[row] : place]):
        return  # "will end ten days later"
    if word in {"send", "sent", "receive", "received"} and (
        not {"to", "by", "from", "for"}.isdisjoint(rest) or tokens.tag(place + 1, row) in {"PRP", "NNP"}
    ):  # "sent the king a letter", "received it from her"
        return
    if tag == "VBG" and before in {"a", "an", "the"}:  # "a reducing agent"
        return
    nouns = [tokens.tag(place + step, row) for step in (1, 2, 3, 4)]
    if word in {"send", "sent"} and nouns[1:3].count("DT"):
        return
    if word in {"later", "earlier"} and (behind in {"on", "than", "that", ","} or not before or not behind):
        return
    if word in {"upper", "lower", "majority", "minority", "beginning", "end"} and behind in _WORDS.parted:
        return
    if word in {"opened", "closed"} and not (
        tag == "VBD" and before != "," and behind in {"in", "on", "the", "its", "his"}
    ):
        return  # "a book, opened at the title"
    if word in {"failure", "success"} and behind in {"to", "of", "in"}:
        return
    taking = word in {"sold", "bought", "raise", "lower", "raised", "lowered"} and tag in {"VB", "VBP", "VBD"}
    if taking and tokens.tag(place + 1, row) not in {"DT", "PRP$", "NN", "NNS", "JJ", "CD", "PRP"}:
        return  # "it sold poorly", "the beef I can raise"
    if before in {"sooner", "or", "believed", "thought"} or behind in {"one", "ones"}:
        return
    if word == "succeeded" and (tag == "VBN" or behind == "by"):
        return
    if word in {"love", "hate", "buy"} and tag == "NN":
        return
    if word in {"won", "gained"} and behind in {"on", "for"}:
        return
    if word in {"start", "stop"} and tokens.tag(place + 1, row) not in _OBJECTS:
        return
    if word in _WORDS.points and before not in _WORDS.before_points:  # "key west" is a name
        return
    if word in {"rose", "fell"} and not _is_amount(tokens, place, behind):
        return
    if behind in {"and", "or"} or before in {"and", "or"}:  # "north and south", "buy and sell"
        return
    if word in {"buy", "buying", "bought", "sell", "selling", "sold"} and {"from", "to"} & set(rest):
        return
    turn = [(place, place, _ANYWHERE[word])]
    if word in _TAKING:  # "add milk to the list", "remove milk from the list"
        old, new = _TAKING[word]
        if new in rest or rest.count(old) > 1 or {"into", "onto"} & set(rest):
            return
        if old in rest:
            link = place + 1 + rest.index(old)
            if tokens.tag(link + 1, row).startswith("VB"):
                return
            turn.append((link, link, new))
    yield turn


def _is_amount(tokens: Tokens, place: int, behind: str) -> bool:
    """Whether what rose or fell is an amount, as prices are, and not somebody or the sun."""
    row = tokens.rows[place]
    return behind in _BEHIND_AMOUNTS and not _WORDS.amounts.isdisjoint(
        tokens.lower[tokens.bounds[row] : place]
    )


def _preposition(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    row = tokens.rows[place]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    follows = tokens.tag(place + 1, row)
    if before in _PHRASAL or behind in _WORDS.no_phrase or not behind or follows in {".", ",", "IN", ")"}:
        return
    if {"least", "slightest"} & set(_near(tokens, place)):
        return
    if word in {"after", "before"} and _is_manner_or_lasts(tokens, place):
        return
    deps = tokens.view.parses.deps
    if deps.values[deps.codes[place]] not in {"case", "prep", "mark"}:
        return
    if word in {"from", "to"}:
        yield from _way(tokens, place, word)
    elif word == "without":  # not "without blinking", "without much money"
        if (
            follows in {"DT", "PRP$"}
            and behind not in _WORDS.indefinite
            and tokens.tag(place + 2, row)[:2] == "NN"
        ):
            yield [(place, place, "with")]
    elif word == "like":
        head = int(tokens.view.parents[place])
        of = int(tokens.view.parents[head]) if deps.values[deps.codes[place]] == "case" else head
        fits = place == tokens.bounds[row] and follows in {"DT", "PRP$", "JJ", "NN", "NNS", "NNP"}
        if fits and of > place:
            yield [(place, place, "unlike")]
    elif word == "until":
        adverb = tokens.tag(place - 1, row) == "RB"
        if not adverb and not tokens.denied(place) and not _is_fixed(tokens, place, word):
            yield [(place, place, "after")]
    elif word in {"into", "towards", "toward"}:
        if (
            tokens.tag(place - 1, row) in {"VBD", "VBZ", "VBG", "VB", "VBP"}
            and before in _WORDS.moving
            and behind != "being"
        ):
            yield [(place, place, _PREPOSITIONS[word])]
    elif word in {"above", "below", "inside", "outside", "near"} and follows not in {
        "DT",
        "PRP$",
        "CD",
        "NNP",
    }:
        return
    elif not _is_fixed(tokens, place, word):
        yield [(place, place, _PREPOSITIONS[word])]


def _is_manner_or_lasts(tokens: Tokens, place: int) -> bool:
    """`after the Oriental fashion`; `after the update it no longer opens`, which cannot be so before it."""
    row = tokens.rows[place]
    near = {tokens.word(place + step, row) for step in range(1, 6)} | {tokens.word(place - 1, row)}
    own = tokens.words_of(row)
    named = not {"called", "named", "name", "take", "takes"}.isdisjoint(own)  # "named after"
    brief = not {tokens.word(place + step, row) for step in (1, 2, 3)}.isdisjoint(
        _WORDS.moments
    )  # "after a moment"
    return brief or named or not near.isdisjoint(_WORDS.facing) or "longer" in own or "anymore" in own


def _is_fixed(tokens: Tokens, place: int, word: str) -> bool:
    """`within a week`, `from May until June`, `the above`."""
    row = tokens.rows[place]
    near = _near(tokens, place)
    within = word == "within" and (tokens.tag(place + 1, row) == "CD" or not _TIMES.isdisjoint(near))
    until = word in {"until", "till"} and "from" in tokens.words_of(row)
    return within or until or (word in {"above", "below"} and tokens.word(place - 1, row) in {"the", "or"})


def _near(tokens: Tokens, place: int) -> list[str]:
    """The three words behind a place."""
    return [tokens.word(place + step, tokens.rows[place]) for step in (1, 2, 3)]


_TIMES = frozenset(word_list("nouns_of_time"))


def _way(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    """`flights to Dallas` to `flights from Dallas`, where the sentence has not the other one as well."""
    row = tokens.rows[place]
    others = tokens.words_of(row)
    head = tokens.tag(place + 1, row)
    before = tokens.word(place - 1, row)
    if ("from" in others) == ("to" in others) or others.count(word) > 1:
        return
    moved = before in _WORDS.moving | words(
        "flight flights fly returned train trains bus transfer transferred sent arrived"
    )
    if moved and head in {"NNP", "DT", "PRP$", "NN"} and before not in {"goes"}:
        yield [(place, place, _PREPOSITIONS[word])]


def _adjective(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    row = tokens.rows[place]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    follows = tokens.tag(place + 1, row)
    if word in {"early", "late"}:
        dated = (
            behind[:1].isdigit() or follows in {"NNP"} or (before in {"the", "a", "in"} and follows == "NN")
        )
        if (
            dated
            and behind not in {"life", "age", "childhood", "education", "career", "warning"}
            and before != "very"
        ):
            yield [(place, place, _ADJECTIVES[word])]
    elif (
        not (behind == "time" and tokens.word(place - 2, row) != "for")
        and not (word == "next" and not _COMING.isdisjoint(tokens.words_of(row)))
        and before in _WORDS.determiners
        and follows in {"NN", "NNS", "JJ"}
        and behind not in {"name", "names", "lady"}
    ):
        yield [(place, place, _ADJECTIVES[word])]


@lru_cache(maxsize=1)
def _deeds() -> dict[tuple[str, str], list[str]]:
    """Of a word's form and its tag the same form of what is against it."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind, one, other in word_table("opposite_deeds"):
        for word, opposite in [(one, other), (other, one)][: 2 if kind.endswith("s") else 1]:
            if kind == "nouns":
                forms = [("NN", word, opposite), ("NNS", plural(word), plural(opposite))]
            else:
                head, space, rest = opposite.partition(" ")
                forms = [
                    (tag, inflected(word, form), f"{inflected(head, form)}{space}{rest}")
                    for form, tag in TAG_OF_FORM.items()
                    if form != VerbForm.MODAL
                ]
            for tag, own, text in forms:
                if own and text:
                    found.setdefault((own, tag), []).append(text)
    return found


def _find_deeds(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    table = _deeds()
    for place in tokens.among(frozenset(word for word, _ in table)):
        row, tag = tokens.rows[place], tokens.tags[place]
        others, own = table.get((tokens.lower[place], tag), []), tokens.words_of(row)
        behind = tokens.word(place + 1, row)
        if tokens.denied(place) or "-" in {tokens.word(place - 1, row), behind}:
            continue
        if tag.startswith("V") and behind in _WORDS.particles:
            continue
        has_object = tokens.tag(place + 1, row) in {"DT", "PRP$", "PRP", "NN", "NNS", "NNP", "JJ", "CD"}
        fitting = [text for text in others if text not in own and (has_object or " " not in text)]
        yield from turns_of(place, place, fitting)


RELATION = Augmentation(
    name="relation",
    version=4,
    kind="negative",
    paper="none; order and degree as in Naik et al. 2018 (stress tests for inference)",
    needs=frozenset({"parses"}),
    languages=("en",),
    parameters=RelationParameters,
    prepare=lambda parameters, resources: by_turns(
        _find_deeds if parameters.deeds else _find, resources.key("relation")
    ),
    examples=("augment-cli relation", "augment-cli relation --deeds --name deeds"),
    meaning="altered",
    entailment=("other", "the order, place, direction or degree is the opposite one"),
)
