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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from augment_cli.contract.augmentation import english_rules
from augment_cli.contract.parameters import parameter
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, by_turns, owners, question_words, turns_of
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
# Adjectives between a determiner and their noun, or before a decade.
_ADJECTIVES = _pairs("first/last previous/next following/preceding early/late initial/final", "former/future")
_WORDS = word_groups("relation")
_ENDING = _pairs("began/ended begins/ends", "started/ended")
_COMPARED = _pairs("more/less", "fewer/more")
# Behind these, the preposition is the verb's: "look after", "deal with", "go to".
_PHRASAL = frozenset(word_list("words_with_prepositions"))
# What is said of the next one, and of no previous one.
_COMING = _WORDS.yet_to_come | words("wo predict forecast expect expected plan planned going upcoming coming")
_NONE = "<none>"
# By a word, its tag or * a use without an opposite: where which others stand, or, if true, must stand.
_USES: dict[str, list[tuple[str, bool, frozenset[str]]]] = {}
for _those, _where, _others in word_table("uses_without_opposite"):
    _use = _where.strip("!"), _where.startswith("!"), words(_others)
    for _word in _those.split():
        _USES.setdefault(_word, []).append(_use)
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
        elif word in _ADJECTIVES and (
            tag == "JJ" or (word in {"following", "preceding"} and before == "the")
        ):
            yield from _adjective(tokens, place, word)
        elif word in _ENDING and tag in {"VBD", "VBZ"} and behind in {"in", "on", "at"} and before != ",":
            yield [(place, place, _ENDING[word])]
        elif word in _COMPARED and tag in {"RBR", "JJR"} and before not in {"no", "or", "any"}:
            near = [tokens.word(other, row) for other in range(place + 1, place + 5)]
            if "than" in near[1:] and near[0] != "than" and "and" not in near:
                yield [(place, place, _COMPARED[word])]
        elif word in _ANYWHERE:
            yield from _opposite(tokens, place, word)


def _opposite(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    row, tag = tokens.rows[place], tokens.tags[place]
    rest = tokens.lower[place + 1 : tokens.bounds[row + 1]]
    behind, tag_behind = tokens.word(place + 1, row), tokens.tag(place + 1, row)
    near = {
        "before": {tokens.word(place - 1, row) or _NONE},
        "behind": {behind or _NONE},
        "earlier": tokens.lower[tokens.bounds[row] : place],
        "rest": rest,
        "tag": {tag},
        "tag_before": {tokens.tag(place - 1, row)},
        "tag_behind": {tag_behind or _NONE},
    }
    uses = [use for key in ("*", tag, word) for use in _USES.get(key, ())]
    if any(others.isdisjoint(near[where]) == is_needed for where, is_needed, others in uses):
        return
    if tokens.denied(place):
        return
    if word in {"raise", "raised"} and _WORDS.amounts.isdisjoint(rest[:5]):  # "raise a child"
        return
    if word in {"send", "sent"} and "DT" in {tokens.tag(place + 2, row), tokens.tag(place + 3, row)}:
        return
    taking = word in {"sold", "bought", "raise", "lower", "raised", "lowered"} and tag in {"VB", "VBP", "VBD"}
    if taking and tag_behind not in {"DT", "PRP$", "NN", "NNS", "JJ", "CD", "PRP"}:
        return  # "it sold poorly", "the beef I can raise"
    if word in {"rose", "fell"} and not _is_amount(tokens, place, behind):
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
    row, deps = tokens.rows[place], tokens.view.parses.deps
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    tag_before, follows = tokens.tag(place - 1, row), tokens.tag(place + 1, row)
    label = deps.values[deps.codes[place]]
    if (
        before in _PHRASAL
        or behind in _WORDS.no_phrase
        or not behind
        or follows in {".", ",", "IN", ")"}
        or {"least", "slightest"} & set(_near(tokens, place))
        or (word in {"after", "before"} and _is_manner_or_lasts(tokens, place))
        or label not in {"case", "prep", "mark"}
    ):
        return
    if word in {"from", "to"}:
        fits = _is_way(tokens, place, word)
    elif word == "without":  # not "without blinking", "without much money"
        fits = follows in {"DT", "PRP$"} and behind not in _WORDS.indefinite
        fits &= tokens.tag(place + 2, row)[:2] == "NN"
    elif word == "like":
        head = int(tokens.view.parents[place])
        of = int(tokens.view.parents[head]) if label == "case" else head
        fits = place == tokens.bounds[row] and follows in {"DT", "PRP$", "JJ", "NN", "NNS", "NNP"}
        fits &= of > place
    elif word == "until":
        fits = tag_before != "RB" and not tokens.denied(place) and not _is_fixed(tokens, place, word)
    elif word in {"into", "towards", "toward"}:
        fits = tag_before in {"VBD", "VBZ", "VBG", "VB", "VBP"}
        fits &= before in _WORDS.moving and behind != "being"
    elif word in {"above", "below", "inside", "outside", "near"}:
        fits = follows in {"DT", "PRP$", "CD", "NNP"} and not _is_fixed(tokens, place, word)
    else:
        fits = not _is_fixed(tokens, place, word)
    if fits:
        yield [(place, place, _PREPOSITIONS[word])]


def _is_manner_or_lasts(tokens: Tokens, place: int) -> bool:
    """`after the Oriental fashion`; `after the update it no longer opens`, which cannot be so before it."""
    row = tokens.rows[place]
    near = {tokens.word(place + step, row) for step in (-1, 1, 2, 3, 4, 5)}
    return (
        not _WORDS.moments.isdisjoint(_near(tokens, place))  # "after a moment"
        or not _WORDS.facing.isdisjoint(near)
        # "named after"
        or not {"called", "named", "name", "take", "takes", "longer", "anymore"}.isdisjoint(
            tokens.words_of(row)
        )
    )


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


def _is_way(tokens: Tokens, place: int, word: str) -> bool:
    """`flights to Dallas`, where the sentence has not the other one as well."""
    row = tokens.rows[place]
    others, before = tokens.words_of(row), tokens.word(place - 1, row)
    if ("from" in others) == ("to" in others) or others.count(word) > 1:
        return False
    moved = before in _WORDS.moving | _WORDS.travelling and before != "goes"
    return moved and tokens.tag(place + 1, row) in {"NNP", "DT", "PRP$", "NN"}


def _adjective(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    row = tokens.rows[place]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    follows = tokens.tag(place + 1, row)
    if word in {"early", "late"}:
        fits = behind[:1].isdigit() or follows == "NNP" or (before in {"the", "a", "in"} and follows == "NN")
        fits &= behind not in {"life", "age", "childhood", "education", "career", "warning"}
        fits &= before != "very"
    else:
        fits = before in _WORDS.determiners and follows in {"NN", "NNS", "JJ"}
        fits &= behind not in {"name", "names", "lady"}
        fits &= behind != "time" or tokens.word(place - 2, row) == "for"
        fits &= word != "next" or _COMING.isdisjoint(tokens.words_of(row))
    if fits:
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


RELATION = english_rules(
    name="relation",
    version=5,
    kind="negative",
    paper="none; order and degree as in Naik et al. 2018 (stress tests for inference)",
    parameters=RelationParameters,
    prepare=lambda parameters, resources: by_turns(
        _find_deeds if parameters.deeds else _find, resources.key("relation")
    ),
    examples=("augment-cli relation", "augment-cli relation --deeds --name deeds"),
    entailment=("other", "the order, place, direction or degree is the opposite one"),
)
