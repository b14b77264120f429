"""Say of how many, or how often, it holds otherwise: `all members` to `no members`, `often` to `rarely`.

Quantifiers (all, every, both, most, many, some, few, no), adverbs of frequency, bounds (`at least`, `more
than`, `up to` before a number) and `only` are exchanged for others that the sentence does not imply: `all`
becomes `no` or `only some`, never `some`. One place of a sentence is drawn. Where a negation stands in the
sentence, what would deny a second time is left out, as it is in questions, which ask the same either way, and
of what a request asks for (`show me some`).

Changes 7 % of prose, and 1 % of questions and requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from augment_cli.contract.augmentation import Augmentation
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, alternatives, by_turns, turns_of
from augment_cli.resources import word_groups

# Before a plural: what may stand there instead. Those of `_WORDS.denying` need a sentence without negation.
_OF_PLURALS = alternatives("quantifiers", "of_plurals")
_OF_SINGULARS = alternatives("quantifiers", "of_singulars")
# "all of the", "all the": the text with its "of"
_BEFORE_OF = alternatives("quantifiers", "before_of")
_ALONE = alternatives("quantifiers", "alone")
_WORDS = word_groups("quantifier")
_BOUNDS = {
    ("at", "least"): ("at most",),
    ("at", "most"): ("at least",),
    ("more", "than"): ("less than",),
    ("less", "than"): ("more than",),
    ("fewer", "than"): ("more than",),
    ("a", "maximum"): ("a minimum",),
    ("a", "minimum"): ("a maximum",),
}
_BOUND = alternatives("quantifiers", "bound")
_PLURAL = {"NNS", "NNPS"}


def _find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    tables = (_OF_PLURALS, _OF_SINGULARS, _BEFORE_OF, _ALONE, _BOUND)
    wanted = {word for table in tables for word in table} | {first for first, _ in _BOUNDS} | {"only", "both"}
    for place in tokens.among(frozenset(wanted)):
        row, word = tokens.rows[place], tokens.lower[place]
        before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
        for turn in _turns(tokens, place, word, before, behind):
            deny = _WORDS.denying & set(turn[0][2].split())
            # The new word denies: no other negation, no question. The old one did: nothing needs it.
            if deny and (tokens.asks[row] or tokens.denied(place) or tokens.denies_behind(place)):
                continue
            own = tokens.lower[tokens.bounds[row] : place]
            if word in _WORDS.denied and (
                tokens.denies_behind(place) or "if" in own or _is_stressed(tokens, place)
            ):
                continue
            if turn[0][2].startswith(("all", "every")) and tokens.denies_behind(place):
                continue  # "All birds cannot fly" says one of two things
            if deny and (before in {"and", "or", "between"} or _is_wanted(tokens, place)):
                continue
            if deny and not _tells(tokens, place):
                continue
            if _goes_on(tokens, place) and (deny or word in _WORDS.denied):
                continue
            if (word.startswith(("some", "several")) or before == "a") and _presents(
                tokens, place, turn[0][2]
            ):
                continue
            if word == "no" and before in {"but", "by", "straight"}:
                continue  # "an idea, but no money": "but some money" is no contrast
            if tokens.denied(place) or (word != "only" and before in {"-", "/"}):
                continue
            yield turn


def _is_stressed(tokens: Tokens, place: int) -> bool:
    """Whether more than a denial says that there is none: `no sign whatever`, `never so much as`."""
    rest = tokens.lower[place + 1 : tokens.bounds[tokens.rows[place] + 1]]
    stressed = not {"whatever", "whatsoever", "yet"}.isdisjoint(rest) or ("at", "all") in pairwise(rest)
    return stressed or (tokens.lower[place] == "never" and "so" in rest[:4])


def _is_wanted(tokens: Tokens, place: int) -> bool:
    """Whether it is what a request asks for, of which nobody asks for none: `show me some restaurants`."""
    row = tokens.rows[place]
    before = tokens.lower[tokens.bounds[row] : place]
    asked = tokens.tag(tokens.bounds[row], row) in {"VB", "VBP"} or not _WORDS.wanting.isdisjoint(before)
    return asked and tokens.tags[place] in {"DT", "NN", "JJ", "PDT", "PRP"}


def _tells(tokens: Tokens, place: int) -> bool:
    """Whether a finite verb is there, and nothing behind speaks of them: not `all names, and they are`."""
    row = tokens.rows[place]
    own = range(tokens.bounds[row], tokens.bounds[row + 1])
    finite = any(tokens.tags[other] in {"VBZ", "VBD", "VBP", "MD"} for other in own)
    # "All moles are diggers, making tunnels", "many guests, some of whom"
    goes_on = any(
        tokens.lower[other] == "," and (tokens.tags[other + 1] == "VBG" or tokens.lower[other + 2] == "of")
        for other in range(place + 1, own.stop - 2)
    )
    told = {"they", "them", "these", "those"} & set(tokens.lower[place + 1 : own.stop])
    return finite and not goes_on and not told


def _goes_on(tokens: Tokens, place: int) -> bool:
    """Whether some of them are named behind: `no attempts, including two`, `no one, especially fans`."""
    row = tokens.rows[place]
    rest = tokens.lower[place + 1 : tokens.bounds[row + 1]]
    return (
        not _WORDS.naming.isdisjoint(rest)
        or "again" in rest
        or tokens.word(place + 1, row) in {"less", "more", "like", "else"}
    )


def _presents(tokens: Tokens, place: int, text: str) -> bool:
    """Whether `some` only names something new, so that `all` reads odd: `there are some`, `What are some`."""
    row, every = tokens.rows[place], text.startswith(("all", "every"))
    before, behind = tokens.word(place - 1, row), tokens.tag(place + 1, row)
    if tokens.lower[place] in {"someone", "somebody", "something"}:
        if every:
            return tokens.asks[row] or behind not in {"VBZ", "VBD", "MD"}
        return tokens.tag(place - 1, row) == "IN" or before in {"or", *_WORDS.be} or behind in {"JJ", "DT"}
    if every and tokens.word(place + 1, row) != "of" and not _is_subject(tokens, place):
        return True
    return every and (
        behind == "JJ" or tokens.asks[row] or before in _WORDS.be or before in {"have", "has", "had", "me"}
    )


def _turns(tokens: Tokens, place: int, word: str, before: str, behind: str) -> Iterator[Turn]:
    row = tokens.rows[place]
    if (word, behind) in _BOUNDS:
        counted = tokens.tag(place + 2, row) in {"CD", "$"} or tokens.word(place + 2, row) in {
            "a",
            "half",
            "of",
        }
        of = behind in {"maximum", "minimum"}
        number = tokens.tag(place + 2 + of, row) in {"CD", "$"}
        one = tokens.word(place + 2 + of, row) == "one"  # "less than one charge"
        one |= "only" in tokens.lower[max(tokens.bounds[row], place - 4) : place]
        if not one and (number or (counted and word == "at")):
            yield from turns_of(place, place + 1, _BOUNDS[word, behind])
        return
    if word in _BOUND and tokens.tag(place + 1, row) in {"CD", "$"} and behind != "one":
        if (
            word == "over"
            and tokens.word(place + 2, row) in _WORDS.times
            and tokens.word(place + 3, row) not in {"old", "ago"}
        ):
            return  # "he wrote it over two years"
        if before not in {"the", "no", "in", "of", "just"} | _WORDS.before - {"for", "than"}:
            yield from turns_of(place, place, _BOUND[word])
        return
    if word == "only":
        yield from _only(tokens, place, before, behind)
        return
    if word == "both":
        yield from _both(tokens, place, behind)
        return
    if word in _ALONE:
        yield from _alone(tokens, place, word, before)
        return
    if before in _WORDS.before and not (before == "very" and word in {"few", "many", "much"}):
        yield from _a_few(tokens, place, word, before)
        return
    if word in _BEFORE_OF and behind == "of" and tokens.word(place + 2, row) in _WORDS.determiners:
        if tokens.noun_behind(place + 2) in _PLURAL:
            yield from turns_of(place, place + 1, _BEFORE_OF[word])
        return
    if word == "all" and behind in _WORDS.determiners and tokens.noun_behind(place + 1) in _PLURAL:
        yield from turns_of(place, place, _BEFORE_OF[word])
        return
    near = {tokens.word(place + step, row) for step in (1, 2, 3)}
    if (
        behind in _WORDS.set
        or (near & _WORDS.times and word != "no")
        or tokens.tag(place + 1, row) in {"CD", "DT", "JJR"}
    ):
        return
    noun = tokens.noun_behind(place)
    if word in _OF_PLURALS and noun in _PLURAL and tokens.tags[place] in {"DT", "PDT", "JJ", "JJS"}:
        yield from turns_of(place, place, _OF_PLURALS[word])
    elif word in _OF_SINGULARS and noun == "NN" and _is_subject(tokens, place) and behind not in _WORDS.set:
        yield from turns_of(place, place, _OF_SINGULARS[word])


def _is_subject(tokens: Tokens, place: int) -> bool:
    """Whether the noun behind is a subject: `every door is shut`, not `shut every door`."""
    deps = tokens.view.parses.deps
    head = int(tokens.view.parents[place])
    return deps.values[deps.codes[head]].startswith("nsubj")


def _a_few(tokens: Tokens, place: int, word: str, before: str) -> Iterator[Turn]:
    """`a few`, which is one quantifier of two words."""
    row = tokens.rows[place]
    free = tokens.word(place - 2, row) not in {"quite", "only", "just", "not"}
    free &= tokens.word(place + 1, row) not in _WORDS.times
    if free and word == "few" and before == "a" and tokens.noun_behind(place) in _PLURAL:
        yield from turns_of(place - 1, place, ("no", "all", "a great many"))


def _alone(tokens: Tokens, place: int, word: str, before: str) -> Iterator[Turn]:
    behind = tokens.word(place + 1, tokens.rows[place])
    if before in {
        "more",
        "most",
        "less",
        "as",
        "so",
        "how",
        "too",
        "very",
        "not",
        "only",
        "almost",
        "nearly",
        "than",
    }:
        return
    row = tokens.rows[place]
    if "as" in tokens.lower[max(tokens.bounds[row], place - 3) : place]:  # "good as it often is"
        return
    if (
        before in {"if", "whether", "would", "could", "to"}
        or not behind[:1].isalpha()
        or behind in {"else", "but"}
    ):
        return
    if tokens.tags[place] == "RB" and word not in {"nowhere", "everywhere"}:
        # of a verb: "is typically", "usually goes"; not "an always solid performance", "never again"
        follows = tokens.tag(place + 1, row)
        near = follows[:2] == "VB" or (before in _WORDS.be | _WORDS.helpers and follows in {"JJ", "DT", "IN"})
        if (
            not near
            or place == tokens.bounds[row]
            or behind in {"speaking", "been", "fail", "fails", "failed"}
        ):
            return
    elif tokens.tags[place] in {"NN", "PRP"}:  # the subject: "nobody came"; not "see nobody come"
        deps = tokens.view.parses.deps
        subject = deps.values[deps.codes[place]].startswith("nsubj") and tokens.tag(place + 1, row)[:2] in {
            "VB",
            "MD",
        }
        if not subject or not tokens.word(place + 2, row)[:1].isalnum():
            return
    yield from turns_of(place, place, _ALONE[word])


def _only(tokens: Tokens, place: int, before: str, behind: str) -> Iterator[Turn]:
    """`is only` to `is not only`, `only if` to `even if`: `only X` implies X, so it cannot just go."""
    row = tokens.rows[place]
    if behind == "if" and before == "and":  # "if and only if"
        return
    if behind == "if":
        yield [(place, place, "even")]
    elif tokens.asks[row] or behind in {"one", "then", "after", "when", "a", "an"}:
        return
    elif before in _WORDS.be:
        yield [(place, place, "not only")]
    elif before == "the" and tokens.word(place - 2, row) in _WORDS.be:
        yield [(place - 1, place, "not the only")]
    elif place == tokens.bounds[row] and tokens.tag(place + 1, row) in {"DT", "NNS", "NNP"}:
        yield [(place, place, "not only")]


def _both(tokens: Tokens, place: int, behind: str) -> Iterator[Turn]:
    """`both … and …` to `neither … nor …`; `both of the` and `both the` to `neither of the`."""
    row = tokens.rows[place]
    if behind == "of" and tokens.word(place + 2, row) in _WORDS.determiners | {"them", "us", "you", "these"}:
        yield from turns_of(place, place + 1, _BEFORE_OF["both"])
        return
    if tokens.view.parses.deps.values[tokens.view.parses.deps.codes[place]] not in {"preconj", "cc:preconj"}:
        return
    before = {tokens.tag(place - 1, row), tokens.tag(place - 2, row)}
    if before & {"IN", "TO"}:  # "popular for both", "easy to use both"
        return
    if tokens.tag(place + 1, row) in {"IN", "RB"} and tokens.word(place + 2, row) == "and":
        return  # "both on and off the field"
    ands = [
        other
        for other in range(place + 2, min(place + 9, tokens.bounds[row + 1]))
        if tokens.lower[other] in {"and", ",", "or", ";"}
    ]
    if ands and tokens.lower[ands[0]] == "and" and (len(ands) == 1 or tokens.lower[ands[1]] != "and"):
        yield [(place, place, "neither"), (ands[0], ands[0], "nor")]


QUANTIFIER = Augmentation(
    name="quantifier",
    version=4,
    kind="negative",
    paper="none; quantifiers as in Richardson et al. 2020 (semantic fragments)",
    needs=frozenset({"parses"}),
    languages=("en",),
    prepare=lambda parameters, resources: by_turns(_find, resources.key("quantifier")),
    examples=("augment-cli quantifier", "augment-cli quantifier --draws 2"),
    meaning="altered",
    entailment=("other", "it holds of more or fewer, in a way that the sentence does not imply"),
)
